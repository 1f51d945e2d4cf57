r"""Who may copy whom: pairs of workers who agree suspiciously often, trees of followers, and how probable these are.

A pair is suspicious if it has n >= 20 comparisons, a correlation c >= 0.85 and a residual correlation of at least 0.05
at its lower bound. This bound is the larger of two: that of families/dependence/correlation.py, which can follow a pair
itself where there are few workers, and one for which the others show the truth. With w = n / (n + 10), S_jk the mean of
c_jl over l other than k, and T that of c_lm over l and m other than j and k, both weighted by w:

$$ a_j = S_{jk} / \sqrt{T}, \quad \rho_{jk} = \frac{c_{jk} - a_j a_k}{\sqrt{(1 - a_j^2)(1 - a_k^2)}} $$

A follower repeats what its leader says, whatever the truth. With C_ba the number of items on which the leader says
class b and the follower class a, the probability of the follower's votes given the leader's is the mean of three:

$$ B(n_= + 1, n_{\neq} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b B(C_{bb} + 1, C_{b.} - C_{bb} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b \frac{(K - 1)! \prod_a C_{ba}!}{(C_{b.} + K - 1)!} $$

One rate of agreement for all classes, one for each class, and any habit of mistaking classes.
"""

from math import lgamma, log
from typing import Final, NamedTuple

import numpy as np

from ...families.dependence.correlation import ERRORS_BELOW, common_truth, correlations, residuals
from ...families.dependence.pairs import PairCounts
from ...numerics import Array

# The least n, c and lower bound of a suspicious pair. With a lower c, workers who know are taken for copies.
_LEAST_COMPARED: Final = 20
_LEAST_CORRELATION: Final = 0.85
_LEAST_RESIDUAL: Final = 0.05
# A correlation counts in full only if it is from many more items than this.
_FEW_ITEMS: Final = 10.0
# The least T, the largest a, and the least (1 - a_j^2)(1 - a_k^2).
_LEAST_COMMON, _MOST_COMMON, _LEAST_UNEXPLAINED = 0.02, 0.95, 0.01
# Blocks are looked for at so many different correlations.
_MOST_LEVELS: Final = 60
# So many members of a block are tried as its leader.
_MOST_LEADERS: Final = 3


class Suspects(NamedTuple):
    """Which pairs of workers agree suspiciously often.

    Attributes:
        pairs: (workers, workers), whether the pair is suspicious.
        correlation: (workers, workers), c.
        compared: (workers, workers), n.
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
            for members in sorted(connected, key=lambda one: -float(self._agreement(one).sum())):
                found.setdefault(tuple(members.tolist()))
        return [np.array(members) for members in found]

    def trees(self, members: Array) -> list[Array]:
        """Return who may follow whom in a block, for several leaders: (workers), the parent of each, -1 for none.

        The leader is one of the members who agree most with the others. Then one after the other joins who correlates
        most with one that is in, and follows that one.
        """
        with_everybody = (self.correlation * self.compared).sum(axis=1)[members]
        leaders = members[np.lexsort((members, -with_everybody, -self._agreement(members)))][:_MOST_LEADERS]
        return [self._tree(members, leader) for leader in leaders.tolist()]

    def _agreement(self, members: Array) -> Array:
        """(members), how much each of these workers agrees with the others: the sum of c n."""
        pairs = np.ix_(members, members)
        return np.asarray((self.correlation[pairs] * self.compared[pairs]).sum(axis=1))

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
    c, n = correlations(counts)
    residual, error = residuals(c, n, common_truth(c, n))
    low = np.maximum(residual - ERRORS_BELOW * error, _beyond_the_others(c, n))
    pairs = (n >= _LEAST_COMPARED) & (c >= _LEAST_CORRELATION) & (low >= _LEAST_RESIDUAL)
    np.fill_diagonal(pairs, False)
    return Suspects(pairs, c, n)


def log_followed(said: Array) -> float:
    """Return the logarithm of the probability of a follower's votes, given those of its leader; `said` is C."""
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
    """The logarithm of B(agree + 1, differ + 1): of a sequence of so many of two kinds, if every rate is as likely."""
    return lgamma(1 + agree) + lgamma(1 + differ) - lgamma(2 + agree + differ)


def _beyond_the_others(c: Array, n: Array) -> Array:
    """(workers, workers), lower bounds of the residual correlations, given the truth as all others show it."""
    w = n / (n + _FEW_ITEMS)
    wc = w * c
    tops, bottoms = wc.sum(axis=1), w.sum(axis=1)
    s = _mean(tops[:, None] - wc, bottoms[:, None] - w)
    t = _mean(tops.sum() - 2 * (tops[:, None] + tops - wc), bottoms.sum() - 2 * (bottoms[:, None] + bottoms - w))
    a = np.clip(s / np.sqrt(np.maximum(t, _LEAST_COMMON)), -_MOST_COMMON, _MOST_COMMON)
    scale = np.sqrt(np.maximum((1 - a**2) * (1 - a.T**2), _LEAST_UNEXPLAINED))
    error = 1.0 / (np.sqrt(np.maximum(n, 1)) * scale)
    return np.asarray((c - a * a.T) / scale - ERRORS_BELOW * error)


def _mean(total: Array, weight: Array) -> Array:
    """A weighted mean; 0 where nothing has a weight, up to rounding: one comparison weighs far more."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-6)


def _components(linked: Array) -> list[Array]:
    """The connected components with a link, as ascending codes."""
    left, found = set(np.flatnonzero(linked.any(axis=1)).tolist()), []
    while left:
        members, reached = set(), {min(left)}
        while reached:
            members |= reached
            reached = set(np.flatnonzero(linked[sorted(reached)].any(axis=0)).tolist()) - members
        left -= members
        found.append(np.array(sorted(members)))
    return found
