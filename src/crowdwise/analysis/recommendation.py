"""`recommend`: the one thing to do next, with what it costs and what it is expected to change."""

import math
import shlex
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np

from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..results.expected_accuracy import ExpectedAccuracy
from ..results.result import Result
from .review import SHARE
from .rivals import Rivals

# How many random items an expert is asked for, and for how many of them more are no longer the first thing to do.
_RANDOM: Final = 30
# How many minutes an expert takes to decide an item.
_MINUTES: Final = 0.5
# Answers are good enough if so many are right in four of five crowds.
ENOUGH: Final = 0.9
# A range that shrinks by less than this is no reason to decide items.
_NARROWER: Final = 0.02
# A smaller crowd is decided whole.
_FEWEST_ITEMS: Final = 20


@dataclass(frozen=True)
class Recommendation:
    """The one thing to do next; `str` says it in words.

    Attributes:
        kind: "settle": decide the items that tell which reading of the labels is right. "measure": decide random items,
            which say how often answers are right. "decide": decide the least sure items. "enough": do nothing.
        decisions: How many items an expert is to decide.
        minutes: About how long that takes.
        effect: What it is expected to change, in words.
        command: The command that asks for these decisions; None if there is none.
        known: How many items are known already.
        table: The table of gold that the decisions are to be added to; None if `crowdwise review` writes them.
    """

    kind: Literal["settle", "measure", "decide", "enough"]
    decisions: int
    minutes: int
    effect: str
    command: str | None
    known: int = 0
    table: str | None = None

    def __str__(self) -> str:
        if self.kind == "enough":
            return f"Next: nothing, because {self.effect}."
        more = "more " if self.known else ""
        what = {
            "settle": "the items that settle how to read the labels",
            "measure": several(self.decisions, f"{more}random item", f"{more}random items"),
            "decide": f"the {several(self.decisions, 'least sure item', 'least sure items')}",
        }[self.kind]
        return f"Next: let an expert decide {what} (about {self._time}): {self.effect}.{self._how}"

    @property
    def _how(self) -> str:
        if self.command is None:
            return ""
        if self.table is None:
            return f" `{self.command}` shows them in the browser, and saves the decisions for --gold."
        chosen = "" if self.kind == "measure" else ", with the column 'source'"
        return f" `{self.command}` lists them: fill in the column 'truth', and add these items to {self.table}{chosen}."

    @property
    def _time(self) -> str:
        return several(self.minutes, "minute", "minutes") if self.minutes < 120 else f"{self.minutes / 60:.0f} hours"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "sentence": str(self)}


def recommend(result: Any, labels: Any, rivals: Rivals | None = None, source: str = "labels.csv") -> Recommendation:
    """Return what to do next: what is expected to help most.

    Where the labels allow other readings, ten items that settle it come first. Then random items, until there are 30:
    they alone show how often answers are right. Then the least sure items. If nine of ten answers are right in four of
    five crowds, nothing has to be done.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        rivals: Other readings of the labels; None if there are none.
        source: What follows a command, to read these labels; with --gold and its file if gold is in a table that
            `crowdwise review` does not write.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(400, 20, seed=1)
    >>> recommend(cw.aggregate(crowd.labels), crowd.labels).kind
    'measure'
    """
    accuracy: ExpectedAccuracy = result.expected_accuracy
    gold = 0 if result.gold_check is None else result.gold_check.items
    n_items = labels.n_items - (0 if getattr(result, "gold", None) is None else int((result.gold >= 0).sum()))
    here = isinstance(labels, Labels) and not labels.set_valued
    if rivals is not None and gold == 0:
        count = len(rivals.settling)
        effect = f"{several(max(rivals.changed), 'answer depends', 'answers depend')} on it"
        return _asked("settle", count, effect, f"settle:{count}" if here else None, source)
    if n_items == 0:
        return Recommendation("enough", 0, 0, "every item is decided", None)
    if not result.numeric and len(result.names.classes) == 1:
        return Recommendation("enough", 0, 0, "all labels name one class, and so none shows an error", None)
    if any(caution.kind == "one class" for caution in result.cautions):
        return Recommendation("enough", 0, 0, "the labels look like texts, which decisions cannot change", None)
    if accuracy.low_80 is None or n_items < _FEWEST_ITEMS:
        return _asked("decide", n_items, "then all answers are right", "worst" if here else None, source)
    if accuracy.low_80 >= ENOUGH:
        return Recommendation(
            "enough", 0, 0, f"in four of five crowds, {100 * ENOUGH:.0f} % of the answers are right or more", None
        )
    if gold < _RANDOM:
        count = min(_RANDOM - gold, n_items // 2)
        after = ExpectedAccuracy.of(
            accuracy.value * (n_items - count), n_items - count, result.method.calibrated_as, gold + count
        )
        effect = f"the range of the share right shrinks from {_range(accuracy)} to about {_range(after)}"
        if _width(after) > _width(accuracy) - _NARROWER:
            effect = "then the share right is measured, and no guess"
        return _asked("measure", count, effect, f"random:{gold + count:g}" if here else None, source, gold)
    count = math.ceil(SHARE * n_items)
    if not (here and isinstance(result, Result)):
        return _asked("decide", count, "that is where most errors are", None, source)
    is_open = np.ones(labels.n_items, bool) if result.gold is None else result.gold < 0
    found = np.sort(1 - result.confidence[is_open])[::-1][:count].sum() / n_items
    effect = f"the expected accuracy rises from {100 * accuracy.value:.0f} to {100 * (accuracy.value + found):.0f} %"
    return _asked("decide", count, effect, "worst", source)


def _width(accuracy: ExpectedAccuracy) -> float:
    return (accuracy.high_80 or 1.0) - (accuracy.low_80 or 0.0)


def _range(accuracy: ExpectedAccuracy) -> str:
    """Return the 80 % interval in percent."""
    low, high = accuracy.low_80 or 0.0, accuracy.high_80 or 1.0
    return f"{100 * low:.0f}-{100 * high:.0f} %"


def _asked(
    kind: Literal["settle", "measure", "decide"], count: int, effect: str, plan: str | None, source: str, known: int = 0
) -> Recommendation:
    """Return a recommendation to decide so many items, by a plan of `crowdwise review`, or as a list."""
    minutes, words = math.ceil(_MINUTES * count), shlex.split(source)
    if plan is None:
        return Recommendation(kind, count, minutes, effect, None, known)
    if "--gold" not in words:
        return Recommendation(kind, count, minutes, effect, f"crowdwise review {source} --plan {plan}", known)
    number = "--random" if kind == "measure" else "--budget"
    command = f"crowdwise next {source} --ask expert {number} {count} -o decide.csv"
    return Recommendation(kind, count, minutes, effect, command, known, words[words.index("--gold") + 1])
