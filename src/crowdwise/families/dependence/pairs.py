"""`PairCounts`: what every two workers said about the same items, as counts that add up over items.

A comparison is a vote of one worker and a vote of another worker on the same item. If a worker has several votes on an
item, because the labels were read with `duplicates="all"`, each of them is compared.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ...data.crowd import Crowd
from ...data.labels import Labels
from ...data.votes import given_by_class
from ...numerics import Array
from ...numerics.twins import twin
from ...parallel import runs

# The most workers, and the most bytes of the counts of all pairs of workers.
_MOST_WORKERS: Final = 2_000
_MOST_BYTES: Final = 2**30
# Workers are compared with each other unasked in crowds of up to so many labels and workers, where that is quick.
_QUICK_LABELS: Final = 60_000
_QUICK_WORKERS: Final = 500
# About so many pairs of votes are in memory at once.
_PAIRS_AT_ONCE: Final = 2**15


class PairCounts(NamedTuple):
    """What any two workers said about the same items; the counts of disjoint sets of items can be added.

    Attributes:
        shared: (workers, workers, classes), `shared[j, k, a]` is in how many comparisons of j and k worker j says a.
        agreed: (workers, workers), in how many comparisons both say the same.
        given: (workers, classes), how many votes of the worker name the class.
    """

    shared: Array
    agreed: Array
    given: Array

    @property
    def compared(self) -> Array:
        """(workers, workers), the number of comparisons; 0 for a worker with itself."""
        return np.asarray(self.shared.sum(axis=2, dtype=np.int32))


def pairs_refusal(n_workers: int, n_classes: int) -> str:
    """Return a sentence that says why so many workers cannot be compared with each other; empty if they can be."""
    if n_workers > _MOST_WORKERS:
        return (
            f"All pairs of workers are compared, which is for up to {_MOST_WORKERS:,} workers, and here are "
            f"{n_workers:,}: leave out the workers with few labels, who share too few items with others anyway."
        )
    size = 4 * n_workers**2 * (n_classes + 1)
    if size > _MOST_BYTES:
        return (
            f"To compare all pairs of {n_workers:,} workers in {n_classes:,} classes would take "
            f"{size / 2**30:.1f} GB, and at most 1 GB is taken: leave out workers with few labels, or merge rare "
            "classes."
        )
    return ""


def is_quick_to_compare(labels: Crowd) -> bool:
    """Whether comparing all workers with each other takes little time, wherever the labels are."""
    return labels.n_labels <= _QUICK_LABELS and labels.n_workers <= _QUICK_WORKERS and not labels.set_valued


def count_pairs(labels: Labels) -> PairCounts:
    """Compare every two workers on these items; the labels may be a part of a crowd that `pairs_refusal` lets pass."""
    return PairCounts(*compare_workers(labels, labels.n_workers, labels.n_classes), given_by_class(labels))


@twin("crowdwise.families.dependence.kernel")
def compare_workers(labels: Labels, n_workers: int, n_classes: int) -> tuple[Array, Array]:
    """Return `shared` and `agreed` of `PairCounts`."""
    shared = np.zeros((n_workers, n_workers, n_classes), np.int32)
    agreed = np.zeros((n_workers, n_workers), np.int32)
    item_of, workers, said = labels.item_of, labels.workers.astype(np.int64), labels.labels
    ends = np.cumsum(np.bincount(workers, minlength=n_workers))
    for j, mine in enumerate(np.split(np.argsort(workers, kind="stable"), ends[:-1])):
        for e, f in pairs_of_votes(labels.item_starts, item_of[mine]):
            says = said[mine[e]]
            counts = np.bincount(workers[f] * n_classes + says, minlength=n_workers * n_classes)
            shared[j] += counts.reshape(n_workers, n_classes)
            agreed[j] += np.bincount(workers[f[said[f] == says]], minlength=n_workers)
        shared[j, j], agreed[j, j] = 0, 0
    return shared, agreed


def cross_tabulate(labels: Labels, members: Array) -> Array:
    """Count which two classes any two of some workers say about the same items.

    Args:
        labels: The labels.
        members: The codes of these workers.

    Returns:
        (members, members, classes, classes), `[j, k, b, a]` is in how many comparisons j says b and k says a.
    """
    place_of = np.full(labels.n_workers, -1)
    place_of[members] = np.arange(len(members))
    place = place_of[labels.workers]
    votes = np.flatnonzero(place >= 0)
    place, said = place[votes], labels.labels[votes].astype(np.int64)
    shape = len(members), len(members), labels.n_classes, labels.n_classes
    counts = np.zeros(shape, np.int64)
    for e, f in pairs_of_votes(np.searchsorted(votes, labels.item_starts), labels.item_of[votes]):
        cells = np.ravel_multi_index((place[e], place[f], said[e], said[f]), shape)
        counts += np.bincount(cells, minlength=counts.size).reshape(shape)
    itself = np.arange(len(members))
    counts[itself, itself] = 0
    return counts


def pairs_of_votes(item_starts: Array, item: Array) -> Iterator[tuple[Array, Array]]:
    """Pair votes with all votes on the same item, with themselves too. Many pairs come in several pieces.

    Args:
        item_starts: Where the votes of every item begin, and where the last ones end.
        item: (votes), the item of every vote to pair.

    Yields:
        Two arrays (pairs): the number of the one vote in `item`, and the position of the other among all votes. All
        pairs of one vote are in the same piece.
    """
    sizes = item_starts[item + 1] - item_starts[item]
    starts = np.concatenate([[0], np.cumsum(sizes)])  # of the pairs of every vote
    shift = item_starts[item] - starts[:-1]
    for low, high in runs(starts, _PAIRS_AT_ONCE):
        one = np.repeat(np.arange(low, high), sizes[low:high])
        yield one, np.arange(starts[low], starts[high]) + shift[one]
