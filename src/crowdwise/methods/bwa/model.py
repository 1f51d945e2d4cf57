r"""BWA in NumPy, in the letters of the paper: the E step scores the items, the M step weights the workers.

$$ \text{E step:} \quad z_i = \frac{\lambda \mu + \sum_j v_j y_{ij}}{\lambda + \sum_j v_j} \qquad
\text{M step:} \quad v_j = \frac{a + n_j}{b + \sum_i (z_i - y_{ij})^2}, \quad \mu = \frac{1}{N} \sum_i z_i $$

There is such a model for each class against all others. z_i is the score of item i, y_ij is 1 if the vote of worker j
names the class and 0 if it does not, v_j is the weight of the worker, n_j the number of its votes, and N the number of
items. In the code, the last axis of z, y and v is the classes.
"""

from typing import NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import sums
from ...numerics.twins import twin


class Votes(NamedTuple):
    """The votes: their items, their workers, and y (votes, classes), which is 1 for the classes that a vote names.

    For a vote with a probability, y is the probability of every class. `counts` (votes, 1) is how often each counts.
    """

    items: Array
    workers: Array
    y: Array
    counts: Array | float = 1.0

    @classmethod
    def of(cls, labels: Labels, continued: Array | None) -> "Votes":
        """A vote is one label, or several if it names several classes."""
        if labels.soft is not None:
            return cls(labels.item_of, labels.workers, labels.chances, labels.soft[:, -1:])
        y = np.eye(labels.n_classes)[labels.labels]
        if continued is None:
            return cls(labels.item_of, labels.workers, y)
        first = np.flatnonzero(continued == 0)
        return cls(labels.item_of[first], labels.workers[first], np.add.reduceat(y, first) if len(first) else y)


def e_step(votes: Votes, n_items: int, v: Array, mu: Array, lam: float) -> Array:
    """E step: the score z of every item, the average of its votes, weighted by v, and of mu, which has the weight lam.

    `v` is (workers, classes), `mu` is (classes).
    """
    of_votes = votes.counts * v[votes.workers]
    named = sums(votes.items, of_votes * votes.y, n_items)
    return np.asarray((lam * mu + named) / (lam + sums(votes.items, of_votes, n_items)))


def squared_errors(votes: Votes, n_workers: int, z: Array) -> Array:
    """(workers, classes): the sum of (z - y)^2 over the votes of every worker, from which the M step learns."""
    return sums(votes.workers, votes.counts * (z[votes.items] - votes.y) ** 2, n_workers)


def m_step(errors: Array, n: Array, a: float, b: Array) -> Array:
    """M step: the weight v (workers, classes) that is expected after n votes with these squared errors.

    The prior counts as `a` votes with the squared errors `b` (classes).
    """
    return np.asarray((a + n)[:, None] / (b + errors))


@twin("crowdwise.methods.bwa.kernel")
def sweep(
    labels: Labels,
    continued: Array | None,
    classes: tuple[int, ...],
    weights: tuple[Array, Array] | None,
    lam: float,
    floor: float,
    mirrored: bool,
    scores: Array,
    errors: Array,
    score_sums: Array,
) -> Array:
    """The E step, and what the M step needs of it, for some of the classes.

    `weights` are v (workers, classes) and mu (classes). If they are None, scores stay as they are. The last class may
    be repeated, to fill the lanes of the kernel.

    Overwrites the columns of these classes in `scores` (items, all classes). If `mirrored`, the scores of class 1
    become one minus those of class 0. Adds the squared errors to `errors` (workers, classes), and the scores and their
    squares to `score_sums` (2, classes). Returns, for all classes, the largest change of a score, relative to the new
    score plus `floor`.
    """
    votes = Votes.of(labels, continued)
    votes = votes._replace(y=votes.y[:, classes])
    before = scores.copy()
    if weights is not None:
        v, mu = weights
        scores[:, classes] = e_step(votes, labels.n_items, v, mu, lam)
        if mirrored:
            scores[:, 1] = 1 - scores[:, 0]
    z = scores[:, classes]
    errors += squared_errors(votes, labels.n_workers, z)
    score_sums += np.stack([z.sum(axis=0), (z**2).sum(axis=0)])
    return np.asarray((np.abs(scores - before) / (scores + floor)).max(axis=0, initial=0.0))


def score_variances(labels: Labels, scores: Array, v: Array, n: Array, a: float, lam: float) -> Array:
    """(items, classes): the posterior variance of the scores, with the weights integrated out.

    It is the inverse of the curvature of the negative log likelihood, which is taken to be at least lam:
    lam + sum_j v_j - sum_j 2 v_j^2 (z_i - y_ij)^2 / (a + n_j).
    """
    votes = Votes.of(labels, labels.continued)
    of_votes = v[votes.workers]
    lost = 2 * of_votes**2 / (a + n)[votes.workers, None] * (scores[votes.items] - votes.y) ** 2
    return np.asarray(1 / np.maximum(lam + sums(votes.items, votes.counts * (of_votes - lost), labels.n_items), lam))
