r"""Who may copy whom: pairs of workers who agree suspiciously often, trees of followers, and how probable these are.

That two workers agree more often than one common truth explains does not say why: they may be copies, or two who know
what the others do not know. Here the same votes get a second explanation: a follower repeats what its leader says,
whatever the truth. With C_ba the number of items on which the leader says class b and the follower class a, the
probability of the follower's votes given the leader's is the mean of three:

$$ B(n_= + 1, n_{\neq} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b B(C_{bb} + 1, C_{b.} - C_{bb} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b \frac{(K - 1)! \prod_a C_{ba}!}{(C_{b.} + K - 1)!} $$

One rate of agreement for all classes, one for each class, and any habit of mistaking classes. Whether the labels speak
for this explanation or for independent workers is decided by a method that has a likelihood, such as the adjudicator.
"""

from dataclasses import dataclass
from functools import partial
from math import lgamma, log
from typing import Final, NamedTuple

import numpy as np

from ...data.labels import Labels
from ...families.dependence.correlation import ERRORS_BELOW, common_truth, correlations, residuals
from ...families.dependence.pairs import PairCounts, cross_tabulate
from ...fitting.engines.base import Engine
from ...numerics import Array

# A pair is suspicious if it has so many items in common...
_LEAST_COMPARED: Final = 20
# ...correlates by so much: fewer copies are found with more, and with less, workers who know are taken for copies...
_LEAST_CORRELATION: Final = 0.85
# ...and if its residual correlation is at least this much, at the lower bound.
_LEAST_RESIDUAL: Final = 0.05
# A correlation counts in full only if it is from many more items than this.
_FEW_ITEMS: Final = 10.0
# Of the correlation of a pair with the truth, as the other workers show it: the least mean correlation of the others,
# the largest value, and the least of (1 - a_j^2)(1 - a_k^2).
_LEAST_COMMON, _MOST_COMMON, _LEAST_UNEXPLAINED = 0.02, 0.95, 0.01
# Blocks are looked for at so many different correlations.
_MOST_LEVELS: Final = 60
# So many members of a block are tried as its leader.
_MOST_LEADERS: Final = 3


@dataclass(frozen=True, eq=False)
class JointCounts:
    """What any two of some workers said about the same items, class by class.

    Attributes:
        place_of: (workers), the place of these workers among them; -1 for others.
        said: (places, places, classes, classes), in how many comparisons of two of them which classes are said.
    """

    place_of: Array
    said: Array

    @classmethod
    def of(cls, engine: Engine, n_workers: int, members: Array) -> "JointCounts":
        """Compare some workers on all items."""
        place_of = np.full(n_workers, -1)
        place_of[members] = np.arange(len(members))
        (said,) = engine.add_labels(partial(_cross_tabulate, members), "comparing workers")
        return cls(place_of, said)

    def between(self, leader: int, follower: int) -> Array:
        """(classes, classes), how often the first says one class and the second another."""
        return np.asarray(self.said[self.place_of[leader], self.place_of[follower]])


def _cross_tabulate(members: Array, labels: Labels) -> tuple[Array]:
    return (cross_tabulate(labels, members),)


class Suspects(NamedTuple):
    """Which pairs of workers agree suspiciously often.

    Attributes:
        pairs: (workers, workers), whether the pair is suspicious.
        correlation: (workers, workers), by how much they correlate; c in families/dependence/blocks.py.
        compared: (workers, workers), the number of comparisons.
    """

    pairs: Array
    correlation: Array
    compared: Array

    def blocks(self) -> list[Array]:
        """Return the workers of every block: those whom suspicious pairs of at least some correlation connect.

        Those who are connected by the largest correlations come first. Any two blocks are disjoint, or one holds the
        other.
        """
        levels = np.unique(self.correlation[self.pairs])[::-1][:_MOST_LEVELS]
        found: dict[tuple[int, ...], None] = {}
        for level in levels.tolist():
            connected = _components(self.pairs & (self.correlation >= level))
            for members in sorted(connected, key=lambda one: -float(self.agreement(one).sum())):
                found.setdefault(tuple(members.tolist()))
        return [np.array(members) for members in found]

    def agreement(self, members: Array) -> Array:
        """(members), how much each of these workers agrees with the others: correlations times comparisons, summed."""
        pairs = np.ix_(members, members)
        return np.asarray((self.correlation[pairs] * self.compared[pairs]).sum(axis=1))

    def trees(self, members: Array) -> list[Array]:
        """Return who may follow whom in a block, for several leaders: (workers), the parent of each, -1 for none.

        The leader is one of the members who agree most with the others. Then one after the other joins who correlates
        most with one that is in, and follows that one.
        """
        everybody = (self.correlation * self.compared).sum(axis=1)[members]
        leaders = members[np.lexsort((members, -everybody, -self.agreement(members)))][:_MOST_LEADERS]
        return [self._tree(members, leader) for leader in leaders.tolist()]

    def _tree(self, members: Array, leader: int) -> Array:
        parents = np.full(len(self.correlation), -1)
        inside, outside = [leader], [worker for worker in members.tolist() if worker != leader]
        while outside:
            links = self.correlation[np.ix_(inside, outside)]
            parent, joining = np.unravel_index(int(np.argmax(links)), links.shape)
            parents[outside[joining]] = inside[parent]
            inside.append(outside.pop(int(joining)))
        return parents


def find_suspects(counts: PairCounts) -> Suspects:
    """Find the pairs of workers who agree more often than can be explained by the truth, as others show it."""
    correlation, compared = correlations(counts)
    by_rank, error = residuals(correlation, compared, common_truth(correlation, compared))
    low = np.maximum(by_rank - ERRORS_BELOW * error, _beyond_the_others(correlation, compared))
    pairs = (compared >= _LEAST_COMPARED) & (correlation >= _LEAST_CORRELATION) & (low >= _LEAST_RESIDUAL)
    np.fill_diagonal(pairs, False)
    return Suspects(pairs, correlation, compared)


def log_followed(said: Array) -> float:
    """Return the logarithm of the probability of a follower's votes, given those of its leader.

    Args:
        said: (classes, classes), how often the leader says one class and the follower another.
    """
    n_classes = len(said)
    same, rows = np.diagonal(said), said.sum(axis=1)
    differ = int(rows.sum() - same.sum())
    elsewhere = -differ * log(max(n_classes - 1, 1))
    ways = (
        _log_beta(int(same.sum()), differ) + elsewhere,
        sum(_log_beta(int(one), int(row - one)) for one, row in zip(same, rows, strict=True)) + elsewhere,
        sum(
            lgamma(n_classes) - lgamma(n_classes + int(total)) + sum(lgamma(1 + int(count)) for count in row)
            for row, total in zip(said, rows, strict=True)
        ),
    )
    return float(np.logaddexp.reduce(ways)) - log(len(ways))


def _log_beta(agree: int, differ: int) -> float:
    """The logarithm of the probability of a sequence of so many of two kinds, if every rate is as likely."""
    return lgamma(1 + agree) + lgamma(1 + differ) - lgamma(2 + agree + differ)


def _beyond_the_others(correlation: Array, compared: Array) -> Array:
    """(workers, workers), lower bounds of the residual correlations, given the truth as all others show it.

    The rank-one estimate of `common_truth` can follow a pair itself where there are few workers.
    """
    weights = compared / (compared + _FEW_ITEMS)
    weighted = weights * correlation
    tops, bottoms = weighted.sum(axis=1), weights.sum(axis=1)
    # What each of a pair has in common with the others: without the pair itself.
    own = _mean(tops[:, None] - weighted, bottoms[:, None] - weights)
    pairs = tops.sum() - 2 * (tops[:, None] + tops - weighted)
    weight_of_pairs = bottoms.sum() - 2 * (bottoms[:, None] + bottoms - weights)
    others = np.maximum(_mean(pairs, weight_of_pairs), _LEAST_COMMON)
    own = np.clip(own / np.sqrt(others), -_MOST_COMMON, _MOST_COMMON)
    scale = np.sqrt(np.maximum((1 - own**2) * (1 - own.T**2), _LEAST_UNEXPLAINED))
    error = 1.0 / (np.sqrt(np.maximum(compared, 1)) * scale)
    return np.asarray((correlation - own * own.T) / scale - ERRORS_BELOW * error)


def _mean(total: Array, weight: Array) -> Array:
    """A weighted mean; 0 where nothing has a weight, up to rounding: one comparison weighs far more."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-6)


def _components(linked: Array) -> list[Array]:
    """The workers whom links connect, as ascending codes; nobody who has no link."""
    left, found = set(np.flatnonzero(linked.any(axis=1)).tolist()), []
    while left:
        members, reached = set(), {min(left)}
        while reached:
            members |= reached
            reached = set(np.flatnonzero(linked[sorted(reached)].any(axis=0)).tolist()) - members
        left -= members
        found.append(np.array(sorted(members)))
    return found
