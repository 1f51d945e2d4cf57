"""`simulate`: crowds of classes or of numbers, whose truth and workers are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Final, cast

import numpy as np
import polars as pl

from ..errors import CallError, require_room, shown
from ..numerics import Array
from .encoding import MOST_CODES
from .labels import Labels, Numbers

# About how many bytes a label takes while a crowd is made.
_LABEL_BYTES: Final = 100
# How many of the answers to an item that misleads name the wrong class that it misleads to.
_MISLED: Final = 0.6
# How often to redraw workers that an item has twice. Items that still have one twice are drawn by a slower, exact way.
_REDRAWS: Final = 20


@dataclass(frozen=True, eq=False)
class SimulatedCrowd:
    """A simulated crowd.

    Attributes:
        rows: The labels: the columns item, worker and label.
        truth: The true class of every item: the columns item and truth.
        workers: The columns worker, accuracy, and labels for how many labels each gave.
    """

    rows: pl.DataFrame
    truth: pl.DataFrame
    workers: pl.DataFrame

    @cached_property
    def labels(self) -> Labels:
        """The rows as `Labels`, ready for a method."""
        return Labels.from_frame(self.rows)


def simulate(
    items: int,
    workers: int,
    classes: int = 2,
    *,
    labels_per_item: float = 5.0,
    accuracy: float = 0.7,
    concentration: float = 10.0,
    workload: float = 0.5,
    balance: Sequence[float] | None = None,
    traps: float = 0.0,
    seed: int = 0,
) -> SimulatedCrowd:
    """Simulate workers who each have their own accuracy, and whose wrong answers spread evenly over the wrong classes.

    So they err independently of each other. Real workers do not: some items mislead many of them; see `traps`.

    Args:
        items: The number of items.
        workers: The number of workers.
        classes: The number of classes.
        labels_per_item: The mean number of labels per item. Each item has this number rounded down or up.
        accuracy: The mean accuracy a of the workers. Their accuracies are drawn from Beta(a c, (1 - a) c).
        concentration: The number c in this distribution: the larger it is, the more alike the workers are.
        workload: How unevenly the work is spread. The worker at rank r gets a share proportional to r ** -workload:
            with 0 all workers get the same, with 1 a few get most of it.
        balance: The probabilities of the classes; None for equal ones. They are scaled to sum to 1.
        traps: The share of items that mislead: each has a wrong class that six answers of ten name, whoever gives them.
        seed: The seed of the random numbers. The same seed gives the same crowd.

    Raises:
        CallError: An argument is outside its range.

    >>> crowd = simulate(100, 10, classes=3, seed=1)
    >>> crowd.labels
    Labels(500 labels of 100 items by 10 workers in 3 classes)
    >>> crowd.truth.columns, crowd.workers.columns
    (['item', 'truth'], ['worker', 'accuracy', 'labels'])
    """
    for name, value in (("items", items), ("workers", workers), ("classes", classes)):
        _require(name, value, 1, MOST_CODES, whole=True)
    _require("seed", seed, 0, 10**18, whole=True)
    _require("labels_per_item", labels_per_item, 1, workers)
    _require("accuracy", accuracy, 1e-6, 1 - 1e-6)
    _require("concentration", concentration, 1e-3, 1e9)
    _require("workload", workload, 0, 10)
    _require("traps", traps, 0, 1)
    probabilities = _probabilities(classes, balance)
    _require_room_for(items, items * labels_per_item + workers + classes)
    random = np.random.default_rng(seed)
    truth = random.choice(classes, items, p=probabilities)
    accuracies = random.beta(accuracy * concentration, (1 - accuracy) * concentration, workers)
    item_of, worker_of = _deal(random, items, workers, labels_per_item, workload)
    right = random.random(len(item_of)) < accuracies[worker_of]
    error = random.integers(1, classes, len(item_of)) if classes > 1 else np.zeros(len(item_of), int)
    said = np.where(right, truth[item_of], (truth[item_of] + error) % classes)
    if traps and classes > 1:
        lures = (truth + random.integers(1, classes, items)) % classes
        misled = (random.random(items) < traps)[item_of] & (random.random(len(item_of)) < _MISLED)
        said = np.where(misled, lures[item_of], said)
    class_names = _names("c", classes)
    labels, truths = (class_names.gather(codes) for codes in (said, truth))
    return SimulatedCrowd(*_tables(item_of, worker_of, labels, truths, {"accuracy": accuracies}))


@dataclass(frozen=True, eq=False)
class SimulatedNumbers:
    """A simulated crowd with numeric labels.

    Attributes:
        rows: The labels: the columns item, worker and label.
        truth: The true value of every item: the columns item and truth.
        workers: The columns worker, bias, spread, slope and labels.
    """

    rows: pl.DataFrame
    truth: pl.DataFrame
    workers: pl.DataFrame

    @cached_property
    def numbers(self) -> Numbers:
        """The rows as `Numbers`, ready for a method."""
        return Numbers.from_frame(self.rows)


def simulate_numbers(
    items: int,
    workers: int,
    *,
    labels_per_item: float = 5.0,
    mean: float = 50.0,
    deviation: float = 10.0,
    spread: float = 5.0,
    bias: float = 2.0,
    likeness: float = 10.0,
    wild: float = 0.0,
    slope: float = 1.0,
    workload: float = 0.5,
    seed: int = 0,
) -> SimulatedNumbers:
    """Simulate workers who each have their own bias and spread, and perhaps answer wildly now and then.

    Args:
        items: The number of items.
        workers: The number of workers.
        labels_per_item: The mean number of labels per item.
        mean: The mean of the true values, which are normal.
        deviation: Their standard deviation.
        spread: The spread of a typical worker: the standard deviation of its errors.
        bias: The standard deviation of the workers' biases, which are normal around 0.
        likeness: How alike spreads are: one divided by their square is gamma with shape likeness / 2.
        wild: The share of answers that are wild: normal around `mean`, five times as wide as the true values.
        slope: The smallest slope: those of the workers are evenly spread from this to 1. A worker of slope 0.5
            compresses the scale, around `mean`, to one half.
        workload: How unevenly the work is spread; see `simulate`.
        seed: The seed of the random numbers. The same seed gives the same crowd.

    Raises:
        CallError: An argument is outside its range.

    >>> crowd = simulate_numbers(100, 10, seed=1)
    >>> crowd.numbers
    Numbers(500 labels of 100 items by 10 workers as numbers)
    >>> crowd.workers.columns
    ['worker', 'bias', 'spread', 'slope', 'labels']
    """
    for name, value in (("items", items), ("workers", workers)):
        _require(name, value, 1, MOST_CODES, whole=True)
    _require("seed", seed, 0, 10**18, whole=True)
    _require("labels_per_item", labels_per_item, 1, workers)
    _require("mean", mean, -1e12, 1e12)
    for name, size in (("deviation", deviation), ("spread", spread), ("bias", bias)):
        _require(name, size, 0, 1e12)
    _require("likeness", likeness, 2.1, 1e9)
    _require("wild", wild, 0, 1)
    _require("slope", slope, -10, 1)
    _require("workload", workload, 0, 10)
    _require_room_for(items, items * labels_per_item + workers)
    random = np.random.default_rng(seed)
    truth = random.normal(mean, deviation, items)
    biases = random.normal(0.0, bias, workers)
    spreads = spread / np.sqrt(random.gamma(likeness / 2, 2 / likeness, workers))
    item_of, worker_of = _deal(random, items, workers, labels_per_item, workload)
    slopes = 1 - (1 - slope) * random.random(workers) if slope < 1 else np.ones(workers)
    expected = mean + slopes[worker_of] * (truth[item_of] - mean) + biases[worker_of]
    said = expected + random.normal(0.0, 1.0, len(item_of)) * spreads[worker_of]
    is_wild = random.random(len(item_of)) < wild
    said = np.where(is_wild, random.normal(mean, 5 * deviation, len(item_of)), said)
    of_workers = {"bias": biases, "spread": spreads, "slope": slopes}
    return SimulatedNumbers(*_tables(item_of, worker_of, said, truth, of_workers))


def _tables(
    item_of: Array, worker_of: Array, said: Any, truth: Any, of_workers: dict[str, Array]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the labels, the truth, and what is known of the workers."""
    workers = len(next(iter(of_workers.values())))
    item_names, worker_names = _names("i", len(truth)), _names("w", workers)
    given = np.bincount(worker_of, minlength=workers)
    return (
        pl.DataFrame({"item": item_names.gather(item_of), "worker": worker_names.gather(worker_of), "label": said}),
        pl.DataFrame({"item": item_names, "truth": truth}),
        pl.DataFrame({"worker": worker_names, **of_workers, "labels": given}),
    )


def _deal(
    random: np.random.Generator, items: int, workers: int, labels_per_item: float, workload: float
) -> tuple[Array, Array]:
    """Return the item and the worker of every label; `simulate` describes the arguments."""
    share = random.permutation(np.arange(1, workers + 1) ** -float(workload))
    per_item = np.full(items, int(labels_per_item))
    per_item[random.permutation(items)[: round((labels_per_item % 1) * items)]] += 1
    item_of = np.repeat(np.arange(items), per_item)
    return item_of, _assign(random, item_of, per_item, share / share.sum())


def _require(name: str, value: object, least: float, most: float, *, whole: bool = False) -> None:
    """Raise `CallError` if an argument is not a number, or not a whole number, from `least` up to `most`."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not least <= cast(float, value) <= most:
        number = "whole number" if whole else "number"
        raise CallError(f"{name}={shown(value)} is not a {number} from {least:,} up to {most:,}.")


def _require_room_for(items: int, rows: float) -> None:
    require_room(round(rows) * _LABEL_BYTES, f"A crowd of {items:,} items", "Simulate fewer.")


def _probabilities(classes: int, balance: object) -> Array:
    """Return the probabilities of the classes. Raises `CallError` if `balance` does not say them."""
    if balance is None:
        return np.full(classes, 1 / classes)
    try:
        weights = np.asarray(balance, float)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (classes,) or not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise CallError(f"balance needs {classes:,} numbers, none below 0 and not all 0.")
    return np.asarray(weights / weights.sum())


def _names(prefix: str, count: int) -> pl.Series:
    """Return `count` names that sort by their number, such as i01 to i99."""
    width = len(str(count))
    return pl.select(pl.lit(prefix) + pl.int_range(1, count + 1).cast(pl.String).str.zfill(width)).to_series()


def _assign(random: np.random.Generator, item_of: Array, per_item: Array, share: Array) -> Array:
    """Draw a worker for every label, with probabilities `share`; all labels of one item get different workers."""
    worker_of = random.choice(len(share), len(item_of), p=share)
    again = _collisions(item_of, worker_of)
    for _ in range(_REDRAWS):
        if not len(again):
            return worker_of
        worker_of[again] = random.choice(len(share), len(again), p=share)
        again = _collisions(item_of, worker_of)
    # This happens with few workers or a very uneven workload. Draw all workers of such an item without replacement:
    # those with the smallest exponential variates divided by their shares.
    starts = np.concatenate([[0], np.cumsum(per_item)])
    for i in np.unique(item_of[again]):
        times = random.exponential(size=len(share)) / share
        worker_of[starts[i] : starts[i + 1]] = np.argpartition(times, per_item[i] - 1)[: per_item[i]]
    return worker_of


def _collisions(item_of: Array, worker_of: Array) -> Array:
    """Return the rows that name the same worker as an earlier row of the same item."""
    order = np.lexsort((worker_of, item_of))
    same = (np.diff(item_of[order]) == 0) & (np.diff(worker_of[order]) == 0)
    return np.asarray(order[1:][same])
