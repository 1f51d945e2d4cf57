"""How often is each worker right? The question every method can answer, on the scale of accuracy, with an interval.

Given a method's answers, read every worker as one coin: right with probability p_j, else wrong evenly over the other
classes. Rounds of expectation and maximisation turn agreement with the answers, which flatters (a worker's own
vote helped to choose them), into the expected number of right labels. The posterior is

    p_j ~ Beta(A + right_j, B + wrong_j)

with A and B by moments over all workers, worth at most eight labels together, so that a crowd of few labels cannot
talk itself into all workers being alike. Not knowing the truth loses information: the interval counts only
n_j - sum q (1 - q) / (p_j (1 - p_j)) of the n_j labels, q the probability that a label is right (Louis, 1982,
https://doi.org/10.1111/j.2517-6161.1982.tb01203.x). Eight labels and at most eight rounds were chosen on
simulated crowds (tests/test_coverage.py), not on any truth file.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array
from .result import Quality

_ROUNDS: Final = 8
_CHANGE: Final = 0.01
_PRIOR_LABELS: Final = 8.0


class AgreementCounts(NamedTuple):
    """What is counted given the answers; it adds up over disjoint items."""

    given: Array  # (workers): labels
    agreed: Array  # (workers): of those on items with several, how many name the answer
    compared: Array  # (workers): labels on items with several
    classes: Array  # (classes): answers


def accuracies(labels: Labels, answers: Array, level: float = 0.95) -> Quality:
    """The accuracy of every worker, with its central posterior interval.

    Args:
        labels: What the workers said; a set-valued vote counts as a label for each class named.
        answers: The class of every item, as a method has it.
        level: The probability that the interval is meant to hold.
    """
    return accuracies_of(count_agreement(labels, answers), partial(_expected_right, labels), level)


def accuracies_of(
    agreement: AgreementCounts, expected_right: Callable[[Array, Array], tuple[Array, Array]], level: float = 0.95
) -> Quality:
    """The same from counts over all items; `expected_right` is `count_right` over all items."""
    given = agreement.given.astype(float)
    right = agreement.agreed.astype(float)
    counted = informative = agreement.compared.astype(float)
    n_classes = len(agreement.classes)
    others = max(n_classes - 1, 1)
    share = (agreement.classes + 1.0) / (agreement.classes.sum() + n_classes)
    accuracy = right
    for _ in range(_ROUNDS):
        before = accuracy
        prior_right, prior_wrong = _prior(right, counted, informative)
        accuracy = (prior_right + right) / (prior_right + prior_wrong + counted)
        if np.abs(accuracy - before).max() < _CHANGE:
            break
        evidence = np.log(accuracy) - np.log1p(-accuracy) + np.log(others)
        right, variance = expected_right(evidence, share)
        counted = given
        informative = np.maximum(given - variance / (accuracy * (1 - accuracy)), 0)
    prior_right, prior_wrong = _prior(right, counted, informative)
    accuracy = (prior_right + right) / (prior_right + prior_wrong + counted)
    strength = prior_right + prior_wrong + informative
    from scipy import special  # half of the time that crowdwise needs to start, so not before it is needed

    ends = np.array([(1 - level) / 2, (1 + level) / 2])[:, None]
    low, high = special.betaincinv(accuracy * strength, (1 - accuracy) * strength, ends)
    # Near one, the ends are rounded further than the accuracy itself.
    return Quality(accuracy, np.minimum(low, accuracy), np.maximum(high, accuracy))


def share_right(right: Array, given: Array) -> Array:
    """The share of each worker's labels that are right; a worker without labels is as good as all together."""
    return np.where(given > 0, right / np.maximum(given, 1), right.sum() / given.sum())


def count_agreement(labels: Labels, answers: Array) -> AgreementCounts:
    """Count these items."""
    # An item with a single label agrees with itself, which says nothing: start from the others.
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
    """Expected right labels of every worker, and the variance of their number, over these items."""
    return kernels.expected_right(labels.item_starts, labels.workers, labels.labels, evidence, share)


def _expected_right(labels: Labels, evidence: Array, share: Array) -> tuple[Array, Array]:
    return labels.add_slices(2 * labels.n_workers, lambda _first, _last, part: count_right(part, evidence, share))


def _prior(right: Array, given: Array, informative: Array) -> tuple[float, float]:
    """A and B of the Beta distribution of accuracies, by moments (Kleinman, 1973)."""
    mean = (right.sum() + 0.5) / (given.sum() + 1)
    known = informative > 1e-9
    sizes, accuracy = informative[known], right[known] / given[known]
    total, workers = sizes.sum(), len(sizes)
    spread = (sizes * (accuracy - mean) ** 2).sum() / (mean * (1 - mean)) - (workers - 1)
    scope = total - (sizes**2).sum() / total - (workers - 1) if workers > 1 else 0.0
    correlation = spread / scope if scope > 0 else 0.0
    strength = 1 / np.clip(correlation, 1 / (_PRIOR_LABELS + 1), 0.5) - 1
    return float(mean * strength), float((1 - mean) * strength)
