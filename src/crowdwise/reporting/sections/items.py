"""Items: how sure the answers are, and the ones that are disputed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...analysis import charts
from ...analysis.explanation import Explanation, explain_code, refuse_unexplained
from ...data.labels import Labels
from ...errors import CallError
from ...kernels import Array
from ...results.result import Result
from ..widgets import Cell, Figure, Table, bins, left_out, listed, names, number, text

_ROWS: Final = 300
_EXPLAINED: Final = 6
# Votes of one item that are drawn by themselves.
_STEPS: Final = 12
# Classes named in a cell of votes.
_NAMED: Final = 6


@dataclass(frozen=True)
class Items:
    """The fourth section."""

    figure: Figure
    ties: int
    single: int
    unanimous: int
    table: Table
    explained: list[Figure]
    unexplained: str


def items(labels: Labels, result: Result) -> Items:
    """Gather it."""
    scale = {
        "probability": "Probability of the answer",
        "weight": "Score of the answer",
        "margin": "Score of the answer",
    }
    scores = result.confidence
    low, high = (
        (0.0, 1.0) if result.scale != "margin" else (float(scores.min()), float(max(scores.max(), scores.min() + 1)))
    )
    chart = charts.histogram(bins(scores, low, high), scale[result.scale], "Items", charts.PAGE)
    disputed = _disputed(result)
    explained: list[Figure] = []
    unexplained = ""
    try:
        refuse_unexplained(result)
        explained = list(_explained(labels, result, disputed[:_EXPLAINED]))
    except CallError as refusal:
        unexplained = str(refusal)
    rows = [_row(labels, result, i) for i in disputed]
    return Items(
        figure=Figure("How the scores of the answers are spread", chart, _reading(result)),
        ties=int(result.ties.sum()),
        single=int((result.votes == 1).sum()),
        unanimous=_unanimous(labels),
        table=Table(
            "disputed items",
            ["Item", "Answer", "#Score", "Runner-up", "#Its score", "#Lead", "#Votes", "What was said"],
            rows,
            left_out(len(rows), labels.n_items, "The items whose best two classes are closest:"),
        ),
        explained=explained,
        unexplained=unexplained,
    )


def said_on(labels: Labels, i: int) -> str:
    """What was said about an item, most frequent first."""
    classes, counts = np.unique(labels.labels[labels.item_starts[i] : labels.item_starts[i + 1]], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    called = names(labels.names.classes.gather(classes[order[:_NAMED]]))
    told = [f"{count}\N{MULTIPLICATION SIGN} {name}" for name, count in zip(called, counts[order], strict=False)]
    return listed(told if len(order) <= _NAMED else [*told, f"{len(order) - _NAMED} more classes"])


def _disputed(result: Result) -> Array:
    """The items whose best two classes are closest; equally close ones by their votes, more first."""
    second = result.ranking[1]
    if (second < 0).all():
        return np.zeros(0, np.int64)
    lead = result.confidence - np.take_along_axis(result.scores, second[:, None], axis=1)[:, 0]
    lead[result.ties] = 0.0
    count = min(_ROWS, len(lead))
    among = np.flatnonzero(lead <= np.partition(lead, count - 1)[count - 1])
    return np.asarray(among[np.lexsort((among, -result.votes[among], lead[among]))][:count])


def _row(labels: Labels, result: Result, i: int) -> list[Cell]:
    best, second = result.ranking[0][i], result.ranking[1][i]
    high, low = result.scores[i, best], result.scores[i, second]
    called = labels.names.classes
    return [
        text(labels.names.items[int(i)]),
        text(called[int(best)]),
        number(high, ".3f"),
        text(called[int(second)]),
        number(low, ".3f"),
        Cell("tie", 0.0) if result.ties[i] else number(high - low, ".4f"),
        number(int(result.votes[i])),
        Cell(said_on(labels, int(i))),
    ]


def _explained(labels: Labels, result: Result, codes: Array) -> Iterable[Figure]:
    for i in codes:
        try:
            why = explain_code(result, labels, int(i))
        except CallError:  # an item for which every class is impossible has nothing to add up
            continue
        chart = charts.waterfall(why.steps(_STEPS), why.axis, charts.PAGE)
        yield Figure(f"Item {why.item}: {_outcome(why)}", chart, f"{_scores(why)} {why.remedy}")


def _outcome(why: Explanation) -> str:
    return f"{why.label} and {why.runner_up} are tied" if why.tied else f"{why.label}, not {why.runner_up}"


def _scores(why: Explanation) -> str:
    ends = "" if why.interval is None else f" (95% interval {why.interval[0]:.3f} to {why.interval[1]:.3f})"
    return f"Score {why.score:.3f}{ends} against {why.runner_up_score:.3f}."


def _unanimous(labels: Labels) -> int:
    """How many items with several labels have only one class said."""
    starts = labels.item_starts[:-1]
    same = np.minimum.reduceat(labels.labels, starts) == np.maximum.reduceat(labels.labels, starts)
    return int((same & (np.diff(labels.item_starts) > 1)).sum())


def _reading(result: Result) -> str:
    if result.scale == "probability":
        return "How probable the method calls its answers: the further right, the surer."
    if result.scale == "weight":
        return (
            "The answer's share of the weighted votes, between 0 and 1: the further right, the clearer. It ranks "
            "answers by how clear they are and does not say how many are right."
        )
    return "The sum of the weights of the votes for the answer: the further right, the clearer. It has no upper end."
