"""Belief propagation for two classes: what a worker says about each of its items, given what is believed of the others.

A worker's labels on n items have a probability that depends only on how many of them are right, because how often the
worker is right is integrated out. So the message to an item is a sum over these numbers of right labels among the other
items. A binary tree of the worker's labels has it for all items: first, from the leaves to the root, how probable every
number of right labels below a node is (`_count`); then, back to the leaves, what is expected for every such number over
all labels that are not below the node (`_expect`). All terms are positive, so no digits are lost.

Probabilities are tilted before: every label's is multiplied by the probability of the label for an ability that fits
well, and the function of the numbers is divided by the same. That changes no message, but then all sums are over
numbers of ordinary size, also for workers with many labels.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled

# Numbers of right labels that are less probable than this are left out of sums. They are multiplied by no more than the
# exponential of `_LARGEST_LOGARITHM`, so that less than 1e-16 of a sum is left out.
_NEGLIGIBLE = 1e-60
_LARGEST_LOGARITHM = 99.0
# How often the ability for the tilting is improved; it need not be exact.
_STEPS = 10


@allocating
def _levels(n: int) -> Array:
    """Where each level of the tree of n labels begins, and at the end how many numbers there are in all.

    A node of level l has 2^l labels below it, or less at the end, and a number for each count of them that are right.
    Without any label there is one node all the same.
    """
    levels = 1
    while (1 << (levels - 1)) < n:
        levels += 1
    starts = np.zeros(levels + 1, np.int64)
    for level in range(levels):
        size = 1 << level
        starts[level + 1] = starts[level] + max((n + size - 1) // size, 1) * (size + 1)
    return starts


@compiled
def _children(n: int, level: int, node: int, starts: Array) -> tuple[int, int, int, int, int]:
    """Where the two nodes below a node of the next level begin, how many labels are below each, and where it begins."""
    half = 1 << level
    left = starts[level] + 2 * node * (half + 1)
    n_left = min(half, n - 2 * node * half)
    n_right = max(0, min(half, n - (2 * node + 1) * half))
    return left, left + half + 1, n_left, n_right, starts[level + 1] + node * (2 * half + 1)


@allocating
def _count(right: Array, starts: Array) -> Array:
    """How probable every number of right labels is, below every node; `right` (labels) is that of each label."""
    n = right.size
    counted = np.zeros(starts[-1])
    counted[0] = 1.0  # without any label, none is right
    for e in range(n):
        counted[2 * e] = 1.0 - right[e]
        counted[2 * e + 1] = right[e]
    for level in range(starts.size - 2):
        for node in range((n + (2 << level) - 1) // (2 << level)):
            one, other, n_one, n_other, up = _children(n, level, node, starts)
            if n_other == 0:
                for c in range(n_one + 1):
                    counted[up + c] = counted[one + c]
                continue
            for d in range(n_other + 1):
                chance = counted[other + d]
                if chance > _NEGLIGIBLE:
                    for c in range(n_one + 1):
                        counted[up + c + d] += chance * counted[one + c]
    return counted


@allocating
def _expect(values: Array, starts: Array, counted: Array) -> Array:
    """What is expected for every number of right labels below every node, over all other labels.

    `values` (labels + 1) is the value of every number of right labels among all. The first numbers of the result are
    those of the leaves: two for each label, if it is wrong and if it is right.
    """
    n = values.size - 1
    expected = np.zeros(starts[-1])
    for c in range(n + 1):
        expected[starts[-2] + c] = values[c]
    for level in range(starts.size - 3, -1, -1):
        for node in range((n + (2 << level) - 1) // (2 << level)):
            one, other, n_one, n_other, up = _children(n, level, node, starts)
            if n_other == 0:
                for c in range(n_one + 1):
                    expected[one + c] = expected[up + c]
                continue
            _correlate(expected, up, counted, other, n_other, one, n_one)
            _correlate(expected, up, counted, one, n_one, other, n_other)
    return expected


@compiled
def _correlate(expected: Array, up: int, counted: Array, other: int, n_other: int, own: int, n_own: int) -> None:
    """Write what is expected at a node with `n_own` labels, given that of its parent and the counts of its sibling."""
    for d in range(n_other + 1):
        chance = counted[other + d]
        if chance > _NEGLIGIBLE:
            for c in range(n_own + 1):
                expected[own + c] += chance * expected[up + c + d]


@compiled
def _tilt(right: Array, says_right: float, says_wrong: float, tilted: Array) -> float:
    """Overwrite `tilted` by probabilities that take the label into account, and return their sum."""
    total = 0.0
    for e in range(right.size):
        fits = right[e] * says_right
        tilted[e] = fits / (fits + (1.0 - right[e]) * says_wrong)
        total += tilted[e]
    return total


@allocating
def _one_coin(right: Array, gammas: Array, prior: Array, out: Array) -> None:
    """Overwrite `out` (2 * labels) by how well each label fits if it is wrong, and if it is right.

    `right` (labels) is how probable each is to be right, by what is believed of its item without it. `prior` is how
    many right and wrong labels the prior counts. `gammas` (3, n) has the logarithms of the gamma function at the counts
    of the prior plus 0, 1, 2 and so on: of right, of wrong, of all labels.
    """
    n = right.size
    ability, tilted = 0.5, np.empty(n)
    mean = _tilt(right, ability, 1.0 - ability, tilted)
    for _ in range(_STEPS):
        ability = (prior[0] + mean) / (prior[0] + prior[1] + n)
        mean = _tilt(right, ability, 1.0 - ability, tilted)
    starts = _levels(n)
    counted = _count(tilted, starts)
    yes, no = np.log(ability), np.log(1.0 - ability)
    values = np.empty(n + 1)
    for c in range(n + 1):
        values[c] = gammas[0, c] + gammas[1, n - c] - c * yes - (n - c) * no
    middle = values[round(mean)]
    for c in range(n + 1):
        values[c] = np.exp(min(values[c] - middle, _LARGEST_LOGARITHM))
    expected = _expect(values, starts, counted)
    for e in range(n):
        out[2 * e] = expected[2 * e] * (1.0 - ability)
        out[2 * e + 1] = expected[2 * e + 1] * ability


@allocating
def _two_coins(first: Array, second: Array, gammas: Array, prior: Array, out: Array) -> None:
    """The same for a worker with two abilities, one for each class.

    `first` is how probable the labels that name the first class are to be right, and `second` those that name the
    second. `out` has the former before the latter.
    """
    a, b = first.size, second.size
    u, v, tilted_first, tilted_second = 0.5, 0.5, np.empty(a), np.empty(b)
    mean_first, mean_second = _tilt(first, u, 1.0 - v, tilted_first), _tilt(second, v, 1.0 - u, tilted_second)
    for _ in range(_STEPS):
        u = (prior[0] + mean_first) / (prior[0] + prior[1] + mean_first + b - mean_second)
        v = (prior[0] + mean_second) / (prior[0] + prior[1] + mean_second + a - mean_first)
        mean_first, mean_second = _tilt(first, u, 1.0 - v, tilted_first), _tilt(second, v, 1.0 - u, tilted_second)
    starts_first, starts_second = _levels(a), _levels(b)
    counted_first, counted_second = _count(tilted_first, starts_first), _count(tilted_second, starts_second)
    chances_first, chances_second = counted_first[starts_first[-2] :], counted_second[starts_second[-2] :]
    logs = np.log(u), np.log(1.0 - v), np.log(v), np.log(1.0 - u)
    middle = _log_fit(round(mean_first), round(mean_second), a, b, gammas, logs)
    values_first, values_second = np.zeros(a + 1), np.zeros(b + 1)
    for c in range(a + 1):
        for d in range(b + 1):
            if _is_near(chances_first, c) and _is_near(chances_second, d):
                fit = np.exp(min(_log_fit(c, d, a, b, gammas, logs) - middle, _LARGEST_LOGARITHM))
                values_first[c] += chances_second[d] * fit
                values_second[d] += chances_first[c] * fit
    expected_first = _expect(values_first, starts_first, counted_first)
    expected_second = _expect(values_second, starts_second, counted_second)
    for e in range(a):
        out[2 * e] = expected_first[2 * e] * (1.0 - v)
        out[2 * e + 1] = expected_first[2 * e + 1] * u
    for e in range(b):
        out[2 * (a + e)] = expected_second[2 * e] * (1.0 - u)
        out[2 * (a + e) + 1] = expected_second[2 * e + 1] * v


@compiled
def _is_near(chances: Array, c: int) -> bool:
    """Whether a number, or one beside it, is not negligible: a message leaves one label out."""
    largest = 0.0
    for near in range(max(c - 1, 0), min(c + 2, chances.size)):
        largest = max(largest, chances[near])
    return largest > _NEGLIGIBLE


@compiled
def _log_fit(c: int, d: int, a: int, b: int, gammas: Array, logs: tuple[float, float, float, float]) -> float:
    """The logarithm of how well it fits that c of a labels for the first class are right, and d of b for the second.

    It is divided by what the tilting multiplied by, whose logarithms are `logs`.
    """
    about_first = gammas[0, c] + gammas[1, b - d] - gammas[2, c + b - d]
    about_second = gammas[0, d] + gammas[1, a - c] - gammas[2, d + a - c]
    return float(about_first + about_second - (c * logs[0] + (a - c) * logs[1] + d * logs[2] + (b - d) * logs[3]))


@allocating
def judge_labels(
    order: Array,
    worker_starts: Array,
    labels: Array,
    beliefs: Array,
    gammas: Array,
    prior: Array,
    two_coins: bool,
    messages: Array,
) -> None:
    """Overwrite `messages` (labels) by what each label says for class 1 against class 0, as a logarithm of odds.

    `order` (labels) has the labels of each worker together, those for class 0 first, and `worker_starts` says where
    those of each worker begin. `beliefs` (labels) is how probable class 1 is for the item of a label by the other
    labels of the item, as a logarithm of odds. `gammas` and `prior` are as in `_one_coin`.
    """
    for j in range(worker_starts.size - 1):
        low = worker_starts[j]
        n = worker_starts[j + 1] - low
        right, out, first = np.empty(n), np.empty(2 * n), 0
        for at in range(n):
            e = order[low + at]
            odds = beliefs[e] if labels[e] == 1 else -beliefs[e]
            right[at] = 1.0 / (1.0 + np.exp(min(-odds, 600.0)))  # more would leave the range of numbers
            first += labels[e] == 0
        if two_coins:
            _two_coins(right[:first], right[first:], gammas, prior, out)
        elif n > 0:
            _one_coin(right, gammas, prior, out)
        for at in range(n):
            e = order[low + at]
            says = np.log(out[2 * at + 1]) - np.log(out[2 * at])
            messages[e] = says if labels[e] == 1 else -says
