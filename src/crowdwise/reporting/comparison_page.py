"""Methods side by side on a page in the same style."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import polars as pl

from ..data.labels import Labels
from ..data.writing import check_page, write_text
from ..errors import require_extra
from .page import render


def comparison_page(labels: Labels, rows: Sequence[dict[str, Any]], path: str | PathLike[str], command: str) -> None:
    """Write a page about what `comparison.compare` measured.

    Args:
        labels: What the workers said.
        rows: One per method.
        path: Where to write it; ends in .html.
        command: How to make it again.
    """
    require_extra("report", "A page")
    check_page(path)
    from .. import __version__  # charts need the extra
    from ..analysis import charts  # charts need the extra
    from .widgets import Cell, Figure, Table, number, text

    ran = [row for row in rows if row["seconds"] is not None]
    figures = []
    if ran and "accuracy" in ran[0]:
        best = pl.DataFrame(ran).sort("accuracy", descending=True)
        chart = charts.accuracies(best.select("method", "accuracy", "low", "high"), charts.PAGE)
        figures.append(Figure("Accuracy", chart, "Best first. Lines are 95% intervals (Wilson)."))
    if ran:
        fastest = pl.DataFrame(ran).select("method", "seconds").sort("seconds")
        chart = charts.times(fastest, charts.PAGE)
        figures.append(Figure("Time", chart, "Fastest first, on a logarithmic axis; without compilation."))
    formats = {"accuracy": ".4f", "low": ".4f", "high": ".4f", "seconds": ".3f", "iterations": ",", "ties": ","}
    columns = [f"#{name.capitalize()}" if name in formats else name.capitalize() for name in rows[0]]
    cells: list[list[Cell]] = [
        [number(value, formats[name]) if name in formats else text(value) for name, value in row.items()]
        for row in rows
    ]
    content = {
        "figures": figures,
        "table_of_methods": Table("methods", columns, cells),
        "labels": labels,
        "command": command,
        "version": __version__,
    }
    write_text(path, render("comparison.html.j2", content))
