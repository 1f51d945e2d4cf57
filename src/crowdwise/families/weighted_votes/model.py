r"""Weighted votes in NumPy: what runs on small crowds.

E step: the score of class k on item i is the sum of the weights of its votes; the highest score wins.

$$ s_{ik} = \sum_{j: y_{ij} = k} w_j $$

M step: each method's `weights` says how w_j follows from how often worker j names the winner.
"""

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.twins import twin


def weight_sums(labels: Labels, weight: Array) -> Array:
    """E step: (items, classes), the sums of the weights of the votes; `weight` is (workers)."""
    said = labels.item_of * np.int64(labels.n_classes) + labels.labels
    shape = labels.n_items, labels.n_classes
    return np.bincount(said, weight[labels.workers], shape[0] * shape[1]).reshape(shape)


@twin("crowdwise.families.weighted_votes.kernel")
def sweep_votes(
    labels: Labels, weight: Array | None, tolerance: float, scores: Array, changes: Array, given: Array, agreed: Array
) -> None:
    """The E step, and how often each worker names the winner, which the M step needs.

    Overwrites `scores` (items, classes), and raises `changes` (classes) to the largest change of a score. If `weight`
    is None, both stay as they are. Adds to `given` (workers) the votes of every worker, and to `agreed` (workers) those
    that name the winner. Classes tie if their scores differ by no more than `tolerance`, relative to the highest; where
    n classes are tied, a vote for one of them adds 1/n.
    """
    if weight is not None:
        new = weight_sums(labels, weight)
        np.maximum(changes, np.abs(new - scores).max(axis=0, initial=0.0), out=changes)
        scores[:] = new
    highest = scores.max(axis=1, keepdims=True)
    wins = scores >= highest - tolerance * np.abs(highest)
    share = wins / wins.sum(axis=1, keepdims=True)
    given += np.bincount(labels.workers, minlength=labels.n_workers)
    agreed += np.bincount(labels.workers, share[labels.item_of, labels.labels], labels.n_workers)
