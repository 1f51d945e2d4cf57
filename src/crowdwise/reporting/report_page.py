"""`report`: the page about one crowd and what a method found."""

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
    """Write a page about a crowd and what a method found, for people who would rather look than read.

    It is one file that loads nothing, opens in any browser, follows light and dark, and prints. Needs the extra
    `report`: pip install 'crowdwise[report]'.

    Args:
        labels: What the workers said.
        result: What a method found from them.
        truth: True labels, if some are known: a path, a table, or a mapping from item to class.
        path: Where to write it; ends in .html.
        command: How to make it again, for the last section; the Python call if None.

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
    """The whole page as HTML."""
    lead = (
        f"What {data.labels.n_workers:,} workers said about {data.labels.n_items:,} items, and what "
        f"{data.method_name} makes of it."
    )
    return render(f"Crowd report · {data.method_name}", "Crowd report", lead, gather(data))


def gather(data: ReportData) -> list[Section]:
    """Every section of the table SECTIONS that has something to show."""
    from .sections import SECTIONS  # needs the extra

    gathered = [(row, row.gather(data)) for row in SECTIONS]
    return [Section(row.id, row.title, blocks, row.navigation) for row, blocks in gathered if blocks is not None]
