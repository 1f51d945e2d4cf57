"""`report`: writes an HTML page about a crowd and the result of a method."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from datetime import date as Date  # noqa: N812  # the argument has this name, too
from os import PathLike
from typing import Any

import polars as pl

from ..analysis.decisions import decide, one_of
from ..analysis.ordinal import Ordinal
from ..analysis.ordinal import ordinal as ordinal_of
from ..analysis.pairing import require_order, same_labels
from ..crowd.labels import Labels
from ..crowd.protocol import require_crowd
from ..errors import CallError, require_extra
from ..output.targets import check_page
from ..output.writing import write_text
from ..progress import working
from ..reading.read_truth import Truths, read_truth, read_truths
from ..reading.truth_sets import gold_of_sets, read_truth_sets
from ..results.numeric_result import NumericResult
from ..results.result import Result
from .blocks import Section
from .numeric_data import NumericReportData
from .rendering import render
from .report_data import ReportData


def report(
    result: Result | NumericResult,
    labels: Labels,
    truth: Any = None,
    path: str | PathLike[str] = "report.html",
    *,
    command: str | None = None,
    costs: Any = None,
    ordinal: bool | Ordinal = False,
    order: Sequence[Any] | None = None,
    distance: str | None = None,
    decisions: Any = None,
    source: str = "labels.csv",
    title: str = "Crowd report",
    name: str | None = None,
    date: Date | None = None,
    texts: Mapping[Any, str] | None = None,
) -> None:
    """Write an HTML page with charts and tables about a crowd and the result of a method.

    The page is one file. It opens in any browser without a network, has light and dark colours, and can be printed.
    Needs the extra `report`: pip install 'crowdwise[report]'.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        truth: The true labels, if some are known: a path, a table, or a mapping from item to class; or true sets, where
            workers name several classes at once.
        path: The file to write; its name ends in .html.
        command: The command that makes the page again, for its last section; the Python call if None.
        costs: Costs of errors, for a section about decisions: a path, a table or a mapping; see `decide`.
        ordinal: Whether classes are numbers in their order, for a section about labels of least expected distance.
        order: The order of classes that are not numbers: all of them, from the lowest to the highest.
        distance: For ordered classes: minimise the "absolute" (the default) or the "squared" distance.
        decisions: The decisions of `crowdwise review` that were given as gold, for a section about them: a path or a
            table.
        source: What follows the commands that the page recommends, to read the labels; see `recommend`.
        title: The heading of the page, and its title in the browser.
        name: The name of the data, which stands under the heading; None for none.
        texts: What the items say, by their ids, to be shown beside them; None if that is not known.
        date: The date of the page; None for today, or for that of the variable SOURCE_DATE_EPOCH.

    Raises:
        CallError: The extra is missing, the name does not end in .html, or the result is not from these labels.
        DataError: The truth cannot be read, or has no item or no class in common with the labels; or the costs cannot
            be used; or the classes cannot be ordered.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> report(cw.BWA().fit(crowd.labels), crowd.labels, crowd.truth, path)
    >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    require_extra("report", "A report")
    require_order(result)
    check_page(path)
    if isinstance(result, NumericResult):
        _report_numbers(result, labels, truth, path, command, costs, (title, name, date), texts)
        return
    labels = same_labels(result, labels)
    true_sets = None if truth is None or labels.sets is None else read_truth_sets(truth)
    known: pl.DataFrame | None = None
    if truth is not None:
        known = read_truth(truth) if true_sets is None else gold_of_sets(Truths(true_sets), labels).table
    asked = one_of(costs, ordinal_of(ordinal, order, distance))
    decided = None if costs is None and asked is None else decide(result, costs, ordinal=asked or False)
    more = ("" if truth is None else ", truth") + ("" if costs is None else ", costs=costs")
    if asked is not None:
        more += ", ordinal=True" if asked.order is None else f", order={list(asked.order)!r}"
        more += "" if asked.distance == "absolute" else f", distance={asked.distance!r}"
    call = f"cw.report(cw.{result.method!r}.fit(labels), labels{more})"
    reviewed = None if decisions is None else read_truths(decisions).log
    data = ReportData(result, labels, known, command or call, decided, asked, reviewed, source, texts or {}, true_sets)
    write_text(path, report_text(data, title, name, date))


def report_text(
    data: ReportData, title: str = "Crowd report", name: str | None = None, date: Date | None = None
) -> str:
    """Return the whole page as HTML."""
    lead = f"{data.labels.n_workers:,} workers, {_items(data.labels)}. Labels inferred by {data.method_name}."
    return render(f"{title} · {data.method_name}", title, _of(name, date) + lead, gather(data))


def _items(labels: Labels) -> str:
    """Return how many items there are; where workers name several classes at once, items are questions."""
    if labels.sets is None:
        return f"{labels.n_items:,} items"
    items, classes = len(labels.sets.items), len(labels.sets.classes)
    return f"{labels.n_items:,} yes/no questions, each about one of {items:,} items and one of {classes:,} classes"


def _of(name: str | None, date: Date | None) -> str:
    """Return the name of the data and the date, for the line under the heading."""
    if date is None:
        # The usual variable for files that are to be the same however late they are made again.
        given = os.environ.get("SOURCE_DATE_EPOCH", "")
        date = datetime.fromtimestamp(int(given), UTC).date() if given.isdecimal() else Date.today()
    day = f"{date.day} {date:%B %Y}"
    return f"{day}. " if name is None else f"{name}, {day}. "


def _report_numbers(
    result: NumericResult,
    labels: Any,
    truth: Any,
    path: str | PathLike[str],
    command: str | None,
    costs: Any,
    about: tuple[str, str | None, Date | None],
    texts: Mapping[Any, str] | None,
) -> None:
    """Write the page about numeric labels; see `report`."""
    from .numeric_sections import NUMERIC_SECTIONS  # imported here because it needs the extra

    require_crowd(labels, "A report about numbers", numeric=True)
    if costs is not None:
        raise CallError("costs are for classes, and these labels are numbers.")
    if not labels.names.items.equals(result.names.items) or not labels.names.workers.equals(result.names.workers):
        raise CallError("The result is not from these labels: their items or workers differ.")
    known = None if truth is None else read_truth(truth)
    call = f"cw.report(cw.{result.method!r}.fit(numbers), numbers{'' if truth is None else ', truth'})"
    data = NumericReportData(result, labels, known, command or call, texts or {})
    lead = f"{labels.n_workers:,} workers, {labels.n_items:,} items. Values inferred by {data.method_name}."
    title, name, date = about
    write_text(
        path, render(f"{title} · {data.method_name}", title, _of(name, date) + lead, _gather(data, NUMERIC_SECTIONS))
    )


def gather(data: ReportData) -> list[Section]:
    """Make every section in the table SECTIONS; a section that has nothing to show is left out."""
    from .sections import SECTIONS  # imported here because it needs the extra

    return _gather(data, SECTIONS)


def _gather(data: Any, rows: Sequence[Any]) -> list[Section]:
    """Make every section in a table of sections; a section that has nothing to show is left out."""
    gathered = []
    with working("writing the report") as told:
        for done, row in enumerate(rows):
            told(done / len(rows))
            gathered.append((row, row.gather(data)))
    return [Section(row.id, row.title, blocks, row.navigation) for row, blocks in gathered if blocks is not None]
