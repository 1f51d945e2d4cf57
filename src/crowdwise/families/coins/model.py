r"""The E step of workers with one accuracy each, in NumPy: what runs on small crowds.

p_j is the accuracy of worker j, pi_k how common class k is, y_ij the class that worker j said of item i, and K the
number of classes. E step, for every item:

$$ P(z_i = k) \propto \pi_k \prod_{j: y_{ij} = k} p_j \prod_{j: y_{ij} \ne k} \frac{1 - p_j}{K - 1} $$

M step, from the counts of a sweep, over n_j labels of the worker and N items; it is `estimate` of each method:

$$ p_j = \frac{1}{n_j} \sum_i P(z_i = y_{ij}), \quad \pi_k = \frac{1}{N} \sum_i P(z_i = k) $$
"""

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import normalise
from ...numerics.twins import twin


@twin("crowdwise.families.coins.kernel")
def sweep_coins(
    labels: Labels,
    coins: tuple[Array, Array, Array] | None,
    scores: Array,
    changes: Array,
    right: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """The E step, and the sums of the M step.

    `coins` is three arrays: what a label adds to the support of the class that it names (workers), which is
    log p_j - log (1 - p_j) / (K - 1); the logarithm of the probability of a label if another class is true (workers);
    and the support of each class before any label (classes), log pi_k. If `coins` is None, scores stay as they are.

    Overwrites `scores` (items, classes). Raises `changes` (classes) to the largest change of a score. Adds to `right`
    (workers) the probability that each label of the worker is right, to `classes` (classes) the scores of every item,
    and to `log_likelihood` (1) the log likelihood of the labels.
    """
    if coins is not None:
        log_likelihood += e_step(labels, *coins, scores, changes)
    right += np.bincount(labels.workers, scores[labels.item_of, labels.labels], labels.n_workers)
    classes += scores.sum(axis=0)


def e_step(labels: Labels, evidence: Array, against: Array, log_prior: Array, scores: Array, changes: Array) -> float:
    """E step: overwrite the scores by the posterior probabilities of the classes, and return the log likelihood."""
    said = labels.item_of * np.int64(labels.n_classes) + labels.labels
    support = np.bincount(said, evidence[labels.workers], scores.size).reshape(scores.shape) + log_prior
    return float(against[labels.workers].sum() + normalise(support, scores, changes).sum())
