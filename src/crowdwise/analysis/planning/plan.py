"""`plan`: how many more labels, or how much gold, would bring the expected accuracy to a target."""

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Final

import numpy as np
import polars as pl

from ...data.labels import Labels
from ...data.numbering import inverse
from ...data.reading_report import several
from ...errors import CallError, DataError, shown
from ...kernels import Array
from ...methods.adjudicator import Adjudicator
from ...results.expected_accuracy import ExpectedAccuracy
from ...results.result import Result
from ..pairing import same_labels
from .foresight import foresee
from .future import STEPS, Future, simulate_future
from .needs import require_in_memory

# How often items are drawn again for the interval of how many labels it takes.
_RESAMPLES: Final = 400
_SEED: Final = 1
# How many times as large as simulated gains are, where errors are shared, because more labels also say more about the
# workers: the ratio of the mean gains on crowds with known truth, each family weighing the same. `make bench-planning`
# measures it again.
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
        needed_low: The lower end of a 95 % interval of this number by resampling items; None if that is never.
        needed_high: The upper end of it; None if that is never.
        ceiling: The expected accuracy after labels of this crowd without end.
        gold: How many items an expert has to decide, the least sure ones first, to bring it to the target.
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
    gold: int
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
            f"Expected accuracy now is {now}, with "
            f"{several(self.labels, 'label', 'labels')} of {several(self.items, 'item', 'items')}."
        ]
        if self.gold == 0:
            return [*said, f"That is the target of {self.target:g} or more already: no more labels are needed."]
        said.append(self._about_labels())
        said.append(
            f"An expert who decides the {several(self.gold, 'least sure item', 'least sure items')} would bring it to "
            f"{self.target:g} (`crowdwise next --ask expert`)."
        )
        if self.labels == self.items:
            said.append("All this is a guess: no item has two labels, so nothing shows how good the labels are.")
        elif not self.shares_errors:
            said.append(
                "It was taken for granted that workers err independently, because this method, or one with so many "
                "classes, knows no errors that workers share; so it may take more labels than said."
            )
        return said

    def _about_labels(self) -> str:
        if self.needed is None:
            far = f"More labels of this crowd are not expected to bring it to {self.target:g}: "
            if self.ceiling < self.target:
                # Whether these workers do share errors is not known: the method expects it of every crowd.
                return (
                    f"{far}with labels without end it would be about {self.ceiling:.3f}. This number rests on the "
                    "method, which expects workers to share errors, as those of real crowds do; if these workers err "
                    "independently, more labels bring more."
                )
            end = self.curve["expected_accuracy"][-1]
            return f"{far}with {STEPS[-1]} more labels of every item it would be {end:.3f}."
        high = "never" if self.needed_high is None else f"{self.needed_high:,}"
        low = "never" if self.needed_low is None else f"{self.needed_low:,}"
        costs = "" if self.money is None else f", which cost {self.money:,.2f}"
        return (
            f"About {several(self.needed, 'more label', 'more labels')} ({self.needed / self.items:.1f} an item) would "
            f"bring it to {self.target:g} (95 % interval {low} to {high}){costs}. Asked where they help most "
            "(`crowdwise next`), fewer may do."
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
            "gold": self.gold,
            "curve": self.curve.to_dicts(),
            "sentences": self.sentences(),
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def plan(labels: Labels, *, target: float, price: float | None = None, result: Result | None = None) -> Plan:
    """Say how many more labels would bring the expected accuracy to a target, or that they will not, and how much gold.

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
    future = simulate_future(foresight, is_open[inverse(labels.numbering.item_places)], _SEED)
    now = found.expected_accuracy
    gains = (future.confidence - future.confidence[0]) * (1.0 if foresight.ends is None else LEARNING)
    curve = _curve(now.value, gains.mean(axis=1))
    low, high = _interval(now.value, future.confidence[0], gains, wanted)
    return Plan(
        target=wanted,
        now=now,
        items=n_items,
        labels=int(np.diff(labels.item_starts)[is_open].sum()),
        needed=_labels(_steps_to(curve, wanted), n_items),
        needed_low=_labels(low, n_items),
        needed_high=_labels(high, n_items),
        ceiling=_ceiling(now.value, future, foresight.ends is not None, float(curve[-1])),
        gold=_gold(found.confidence[is_open], wanted),
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
    """Return the expected accuracy after labels without end; it is at least that after the last step."""
    if not shared_errors:
        return 1.0
    return min(max(now + LEARNING * (future.ceiling - float(future.confidence[0].mean())), last), 1.0)


def _interval(now: float, before: Array, gains: Array, target: float) -> tuple[float, float]:
    """Return the ends of a 95 % interval of how many labels of every item it takes, by resampling the items.

    Args:
        now: The expected accuracy so far.
        before: (items), the confidence so far of the items that were simulated.
        gains: (steps, items), how much surer they become.
        target: The accuracy that is wanted.
    """
    random = np.random.default_rng(_SEED)
    n_items = len(before)
    found = np.empty(_RESAMPLES)
    for place in range(_RESAMPLES):
        share = random.multinomial(n_items, np.full(n_items, 1 / n_items)) / n_items
        found[place] = _steps_to(_curve(now + float(before @ share - before.mean()), gains @ share), target)
    ordered = np.sort(found)
    return float(ordered[int(0.025 * _RESAMPLES)]), float(ordered[int(0.975 * _RESAMPLES) - 1])


def _gold(confidence: Array, target: float) -> int:
    """Return how many of the least sure answers an expert must decide until the mean confidence is the target.

    >>> _gold(np.array([0.5, 0.75, 1.0, 0.75]), 0.8), _gold(np.array([0.9, 0.9]), 0.8)
    (1, 0)
    """
    missing = np.sort(1 - confidence)[::-1]
    left = math.fsum(missing.tolist()) - np.concatenate([[0.0], np.cumsum(missing)])
    return int(np.flatnonzero(left <= (1 - target) * len(confidence) + 1e-9)[0])
