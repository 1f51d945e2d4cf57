"""`Samples`: several answers of one worker to one item as votes of several workers: ann, ann#2, ann#3, ...

This is for judges that are asked several times. A permutation that follows from the names of the item and of the worker
says which answer is the n-th. It does not depend on the order of the rows. Answers are not numbered in the order of the
classes: ann would have the first class that ann named for each item, and the last sample the last one, and a method
that learns the errors of workers would find two who prefer a class although ann does not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..errors import DataError
from ..numerics import Array
from .encoding import starts_pair
from .hashing import hash_numbers, hashes_of


@dataclass(frozen=True, eq=False)
class Samples:
    """The workers, where each is as many as they have answers to one item.

    Attributes:
        names: The names of all samples: those of a worker follow each other.
        sample_of: (samples), the code of the first sample of the same worker; None if no worker has several.
        first: (workers), the code of the first sample of every worker.
        hashes: (workers), a hash of the name of every worker.
    """

    names: pl.Series
    sample_of: Array | None
    first: Array
    hashes: Array

    @classmethod
    def of(cls, workers: pl.Series, most: Array) -> "Samples":
        """Name the samples of all workers, of each as many as `most_answers` says.

        Raises `DataError` if a sample would have the name of another worker.
        """
        most = np.maximum(most, 1)
        first = (np.cumsum(most) - most).astype(np.int32)
        hashed = hashes_of(workers.cast(pl.String))
        if most.max(initial=1) == 1:
            return cls(workers, None, first, hashed)
        sample_of = np.repeat(first, most)
        number = pl.Series(np.arange(len(sample_of)) - sample_of + 1)
        base = workers.cast(pl.String).gather(np.repeat(np.arange(len(workers)), most))
        named = pl.select(pl.when(number == 1).then(base).otherwise(pl.format("{}#{}", base, number))).to_series()
        twice = named.filter(named.is_duplicated())
        if len(twice):
            sample = named.filter(named.is_duplicated() & (number > 1))[0]
            raise DataError(
                f"There is a worker {sample!r}, which is also the name of a sample of {sample.rpartition('#')[0]!r} "
                'with duplicates="samples" (--duplicates samples): rename one of the two workers.'
            )
        return cls(named.alias(workers.name), sample_of, first, hashed)

    def split(self, item: Array, items: pl.Series, worker: Array, label: Array) -> tuple[Array, int]:
        """Return the sample that gave every answer, and the number of (item, worker) pairs with several answers.

        `item`, `worker` and `label` are the codes of every answer, and `items` the names of the items.
        """
        order = np.lexsort((label, worker, item))
        items_in_order, workers_in_order = item[order], worker[order]
        starts = np.flatnonzero(starts_pair(items_in_order, workers_in_order))
        sizes = np.diff(starts, append=len(order))
        pairs = int((sizes > 1).sum())
        if pairs == 0:
            return self.first[worker], 0
        position = np.arange(len(order)) - np.repeat(starts, sizes)
        of_items = hashes_of(items.cast(pl.String))
        mixed = hash_numbers(self.hashes[workers_in_order] + position.astype(np.uint64))
        shuffled = np.lexsort((hash_numbers(of_items[items_in_order] + mixed), np.repeat(starts, sizes)))
        numbers = np.empty(len(order), np.int32)
        numbers[order[shuffled]] = position
        return self.first[worker] + numbers, pairs


def most_answers(item: Any, worker: Any, n_workers: int) -> Array:
    """Return (workers), the largest number of answers of each worker to one item; 0 for a worker without any.

    `item` has the item of every answer, its code or its name, and `worker` the code of its worker.
    """
    answers = pl.DataFrame({"item": item, "worker": worker}).group_by("item", "worker").len()
    most = answers.group_by("worker").agg(pl.col("len").max())
    found = np.zeros(n_workers, np.int64)
    found[most["worker"].to_numpy()] = most["len"].to_numpy()
    return found
