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
simulated crowds (tests/results/test_coverage.py), not on datasets with known truth.

Where the answers nearly always follow one worker, also against all others, agreement with the answers says nothing
about that worker. The rounds then also begin with what most other workers say, and the interval holds both readings.

A method with probabilities of its own for what is right gives the expected number of right labels itself, and the
variance of that number; then no rounds are needed.

All of that assumes independent errors. In real crowds workers err together, on items that are hard for everybody, and
then the answers are wrong more often than the labels show. So the quality of a worker is the accuracy by calibrated
probabilities, and it never says that the labels are better than the answers. Its 95 % interval is that of intervals.py,
with n the effective number of labels, and the SPREAD of the 80 % interval of the method's expected accuracy
(results/calibration.toml): the accuracy of a worker is off by less than that of all answers, so that the interval holds
more than 90 % of the workers of crowds with known truth (`make study NAME=coverage`, docs/studies/confidence.md).
The estimate that assumes independent errors is for comparing workers: errors that they share concern them all.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ..crowd.labels import Labels
from ..crowd.votes import agreements, count_outvoted, is_deciding
from ..numerics import Array
from ..numerics.twins import twin
from . import calibration
from .expected_accuracy import fitted_spread
from .intervals import NORMAL, arcsine_interval
from .result import Quality

# The probability that an interval holds the accuracy.
_LEVEL: Final = 0.95
_MAX_ROUNDS: Final = 8
# The rounds end when no accuracy changes by more than this.
_TOLERANCE: Final = 0.01
_MAX_PRIOR_LABELS: Final = 8.0


class Estimate(NamedTuple):
    """The accuracy of every worker by one reading of the labels.

    Attributes:
        value: (workers), the accuracy.
        low, high: (workers), the ends of a central posterior interval.
        label_counts: (3, workers), how many labels are right, how many there are, and the effective number of labels
            (Louis).
        strength: (workers), the effective number of labels, with those that the prior is worth.
        decided: Whether the answers nearly always follow one worker, so that agreement with them says little.
    """

    value: Array
    low: Array
    high: Array
    label_counts: Array
    strength: Array
    decided: bool = False


class AgreementCounts(NamedTuple):
    """What is counted when the answers are known; the counts of disjoint sets of items can be added.

    Attributes:
        given: (workers), the number of labels.
        agreed: (workers), the number of labels on items with several labels that name the answer.
        compared: (workers), the number of labels on items with several labels.
        classes: (classes), the number of items with this answer.
        by_votes: (4, workers), what `count_outvoted` counts.
    """

    given: Array
    agreed: Array
    compared: Array
    classes: Array
    by_votes: Array


def accuracies(labels: Labels, answers: Array) -> Estimate:
    """Return the accuracy of every worker, with its central posterior interval; `answers` are inferred classes.

    A vote that names several classes counts as several labels.
    """
    return accuracies_of(count_agreement(labels, answers), partial(_expected_right, labels))


def accuracies_of(
    agreement: AgreementCounts, expected_right: Callable[[Array, Array], tuple[Array, Array]]
) -> Estimate:
    """Return the accuracy of every worker, with its central posterior interval, from counts over all items.

    `expected_right` returns the sum of `count_right` over all items, given its arguments `log_odds` and `share`.
    """
    by_answers = _by_rounds(agreement.agreed, agreement.compared, agreement, expected_right)
    compared, agreed, outvoted, won = agreement.by_votes
    if not is_deciding(outvoted, won, agreement.given, int(agreement.classes.sum())).any():
        return by_answers
    # The answers are those of one worker, so agreement with them is agreement of that worker with itself. What most
    # other workers say is another reading, and nothing tells which of the two is right: the intervals hold both.
    by_votes = _by_rounds(agreed, compared, agreement, expected_right)
    ends = np.array([[one.low, one.high] for one in (by_votes, by_answers)])
    return by_votes._replace(low=ends[:, 0].min(axis=0), high=ends[:, 1].max(axis=0), decided=True)


def _by_rounds(
    agreed: Array,
    compared: Array,
    agreement: AgreementCounts,
    expected_right: Callable[[Array, Array], tuple[Array, Array]],
) -> Estimate:
    """Return the accuracies by rounds of E step and M step, which begin with `agreed` of `compared` labels right."""
    given = agreement.given.astype(float)
    right = agreed.astype(float)
    counted = informative = compared.astype(float)
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
        log_odds = np.log(accuracy) - np.log1p(-accuracy) + np.log(others)
        right, variance = expected_right(log_odds, share)
        counted = given
        informative = np.maximum(given - variance / (accuracy * (1 - accuracy)), 0)
    return _posterior(right, counted, informative)


def accuracies_from(right: Array, variance: Array, given: Array) -> Estimate:
    """Return the accuracy of every worker, with its central posterior interval, where a method knows who was right.

    `right` is the expected number of right labels of each worker, by the method's own probabilities, and `variance` the
    variance of this number.
    """
    share = (right + 0.5) / (given + 1)
    informative = np.maximum(given - variance / (share * (1 - share)), 0)
    return _posterior(right, given.astype(float), informative)


def _posterior(right: Array, counted: Array, informative: Array) -> Estimate:
    """Return the accuracies and their intervals, given numbers of labels; see `_prior` for the arguments."""
    prior_right, prior_wrong = _prior(right, counted, informative)
    accuracy = (prior_right + right) / (prior_right + prior_wrong + counted)
    strength = prior_right + prior_wrong + informative
    from scipy import special  # imported here because importing it takes half of the time that crowdwise needs to start

    ends = np.array([(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])[:, None]
    low, high = special.betaincinv(accuracy * strength, (1 - accuracy) * strength, ends)
    # Near 1 the rounding error of the ends can be larger than their distance from the accuracy.
    label_counts = np.stack([right, counted, informative])
    return Estimate(accuracy, np.minimum(low, accuracy), np.maximum(high, accuracy), label_counts, strength)


def quality_by(
    calibrated_as: str, independent: Estimate, by_confidence: Estimate, before: Array | None, gold: int = 0
) -> Quality:
    """Return the quality of workers from the accuracies, assuming independent errors and by calibrated probabilities.

    `before` is the `Quality.label_counts` of earlier labels, None if there are none; `gold` is the number of random
    items of known class that confidence was fitted to.
    """
    readings = [independent, by_confidence]
    if before is not None:
        readings = [_posterior(*(one.label_counts + past)) for one, past in zip(readings, before, strict=True)]
    first, second = readings
    value, spread = second.value, fitted_spread(calibration.constant(calibrated_as).spreads[80], 95, gold)
    low, high = arcsine_interval(value, second.strength, spread, NORMAL)
    low, high = np.minimum(low, value), np.maximum(high, value)
    if independent.decided:  # confidence, too, is agreement with one worker
        value, low, high = first.value, np.minimum(first.low, low), np.maximum(first.high, high)
    return Quality(
        value,
        low,
        high,
        np.stack([first.low, first.high]),
        np.stack([first.label_counts, second.label_counts]),
    )


def measure_quality(
    accuracy: Callable[[Labels, Array], Estimate],
    calibrated_as: str,
    labels: Labels,
    answers: Array,
    probabilities: Array,
) -> Quality:
    """Return the quality of workers, given also how right they were in earlier labels.

    `accuracy` returns the accuracies, assuming independent errors; `probabilities` (items, classes) are calibrated.
    """
    alone, by_confidence = accuracy(labels, answers), accuracies_by(labels, probabilities)
    return quality_by(calibrated_as, alone, by_confidence, labels.known.label_counts)


def share_right(right: Array, given: Array) -> Array:
    """Return the share of each worker's labels that are right; without labels, the share of all workers together."""
    return np.where(given > 0, right / np.maximum(given, 1), right.sum() / given.sum())


def count_agreement(labels: Labels, answers: Array) -> AgreementCounts:
    """Count these items, given their answers."""
    counted = partial(np.bincount, minlength=labels.n_workers)
    given, agreed = counted(labels.workers), agreements(labels, answers)
    # The answer of an item with a single label is that label, so agreement with it means nothing.
    alone = np.flatnonzero(np.diff(labels.item_starts) == 1)
    lone = labels.item_starts[alone]
    compared = given - counted(labels.workers[lone])
    agreed -= counted(labels.workers[lone[labels.labels[lone] == answers[alone]]])
    classes = np.bincount(answers, minlength=labels.n_classes)
    return AgreementCounts(given, agreed, compared, classes, count_outvoted(labels, answers))


def count_right(labels: Labels, log_odds: Array, share: Array) -> tuple[Array, Array]:
    """Return two arrays (workers): the expected number of right labels on these items, and its variance.

    `log_odds` (workers) is what a label adds to the class that it names, `share` (classes) the prior of each class.
    """
    if labels.gold is None:
        return expected_right(labels, log_odds, share)
    apart = labels.gold_split
    right, variance = count_right(apart.open, log_odds, share)
    for known, _, part in apart.gold:  # which of these labels are right is certain
        right += np.bincount(part.workers[part.labels == known], minlength=labels.n_workers)
    return right, variance


def count_right_by(labels: Labels, probabilities: Array) -> tuple[Array, Array]:
    """Do as `count_right`, by these probabilities of classes (items, classes)."""
    chance = probabilities[labels.item_of, labels.labels]
    right = np.bincount(labels.workers, chance, labels.n_workers)
    return right, np.bincount(labels.workers, chance * (1 - chance), labels.n_workers)


def accuracies_by(labels: Labels, probabilities: Array) -> Estimate:
    """Return the accuracy of every worker, with its interval, by probabilities of classes (items, classes)."""
    right, variance = count_right_by(labels, probabilities)
    return accuracies_from(right, variance, np.bincount(labels.workers, minlength=labels.n_workers))


def _expected_right(labels: Labels, log_odds: Array, share: Array) -> tuple[Array, Array]:
    return labels.add_slices(2 * labels.n_workers, lambda _first, _last, part: count_right(part, log_odds, share))


def _prior(right: Array, given: Array, informative: Array) -> tuple[float, float]:
    """Return A and B of the Beta distribution of the workers' accuracies, by the method of moments (Kleinman, 1973).

    The arguments (workers) are the number of right labels, of labels, and the effective number of labels (Louis).
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
