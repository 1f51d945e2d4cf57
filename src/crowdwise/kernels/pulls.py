"""Items that pull workers towards a class: score the items, and count what each worker said and felt.

A pull has a strength, from a short list, and a class that it pulls towards. The type of an item is no pull, or one of
these pulls. In arrays, (pulls) is one axis for the strength, the true class and the class that is pulled towards, in
this order: the classes stand together, so that a loop over them takes several at once.

A worker who says class a with probability p says it with (1 + gain) p / (1 + gain p) if the item pulls towards a, and
any other class with its probability over 1 + gain p. So a label takes products, and an item takes no more
exponentials than there are classes.
"""

import numpy as np

from .compilation import Array, compiled
from .simd import fetch_number

_U = np.uint64  # an index of this type is not checked for being negative
# Products of so many factors, each between 1 and e^4, are far from the largest numbers there are.
SAFE_FACTORS = 64
# Tables of more numbers than this do not fit in the cache next to the processor. Then the rows of the label that is so
# many labels ahead are fetched into it, a cache line of so many numbers at a time.
_FAR, _AHEAD, _LINE = 1 << 18, 4, 8
# A class that is less likely than another by more than this factor, as a logarithm, is impossible where few labels are.
_IMPOSSIBLE = -300.0
# A type that is less likely than all types together by more than this factor has the probability zero.
NEGLIGIBLE = np.exp(-40.0)


@compiled
def sweep_pulls(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    beliefs: tuple[Array, Array, Array, Array, Array] | None,
    scores: Array,
    changes: Array,
    confusion: Array,
    exposure: Array,
    classes: Array,
    pulled: Array,
    totals: Array,
) -> None:
    """Score every item by the posterior probabilities of its classes, and count what its types say about the workers.

    `weights` (labels) is how much each label counts for the scores; it is empty if all count as one. `beliefs` is what
    `posterior_of_types` needs to know; if it is None, scores stay as they are and types are not counted.

    Overwrites `scores` (items, classes), and raises `changes` (classes) to the largest change of a score. Adds the
    scores of an item, for each of its labels, to `confusion` (workers, said class, true class), and the probabilities
    of its pulls to `exposure` (workers, pulls). Adds the scores to `classes` (classes), and the probabilities of pulls
    to `pulled` (pulls). Adds to `totals` (6), for every item: half of the absolute changes of its scores, the log
    likelihood, the share of its votes that its scores keep, its largest score, one, and the square of the number of
    its labels.
    """
    n_classes = scores.shape[1]
    neutral, found = np.empty(n_classes), np.empty(n_classes)
    pulls, lifts, scratch = np.empty(pulled.size), np.empty(pulled.size // n_classes), np.empty(pulled.size)
    exposed, confused = exposure.reshape(-1), confusion.reshape(-1)
    is_far = confused.size > _FAR or exposed.size > _FAR
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        if beliefs is not None:
            totals[1] += posterior_of_types(
                low, high, workers, labels, weights, beliefs, neutral, pulls, found, lifts, scratch
            )
            for t in range(_U(pulls.size)):
                pulled[t] += pulls[t]
            for k in range(n_classes):
                change = abs(found[k] - scores[i, k])
                changes[k] = max(changes[k], change)
                totals[0] += change / 2
                scores[i, k] = found[k]
        else:
            for k in range(n_classes):
                found[k] = scores[i, k]
        largest = kept = 0.0
        for k in range(n_classes):
            classes[k] += found[k]
            largest = max(largest, found[k])
        for e in range(low, high):
            if is_far:
                ahead = min(e + _AHEAD, workers.size - 1)
                _fetch_said(confused, workers[ahead], labels[ahead], n_classes)
                if beliefs is not None:
                    _fetch_row(exposed, workers[ahead], pulls.size)
            if beliefs is not None:
                first = _U(workers[e]) * _U(pulls.size)
                for t in range(_U(pulls.size)):
                    exposed[first + t] += pulls[t]
            kept += found[labels[e]]
            first = (_U(workers[e]) * _U(n_classes) + _U(labels[e])) * _U(n_classes)
            for k in range(_U(n_classes)):
                confused[first + k] += found[k]
        totals[2] += kept / max(high - low, 1)
        totals[3] += largest
        totals[4] += 1.0
        totals[5] += float(high - low) ** 2


@compiled
def _fetch_row(table: Array, row: int, size: int) -> None:
    """Ask the processor to fetch a row of this size into its cache; the table is one long array."""
    for t in range(0, size, _LINE):
        fetch_number(table, _U(row) * _U(size) + _U(t))


@compiled
def _fetch_said(table: Array, worker: int, said: int, n_classes: int) -> None:
    """Ask the processor to fetch what a table (workers, said class, true class) has for a label."""
    fetch_number(table, (_U(worker) * _U(n_classes) + _U(said)) * _U(n_classes))


@compiled
def posterior_of_types(
    low: int,
    high: int,
    workers: Array,
    labels: Array,
    weights: Array,
    beliefs: tuple[Array, Array, Array, Array, Array],
    neutral: Array,
    pulled: Array,
    found: Array,
    lifts: Array,
    scratch: Array,
) -> float:
    """Find the probability of every type and class of the item whose labels are those from `low` to `high`.

    `beliefs` is five arrays. `chance` (workers * true classes * said classes) is the probability of what a worker says
    of an item without a pull, and `evidence` (workers * said classes * true classes) its logarithm. `gain` (strengths)
    is by how many times itself a pull raises the odds of the class that it is towards. `log_neutral` (true classes) is
    the logarithm of the probability of a class without a pull before any label, and `ratio` (pulls) how many times as
    probable each pull is.

    Overwrites `neutral` (true classes) with the probabilities of no pull, `pulled` (pulls) with those of the pulls, and
    `found` (true classes) with those of the classes. `lifts` (strengths * classes) and `scratch` (pulls) are scratch.
    Returns the log likelihood of the labels.
    """
    evidence, chance, gain, log_neutral, ratio = beliefs
    n_classes = neutral.size
    size = _U(n_classes * n_classes)
    for k in range(n_classes):
        neutral[k] = log_neutral[k]
    # `pulled` is first the product of what the probabilities of all labels are divided by, and `lifts` has the product
    # of what those of the labels towards every class are multiplied with, for each strength.
    for t in range(_U(pulled.size)):
        pulled[t] = 1.0
    for t in range(_U(lifts.size)):
        lifts[t] = 1.0
    is_long = high - low > SAFE_FACTORS
    for t in range(scratch.size if is_long else 0):
        scratch[t] = 0.0
    for e in range(low, high):
        if chance.size > _FAR:
            ahead = min(e + _AHEAD, workers.size - 1)
            _fetch_row(chance, workers[ahead], n_classes * n_classes)
            _fetch_said(evidence, workers[ahead], labels[ahead], n_classes)
        weight = 1.0 if weights.size == 0 else weights[e]
        worker = _U(workers[e]) * size
        said = worker + _U(labels[e]) * _U(n_classes)
        for k in range(_U(n_classes)):
            neutral[k] += weight * evidence[said + k]
        for m in range(gain.size):
            strength = _U(m) * size
            if weight == 1.0:
                lifts[m * n_classes + labels[e]] *= 1.0 + gain[m]
                for t in range(size):
                    pulled[strength + t] *= 1.0 + gain[m] * chance[worker + t]
            else:
                lifts[m * n_classes + labels[e]] *= (1.0 + gain[m]) ** weight
                for t in range(size):
                    pulled[strength + t] *= (1.0 + gain[m] * chance[worker + t]) ** weight
        if is_long and (e - low) % SAFE_FACTORS == 0:
            _fold(pulled, lifts, scratch, n_classes)
    if is_long:
        _fold(pulled, lifts, scratch, n_classes)
        return _normalise_long(neutral, pulled, found, scratch, ratio)
    highest = _highest(neutral)
    for k in range(n_classes):
        # No pull makes up for so much, and products of smaller numbers would be slow.
        neutral[k] = np.exp(neutral[k] - highest) if neutral[k] - highest > _IMPOSSIBLE else 0.0
    for k in range(n_classes):
        of_class = neutral[k]
        for m in range(gain.size):
            first, lift = _U((m * n_classes + k) * n_classes), _U(m * n_classes)
            for towards in range(_U(n_classes)):
                one = ratio[first + towards] * neutral[k] * lifts[lift + towards] / pulled[first + towards]
                pulled[first + towards] = one
                of_class += one
        found[k] = of_class
    return float(highest + np.log(_normalise(neutral, pulled, found)))


@compiled
def _highest(numbers: Array) -> float:
    """Return the highest of some numbers; NumPy's own `max` takes longer, to compile and to run."""
    highest = numbers[0]
    for k in range(1, numbers.size):
        highest = max(highest, numbers[k])
    return float(highest)


@compiled
def _normalise(neutral: Array, pulled: Array, found: Array) -> float:
    """Divide the probabilities of all types, and of the classes, by the sum of those of the classes, and return it."""
    total = 0.0
    for k in range(found.size):
        total += found[k]
    threshold, share = total * NEGLIGIBLE, 1.0 / total
    for k in range(found.size):
        neutral[k] = neutral[k] * share if neutral[k] > threshold else 0.0
        found[k] = found[k] * share if found[k] > threshold else 0.0
    for t in range(_U(pulled.size)):
        pulled[t] = pulled[t] * share if pulled[t] > threshold else 0.0
    return total


@compiled
def _fold(pulled: Array, lifts: Array, folded: Array, n_classes: int) -> None:
    """Add the logarithms of the products so far to `folded`, so that products of more factors are not too large."""
    for t in range(pulled.size):
        strength, towards = t // (n_classes * n_classes), t % n_classes
        folded[t] += np.log(lifts[strength * n_classes + towards]) - np.log(pulled[t])
        pulled[t] = 1.0
    for t in range(lifts.size):
        lifts[t] = 1.0


@compiled
def _normalise_long(neutral: Array, pulled: Array, found: Array, folded: Array, ratio: Array) -> float:
    """The end of `posterior_of_types` for an item with many labels, whose products are folded into logarithms."""
    n_classes = neutral.size
    highest = _highest(neutral)
    for t in range(pulled.size):
        folded[t] += np.log(ratio[t]) + neutral[t // n_classes % n_classes]
        highest = max(highest, folded[t])
    for k in range(n_classes):
        found[k] = neutral[k] = np.exp(neutral[k] - highest)
    for t in range(pulled.size):
        pulled[t] = np.exp(folded[t] - highest)
        found[t // n_classes % n_classes] += pulled[t]
    return float(highest + np.log(_normalise(neutral, pulled, found)))


@compiled
def read_out(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    beliefs: tuple[Array, Array, Array, Array, Array],
    answer_neutral: Array,
    answer_pulled: Array,
    answers: Array,
    traps: Array,
) -> None:
    """Find what an adjudicator would answer, and how likely each item is a trap.

    `answer_neutral` (true classes, classes) and `answer_pulled` (pulls, classes) are the probabilities of the
    adjudicator's answers for every type. `weights` and `beliefs` are as in `sweep_pulls`.

    Overwrites `answers` (items, classes), and `traps` (items): the probability of a pull away from the true class.
    """
    n_classes = answers.shape[1]
    neutral, found = np.empty(n_classes), np.empty(n_classes)
    size = answer_pulled.shape[0]
    pulled, lifts, scratch = np.empty(size), np.empty(size // n_classes), np.empty(size)
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        posterior_of_types(low, high, workers, labels, weights, beliefs, neutral, pulled, found, lifts, scratch)
        traps[i] = 0.0
        for a in range(n_classes):
            answers[i, a] = 0.0
        for k in range(n_classes):
            for a in range(n_classes):
                answers[i, a] += neutral[k] * answer_neutral[k, a]
        for t in range(pulled.size):
            if pulled[t] > 0.0:
                if t % n_classes != t // n_classes % n_classes:
                    traps[i] += pulled[t]
                for a in range(n_classes):
                    answers[i, a] += pulled[t] * answer_pulled[t, a]
