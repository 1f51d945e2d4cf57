"""`report`: writes an HTML page about a crowd and the result of a method."""

from os import PathLike
from typing import Any

from ..analysis.explanation import require_same
from ..data.labels import Labels
from ..data.reading import read_truth
from ..data.writing import check_page, write_text
from ..errors import require_extra
from ..results.result import Result
from .blocks import Section
from .rendering import render
from .report_data import ReportData


def report(
    labels: Labels,
    result: Result,
    truth: Any = None,
    path: str | PathLike[str] = "report.html",
    *,
    command: str | None = None,
) -> None:
    """Write an HTML page with charts and tables about a crowd and the result of a method.

    The page is one file. It opens in any browser without a network, has light and dark colours, and can be printed.
    Needs the extra `report`: pip install 'crowdwise[report]'.

    Args:
        labels: The labels.
        result: The result of a method on these labels.
        truth: The true labels, if some are known: a path, a table, or a mapping from item to class.
        path: The file to write; its name ends in .html.
        command: The command that makes the page again, for its last section; the Python call if None.

    Raises:
        CallError: The extra is missing, the name does not end in .html, or the result is not from these labels.
        DataError: The truth cannot be read, or has no item or no class in common with the labels.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> report(crowd.labels, cw.BWA().fit(crowd.labels), crowd.truth, path)
    >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    require_extra("report", "A report")
    check_page(path)
    require_same(result, labels)
    known = None if truth is None else read_truth(truth)
    call = f"cw.report(labels, cw.{result.method!r}.fit(labels){'' if truth is None else ', truth'})"
    write_text(path, report_text(ReportData(labels, result, known, command or call)))


def report_text(data: ReportData) -> str:
    """Return the whole page as HTML."""
    lead = (
        f"What {data.labels.n_workers:,} workers said about {data.labels.n_items:,} items, and what "
        f"{data.method_name} makes of it."
    )
    return render(f"Crowd report · {data.method_name}", "Crowd report", lead, gather(data))


def gather(data: ReportData) -> list[Section]:
    """Make every section in the table SECTIONS; a section that has nothing to show is left out."""
    from .sections import SECTIONS  # imported here because it needs the extra

    gathered = [(row, row.gather(data)) for row in SECTIONS]
    return [Section(row.id, row.title, blocks, row.navigation) for row, blocks in gathered if blocks is not None]
