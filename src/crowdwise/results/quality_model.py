"""What most others say of every item, and how many labels of every worker are expected to be right."""

import numpy as np

from ..data.labels import Labels
from ..data.votes import votes_by_class
from ..numerics import Array
from ..numerics.twins import twin


@twin("crowdwise.results.quality_kernel")
def said_by_others(labels: Labels, n_classes: int) -> Array:
    """Return (labels), the class that most other labels of the same item name; -1 if there is none, or a tie."""
    others = votes_by_class(labels)[labels.item_of]
    others[np.arange(labels.n_labels), labels.labels] -= 1
    most = others.max(axis=1, keepdims=True)
    is_one = (most[:, 0] > 0) & ((others == most).sum(axis=1) == 1)
    return np.where(is_one, others.argmax(axis=1), -1).astype(np.int32)


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
