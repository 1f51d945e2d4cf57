"""Counts of votes, weighted votes, and the best classes of items."""

import numpy as np

from .compilation import Array, allocating, compiled

_U = np.uint64


@allocating
def votes_per_item(item_starts: Array, continued: Array | None) -> Array:
    """(items): how many votes every item has."""
    votes = np.empty(item_starts.size - 1, np.int32)
    for i in range(votes.size):
        votes[i] = item_starts[i + 1] - item_starts[i]
        if continued is not None:
            for e in range(item_starts[i], item_starts[i + 1]):
                votes[i] -= continued[e]
    return votes


@allocating
def votes_per_worker(workers: Array, continued: Array | None, n_workers: int) -> Array:
    """(workers): how many votes every worker gave."""
    votes = np.zeros(n_workers, np.int64)
    for e in range(workers.size):
        votes[_U(workers[e])] += 1
        if continued is not None:
            votes[_U(workers[e])] -= continued[e]
    return votes


@compiled
def vote_shares(item_starts: Array, labels: Array, votes: Array, out: Array) -> None:
    """Overwrite `out` (items, classes) by the share of the item's votes that name the class; `votes` is (items)."""
    for i in range(votes.size):
        out[i] = 0.0
        for e in range(item_starts[i], item_starts[i + 1]):
            out[i, labels[e]] += 1.0
        # Whole numbers are divided, so that equal shares are equal to the last bit.
        for k in range(out.shape[1]):
            out[i, k] /= votes[i]


@allocating
def disagreement(item_starts: Array, labels: Array, votes: Array, n_classes: int) -> Array:
    """(classes): the sum over the items of n s (1 - s), for an item with n labels, s of whose votes name the class.

    s is a share, from 0 to 1. `votes` (items) is how many votes every item has.
    """
    total = np.zeros(n_classes)
    named = np.zeros(n_classes)
    for i in range(votes.size):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            named[_U(labels[e])] += 1.0
        for e in range(low, high):
            k = _U(labels[e])
            share = named[k] / votes[i]
            total[k] += (item_starts[i + 1] - item_starts[i]) * share * (1.0 - share)
            named[k] = 0.0  # this class is done: further labels of it add nothing
    return total


@allocating
def agreements(item_starts: Array, workers: Array, labels: Array, answers: Array, n_workers: int) -> Array:
    """(workers): how many labels of every worker name the answer to their item; `answers` (items) is a class each."""
    agreed = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            agreed[_U(workers[e])] += labels[e] == answers[i]
    return agreed


@allocating
def said_by_others(item_starts: Array, labels: Array, n_classes: int) -> Array:
    """(labels): the class that most other labels of the same item name; -1 if there is none, or if several are tied."""
    said = np.full(labels.size, -1, np.int32)
    counts = np.zeros(n_classes, np.int64)
    for i in range(item_starts.size - 1):
        first, last = item_starts[i], item_starts[i + 1]
        for e in range(first, last):
            counts[labels[e]] += 1
        for e in range(first, last):
            counts[labels[e]] -= 1
            most, tied = labels[e], last - first == 1
            for f in range(first, last):  # only classes that are said on the item
                if counts[labels[f]] > counts[most]:
                    most = labels[f]
            for f in range(first, last):
                tied |= labels[f] != most and counts[labels[f]] == counts[most]
            counts[labels[e]] += 1
            if not tied:
                said[e] = most
        for e in range(first, last):
            counts[labels[e]] = 0
    return said


@allocating
def agreement_counts(
    item_starts: Array, workers: Array, labels: Array, answers: Array, n_workers: int
) -> tuple[Array, Array, Array]:
    """Three arrays (workers): how many labels every worker gave; on items with several labels; of these, the answers.

    `answers` (items) is a class each. The answer of an item with a single label is that label, so agreement with it
    means nothing.
    """
    given, compared = np.zeros(n_workers, np.int64), np.zeros(n_workers, np.int64)
    agreed = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        several = high - low > 1
        for e in range(low, high):
            given[_U(workers[e])] += 1
            compared[_U(workers[e])] += several
            agreed[_U(workers[e])] += several and labels[e] == answers[i]
    return given, compared, agreed


@compiled
def _first_from(scores: Array, least: float, other: int) -> int:
    """The first class other than `other` whose score is at least `least`; -1 if there is none."""
    for k in range(scores.size):
        if k != other and scores[k] >= least:
            return k
    return -1


@allocating
def best_two(scores: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Find the best and the second best class of every item, and whether the two are tied.

    Returns three arrays (items); the second best is -1 if there is only one class. Scores that differ by no more than
    `tolerance`, relative to the larger, count as equal, because rounding must not break a tie. Of equal classes, the
    one with the lower number comes first.
    """
    n_items, n_classes = scores.shape
    # NumPy's `zeros` and `full` would take longer to compile than all of this function.
    best, second, tied = np.empty(n_items, np.int32), np.empty(n_items, np.int32), np.empty(n_items, np.bool_)
    for i in range(n_items):
        tied[i] = False
        first, runner = 0, -1
        for k in range(1, n_classes):
            if scores[i, k] > scores[i, first]:
                first, runner = k, first
            elif runner < 0 or scores[i, k] > scores[i, runner]:
                runner = k
        if runner >= 0:
            close = scores[i, first] - tolerance * abs(scores[i, first])
            if scores[i, runner] >= close:
                tied[i] = True
                first = _first_from(scores[i], close, -1)
            else:
                close = scores[i, runner] - tolerance * abs(scores[i, runner])
            runner = _first_from(scores[i], close, first)
        best[i] = first
        second[i] = runner
    return best, second, tied


@allocating
def expected_right(
    item_starts: Array, workers: Array, labels: Array, evidence: Array, prior: Array
) -> tuple[Array, Array]:
    """Two arrays (workers): how many labels of every worker are expected to be right, and the variance of that number.

    A label adds `evidence` (workers) of its worker to the log odds of the class that it names; `prior` (classes) is the
    probability of each class before any label. For speed, only the classes that an item's labels name are computed; the
    others have the rest of the prior together.
    """
    right = np.zeros(evidence.size)
    variance = np.zeros(evidence.size)
    support = np.zeros(prior.size)
    chance = np.zeros(prior.size)
    named = np.zeros(prior.size + 1, np.int64)
    seen = np.zeros(prior.size, np.int64)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        distinct = 0
        for e in range(low, high):
            k = _U(labels[e])
            support[k] += evidence[_U(workers[e])]
            # Write the class at the end of the list, and lengthen the list only if the class is new. There is no `if`,
            # because the processor could not predict its outcome.
            named[distinct] = k
            distinct += seen[k] == 0
            seen[k] = 1
        unnamed, total = 1.0, 0.0
        for at in range(distinct):
            k = _U(named[at])
            # A support of 600 is as good as certain, and its exponential does not overflow.
            chance[k] = prior[k] * np.exp(min(support[k], 600.0))
            unnamed -= prior[k]
            total += chance[k]
            support[k] = 0.0
            seen[k] = 0
        scale = 1.0 / (total + max(unnamed, 0.0))
        for e in range(low, high):
            j = _U(workers[e])
            share = chance[_U(labels[e])] * scale
            right[j] += share
            variance[j] += share * (1.0 - share)
    return right, variance


@allocating
def sweep_votes(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weight: Array | None,
    tolerance: float,
    scores: Array,
    changes: Array,
    given: Array,
    agreed: Array,
) -> None:
    """Score the items by weighted votes, and count how often each worker names the winner, the class that scores most.

    Overwrites `scores` (items, classes) by the sums of the weights of the votes, where `weight` (workers) is that of a
    worker's vote. Raises `changes` (classes) to the largest change of a score. If `weight` is None, both stay as they
    are. Adds to `given` (workers) the votes of every worker, and to `agreed` (workers) those that name the winner.
    Classes tie if their scores differ by no more than `tolerance`, relative to the highest; where n classes are tied, a
    vote for one of them adds 1/n.
    """
    n_classes = scores.shape[1]
    total = np.zeros(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        if weight is not None:
            for k in range(n_classes):
                total[k] = 0.0
            for e in range(low, high):
                total[_U(labels[e])] += weight[_U(workers[e])]
            for k in range(n_classes):
                changes[k] = max(changes[k], abs(total[k] - scores[i, k]))
                scores[i, k] = total[k]
        highest = -np.inf
        for k in range(n_classes):
            highest = max(highest, scores[i, k])
        close = highest - tolerance * abs(highest)
        winners = 0
        for k in range(n_classes):
            winners += scores[i, k] >= close
        for e in range(low, high):
            given[_U(workers[e])] += 1.0
            if scores[i, _U(labels[e])] >= close:
                agreed[_U(workers[e])] += 1.0 / winners
