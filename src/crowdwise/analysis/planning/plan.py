"""`plan`: how many more labels, or how much gold, would bring the expected accuracy to a target."""

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Final

import numpy as np
import polars as pl

from ...crowd.labels import Labels
from ...crowd.numbering import inverse
from ...crowd.reading_report import several
from ...errors import CallError, DataError, shown
from ...methods.adjudicator import Adjudicator
from ...methods.mv import MajorityVote
from ...numerics import Array
from ...results.expected_accuracy import QUANTILES, ExpectedAccuracy
from ...results.intervals import arcsine_shift
from ...results.result import Result
from ...results.tables import as_html
from ..pairing import same_labels
from .foresight import foresee
from .future import STEPS, Future, simulate_future
from .needs import require_in_memory

# How often items are drawn again for the interval of how many labels it takes.
_RESAMPLES: Final = 400
_SEED: Final = 1
# How many times as large as simulated gains are, where errors are shared, because more labels also say more about the
# workers: the ratio of the mean gains on crowds with known truth, each family weighing the same
# (`make study NAME=planning`).
LEARNING: Final = 1.5


@dataclass(frozen=True, eq=False)
class Plan:
    """What it takes to reach a target.

    Attributes:
        target: The accuracy that is wanted.
        now: The expected accuracy so far.
        items: The number of items, without those that are gold already.
        labels: The number of labels of these items so far.
        needed: How many more labels are expected to bring it to the target if every item gets equally many; None if no
            number of them up to 64 an item does.
        needed_low: The lower end of an 80 % interval of this number; None if that is never. It holds how far
            confidence is off in other crowds, or in this one if there is gold, and which items there are.
        needed_high: The upper end of it; None if that is never.
        ceiling: The expected accuracy after labels of this crowd without end. It is not below that of majority vote.
        ceiling_low: The lower end of an 80 % interval of it.
        ceiling_high: The upper end of it.
        gold: How many items an expert has to decide, the least sure ones first, to bring it to the target.
        gold_low: The lower end of an 80 % interval of this number.
        gold_high: The upper end of it.
        measured: Whether confidence was fitted to random gold of this crowd; otherwise intervals rest on other crowds.
        price: What a label costs; None if that is unknown.
        curve: One row per number of further labels: labels_per_item, labels (how many more in all) and
            expected_accuracy.
        shares_errors: Whether errors that workers share were reckoned with.
    """

    target: float
    now: ExpectedAccuracy
    items: int
    labels: int
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    ceiling: float
    ceiling_low: float
    ceiling_high: float
    gold: int
    gold_low: int
    gold_high: int
    measured: bool
    price: float | None
    curve: pl.DataFrame
    shares_errors: bool

    @property
    def money(self) -> float | None:
        """What the labels cost; None if the target is not reached, or the price is unknown."""
        return None if self.needed is None or self.price is None else self.needed * self.price

    def sentences(self) -> list[str]:
        """Return the plan in words."""
        now = self.now
        said = [
            f"With {several(self.labels, 'label', 'labels')} of {several(self.items, 'item', 'items')}, the expected "
            f"accuracy is {now}."
        ]
        if self.gold == 0:
            return [*said, f"The target of {self.target:g} is reached: no more labels are needed."]
        said.append(self._about_labels())
        said.append(
            f"Instead, an expert who decides the {several(self.gold, 'least sure item', 'least sure items')} would "
            f"bring it to {self.target:g} (80 % interval: {self.gold_low:,} to {self.gold_high:,} items); "
            f"`crowdwise next labels.csv --ask expert --budget {self.gold}` lists them."
        )
        if not self.measured:
            said.append(
                "Without gold these ranges rest on other crowds, and are wide. Let an expert decide 30 random items "
                "first (`crowdwise next labels.csv --ask expert --random 30`), and plan again with --gold."
            )
        if self.labels == self.items:
            said.append("These numbers are a guess: no item has two labels, so nothing shows how good labels are.")
        elif not self.shares_errors:
            said.append(
                "It may take more labels than that: these numbers assume that workers err independently, because this "
                "method (or a method with so many classes) does not estimate errors that workers share."
            )
        return said

    def _about_labels(self) -> str:
        if self.needed is None:
            far = f"More labels of this crowd are not expected to bring it to {self.target:g}: "
            if self.ceiling < self.target:
                # Whether these workers do share errors is not known: the method expects it of every crowd.
                return (
                    f"{far}with any number of them it would be about {self.ceiling:.3f} at most (80 % interval: "
                    f"{self.ceiling_low:.3f} to {self.ceiling_high:.3f}), because workers of real crowds share errors."
                )
            end = self.curve["expected_accuracy"][-1]
            return f"{far}with {STEPS[-1]} more labels of every item it would be {end:.3f}."
        low = "unknown" if self.needed_low is None else f"{self.needed_low:,}"
        high = "or more" if self.needed_high is None else f"to {self.needed_high:,}"
        costs = "" if self.money is None else f" and cost {self.money:,.2f}"
        return (
            f"About {several(self.needed, 'more label', 'more labels')} ({self.needed / self.items:.1f} an item) would "
            f"bring it to {self.target:g} (80 % interval: {low} {high}){costs}, if every item gets equally many. "
            "Fewer may be enough where `crowdwise next` chooses the items."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "target": self.target,
            "expected_accuracy": asdict(self.now),
            "items": self.items,
            "labels": self.labels,
            "needed": self.needed,
            "needed_low": self.needed_low,
            "needed_high": self.needed_high,
            "price": self.price,
            "money": self.money,
            "ceiling": self.ceiling,
            "ceiling_low": self.ceiling_low,
            "ceiling_high": self.ceiling_high,
            "gold": self.gold,
            "gold_low": self.gold_low,
            "gold_high": self.gold_high,
            "measured": self.measured,
            "curve": self.curve.to_dicts(),
            "sentences": self.sentences(),
        }

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, the numbers with their intervals, and the curve."""
        rows = [
            ("expected accuracy now", self.now.value, self.now.low_80, self.now.high_80),
            ("expected accuracy after unlimited labels", self.ceiling, self.ceiling_low, self.ceiling_high),
            ("further labels to the target", self.needed, self.needed_low, self.needed_high),
            ("items that an expert decides instead", self.gold, self.gold_low, self.gold_high),
        ]
        table = pl.DataFrame(rows, schema=["", "value", "low (80 %)", "high (80 %)"], orient="row", strict=False)
        return as_html(self.sentences(), {"The plan": table, "Expected accuracy by further labels": self.curve})

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def plan(labels: Labels, *, target: float, price: float | None = None, result: Result | None = None) -> Plan:
    """Estimate how many more labels, or how much gold, would bring the expected accuracy to a target.

    Further labels are simulated with what the method knows of items and workers; see `simulate_future`.

    Args:
        labels: The labels so far, in memory.
        target: The accuracy that is wanted, above 0 and below 1.
        price: What a label costs.
        result: The result of a method on these labels; that of `Adjudicator` if None.

    Raises:
        CallError: An argument is not allowed.
        DataError: The labels are not in memory, or all items are gold.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(300, 20, labels_per_item=5, accuracy=0.8, seed=1)
    >>> found = plan(crowd.labels, target=0.82, price=0.04)
    >>> 0 < found.needed < 3000, 0 < found.gold < 300
    (True, True)
    """
    require_in_memory(labels, "plan")
    wanted, cost = check_target(target, price)
    found = Adjudicator().fit(labels, warn=False) if result is None else result
    labels = same_labels(found, labels)
    is_open = np.ones(labels.n_items, bool) if found.gold is None else found.gold < 0
    if not is_open.any():
        raise DataError("Every item is gold already, so all answers are right and there is nothing to plan.")
    n_items = int(is_open.sum())
    foresight = foresee(found, labels)
    future = simulate_future(foresight, is_open[inverse(labels.numbering.item_numbers)], _SEED)
    now = found.expected_accuracy
    gains = (future.confidence - future.confidence[0]) * (1.0 if foresight.ends is None else LEARNING)
    curve = _curve(now.value, gains.mean(axis=1))
    off = _deviation(now)
    low, high = _interval(now.value, off, future.confidence[0], gains, wanted)
    ceiling = _ceiling(now.value, future, foresight.ends is not None, float(curve[-1]))
    ceiling = max(ceiling, _by_majority(found, labels))
    missing = 1 - found.confidence[is_open]
    more, less = ((1 - end) / max(1 - now.value, 1e-9) for end in _ends(now.value, off))
    return Plan(
        target=wanted,
        now=now,
        items=n_items,
        labels=int(np.diff(labels.item_starts)[is_open].sum()),
        needed=_labels(_steps_to(curve, wanted), n_items),
        needed_low=_labels(low, n_items),
        needed_high=_labels(high, n_items),
        ceiling=ceiling,
        ceiling_low=_ends(ceiling, off)[0],
        ceiling_high=_ends(ceiling, off)[1],
        gold=_gold(missing, wanted),
        gold_low=_gold(missing * less, wanted),
        gold_high=_gold(np.minimum(missing * more, 1.0), wanted),
        measured=found.gold_check is not None,
        price=cost,
        curve=pl.DataFrame({"labels_per_item": STEPS, "labels": STEPS * n_items, "expected_accuracy": curve}),
        shares_errors=foresight.ends is not None,
    )


def check_target(target: object, price: object) -> tuple[float, float | None]:
    """Return the target and the price. Raises `CallError` if one of them is outside its range."""
    wanted = _number("target", target, above=0.0, below=1.0)
    return wanted, None if price is None else _number("price", price, above=0.0, below=1e12)


def _number(name: str, value: object, *, above: float, below: float) -> float:
    """Return a number. Raises `CallError` if it is none, or outside its range."""
    if not isinstance(value, Real) or isinstance(value, bool) or not above < float(value) < below:
        raise CallError(f"{name}={shown(value)} is not a number above {above:g} and below {below:g}.")
    return float(value)


def _steps_to(curve: Array, target: float) -> float:
    """Return after how many labels of every item a curve reaches the target; infinite if it does not.

    >>> _steps_to(np.linspace(0.8, 0.92, len(STEPS)), 0.82), _steps_to(np.full(len(STEPS), 0.8), 0.9)
    (2.0, inf)
    """
    reached = np.flatnonzero(curve >= target - 1e-12)
    if not len(reached):
        return math.inf
    last = int(reached[0])
    if last == 0:
        return 0.0
    share = (target - curve[last - 1]) / (curve[last] - curve[last - 1])
    return float(round(STEPS[last - 1] + share * (STEPS[last] - STEPS[last - 1]), 9))


def _labels(steps: float, n_items: int) -> int | None:
    """Return how many labels so many labels of every item are in all; None for infinitely many."""
    return None if math.isinf(steps) else math.ceil(steps * n_items - 1e-6)


def _curve(now: float, gains: Array) -> Array:
    """Return (steps), the expected accuracy after each step; it never falls, and is at most 1."""
    return np.minimum(now + np.maximum.accumulate(gains), 1.0)


def _ceiling(now: float, future: Future, shared_errors: bool, last: float) -> float:
    """Return the expected accuracy after unlimited labels; it is at least that after the last step."""
    if not shared_errors:
        return 1.0
    return min(max(now + LEARNING * (future.ceiling - float(future.confidence[0].mean())), last), 1.0)


def _deviation(now: ExpectedAccuracy) -> float:
    """Return how far expected accuracy may be off, as a standard deviation of arcsin sqrt(accuracy).

    It is what the 80 % interval says; 0 if there is none, because items are few.
    """
    if now.low_80 is None:
        return 0.0
    return (math.asin(math.sqrt(now.value)) - math.asin(math.sqrt(now.low_80))) / QUANTILES[80]


def _shifted(accuracy: float, by: Any) -> Any:
    """Return the accuracy after confidence turns out to be off by so much on the arcsine scale."""
    return arcsine_shift(min(max(accuracy, 0.0), 1.0), by)


def _ends(accuracy: float, off: float) -> tuple[float, float]:
    """Return the ends of the 80 % interval of an accuracy."""
    half = off * QUANTILES[80]
    return float(_shifted(accuracy, -half)), float(_shifted(accuracy, half))


def _interval(now: float, off: float, before: Array, gains: Array, target: float) -> tuple[float, float]:
    """Return the ends of an 80 % interval of how many labels of every item it takes.

    Items are resampled, and how far confidence is off is drawn.

    Args:
        now: The expected accuracy so far.
        off: How far it may be off.
        before: (items), the confidence so far of the items that were simulated.
        gains: (steps, items), how much surer they become.
        target: The accuracy that is wanted.
    """
    random = np.random.default_rng(_SEED)
    n_items = len(before)
    starts = _shifted(now, off * random.standard_normal(_RESAMPLES))
    found = np.empty(_RESAMPLES)
    for place in range(_RESAMPLES):
        share = random.multinomial(n_items, np.full(n_items, 1 / n_items)) / n_items
        start = float(np.clip(starts[place] + before @ share - before.mean(), 0.0, 1.0))
        found[place] = _steps_to(_curve(start, gains @ share), target)
    ordered = np.sort(found)
    return float(ordered[int(0.1 * _RESAMPLES)]), float(ordered[int(0.9 * _RESAMPLES) - 1])


def _by_majority(result: Result, labels: Labels) -> float:
    """Return how often majority vote is right: as measured by gold, or as its own confidence says."""
    if result.gold_check is not None:
        return result.gold_check.majority.value
    return MajorityVote().fit(labels, warn=False).expected_accuracy.value


def _gold(missing: Array, target: float) -> int:
    """Return how many of the least sure answers an expert must decide until so few are wrong as the target allows.

    Args:
        missing: (items), how probable it is that the answer is wrong.
        target: The accuracy that is wanted.

    >>> _gold(np.array([0.5, 0.25, 0.0, 0.25]), 0.8), _gold(np.array([0.1, 0.1]), 0.8)
    (1, 0)
    """
    ordered = np.sort(missing)[::-1]
    left = math.fsum(ordered.tolist()) - np.concatenate([[0.0], np.cumsum(ordered)])
    return int(np.flatnonzero(left <= (1 - target) * len(missing) + 1e-9)[0])
