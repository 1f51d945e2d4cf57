"""Simulate crowds with numeric labels, whose true values, biases and spreads are known."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ..errors import require_room
from .encoding import MOST_CODES
from .numbers import Numbers
from .simulation import LABEL_BYTES, deal, named, require


@dataclass(frozen=True, eq=False)
class SimulatedNumbers:
    """A simulated crowd with numeric labels.

    Attributes:
        rows: The labels, in a table with the columns item, worker and label.
        truth: The true value of every item, in a table with the columns item and truth.
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
        require(name, value, 1, MOST_CODES, whole=True)
    require("seed", seed, 0, 10**18, whole=True)
    require("labels_per_item", labels_per_item, 1, workers, whole=False)
    require("mean", mean, -1e12, 1e12, whole=False)
    for name, size in (("deviation", deviation), ("spread", spread), ("bias", bias)):
        require(name, size, 0, 1e12, whole=False)
    require("likeness", likeness, 2.1, 1e9, whole=False)
    require("wild", wild, 0, 1, whole=False)
    require("slope", slope, -10, 1, whole=False)
    require("workload", workload, 0, 10, whole=False)
    require_room(
        round(items * labels_per_item + workers) * LABEL_BYTES, f"A crowd of {items:,} items", "Simulate fewer."
    )
    random = np.random.default_rng(seed)
    truth = random.normal(mean, deviation, items)
    biases = random.normal(0.0, bias, workers)
    spreads = spread / np.sqrt(random.gamma(likeness / 2, 2 / likeness, workers))
    item_of, worker_of = deal(random, items, workers, labels_per_item, workload)
    slopes = 1 - (1 - slope) * random.random(workers) if slope < 1 else np.ones(workers)
    expected = mean + slopes[worker_of] * (truth[item_of] - mean) + biases[worker_of]
    said = expected + random.normal(0.0, 1.0, len(item_of)) * spreads[worker_of]
    is_wild = random.random(len(item_of)) < wild
    said = np.where(is_wild, random.normal(mean, 5 * deviation, len(item_of)), said)
    item_names, worker_names = named("i", items), named("w", workers)
    given = np.bincount(worker_of, minlength=workers)
    return SimulatedNumbers(
        pl.DataFrame({"item": item_names.gather(item_of), "worker": worker_names.gather(worker_of), "label": said}),
        pl.DataFrame({"item": item_names, "truth": truth}),
        pl.DataFrame({"worker": worker_names, "bias": biases, "spread": spreads, "slope": slopes, "labels": given}),
    )
