"""`comparison_page`: writes an HTML page that compares methods, in the style of the report."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Final

import polars as pl

from .. import __version__
from ..crowd.labels import Labels
from ..errors import require_extra
from ..output.targets import check_page
from ..output.writing import write_text
from .blocks import Code, Figure, Paragraph, Section, SideBySide, Table
from .cells import number, text
from .rendering import render

# The number format of each column; the other columns contain text.
_FORMATS: Final = {
    "accuracy": ".4f",
    "low": ".4f",
    "high": ".4f",
    "log_loss": ".3f",
    "brier": ".3f",
    "overconfidence": "+.3f",
    "quadratic_kappa": ".3f",
    "seconds": ".3f",
    "iterations": ",",
    "ties": ",",
    "mae": ".4g",
    "rmse": ".4g",
    "correlation": ".4f",
    "coverage": ".3f",
}


def comparison_page(labels: Labels, rows: Sequence[dict[str, Any]], path: str | PathLike[str], command: str) -> None:
    """Write an HTML page about a comparison of methods.

    Args:
        labels: The labels that the methods ran on.
        rows: One row per method, as `analysis.comparison.compare` returns them.
        path: The file to write; its name ends in .html.
        command: The command that makes the page again.

    Raises:
        CallError: The extra `report` is missing, or the name does not end in .html.
    """
    require_extra("report", "A page")
    check_page(path)
    kinds = "as numbers" if labels.numeric else f"in {labels.n_classes:,} classes"
    lead = f"{labels.n_labels:,} labels of {labels.n_items:,} items by {labels.n_workers:,} workers {kinds}."
    methods = Section("methods", "Side by side", [SideBySide(_figures(rows)), _table(rows)])
    made = Section("made", "How it was made", [Code(command), Paragraph(f"crowdwise {__version__}.", "note")])
    write_text(path, render("Methods compared", "Methods compared", lead, [methods, made]))


def _figures(rows: Sequence[dict[str, Any]]) -> list[Figure]:
    """Make the charts of accuracy, if there is a truth, and of time; of the methods that did not refuse the labels."""
    from ..analysis import charts  # imported here because it needs the extra

    ran = [row for row in rows if row["seconds"] is not None]
    figures = []
    if ran and "accuracy" in ran[0]:
        best = pl.DataFrame(ran).sort("accuracy", descending=True)
        chart = charts.intervals(best.select("method", "accuracy", "low", "high"), "Accuracy", charts.PAGE)
        figures.append(Figure("Accuracy", chart, "Best first. Lines are 95% intervals (Wilson)."))
    if ran and "rmse" in ran[0]:
        best = pl.DataFrame(ran).sort("rmse").select("method", "rmse")
        chart = charts.dots(best, "Root mean squared error", charts.PAGE)
        figures.append(Figure("Error", chart, "Best first: the root of the mean squared difference from the truth."))
    if ran:
        fastest = pl.DataFrame(ran).select("method", "seconds").sort("seconds")
        chart = charts.times(fastest, charts.PAGE)
        figures.append(Figure("Time", chart, "Fastest first, on a logarithmic axis; without compilation."))
    return figures


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table of everything that was measured."""
    titles = {name: "MAE" if name == "mae" else name.replace("_", " ").capitalize() for name in rows[0]}
    columns = [f"{'#' if name in _FORMATS else ''}{title}" for name, title in titles.items()]
    cells = [
        [number(value, _FORMATS[name]) if name in _FORMATS else text(value) for name, value in row.items()]
        for row in rows
    ]
    return Table("methods", columns, cells)
