"""The accuracy of every worker with an interval, estimated from the answers of any method.

The model: worker j is right with probability p_j, and otherwise names each of the other classes equally often.
Agreement with the answers would be too high an estimate of p_j, because the worker's own vote helped to choose the
answers. A few rounds of expectation and maximisation estimate the number of right labels instead. The posterior is

    p_j ~ Beta(A + right_j, B + wrong_j)

where A and B are estimated by the method of moments from all workers. A + B is at most eight labels; otherwise a crowd
with few labels could give a prior so strong that all workers look the same. Because the truth is not known, a label
tells less than it would otherwise: the interval counts only

    n_j - sum q (1 - q) / (p_j (1 - p_j))

of the worker's n_j labels, where q is the probability that a label is right (Louis, 1982,
https://doi.org/10.1111/j.2517-6161.1982.tb01203.x). The limits of eight labels and eight rounds were chosen on
simulated crowds (tests/test_coverage.py), not on datasets with known truth.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array
from .result import Quality

_MAX_ROUNDS: Final = 8
# The rounds end when no accuracy changes by more than this.
_TOLERANCE: Final = 0.01
_MAX_PRIOR_LABELS: Final = 8.0


class AgreementCounts(NamedTuple):
    """What is counted when the answers are known; the counts of disjoint sets of items can be added.

    Attributes:
        given: (workers), the number of labels.
        agreed: (workers), the number of labels on items with several labels that name the answer.
        compared: (workers), the number of labels on items with several labels.
        classes: (classes), the number of items with this answer.
    """

    given: Array
    agreed: Array
    compared: Array
    classes: Array


def accuracies(labels: Labels, answers: Array, level: float = 0.95) -> Quality:
    """Return the accuracy of every worker, with its central posterior interval.

    Args:
        labels: The labels; a vote that names several classes counts as several labels.
        answers: (items), the inferred class of every item.
        level: The probability that the interval contains the accuracy.
    """
    return accuracies_of(count_agreement(labels, answers), partial(_expected_right, labels), level)


def accuracies_of(
    agreement: AgreementCounts, expected_right: Callable[[Array, Array], tuple[Array, Array]], level: float = 0.95
) -> Quality:
    """Return the accuracy of every worker, with its central posterior interval, from counts over all items.

    Args:
        agreement: The counts over all items.
        expected_right: Returns the sum of `count_right` over all items, given its arguments `evidence` and `share`.
        level: The probability that the interval contains the accuracy.
    """
    given = agreement.given.astype(float)
    right = agreement.agreed.astype(float)
    counted = informative = agreement.compared.astype(float)
    n_classes = len(agreement.classes)
    others = max(n_classes - 1, 1)
    share = (agreement.classes + 1.0) / (agreement.classes.sum() + n_classes)
    accuracy = right
    for _ in range(_MAX_ROUNDS):
        before = accuracy
        prior_right, prior_wrong = _prior(right, counted, informative)
        accuracy = (prior_right + right) / (prior_right + prior_wrong + counted)
        if np.abs(accuracy - before).max() < _TOLERANCE:
            break
        evidence = np.log(accuracy) - np.log1p(-accuracy) + np.log(others)
        right, variance = expected_right(evidence, share)
        counted = given
        informative = np.maximum(given - variance / (accuracy * (1 - accuracy)), 0)
    prior_right, prior_wrong = _prior(right, counted, informative)
    accuracy = (prior_right + right) / (prior_right + prior_wrong + counted)
    strength = prior_right + prior_wrong + informative
    from scipy import special  # imported here because importing it takes half of the time that crowdwise needs to start

    ends = np.array([(1 - level) / 2, (1 + level) / 2])[:, None]
    low, high = special.betaincinv(accuracy * strength, (1 - accuracy) * strength, ends)
    # Near 1 the rounding error of the ends can be larger than their distance from the accuracy.
    return Quality(accuracy, np.minimum(low, accuracy), np.maximum(high, accuracy))


def share_right(right: Array, given: Array) -> Array:
    """Return the share of each worker's labels that are right; without labels, the share of all workers together."""
    return np.where(given > 0, right / np.maximum(given, 1), right.sum() / given.sum())


def count_agreement(labels: Labels, answers: Array) -> AgreementCounts:
    """Count these items, given their answers."""
    # The answer of an item with a single label is that label, so agreement with it means nothing.
    several = np.diff(labels.item_starts) > 1
    compared = np.where(several, answers, -1)
    with_others = np.repeat(several, np.diff(labels.item_starts))
    return AgreementCounts(
        given=np.bincount(labels.workers, minlength=labels.n_workers),
        agreed=kernels.agreements(labels.item_starts, labels.workers, labels.labels, compared, labels.n_workers),
        compared=np.bincount(labels.workers, with_others, minlength=labels.n_workers),
        classes=np.bincount(answers, minlength=labels.n_classes),
    )


def count_right(labels: Labels, evidence: Array, share: Array) -> tuple[Array, Array]:
    """Return two arrays (workers): the expected number of right labels on these items, and its variance.

    Args:
        labels: The labels of these items.
        evidence: (workers), the log odds that a label adds to the class that it names.
        share: (classes), the prior probability of each class.
    """
    return kernels.expected_right(labels.item_starts, labels.workers, labels.labels, evidence, share)


def _expected_right(labels: Labels, evidence: Array, share: Array) -> tuple[Array, Array]:
    return labels.add_slices(2 * labels.n_workers, lambda _first, _last, part: count_right(part, evidence, share))


def _prior(right: Array, given: Array, informative: Array) -> tuple[float, float]:
    """Return A and B of the Beta distribution of the workers' accuracies, by the method of moments (Kleinman, 1973).

    Args:
        right: (workers), the number of right labels.
        given: (workers), the number of labels.
        informative: (workers), the number of labels after the loss of information that the module describes.
    """
    mean = (right.sum() + 0.5) / (given.sum() + 1)
    known = informative > 1e-9
    sizes, accuracy = informative[known], right[known] / given[known]
    total, n_workers = sizes.sum(), len(sizes)
    spread = (sizes * (accuracy - mean) ** 2).sum() / (mean * (1 - mean)) - (n_workers - 1)
    scope = total - (sizes**2).sum() / total - (n_workers - 1) if n_workers > 1 else 0.0
    correlation = spread / scope if scope > 0 else 0.0
    strength = 1 / np.clip(correlation, 1 / (_MAX_PRIOR_LABELS + 1), 0.5) - 1
    return float(mean * strength), float((1 - mean) * strength)
