"""Crowds whose truth and workers are known: to try things out, to test methods, to measure speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from ..errors import CallError
from ..kernels import Array
from .labels import Labels

# Redraw colliding workers this often; what still collides then is drawn exactly, at a higher price.
_ROUNDS: Final = 20


@dataclass(frozen=True, eq=False)
class Crowd:
    """A simulated crowd.

    Attributes:
        rows: What the workers said, with columns item, worker and label.
        truth: What is true, with columns item and truth.
        workers: How good the workers are, with columns worker, accuracy and labels.
    """

    rows: pl.DataFrame
    truth: pl.DataFrame
    workers: pl.DataFrame

    @cached_property
    def labels(self) -> Labels:
        """The rows, ready for a method."""
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
    seed: int = 0,
) -> Crowd:
    """Simulate workers who are right with a probability of their own and else err evenly.

    Args:
        items: How many items.
        workers: How many workers.
        classes: How many classes.
        labels_per_item: Labels per item on average; each item has the whole number below or above.
        accuracy: The mean of the workers' accuracies, which are Beta(accuracy c, (1 - accuracy) c).
        concentration: c: the larger, the more alike the workers.
        workload: How unevenly the work is spread: worker r of the ranking gets a share proportional to
            r ** -workload. 0 is even, 1 is heavy-tailed.
        balance: The probabilities of the classes; even if None.
        seed: The same seed gives the same crowd.

    >>> crowd = simulate(100, 10, classes=3, seed=1)
    >>> crowd.labels
    Labels(500 labels of 100 items by 10 workers in 3 classes)
    >>> crowd.truth.columns, crowd.workers.columns
    (['item', 'truth'], ['worker', 'accuracy', 'labels'])
    """
    if min(items, workers, classes) < 1:
        raise CallError("A crowd needs at least one item, one worker and one class.")
    if not 1 <= labels_per_item <= workers:
        raise CallError(
            f"labels_per_item={labels_per_item:g} must be between 1 and the number of workers ({workers:,})."
        )
    if not (0 < accuracy < 1 and concentration > 0 and workload >= 0):
        raise CallError("accuracy lies between 0 and 1, concentration above 0, workload at 0 or above.")
    probabilities = np.full(classes, 1 / classes) if balance is None else np.asarray(balance, float)
    if len(probabilities) != classes or (probabilities < 0).any() or not probabilities.sum() > 0:
        raise CallError(f"balance needs {classes} numbers, none below 0 and not all 0.")
    random = np.random.default_rng(seed)
    truth = random.choice(classes, items, p=probabilities / probabilities.sum())
    accuracies = random.beta(accuracy * concentration, (1 - accuracy) * concentration, workers)
    share = random.permutation(np.arange(1, workers + 1) ** -float(workload))
    per_item = np.full(items, int(labels_per_item))
    per_item[random.permutation(items)[: round((labels_per_item % 1) * items)]] += 1
    item_of = np.repeat(np.arange(items), per_item)
    worker_of = _assign(random, item_of, per_item, share / share.sum())
    right = random.random(len(item_of)) < accuracies[worker_of]
    error = random.integers(1, classes, len(item_of)) if classes > 1 else np.zeros(len(item_of), int)
    said = np.where(right, truth[item_of], (truth[item_of] + error) % classes)
    item_names, worker_names, class_names = _names("i", items), _names("w", workers), _names("c", classes)
    return Crowd(
        pl.DataFrame(
            {
                "item": item_names.gather(item_of),
                "worker": worker_names.gather(worker_of),
                "label": class_names.gather(said),
            }
        ),
        pl.DataFrame({"item": item_names, "truth": class_names.gather(truth)}),
        pl.DataFrame(
            {
                "worker": worker_names,
                "accuracy": accuracies,
                "labels": np.bincount(worker_of, minlength=workers),
            }
        ),
    )


def _names(prefix: str, count: int) -> pl.Series:
    """Names that sort by number: i01 to i99."""
    width = len(str(count))
    return pl.select(pl.lit(prefix) + pl.int_range(1, count + 1).cast(pl.String).str.zfill(width)).to_series()


def _assign(random: np.random.Generator, item_of: Array, per_item: Array, share: Array) -> Array:
    """A worker for every label: drawn by share, different ones on one item."""
    worker_of = random.choice(len(share), len(item_of), p=share)
    again = _collisions(item_of, worker_of)
    for _ in range(_ROUNDS):
        if not len(again):
            return worker_of
        worker_of[again] = random.choice(len(share), len(again), p=share)
        again = _collisions(item_of, worker_of)
    # Few workers or a very uneven workload: draw whole items without replacement (exponential races).
    starts = np.concatenate([[0], np.cumsum(per_item)])
    for i in np.unique(item_of[again]):
        race = random.exponential(size=len(share)) / share
        worker_of[starts[i] : starts[i + 1]] = np.argpartition(race, per_item[i] - 1)[: per_item[i]]
    return worker_of


def _collisions(item_of: Array, worker_of: Array) -> Array:
    """Rows that name a worker whom an earlier row of the same item names."""
    order = np.lexsort((worker_of, item_of))
    same = (np.diff(item_of[order]) == 0) & (np.diff(worker_of[order]) == 0)
    return np.asarray(order[1:][same])
