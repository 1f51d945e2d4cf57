r"""Belief propagation: for two classes; items and workers tell each other what they believe, each without the other.

$$ x_{i \to j} = \sum_{j' \ne j} m_{j' \to i}, \quad
   m_{j \to i} = \log \frac{E[P(y_{ij} \mid z_i = 1, q_j)]}{E[P(y_{ij} \mid z_i = 0, q_j)]} $$

The model is that of `vi_mf`. The message x from an item to a worker is the logarithm of the odds of its classes by the
labels of the other workers. The message m from a worker to an item is what the worker's label says, where how often the
worker is right (q_j) is averaged over its prior and over the other items of the worker, whose classes are as probable
as their messages say. KOS and majority vote are belief propagation with other priors.

A worker's labels on n items have a probability that depends only on how many of them are right, because how often the
worker is right is integrated out. So the message to an item is a sum over these numbers of right labels among the other
items. A binary tree of the worker's labels has it for all items: first, from the leaves to the root, how probable every
number of right labels below a node is (`_count`); then, back to the leaves, what is expected for every such number over
all labels that are not below the node (`_expect`). All terms are positive, so no digits are lost.

Probabilities are tilted before: every label's is multiplied by the probability of the label for an ability that fits
well, and the function of the numbers is divided by the same. That changes no message, but then all sums are over
numbers of ordinary size, also for workers with many labels.

Workers are worked on together if their trees are equally large. A tree has a power of two leaves; those without a label
have a label that is certainly wrong, which changes no sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Literal

import numpy as np

from ..crowd.labels import Labels
from ..families.confusion_matrices.base import right_and_wrong
from ..fitting.in_memory import InMemoryMethod
from ..fitting.iterations import Step, Steps
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from ..results.learned import Learned, PerWorker, Trust, share_right
from .vi_mf import COINS, PAPER, PRIOR_RIGHT, PRIOR_WRONG, rates

# What a label says at first, as a logarithm of odds: its worker is right two times of three.
_FIRST_MESSAGE: Final = float(np.log(2.0))
# Beliefs beyond these odds, as logarithms, are certain.
_CERTAIN: Final = 600.0
# Numbers of right labels that are less probable than this are left out of sums. They are multiplied by no more than the
# exponential of `_LARGEST_LOGARITHM`, so that less than 1e-16 of a sum is left out.
_NEGLIGIBLE: Final = 1e-60
_LARGEST_LOGARITHM: Final = 99.0
# How often the ability for the tilting is improved; it need not be exact.
_STEPS: Final = 10
# Up to so many numbers, nodes are added up together, each number of one in turn; longer ones node by node.
_SHORT: Final = 16
# About how many numbers are worked on at once.
_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class Rates(Learned):
    """How often the workers are right.

    Attributes:
        matrices: (workers, true class, said class), the probability of what a worker says.
    """

    matrices: PerWorker

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says."""
        return self.matrices

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.matrices)


@dataclass(frozen=True)
class BeliefPropagation(InMemoryMethod):
    """For two classes: belief propagation between items and workers, with a Beta prior on how often workers are right.

    Use it with two classes, where workers have few labels each on random items. It keeps a message for every label, so
    it needs all labels in memory, and the time grows faster than the labels where one worker has many thousands. Where
    one class is rare, a method that learns how common classes are, such as `ibcc` or `ds`, is better.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(BeliefPropagation().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "vi_bp"
    summary: ClassVar[str] = (
        "Belief propagation (VI-BP): for two classes; a label counts by what its worker's labels on other items say."
    )
    paper: ClassVar[Reference] = PAPER

    coins: Literal["two", "one"] = parameter("two", COINS)
    prior_right: float = parameter(2.0, PRIOR_RIGHT, above=0)
    prior_wrong: float = parameter(1.0, PRIOR_WRONG, above=0)
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(100)

    def limits(self) -> Limits:
        """It is for two classes and takes no gold."""
        return replace(
            super().limits(),
            most_classes=2,
            no_gold="because its messages have no place for a class that is known",
            unexplained="a worker's vote weighs differently on every item, and those messages are not kept",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, messages from items to workers (E step), then from workers to items (M step)."""
        items, given = labels.item_of, np.bincount(labels.workers, minlength=labels.n_workers)
        order = np.lexsort((labels.labels, labels.workers))
        worker_starts = np.concatenate([[0], np.cumsum(given)])
        prior = np.array([self.prior_right, self.prior_wrong])
        said = labels.labels[order]
        sign = np.where(said == 1, 1.0, -1.0)
        messages = np.where(labels.labels == 1, _FIRST_MESSAGE, -_FIRST_MESSAGE)
        odds = _sums(labels, messages)
        while True:
            right = _chance(sign * (odds[items] - messages)[order])
            messages[order] = sign * judge_labels(worker_starts, right, said, prior, self.coins == "two")
            new_odds = _sums(labels, messages)
            change = float(np.abs(_chance(new_odds) - _chance(odds)).max())
            odds = new_odds
            yield Step(change, partial(self._finish, labels, odds))

    def _finish(self, labels: Labels, odds: Array) -> tuple[Array, Rates]:
        """The probabilities of the classes, and how often workers are right by them."""
        scores = np.stack([_chance(-odds), _chance(odds)], axis=1)[:, : labels.n_classes]
        if labels.n_classes == 1:
            scores = np.ones_like(scores)
        counts = np.zeros((labels.n_workers, labels.n_classes, labels.n_classes))
        cells = labels.workers * np.int64(labels.n_classes) + labels.labels
        for k in range(labels.n_classes):
            said = np.bincount(cells, scores[labels.item_of, k], labels.n_workers * labels.n_classes)
            counts[:, k] = said.reshape(labels.n_workers, labels.n_classes)
        right, wrong = right_and_wrong(counts, self.coins == "one")
        return scores, Rates(rates(right + self.prior_right, wrong + self.prior_wrong))


def _sums(labels: Labels, messages: Array) -> Array:
    """(items), the sum of the messages to every item."""
    return np.bincount(labels.item_of, messages, minlength=labels.n_items)


def _chance(odds: Array) -> Array:
    """The probabilities of these logarithms of odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -_CERTAIN, _CERTAIN))))


def judge_labels(worker_starts: Array, right: Array, said: Array, prior: Array, two_coins: bool) -> Array:
    """M step: (labels), how much more probable each label is if it is right than if it is wrong, as a logarithm.

    Labels are sorted by worker, and those of one worker by the class `said`. `right` (labels) is how probable each is
    to be right, by the other labels of its item. `prior` is how many right and wrong labels the prior counts.
    """
    from scipy import special  # imported here because it is slow to import

    n_first = np.add.reduceat(np.append(said == 0, False), worker_starts[:-1]) if two_coins else np.diff(worker_starts)
    n_first = np.where(np.diff(worker_starts) > 0, n_first, 0)
    starts = np.stack([worker_starts[:-1], worker_starts[:-1] + n_first], axis=1)
    sizes = np.stack([n_first, np.diff(worker_starts) - n_first], axis=1)
    gammas = special.gammaln(np.append(prior, prior.sum())[:, None] + np.arange(np.diff(worker_starts).max() + 1))
    found = np.zeros(len(right))
    for workers, leaves in _batches(sizes, two_coins):
        places = [starts[workers, side, None] + np.arange(leaves[side]) for side in (0, 1)]
        real = [np.arange(leaves[side]) < sizes[workers, side, None] for side in (0, 1)]
        chance = [np.where(real[side], right[np.where(real[side], places[side], 0)], 0.0) for side in (0, 1)]
        counts = sizes[workers, 0], sizes[workers, 1]
        if two_coins:
            says = _two_coins(chance[0], chance[1], *counts, gammas, prior)
        else:
            says = [_one_coin(chance[0], counts[0], gammas, prior)]
        for side, message in enumerate(says):
            found[places[side][real[side]]] = message[real[side]]
    return found


def _batches(sizes: Array, two_coins: bool) -> Iterator[tuple[Array, Array]]:
    """Workers whose trees are equally large, and how many leaves the trees for class 0 and class 1 have."""
    leaves = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    for both in np.unique(leaves, axis=0):
        workers = np.flatnonzero((leaves == both).all(axis=1) & (sizes.sum(axis=1) > 0))
        step = max(1, _AT_ONCE // int(both.prod() if two_coins else both[0]))
        for first in range(0, len(workers), step):
            yield workers[first : first + step], both


def _tilted(right: Array, says_right: Array, says_wrong: Array) -> Array:
    """(workers, labels), probabilities that take the labels into account."""
    fits = right * says_right[:, None]
    return np.asarray(fits / (fits + (1 - right) * says_wrong[:, None]))


def _one_coin(right: Array, n: Array, gammas: Array, prior: Array) -> Array:
    """(workers, labels), the messages of workers with one ability and n labels each; see `judge_labels`."""
    ability = np.full(len(n), 0.5)
    tilted = _tilted(right, ability, 1 - ability)
    for _ in range(_STEPS):
        ability = (prior[0] + tilted.sum(axis=1)) / (prior.sum() + n)
        tilted = _tilted(right, ability, 1 - ability)
    c = np.arange(right.shape[1] + 1)
    wrong = np.maximum(n[:, None] - c, 0)
    c = np.minimum(c, n[:, None])
    values = gammas[0, c] + gammas[1, wrong] - c * np.log(ability)[:, None] - wrong * np.log(1 - ability)[:, None]
    middle = np.take_along_axis(values, np.rint(tilted.sum(axis=1)).astype(np.int64)[:, None], axis=1)
    expected = _expect(np.exp(np.minimum(values - middle, _LARGEST_LOGARITHM)), _count(tilted))
    return np.asarray(np.log(expected[..., 1] / expected[..., 0]) + np.log(ability / (1 - ability))[:, None])


def _two_coins(first: Array, second: Array, a: Array, b: Array, gammas: Array, prior: Array) -> list[Array]:
    """The same for workers with two abilities: u where class 0 is true and v where class 1 is.

    `first` and `second` (workers, labels) are how probable the labels that name class 0 and class 1 are to be right;
    `a` and `b` (workers) are how many there are. `gammas` (3, n) is the log gamma function at the counts of the prior
    plus 0, 1, 2 and so on: of right, of wrong, of all labels.
    """
    u = v = np.full(len(a), 0.5)
    tilted = _tilted(first, u, 1 - v), _tilted(second, v, 1 - u)
    for _ in range(_STEPS):
        of_first, of_second = tilted[0].sum(axis=1), tilted[1].sum(axis=1)
        u = (prior[0] + of_first) / (prior.sum() + of_first + b - of_second)
        v = (prior[0] + of_second) / (prior.sum() + of_second + a - of_first)
        tilted = _tilted(first, u, 1 - v), _tilted(second, v, 1 - u)
    trees = _count(tilted[0]), _count(tilted[1])
    chances = trees[0][-1][:, 0], trees[1][-1][:, 0]  # of every number of right labels
    near = [np.flatnonzero(_is_near(one).any(axis=0)) for one in chances]
    a, b, logs = a[:, None, None], b[:, None, None], [np.log(one)[:, None, None] for one in (u, 1 - v, v, 1 - u)]

    def log_fit(c: Array, d: Array) -> Array:
        """How well it fits that c of a and d of b labels are right, divided by what the tilting multiplied by."""
        c, d = np.minimum(c, a), np.minimum(d, b)
        about_first = gammas[0, c] + gammas[1, b - d] - gammas[2, c + b - d]
        about_second = gammas[0, d] + gammas[1, a - c] - gammas[2, d + a - c]
        tilting = c * logs[0] + (a - c) * logs[1] + d * logs[2] + (b - d) * logs[3]
        return np.asarray(about_first + about_second - tilting)

    middle = log_fit(*(np.rint(one.sum(axis=1)).astype(np.int64)[:, None, None] for one in tilted))
    fit = np.exp(np.minimum(log_fit(near[0][:, None], near[1]) - middle, _LARGEST_LOGARITHM))
    values = np.zeros_like(chances[0]), np.zeros_like(chances[1])
    values[0][:, near[0]] = (fit * chances[1][:, None, near[1]]).sum(axis=2)
    values[1][:, near[1]] = (fit * chances[0][:, near[0], None]).sum(axis=1)
    odds = np.log(u / (1 - v))[:, None], np.log(v / (1 - u))[:, None]
    expected = [_expect(of, tree) for of, tree in zip(values, trees, strict=True)]
    return [np.log(one[..., 1] / one[..., 0]) + odd for one, odd in zip(expected, odds, strict=True)]


def _is_near(chances: Array) -> Array:
    """Whether a number, or one beside it, is not negligible: a message leaves one label out."""
    near = chances > _NEGLIGIBLE
    near[:, 1:] |= chances[:, :-1] > _NEGLIGIBLE
    near[:, :-1] |= chances[:, 1:] > _NEGLIGIBLE
    return near


def _count(right: Array) -> list[Array]:
    """The levels of the trees: (workers, nodes, numbers), how probable every number of right labels below a node is."""
    levels = [np.stack([1 - right, right], axis=2)]
    while levels[-1].shape[1] > 1:
        one, other = levels[-1][:, ::2], levels[-1][:, 1::2]
        size = one.shape[2]
        up = np.zeros((*one.shape[:2], 2 * size - 1))
        if size <= _SHORT:
            for d in range(size):
                up[..., d : d + size] += other[..., d, None] * one
        else:
            for node in np.ndindex(up.shape[:2]):
                up[node] = np.convolve(one[node], other[node])
        levels.append(up)
    return levels


def _expect(values: Array, levels: list[Array]) -> Array:
    """(workers, labels, 2), what is expected over all other labels, if a label is wrong and if it is right.

    `values` (workers, labels + 1) is the value of every number of right labels among all.
    """
    up = values[:, None]
    for level in levels[-2::-1]:
        size, down = level.shape[2], np.zeros_like(level)
        for own in (0, 1):
            sibling, found = level[:, 1 - own :: 2], down[:, own::2]
            if size <= _SHORT:
                for d in range(size):
                    found += sibling[..., d, None] * up[..., d : d + size]
            else:
                for node in np.ndindex(found.shape[:2]):
                    found[node] = np.correlate(up[node], sibling[node], "valid")
        up = down
    return up
