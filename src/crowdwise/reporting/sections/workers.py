"""The section "Workers": the quality, the trust and the confusions of workers, and who is unusual."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts, figures
from ...analysis.condensing import bins, left_out, most_common, names_as_text
from ...analysis.unusual_workers import REASONS, in_words, reasons_in_words
from ...crowd.labels import Labels
from ...crowd.reading_report import several
from ...numerics import Array
from ...results.result import Result
from ...results.stated import STATED
from ..blocks import Block, Cell, Figure, Heading, HeatMap, Paragraph, SideBySide, Table
from ..cells import number, sentences, text, without_repeated
from ..report_data import ReportData

# The largest number of rows in the table of all workers, and in the table of unusual workers.
_MAX_ROWS: Final = 300
_MAX_UNUSUAL: Final = 100
# The largest number of classes in the small heat map of a worker, and its number of shades.
_MAX_PICTURED_CLASSES: Final = 8
_SHADES: Final = 6
# For so many workers a chart has their names, and a histogram says nothing.
_MOST_NAMED: Final = 15
# For how many workers worth a look there is a matrix that can be read.
_MAX_MATRICES: Final = 4


def gather(data: ReportData) -> list[Block]:
    """Make the charts of quality and trust, the table of unusual workers, and the table of all workers."""
    labels, result = data.labels, data.result
    found = data.findings
    table, unusual = (one.with_columns(names_as_text(one["worker"])) for one in (found.habits, found.flagged))
    intervals = bool(table["low"].is_not_null().any())
    interval = (
        ", with a 95% interval, which also holds what follows if workers err together as often as in other crowds"
        if intervals
        else ""
    )
    return [
        Paragraph(f"Quality is how often a worker is right, as far as the crowd can tell{interval}.", "intro"),
        *_charts([_qualities(table, intervals), *_trust(data)]),
        Heading("Worth a look"),
        *_worth_a_look(labels, unusual),
        *_matrices(result, labels, found.flagged),
        Heading("All workers"),
        _all_workers(result, labels, table, intervals, unusual),
        Paragraph(_how_to_read_confusion(labels), "note"),
        *_stated(result),
    ]


def _charts(figures: list[Figure]) -> list[Block]:
    """Put figures beside each other; one alone is as wide as the page."""
    return [SideBySide(figures)] if len(figures) > 1 else list(figures)


def _stated(result: Result) -> list[Block]:
    """Make the table of what workers state against what is inferred; nothing if nobody states probabilities."""
    if result.stated is None:
        return []
    table = pl.DataFrame({"worker": names_as_text(result.names.workers), **result.stated.columns()})
    table = table.drop_nulls("brier").sort("brier", maintain_order=True)
    if not table.height:
        return []
    rows = [
        [text(row["worker"]), *(number(row[name], ".3f") for name in STATED)]
        for row in table.head(_MAX_ROWS).iter_rows(named=True)
    ]
    said = (
        "Stated is the mean probability that a worker gives to its labels, inferred how often they are right, and the "
        "Brier score the expected square of the difference: lower is better. Votes count with their probabilities to "
        "the power of the sharpness, which is below 1 for a worker who is surer than right."
    )
    columns = ["Worker", "#Sharpness", "#Stated", "#Inferred", "#Brier score"]
    left = left_out(len(rows), table.height, "The best:")
    return [Heading("Probabilities that workers state"), Paragraph(said, "intro"), Table("stated", columns, rows, left)]


def _worth_a_look(labels: Labels, unusual: pl.DataFrame) -> list[Block]:
    """Make the table of unusual workers with the reasons in words; a sentence if there are none."""
    if not unusual.height:
        nobody = (
            "Nobody stands out: no one repeats one answer, guesses, is far below the others or has very few labels."
        )
        return [Paragraph(nobody, "intro")]
    class_names = names_as_text(labels.names.classes)
    rows = [
        [
            text(row["worker"]),
            number(row["labels"]),
            number(row["quality"], ".3f"),
            sentences([str(one) for one in reasons_in_words(row, class_names.__getitem__)]),
        ]
        for row in unusual.head(_MAX_UNUSUAL).iter_rows(named=True)
    ]
    with_reason = unusual.filter(pl.any_horizontal(REASONS)).height
    intro = (
        f"{with_reason:,} with something unusual, {unusual.height - with_reason:,} with too few labels to say. These "
        "are reasons to look, not verdicts: hard items, a misread instruction or plain bad luck can look the same."
    )
    left = left_out(len(rows), unusual.height, "Those with the most reasons and labels:")
    columns = ["Worker", "#Labels", "#Quality", "_Why"]
    return [Paragraph(intro, "intro"), Table("workers worth a look", columns, rows, left)]


def _all_workers(result: Result, labels: Labels, table: pl.DataFrame, intervals: bool, unusual: pl.DataFrame) -> Table:
    """Make the table of the workers with the most labels, the worst first: quality, agreement and confusions."""
    marks = dict(in_words(unusual, names_as_text(labels.names.classes), short=True).rows())
    shown = table.sort("labels", "code", descending=[True, False]).head(_MAX_ROWS).sort("quality", "code")
    pictures = _confusions(result, labels, shown["code"].to_numpy())
    sample_of, follows = labels.names.sampled_workers, _leaders(result)
    columns = [
        "Worker",
        *([] if sample_of is None else ["Sample of"]),
        *([] if follows is None else ["Follows"]),
        "#Labels",
        "#Quality",
        *(["#95% low", "#95% high"] if intervals else []),
        "#Agrees with answers",
        "#Agrees with others",
        *(["Worth a look"] if marks else []),
        "Confusion",
    ]
    rows: list[list[Cell]] = [
        [
            text(row["worker"]),
            *([] if sample_of is None else [text(sample_of[row["code"]] or "")]),
            *([] if follows is None else [text(follows[row["code"]] or "")]),
            number(row["labels"]),
            number(row["quality"], ".3f"),
            *([number(row["low"], ".3f"), number(row["high"], ".3f")] if intervals else []),
            number(row["agreement"], ".1%"),
            number(row["others"] if row["compared"] else None, ".1%"),
            *([text(marks.get(row["worker"], ""))] if marks else []),
            picture,
        ]
        for row, picture in zip(shown.iter_rows(named=True), pictures, strict=True)
    ]
    left = left_out(len(rows), table.height, "The workers with the most labels:")
    columns, rows = without_repeated(columns, rows, [("#Agrees with answers", "#Quality")])
    return Table("workers", columns, rows, left)


def _matrices(result: Result, labels: Labels, flagged: pl.DataFrame) -> list[Block]:
    """Make a matrix of what was said for each answer, for the first workers with something unusual."""
    codes = flagged.filter(pl.any_horizontal(REASONS))["code"].head(_MAX_MATRICES).to_list()
    if not codes or labels.set_valued or labels.n_classes < 2:
        return []
    answers = np.repeat(result.answers, np.diff(labels.item_starts))
    names = names_as_text(labels.names.classes)
    axes = charts.Axes("Answer", "Said", "labels")
    figures_ = []
    for code in codes:
        mine = labels.workers == code
        cases = answers[mine], labels.labels[mine]
        charted = most_common(np.bincount(np.concatenate(cases), minlength=len(names)), _MAX_PICTURED_CLASSES)
        chart = figures.confusion(names, cases, charted, axes, charts.PAGE)
        worker = names_as_text(labels.names.workers.gather([code]))[0]
        caption = left_out(len(charted), len(names), "The classes that it meets most:") if len(charted) == 8 else ""
        figures_.append(Figure(f"Worker {worker}: {several(int(mine.sum()), 'label', 'labels')}", chart, caption))
    intro = "A row is an answer; its cells are what the worker said on those items. Good workers have a dark diagonal."
    return [Heading("What they say instead"), Paragraph(intro, "intro"), SideBySide(figures_)]


def _leaders(result: Result) -> pl.Series | None:
    """(workers), the name of the worker whom each follows, null for nobody; None if nobody follows anybody."""
    leaders = result.workers.leaders
    if leaders is None or not (leaders >= 0).any():
        return None
    return names_as_text(result.names.workers).gather(pl.Series(leaders).replace(-1, None))


def _how_to_read_confusion(labels: Labels) -> str:
    shown = min(labels.n_classes, _MAX_PICTURED_CLASSES)
    return (
        "Confusion: rows are the answers, columns what the worker said, both in the order of the classes; strong cells "
        "on the diagonal are right labels. " + left_out(shown, labels.n_classes, "Classes with the most answers:")
    ).rstrip()


def _qualities(table: pl.DataFrame, intervals: bool) -> Figure:
    """Make a chart of quality: a line with the name of each worker where they are few.

    Else it is against the number of labels, with a point per worker, or a grid if there are many workers.
    """
    if table.height <= _MOST_NAMED and not table["worker"].is_duplicated().any():
        ends = (pl.col(end).fill_null(pl.col("quality")) for end in ("low", "high"))
        named = table.sort("quality", "code", descending=[True, False]).select("worker", "quality", *ends)
        chart = charts.intervals(named, "Quality", charts.PAGE)
        return Figure("Quality of each worker", chart, "Lines are 95% intervals.")
    chart = figures.qualities(table, charts.PAGE)
    lines = ", a line its 95% interval" if intervals else ""
    caption = f"A point is a worker{lines}."
    if table.height > figures.MOST_LINES:
        caption = (
            "A point is a worker; half of the workers with about so many labels are in the dark band, nine of ten in "
            "the light one."
        )
    if table.height > figures.MOST_POINTS:
        caption = (
            f"There are more than {figures.MOST_POINTS:,} workers, so a cell counts workers: the stronger, the more "
            "(logarithmic)."
        )
    further = "Further right are workers with more labels (logarithmic)."
    return Figure("Quality against number of labels", chart, f"{caption} {further}")


def _trust(data: ReportData) -> list[Figure]:
    """Make the histogram of how much the method trusts the workers; none if the method has no such number."""
    trust = data.learned.trust()
    if trust is None or data.labels.n_workers <= _MOST_NAMED:
        return []
    values = trust.value[data.result.worker_votes > 0]
    low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    chart = charts.histogram(bins(values, low, high), trust.meaning, "Workers", charts.PAGE)
    return [
        Figure(
            "How much a worker's vote weighs",
            chart,
            "The further right, the more the method trusts a worker. The numbers mean something only side by side.",
        )
    ]


def _confusions(result: Result, labels: Labels, codes: Array) -> list[Cell]:
    """Make a small heat map for each of these workers: rows are answers, columns are the classes that it said."""
    shown = most_common(np.bincount(result.answers, minlength=labels.n_classes), _MAX_PICTURED_CLASSES)
    worker_position = np.full(labels.n_workers, -1)
    worker_position[codes] = np.arange(len(codes))
    class_position = np.full(labels.n_classes, -1)
    class_position[shown] = np.arange(len(shown))
    size = len(shown)
    worker = worker_position[labels.workers]
    answer = class_position[np.repeat(result.answers, np.diff(labels.item_starts))]
    said = class_position[labels.labels]
    in_picture = (worker >= 0) & (answer >= 0) & (said >= 0)
    cells = (worker[in_picture] * size + answer[in_picture]) * size + said[in_picture]
    counts = np.bincount(cells, minlength=len(codes) * size**2).reshape(len(codes), size, size)
    class_names = names_as_text(labels.names.classes).gather(shown).to_list()
    return [_confusion(one, class_names) for one in counts]


def _confusion(counts: Array, class_names: list[str]) -> Cell:
    """Make the heat map of one worker, given how often it said each class (column) for each answer (row)."""
    given = counts.sum(axis=1)
    share = counts / np.maximum(given, 1)[:, None]
    shades = np.ceil(share * _SHADES).astype(int)
    paths = [
        (shade, "".join(f"M{column} {row}h1v1h-1z" for row, column in zip(*np.nonzero(shades == shade), strict=True)))
        for shade in range(1, _SHADES + 1)
        if (shades == shade).any()
    ]
    right = ", ".join(f"{name} {share[k, k]:.0%}" for k, name in enumerate(class_names) if given[k])
    agreement = float(np.trace(counts) / max(given.sum(), 1))
    return Cell("", agreement, HeatMap(len(class_names), paths, f"Says the answer: {right}"))
