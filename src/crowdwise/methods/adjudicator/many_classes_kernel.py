"""Items that pull, where there are many classes: only the classes that somebody named on an item are looked at.

many_model.py has the same in NumPy, with the formulas. In arrays of one item, classes have places: their numbers in the
order in which they were first named. A target is a place that the item may pull towards.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from .constants import MOST_TARGETS
from .few_classes_kernel import NEGLIGIBLE, SAFE_FACTORS


@allocating
def sweep_named_pulls(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array, Array, Array, Array],
    scores: Array,
    changes: Array,
    right: Array,
    curvature: Array,
    mass: Array,
    lifted: Array,
    lifted_right: Array,
    confusion: Array,
    lifted_confusion: Array,
    classes: Array,
    easy: Array,
    traps: Array,
    totals: Array,
) -> None:
    """E step: score every item by the posteriors of its classes, and count what its types say about the workers.

    `weights` is as in `sweep_pulls`, and `parameters` is what `_posterior` needs to know.

    Overwrites `scores` (items, classes) and raises `changes` (classes) to the largest change of a score. What is added
    to the counts of workers (workers, classes), with the probabilities of the types as weights: to `right`, whether the
    class that is true was said; to `curvature`, p (1 - p), where p is the probability that it is; to `mass`, for the
    true class, what remains of all probabilities after the pull; to `lifted`, by how much the pull raises the
    probability of the class that it is towards, and to `lifted_right` the same if this class is true. What is added to
    the counts of pairs (true class, said class): to `confusion`, what was said, and to `lifted_confusion` what is added
    to `lifted`. `classes` (classes), `easy` and `traps` (strengths) get the probabilities of classes and of pulls, and
    the first six `totals` what `sweep_pulls` adds.
    """
    n_strengths = easy.size
    place = np.full(scores.shape[1], -1)
    most = _most_named(item_starts, place.size)
    named, votes, targets = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(MOST_TARGETS, np.int64)
    neutral, chance = np.empty(most), np.empty((most, MOST_TARGETS))
    pulled, folded = np.empty((n_strengths, most, MOST_TARGETS)), np.empty((n_strengths, most, MOST_TARGETS))
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        n = _name_classes(low, high, labels, named, votes, place)
        n_targets = _choose_targets(votes, n, targets)
        spots = (named[:n], place, targets[:n_targets])
        totals[1] += _posterior(low, high, workers, labels, weights, parameters, spots, neutral, pulled, folded, chance)
        for k in range(scores.shape[1]):
            if place[k] < 0 and scores[i, k] > 0.0:
                changes[k] = max(changes[k], scores[i, k])
                totals[0] += scores[i, k] / 2
                scores[i, k] = 0.0
        largest = 0.0
        for p in range(n):
            score = neutral[p]
            for m in range(n_strengths):
                for t in range(n_targets):
                    score += pulled[m, p, t]
                    if targets[t] == p:
                        easy[m] += pulled[m, p, t]
                    else:
                        traps[m] += pulled[m, p, t]
            change = abs(score - scores[i, named[p]])
            changes[named[p]] = max(changes[named[p]], change)
            totals[0] += change / 2
            scores[i, named[p]] = score
            classes[named[p]] += score
            largest = max(largest, score)
        totals[3] += largest
        totals[4] += 1.0
        totals[5] += float(high - low) ** 2
        for e in range(low, high):
            worker, said = workers[e], labels[e]
            totals[2] += scores[i, said] / (high - low)
            right[worker, said] += scores[i, said]
            for p in range(n):
                confusion[named[p], said] += scores[i, named[p]]
            counts = (curvature[worker], mass[worker], lifted[worker], lifted_right[worker], lifted_confusion)
            _count_types(worker, parameters, spots, neutral, pulled, chance, counts)
        for p in range(n):
            place[named[p]] = -1


@compiled
def _count_types(
    worker: int,
    parameters: tuple[Array, Array, Array, Array, Array, Array, Array],
    spots: tuple[Array, Array, Array],
    neutral: Array,
    pulled: Array,
    chance: Array,
    counts: tuple[Array, Array, Array, Array, Array],
) -> None:
    """Count what the types of an item say about one worker who labelled it; `counts` are those of this worker."""
    curvature, mass, lifted, lifted_right, lifted_confusion = counts
    base, liking, own, share, _, _, strengths = parameters
    named, _, targets = spots
    _chances(worker, parameters, spots, chance)
    for p in range(named.size):
        k = named[p]
        correct = base[k, k] * liking[worker, k] * own[worker, k] * share[worker, k]
        mass[k] += neutral[p]
        curvature[k] += neutral[p] * correct * (1.0 - correct)
        for m in range(strengths.size):
            factor = np.exp(strengths[m]) - 1.0
            for t in range(targets.size):
                weight = pulled[m, p, t]
                if weight == 0.0:
                    continue
                lift = factor * chance[p, t]
                shrink = 1.0 / (1.0 + lift)
                gain = weight * lift * shrink
                pulled_correct = correct * shrink + (lift * shrink if targets[t] == p else 0.0)
                mass[k] += weight * shrink
                lifted[named[targets[t]]] += gain
                lifted_confusion[k, named[targets[t]]] += gain
                curvature[k] += weight * pulled_correct * (1.0 - pulled_correct)
                if targets[t] == p:
                    lifted_right[k] += gain


@compiled
def _posterior(
    low: int,
    high: int,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array, Array, Array, Array],
    spots: tuple[Array, Array, Array],
    neutral: Array,
    pulled: Array,
    folded: Array,
    chance: Array,
) -> float:
    """Find the probability of every type and class of the item whose labels are those from `low` to `high`.

    `parameters` is as many_model.py has it, and `weights` as in `sweep_pulls`. `spots` is the classes that were named,
    the place of every class (classes), and the places of the targets. Overwrites `neutral` (places of true classes) and
    `pulled` (strengths, places of true classes, targets); `folded` and `chance` are scratch. Returns the log likelihood
    of the labels.
    """
    base, liking, own, share, log_classes, log_types, strengths = parameters
    named, place, targets = spots
    for p in range(named.size):
        neutral[p] = log_classes[named[p]]
        for m in range(strengths.size):
            for t in range(targets.size):
                pulled[m, p, t] = 1.0
                folded[m, p, t] = log_types[1 + m + (0 if targets[t] == p else strengths.size)]
    for e in range(low, high):
        worker, said = workers[e], labels[e]
        weight = 1.0 if weights.size == 0 else weights[e]
        _chances(worker, parameters, spots, chance)
        for p in range(named.size):
            k = named[p]
            chance_of_said = base[k, said] * liking[worker, said] * share[worker, k]
            if k == said:
                chance_of_said *= own[worker, k]
            neutral[p] += weight * np.log(max(chance_of_said, 1e-300))
            for m in range(strengths.size):
                factor = np.exp(strengths[m]) - 1.0
                for t in range(targets.size):
                    moved = (factor + 1.0 if targets[t] == place[said] else 1.0) / (1.0 + factor * chance[p, t])
                    pulled[m, p, t] *= moved if weight == 1.0 else moved**weight
        if (e - low) % SAFE_FACTORS == SAFE_FACTORS - 1:
            _fold(named.size, targets.size, pulled, folded)
    _fold(named.size, targets.size, pulled, folded)
    highest = -np.inf
    for p in range(named.size):
        highest = max(highest, neutral[p] + log_types[0])
        for m in range(strengths.size):
            for t in range(targets.size):
                folded[m, p, t] += neutral[p]
                highest = max(highest, folded[m, p, t])
    total = 0.0
    for p in range(named.size):
        neutral[p] = np.exp(neutral[p] + log_types[0] - highest)
        total += neutral[p]
        for m in range(strengths.size):
            for t in range(targets.size):
                pulled[m, p, t] = np.exp(folded[m, p, t] - highest)
                total += pulled[m, p, t]
    threshold = total * NEGLIGIBLE
    for p in range(named.size):
        neutral[p] = neutral[p] / total if neutral[p] > threshold else 0.0
        for m in range(strengths.size):
            for t in range(targets.size):
                pulled[m, p, t] = pulled[m, p, t] / total if pulled[m, p, t] > threshold else 0.0
    return float(highest + np.log(total))


@compiled
def _fold(n: int, n_targets: int, pulled: Array, folded: Array) -> None:
    """Add the logarithms of `pulled` to `folded`, so that products of more factors are not too large or small."""
    for m in range(pulled.shape[0]):
        for p in range(n):
            for t in range(n_targets):
                folded[m, p, t] += np.log(pulled[m, p, t])
                pulled[m, p, t] = 1.0


@allocating
def answer_named_items(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array, Array, Array, Array],
    answer: Array,
    answers: Array,
    traps: Array,
) -> None:
    """Find what an adjudicator would answer, and how likely each item is a trap.

    `answer` (true classes, classes) are the probabilities of the adjudicator's answers without a pull. `weights` and
    `parameters` are as in `_posterior`. Overwrites `answers` (items, classes), and `traps` (items): the probability of
    a pull away from the true class.
    """
    strengths = parameters[6]
    place = np.full(answers.shape[1], -1)
    most = _most_named(item_starts, place.size)
    named, votes, targets = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(MOST_TARGETS, np.int64)
    neutral, chance = np.empty(most), np.empty((most, MOST_TARGETS))
    pulled = np.empty((strengths.size, most, MOST_TARGETS))
    folded = np.empty((strengths.size, most, MOST_TARGETS))
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        n = _name_classes(low, high, labels, named, votes, place)
        n_targets = _choose_targets(votes, n, targets)
        spots = (named[:n], place, targets[:n_targets])
        _posterior(low, high, workers, labels, weights, parameters, spots, neutral, pulled, folded, chance)
        traps[i] = 0.0
        answers[i] = 0.0
        for p in range(n):
            unpulled = neutral[p]
            for m in range(strengths.size):
                factor = np.exp(strengths[m]) - 1.0
                for t in range(n_targets):
                    lift = factor * answer[named[p], named[targets[t]]]
                    unpulled += pulled[m, p, t] / (1.0 + lift)
                    answers[i, named[targets[t]]] += pulled[m, p, t] * lift / (1.0 + lift)
                    if targets[t] != p:
                        traps[i] += pulled[m, p, t]
            for a in range(answers.shape[1]):
                answers[i, a] += unpulled * answer[named[p], a]
        for p in range(n):
            place[named[p]] = -1


@compiled
def _chances(
    worker: int,
    parameters: tuple[Array, Array, Array, Array, Array, Array, Array],
    spots: tuple[Array, Array, Array],
    chance: Array,
) -> None:
    """Overwrite `chance` (places of true classes, targets) by how often the worker says them without a pull."""
    base, liking, own, share, _, _, _ = parameters
    named, _, targets = spots
    for p in range(named.size):
        k = named[p]
        for t in range(targets.size):
            target = named[targets[t]]
            chance[p, t] = base[k, target] * liking[worker, target] * share[worker, k]
            if targets[t] == p:
                chance[p, t] *= own[worker, k]


@compiled
def _most_named(item_starts: Array, n_classes: int) -> int:
    """As many classes as can be named on an item: no more than it has labels."""
    most = 1
    for i in range(item_starts.size - 1):
        most = max(most, min(item_starts[i + 1] - item_starts[i], n_classes))
    return most


@compiled
def _name_classes(low: int, high: int, labels: Array, named: Array, votes: Array, place: Array) -> int:
    """Write the classes that labels name, how often each is named, and their places. Returns how many there are."""
    n = 0
    for e in range(low, high):
        if place[labels[e]] < 0:
            place[labels[e]] = n
            named[n] = labels[e]
            votes[n] = 0
            n += 1
        votes[place[labels[e]]] += 1
    return n


@allocating
def _choose_targets(votes: Array, n: int, targets: Array) -> int:
    """Write the places of the classes that were named most often, and return how many these are.

    If there are too many, those are left out that tie with the first one too many, so that no order decides.
    """
    least = 0
    if n > targets.size:
        least = np.sort(votes[:n])[n - targets.size - 1]
    n_targets = 0
    for p in range(n):
        if votes[p] > least:
            targets[n_targets] = p
            n_targets += 1
    return n_targets
