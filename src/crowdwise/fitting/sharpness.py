r"""How sharp the probabilities of every worker are: the power that turns them into what they are worth.

A judge that says .99 and is right in 80 of 100 cases is overconfident; one that says .6 and is nearly always right is
underconfident. The probabilities v(a) that worker j states are those of an answer a of its own, after they are taken to
a power s_j and normalised; the answer is right with probability c_j, and else any other class:

$$ p_j(a) \propto v(a)^{s_j}, \quad p(v \mid k) \propto \sum_a p_j(a) P_j(a \mid k), \quad
   P_j(k \mid k) = c_j, \quad \log s_j \sim N(0, 1) $$

If all votes are plain, this is the one-coin model. It is fitted by expectation-maximisation, with one Newton step for s
in each M step; items of known class are clamped. Then s is known, and every method takes the votes as sharp as that.
Counts of parts add up, so that it runs on every engine.
"""

from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ..crowd.labels import Labels
from ..crowd.soft_votes import sharpened
from ..numerics import Array
from ..numerics.elementary import log_sum_exp, sums
from .engines.base import count_labels

# The variance of log s before any vote, and imagined votes: right ones, and all.
_VARIANCE: Final = 1.0
_RIGHT, _GIVEN = 1.1, 1.2
FIRST_ACCURACY: Final = 0.8
# Iterations end when no log s moves by more than this, or when they run out; and none moves further at once.
_TOLERANCE: Final = 2e-3
_MOST_ITERATIONS: Final = 100
_LONGEST_MOVE: Final = 0.5


class SharpnessCounts(NamedTuple):
    """What is counted; the counts of disjoint sets of items can be added.

    Attributes:
        slope, curvature: (workers), the first derivative by s of the expected log likelihood, and minus the second.
        right, given: (workers), how many answers are expected to be right, and how much the votes weigh.
        classes: (classes), the sum of the probabilities of the classes.
        log_likelihood: (1), that of all votes.
    """

    slope: Array
    curvature: Array
    right: Array
    given: Array
    classes: Array
    log_likelihood: Array


def learn_sharpness(labels: Any) -> Array:
    """Return (workers), the power of every worker, where the labels are; workers with plain votes have 1."""
    n_workers, n_classes = labels.n_workers, labels.n_classes
    power, accuracy = np.ones(n_workers), np.full(n_workers, FIRST_ACCURACY)
    shares = np.full(n_classes, 1 / n_classes)
    if n_classes == 1:
        return power
    for _ in range(_MOST_ITERATIONS):
        count = partial(count_sharpness, power=power, accuracy=accuracy, shares=shares)
        found: SharpnessCounts = SharpnessCounts(*count_labels(labels, count, "sharpness of probabilities"))
        slope = power * found.slope - np.log(power) / _VARIANCE
        move = np.clip(slope / (power**2 * found.curvature + 1 / _VARIANCE), -_LONGEST_MOVE, _LONGEST_MOVE)
        power = power * np.exp(move)
        accuracy = (found.right + _RIGHT) / (found.given + _GIVEN)
        shares = (found.classes + 1) / (found.classes.sum() + n_classes)
        if np.abs(move).max() <= _TOLERANCE:
            break
    return power


def count_sharpness(labels: Labels, power: Array, accuracy: Array, shares: Array) -> SharpnessCounts:
    """E step: count what the M step needs of these items."""
    assert labels.soft is not None, "these votes are plain"
    raw, weights, workers = labels.soft[:, :-1], labels.soft[:, -1:], labels.workers
    v = sharpened(raw, power[workers])
    right = accuracy[workers, None]
    wrong = (1 - right) / (labels.n_classes - 1)
    m = right * v + wrong * (1 - v)
    joint = np.log(shares) + sums(labels.item_of, weights * np.log(m), labels.n_items)
    total = log_sum_exp(joint)
    q = np.exp(joint - total[:, None])
    if labels.gold is not None:
        known = labels.gold >= 0
        q[known] = np.eye(labels.n_classes)[labels.gold[known]]
    per_m = q[labels.item_of] / m
    answer = v * (right * per_m + wrong * (per_m.sum(axis=1, keepdims=True) - per_m))  # the probability of each answer
    logarithms = np.log(np.where(raw > 0, raw, 1.0))
    mean = (v * logarithms).sum(axis=1, keepdims=True)
    of_votes = [
        ((answer - v) * logarithms).sum(axis=1),
        (v * (logarithms - mean) ** 2).sum(axis=1),
        (right * v * per_m).sum(axis=1),
        np.ones(len(v)),
    ]
    counted = sums(workers, weights * np.column_stack(of_votes), labels.n_workers)
    slope, curvature, right_votes, given = counted.T.copy()
    return SharpnessCounts(slope, curvature, right_votes, given, q.sum(axis=0), np.array([total.sum()]))


def with_sharpness(labels: Any, power: Array) -> Any:
    """Return the same labels, whose votes are as sharp as their workers' powers say."""
    known = replace(labels.known, sharpness=power)
    if isinstance(labels, Labels):
        return replace(labels, known=known)
    return labels.with_known(labels.meta.gold, known)
