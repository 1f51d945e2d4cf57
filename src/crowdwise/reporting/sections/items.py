"""The section "Items": the confidence of the answers, and the disputed items with explanations."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts, figures
from ...analysis.condensing import LONGEST_NAME, left_out
from ...analysis.explanation import Explanation, explain_code, refuse_unexplained
from ...analysis.review import expected_errors
from ...crowd.labels import Labels
from ...crowd.reading_report import several
from ...errors import CallError, shortened
from ...numerics import Array
from ...results.result import Result
from ..blocks import Block, Cell, Download, Figure, Heading, Paragraph, SideBySide, Table, Tile, Tiles
from ..cells import item_cells, item_columns, number, text, without_repeated
from ..report_data import ReportData
from .votes_in_words import votes_in_words

# The largest number of items in the table of disputed items, and of items that are explained.
_MAX_ROWS: Final = 300
_MAX_EXPLAINED: Final = 6
# The largest number of items in the list to save.
_MAX_REVIEWED: Final = 5000
# The largest number of votes in an explanation that have a bar of their own.
_MAX_STEPS: Final = 12
_HOW_TO_READ_EXPLANATIONS: Final = (
    "A bar is a vote: blue supports the answer, orange the runner-up. With the prior (before any vote) they add up to "
    "the lead at the bottom. What would change an answer is computed with the quality of each worker as it is."
)


def gather(data: ReportData) -> list[Block]:
    """Make the chart of the confidence, explanations of the most disputed items, and a table of disputed items."""
    labels, result = data.labels, data.result
    disputed = _disputed(result)
    table = _table(data, disputed)
    return [
        SideBySide([_confidence(result), _counts(result, labels)]),
        *_explanations(data, disputed[:_MAX_EXPLAINED]),
        *_review(data),
        *([Heading("Disputed items"), table] if table.rows else []),
    ]


def _review(data: ReportData) -> list[Block]:
    """Make the list of items to review, as a file to save; nothing if there is no item to look at."""
    listed = data.to_review
    if not listed.height:
        return []
    shown = listed.head(_MAX_REVIEWED).with_columns(pl.col("confidence").round(4))
    if data.texts:
        texts = [data.texts.get(item) for item in shown["item"]]
        shown = shown.insert_column(1, pl.Series("text", texts, pl.String))
    more = left_out(shown.height, listed.height, "The file has the least sure items:")
    return [
        Heading("Items to review"),
        Paragraph(f"{expected_errors(data.result, listed)} {more}".rstrip(), "intro"),
        Download(f"Save the list ({several(shown.height, 'item', 'items')}, CSV)", "review.csv", shown.write_csv()),
    ]


def _confidence(result: Result) -> Figure:
    """Make the histogram of the confidence of the answers."""
    chart = figures.confidence(result.confidence, charts.PAGE)
    caption = (
        "The probability that the answer is right. It is calibrated on other crowds: right on average over many "
        "crowds, but it may be off on this one."
    )
    return Figure("How sure the answers are", chart, caption)


def _counts(result: Result, labels: Labels) -> Tiles:
    """Make the tiles: how many items are tied, have a single vote, or have several votes, all for one class."""
    starts = labels.item_starts[:-1]
    same = np.minimum.reduceat(labels.labels, starts) == np.maximum.reduceat(labels.labels, starts)
    unanimous = int((same & (np.diff(labels.item_starts) > 1)).sum())
    single = int((result.votes == 1).sum())
    tiles = [
        Tile("Ties", f"{int(result.ties.sum()):,}", "The best two classes have the same score"),
        Tile("Items with a single vote", f"{single:,}", "Nobody could disagree"),
        Tile("Items without dissent", f"{unanimous:,}", "Several votes, all for one class"),
    ]
    return Tiles(tiles, narrow=True)


def _disputed(result: Result) -> Array:
    """Return the codes of the items whose best two classes are closest; of equal ones, those with most votes first."""
    second = result.ranking[1]
    if (second < 0).all():
        return np.zeros(0, np.int64)
    lead = result.best_scores - result.second_scores
    lead[result.ties] = 0.0
    count = min(_MAX_ROWS, len(lead))
    among = np.flatnonzero(lead <= np.partition(lead, count - 1)[count - 1])
    return np.asarray(among[np.lexsort((among, -result.votes[among], lead[among]))][:count])


def _explanations(data: ReportData, codes: Array) -> list[Block]:
    """Explain why these items have their answers; if the method has no explanations, a sentence says why."""
    try:
        refuse_unexplained(data.result)
    except CallError as refusal:
        return [Paragraph(str(refusal), "note")]
    figures = list(_waterfalls(data, codes))
    if not figures:
        return []
    heading = Heading("Why these labels? The most disputed items")
    return [heading, Paragraph(_HOW_TO_READ_EXPLANATIONS, "intro"), SideBySide(figures)]


def _waterfalls(data: ReportData, codes: Array) -> Iterable[Figure]:
    """Make a chart for each of these items of what every vote adds to its answer."""
    for i in codes:
        try:
            why = explain_code(data.result, data.labels, int(i))
        except CallError:  # all classes of this item are impossible, so it has no explanation
            continue
        chart = charts.waterfall(why.steps(_MAX_STEPS), why.axis, charts.PAGE)
        said = data.texts.get(data.labels.names.items[int(i)])
        quote = (
            f"\N{LEFT DOUBLE QUOTATION MARK}{shortened(said, LONGEST_NAME)}\N{RIGHT DOUBLE QUOTATION MARK} "
            if said
            else ""
        )
        yield Figure(f"Item {why.item}: {_outcome(why)}", chart, f"{quote}{_both_scores(why)} {why.remedy}")


def _outcome(why: Explanation) -> str:
    return f"{why.label} and {why.runner_up} are tied" if why.tied else f"{why.label}, not {why.runner_up}"


def _both_scores(why: Explanation) -> str:
    ends = "" if why.interval is None else f" (95% interval {why.interval[0]:.3f} to {why.interval[1]:.3f})"
    return f"Score {why.score:.3f}{ends} against {why.runner_up_score:.3f}."


def _table(data: ReportData, disputed: Array) -> Table:
    labels = data.labels
    columns, rows = without_repeated(
        [
            *item_columns(data.texts),
            *("Answer", "#Confidence", "#Score", "Runner-up", "#Its score", "#Lead", "#Votes", "What was said"),
        ],
        [[*item_cells(labels.names.items[i], data.texts), *_row(data.result, labels, i)] for i in disputed.tolist()],
        [("#Score", "#Confidence")],
    )
    return Table(
        "disputed items",
        columns,
        rows,
        left_out(len(disputed), labels.n_items, "The items whose best two classes are closest:"),
    )


def _row(result: Result, labels: Labels, i: int) -> list[Cell]:
    best, second = result.ranking[0][i], result.ranking[1][i]
    high, low = result.scores[i, best], result.scores[i, second]
    class_names = labels.names.classes
    return [
        text(class_names[int(best)]),
        number(float(result.probabilities[i, best]), ".3f"),
        number(high, ".3f"),
        text(class_names[int(second)]),
        number(low, ".3f"),
        Cell("tie", 0.0) if result.ties[i] else number(high - low, ".4f"),
        number(int(result.votes[i])),
        text(votes_in_words(labels, i)),
    ]
