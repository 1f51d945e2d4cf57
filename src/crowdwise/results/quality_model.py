"""What most others say of every item, and how many labels of every worker are expected to be right."""

import numpy as np

from ..data.labels import Labels
from ..numerics import Array
from ..numerics.twins import twin


@twin("crowdwise.results.quality_kernel")
def said_by_others(labels: Labels, n_classes: int) -> Array:
    """Return (labels), the class that most other labels of the same item name; -1 if there is none, or a tie."""
    cells, cell_of, votes = np.unique(
        labels.item_of * n_classes + labels.labels, return_inverse=True, return_counts=True
    )
    item, said = cells // n_classes, cells % n_classes
    order = np.lexsort((-votes, item))  # the classes of an item by their votes, the most first
    rank = np.empty(len(cells), np.int64)
    rank[order] = np.arange(len(cells)) - np.searchsorted(item, item)
    # The best three classes of every item; those that are not there have no votes.
    best, most = np.full((labels.n_items, 3), -1), np.zeros((labels.n_items, 3), np.int64)
    best[item[rank < 3], rank[rank < 3]], most[item[rank < 3], rank[rank < 3]] = said[rank < 3], votes[rank < 3]
    # Of the other classes than that of a cell, the first is the best or the second, and the next one follows it.
    first, following = (rank == 0) * 1, 1 + (rank < 2)
    rivals, runners_up = most[item, first], most[item, following]
    same = votes - 1  # of the same class, without the label itself
    answer = np.where(same > rivals, said, np.where((same < rivals) & (rivals > runners_up), best[item, first], -1))
    return answer[cell_of].astype(np.int32)


@twin("crowdwise.results.quality_kernel")
def expected_right(labels: Labels, evidence: Array, prior: Array) -> tuple[Array, Array]:
    """Return two arrays (workers): how many labels are expected to be right, and the variance of that number.

    A label of worker j adds evidence[j] to the log odds of the class that it names: class k of an item has the
    probability p[k], proportional to prior[k] exp(sum of the evidence for k). A label of class k is right with p[k].
    """
    item_of = labels.item_of
    support = np.zeros((labels.n_items, len(prior)))
    np.add.at(support, (item_of, labels.labels), evidence[labels.workers])
    # A support of 600 is as good as certain, and its exponential does not overflow.
    chance = prior * np.exp(np.minimum(support, 600.0))
    p = (chance / chance.sum(axis=1, keepdims=True))[item_of, labels.labels]
    return np.bincount(labels.workers, p, len(evidence)), np.bincount(labels.workers, p * (1 - p), len(evidence))
