"""`leave_out_followers`: decides by evidence who copies whom; the votes of followers then leave the crowd.

Two explanations of the same votes are compared. M0: all workers are independent given the truth. M1: some of them
follow a leader, so that their votes say nothing about the truth, only about the leader (copying.py). With E1 the log
evidence of the votes that are left plus the log probabilities of the followers' votes, and E0 that of all votes, M1 is
accepted if

    E1 - E0 >= 7,  kept(M1) > kept(M0) - 0.05  and  kept(M1) >= (plurality + 1/K) / 2

where kept is the share of the votes that the latent classes keep, of those that M1 leaves. Two who know what the others
do not know are better explained by the truth than by each other, and stay.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...data.labels import Labels
from ...families.dependence.pairs import PairCounts
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...numerics import Array
from .copies import Copies
from .copying import Suspects, find_suspects, log_followed
from .joint_counts import JointCounts
from .readings import Reading, is_doubtful, read_from, read_items
from .starts import Start
from .structure import ITEMS, KEPT, Copying

# It was confirmed on panels of so many workers. With more, one copy costs little, and experts are taken for copies.
_FEWEST_WORKERS, _MOST_WORKERS = 4, 30
# How many blocks are tried in a round, and the most rounds.
_MOST_TRIED: Final = 12
_MOST_ROUNDS: Final = 10
# By how much E1 has to be higher, in natural logarithms; and by how much less of the votes M1 may keep.
_CLEARLY_MORE: Final = 7.0
_LESS_KEPT: Final = 0.05

Block = frozenset[int]


def can_follow(n_workers: int, n_classes: int) -> bool:
    """Whether followers are looked for among so many workers."""
    return _FEWEST_WORKERS <= n_workers <= _MOST_WORKERS and n_classes > 1


def leave_out_followers(
    method: Any,
    engine: Engine,
    plain: Reading,
    counts: PairCounts,
    progress: Progress | None,
    rounds: int = _MOST_ROUNDS,
    blocks: int = _MOST_TRIED,
) -> Reading:
    """Return a reading of the votes without those of workers who follow others; `plain` if nobody does.

    Args:
        method: The adjudicator.
        engine: The engine.
        plain: The reading of all votes.
        counts: The comparisons of all workers.
        progress: Called after each iteration.
        rounds: The most rounds; followers are left out of the next round.
        blocks: How many blocks are tried in a round, those who agree most first.
    """
    suspects = find_suspects(counts)
    if not suspects.pairs.any():
        return plain
    workers = [*plain.workers.copies.blocks, np.flatnonzero(suspects.pairs.any(axis=1))]
    joint = JointCounts.of(engine, np.concatenate(workers))
    search = _Search(method, engine, suspects, joint, progress, blocks)
    found = search.explain(plain)
    for _ in range(rounds):
        better = search.with_more_followers(found)
        if better is None:
            break
        found = better
    best = search.describe(found, plain) if found.nats else plain
    engine.sweep(best.workers)  # the engine has the scores of the reading that was tried last
    return best


def look_for_followers(method: Any, engine: Engine, counts: PairCounts) -> Any:
    """Return the workers of a reading without those who follow others, in crowds of any size; None if nobody does.

    In a crowd of more than 30 workers, only the workers who agree most are tried.
    """
    if len(counts.given) < _FEWEST_WORKERS or not find_suspects(counts).pairs.any():
        return None
    votes, _ = engine.sweep(None)
    found = method.read(engine, votes, None)
    if not can_follow(len(counts.given), engine.n_classes):
        found = leave_out_followers(method, engine, found, counts, None, rounds=1, blocks=1)
    return None if found.workers.copying is None else found.workers


@dataclass(frozen=True, eq=False)
class _Explanation:
    """A reading of the votes that are left, with the probability of those that were left out.

    Attributes:
        reading: The reading.
        evidence: The logarithm of the probability of all votes.
        nats: For every block of followers and their leader, how much higher the evidence is than with independent ones.
    """

    reading: Reading
    evidence: float
    nats: dict[Block, float] = field(default_factory=dict)

    @property
    def copies(self) -> Copies:
        return self.reading.workers.copies


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for followers: what it needs to know, and its steps.

    Attributes:
        method: The adjudicator.
        engine: The engine.
        suspects: Which pairs agree suspiciously often.
        joint: What any two suspects said about the same items.
        progress: Called after each iteration.
        most_blocks: How many blocks are tried in a round.
    """

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
