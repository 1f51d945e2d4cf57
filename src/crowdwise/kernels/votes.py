"""Counting votes, and what follows from scores."""

import numpy as np

from .compilation import Array, compiled


@compiled
def votes_per_item(item_starts: Array, workers: Array, set_valued: bool) -> Array:
    """How many votes every item has."""
    votes = np.zeros(item_starts.size - 1, np.int32)
    for i in range(votes.size):
        for e in range(item_starts[i], item_starts[i + 1]):
            if not (set_valued and e > item_starts[i] and workers[e] == workers[e - 1]):
                votes[i] += 1
    return votes


@compiled
def votes_per_worker(item_starts: Array, workers: Array, set_valued: bool, n_workers: int) -> Array:
    """How many votes every worker gave."""
    votes = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        for e in range(item_starts[i], item_starts[i + 1]):
            if not (set_valued and e > item_starts[i] and workers[e] == workers[e - 1]):
                votes[workers[e]] += 1
    return votes


@compiled
def vote_shares(item_starts: Array, labels: Array, votes: Array, out: Array) -> None:
    """Per item and class, the share of the votes that name the class."""
    for i in range(votes.size):
        out[i] = 0.0
        for e in range(item_starts[i], item_starts[i + 1]):
            out[i, labels[e]] += 1.0
        # Dividing whole counts keeps equal shares equal to the bit.
        for k in range(out.shape[1]):
            out[i, k] /= votes[i]


@compiled
def agreements(item_starts: Array, workers: Array, labels: Array, answers: Array, n_workers: int) -> Array:
    """How many votes of every worker name the answer of their item."""
    agreed = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        for e in range(item_starts[i], item_starts[i + 1]):
            if labels[e] == answers[i]:
                agreed[workers[e]] += 1
    return agreed


@compiled
def best_two(scores: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Per item: the best class, the second best (-1 with one class), and whether the two are tied.

    Scores within `tolerance` of each other, relative to the larger, are equal: rounding must not break a tie.
    Equal classes rank by their number.
    """
    n_items, n_classes = scores.shape
    best = np.zeros(n_items, np.int32)
    second = np.full(n_items, -1, np.int32)
    tied = np.zeros(n_items, np.bool_)
    for i in range(n_items):
        highest = 0
        for k in range(1, n_classes):
            if scores[i, k] > scores[i, highest]:
                highest = k
        close = scores[i, highest] - tolerance * abs(scores[i, highest])
        first = highest
        for k in range(highest - 1, -1, -1):
            if scores[i, k] >= close:
                first = k
        runner = -1
        for k in range(n_classes):
            if k != first and (runner < 0 or scores[i, k] > scores[i, runner]):
                runner = k
        best[i] = first
        second[i] = runner
        tied[i] = runner >= 0 and scores[i, runner] >= close
    return best, second, tied


@compiled
def largest_change(new: Array, old: Array, floor: float) -> Array:
    """Per class, the largest |new - old| relative to |new| + floor over the items."""
    change = np.zeros(new.shape[1])
    for i in range(new.shape[0]):
        for k in range(new.shape[1]):
            size = abs(new[i, k]) + floor
            moved = abs(new[i, k] - old[i, k])
            # Multiplying is cheaper than dividing, and a new maximum is rare.
            if moved > change[k] * size:
                change[k] = moved / size
    return change


@compiled
def expected_right(
    item_starts: Array, workers: Array, labels: Array, evidence: Array, prior: Array
) -> tuple[Array, Array]:
    """Per worker, how many labels are expected to be right, and the variance of that number.

    A label of worker j adds `evidence[j]` to the log odds of its class, whose prior probability is `prior[k]`. Only
    the classes named are visited; the others share what is left of the prior.
    """
    right = np.zeros(evidence.size)
    variance = np.zeros(evidence.size)
    support = np.zeros(prior.size)
    chance = np.zeros(prior.size)
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        highest = 0.0
        for e in range(low, high):
            support[labels[e]] += evidence[workers[e]]
        for e in range(low, high):
            highest = max(highest, support[labels[e]])
            chance[labels[e]] = -1.0
        unnamed, total = 1.0, 0.0
        for e in range(low, high):
            k = labels[e]
            if chance[k] < 0.0:
                chance[k] = prior[k] * np.exp(support[k] - highest)
                unnamed -= prior[k]
                total += chance[k]
        total += max(unnamed, 0.0) * np.exp(-highest)
        for e in range(low, high):
            share = chance[labels[e]] / total
            right[workers[e]] += share
            variance[workers[e]] += share * (1.0 - share)
            support[labels[e]] = 0.0
    return right, variance
