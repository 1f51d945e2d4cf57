r"""`Search`: who copies whom among workers who agree suspiciously often, and how probable that is.

Two explanations of the same votes are compared. M0: all workers are independent given the truth. M1: some of them
follow a leader, so that their votes say nothing about the truth, only about the leader. With E1 the log evidence of the
votes that are left plus the log probabilities of the followers' votes, and E0 that of all votes, M1 is accepted if

    E1 - E0 >= 7,  kept(M1) > kept(M0) - 0.05  and  kept(M1) >= (plurality + 1/K) / 2

where kept is the share of the votes that the latent classes keep, of those that M1 leaves. Two who know what the others
do not know are better explained by the truth than by each other, and stay.

A follower repeats what its leader says, whatever the truth. With C_ba the number of items on which the leader says
class b and the follower class a, the probability of the follower's votes given the leader's is the mean of three:

$$ B(n_= + 1, n_{\neq} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b B(C_{bb} + 1, C_{b.} - C_{bb} + 1) (K - 1)^{-n_{\neq}}, \quad
   \prod_b \frac{(K - 1)! \prod_a C_{ba}!}{(C_{b.} + K - 1)!} $$

One rate of agreement for all classes, one for each class, and any habit of mistaking classes.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from math import lgamma, log
from typing import Any, Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...numerics import Array
from .copies import Copies
from .joint_counts import JointCounts
from .readings import Reading, Start, is_doubtful, read_from, read_items
from .structure import ITEMS, KEPT, Copying

# Blocks are looked for at so many different correlations.
_MOST_LEVELS: Final = 60
# So many members of a block are tried as its leader.
_MOST_LEADERS: Final = 3
# By how much E1 has to be higher, in natural logarithms; and by how much less of the votes M1 may keep.
_CLEARLY_MORE: Final = 7.0
_LESS_KEPT: Final = 0.05

Block = frozenset[int]


class Suspects(NamedTuple):
    """Three arrays (workers, workers): which pairs are suspicious, c and n."""

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


@dataclass(frozen=True, eq=False)
class _Explanation:
    """A reading of the votes that are left, and the log probability of all votes, also of those that are left out.

    `nats` is for every leader with its followers how much higher the evidence is than with independent workers.
    """

    reading: Reading
    evidence: float
    nats: dict[Block, float] = field(default_factory=dict)

    @property
    def copies(self) -> Copies:
        return self.reading.workers.copies


@dataclass(frozen=True, eq=False)
class Search:
    """The steps of the search for followers; `joint` is what any two suspects said about the same items."""

    method: Any
    engine: Engine
    suspects: Suspects
    joint: JointCounts
    progress: Progress | None
    most_blocks: int

    def explain(self, reading: Reading) -> _Explanation:
        """Add the probability of the votes that a reading leaves out. Of exact copies, all but the first follow it."""
        pairs = reading.workers.copies.pairs.tolist()
        left_out = sum(log_followed(self.joint.between(leader, follower)) for follower, leader in pairs)
        return _Explanation(reading, reading.evidence + left_out)

    def with_more_followers(self, now: _Explanation) -> _Explanation | None:
        """Return an explanation with more followers; None if no more are found.

        All blocks that are accepted and disjoint are taken at once if that explains more than the best of them.
        """
        accepted = [(gain, block, m1) for block in self._new_blocks(now) for gain, m1 in self._accepted(now, block)]
        apart: list[tuple[float, Array, _Explanation]] = []
        for one in sorted(accepted, key=lambda one: -one[0]):
            if all(not np.intersect1d(one[1], other[1]).size for other in apart):
                apart.append(one)
        if not apart:
            return None
        best = apart[0][2]
        if len(apart) > 1:
            copies = now.copies
            for _, members, m1 in apart:
                copies = copies.with_followers(members, m1.copies.follows)
            together = self._fit(copies)
            best, apart = (together, apart) if together.evidence > best.evidence else (best, apart[:1])
        nats = now.nats
        for gain, members, _ in apart:  # a block takes the place of those that it holds
            block = frozenset(members.tolist())
            inside = sum(of for other, of in nats.items() if other <= block)
            nats = {other: of for other, of in nats.items() if not other <= block} | {block: gain + inside}
        return replace(best, nats=nats)

    def describe(self, found: _Explanation, plain: Reading) -> Reading:
        """Return the reading, with what is known about the followers."""
        follows = found.copies.follows
        agreed, compared, nats = np.zeros((3, len(follows)))
        for block, of_block in found.nats.items():
            for one in block:
                if follows[one] >= 0:
                    both = self.joint.between(int(follows[one]), one)
                    agreed[one], compared[one], nats[one] = np.trace(both), both.sum(), of_block
        ending = found.reading.ending
        differ = partial(_count_different, self.method, ending.workers, plain.workers)
        (changed,) = self.engine.add_labels(differ, "comparing readings")
        copying = Copying(agreed, compared, nats, int(changed[0]), plain.workers)
        return replace(found.reading, ending=replace(ending, workers=replace(ending.workers, copying=copying)))

    def _new_blocks(self, now: _Explanation) -> list[Array]:
        """The first blocks that are not settled, and that hold what is settled or have nothing to do with it."""
        settled = [*now.nats, *(frozenset(block.tolist()) for block in now.copies.blocks)]
        blocks = ((block, frozenset(block.tolist())) for block in self.suspects.blocks())
        new = [block for block, members in blocks if all(one < members or not one & members for one in settled)]
        return new[: self.most_blocks]

    def _accepted(self, now: _Explanation, members: Array) -> list[tuple[float, _Explanation]]:
        """E1 - E0 and M1, the best tree of these members; empty if M1 is not accepted."""
        fits = (self._fit(now.copies.with_followers(members, tree)) for tree in self.suspects.trees(members))
        m1 = max(fits, key=lambda one: one.evidence)
        m0 = max(now, self._fit_independent(now, m1), key=lambda one: one.evidence)
        gain = m1.evidence - m0.evidence
        accepted = gain >= _CLEARLY_MORE and self._keeps_enough(m1, m0)
        return [(gain, m1)] if accepted else []

    def _keeps_enough(self, m1: _Explanation, m0: _Explanation) -> bool:
        """Whether M1 keeps not much less of the votes that it leaves than M0 does, and enough of the plurality."""
        start = Start(np.ones(len(m1.copies.follows)), m1.copies, None, reading=m0.reading.workers)
        counts, _ = self.engine.sweep(start)
        kept = float(counts.totals[KEPT] / counts.totals[ITEMS])
        return m1.reading.kept > kept - _LESS_KEPT and not is_doubtful(m1.reading)

    def _fit(self, copies: Copies) -> _Explanation:
        """Read the votes that followers leave."""
        start = Start(np.ones(len(copies.follows)), copies, None)
        return self.explain(read_from(self.method, self.engine, start, self.progress))

    def _fit_independent(self, now: _Explanation, m1: _Explanation) -> _Explanation:
        """Read the votes as they are read now, but begin at the latent classes of M1."""
        weights, votes = np.ones(len(now.copies.follows)), now.reading.workers.vote_classes
        start = Start(weights, now.copies, votes, reading=m1.reading.workers)
        return self.explain(read_from(self.method, self.engine, start, self.progress))


def _count_different(method: Any, one: Any, other: Any, labels: Labels) -> tuple[Array]:
    """Count the items of a part whose answers differ between two readings."""
    (ours, _), (theirs, _) = (read_items(method, workers, labels) for workers in (one, other))
    return (np.array([(ours != theirs).sum()]),)
