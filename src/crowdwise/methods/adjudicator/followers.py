"""`leave_out_followers`: decides by evidence who copies whom; the votes of followers then leave the crowd.

Two explanations of the same votes are compared. Either all workers are independent given the truth. Or some of them
follow a leader: then their votes say nothing about the truth, only about the leader (copying.py). Two who
know what the others do not know are better explained by the truth than by each other, and stay.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...data.labels import Labels
from ...families.dependence.pairs import PairCounts
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...numerics import Array
from ...results.result import Ending
from .copies import Copies
from .copying import JointCounts, Suspects, find_suspects, log_followed
from .readings import Reading, is_doubtful, read_from, read_items
from .starts import Start
from .structure import ITEMS, KEPT, Copying

# It was confirmed on panels of so many workers. With more, one copy costs little, and experts are taken for copies.
_FEWEST_WORKERS, MOST_WORKERS = 4, 30
# How many blocks are tried in a round, and the most rounds.
_MOST_TRIED: Final = 12
_MOST_ROUNDS: Final = 10
# By how much the evidence has to be higher, in natural logarithms.
_CLEARLY_MORE: Final = 7.0
# Followers of earlier labels stay so if they agree no less often than this many standard errors below their rate.
_ERRORS_BELOW: Final = 3.0
# Agreements are counted for so many pairs at most, because what all of them said about the same items is.
_MOST_PAIRS: Final = 100
# The latent classes may keep this much less of the votes that are left.
_LESS_KEPT: Final = 0.05


@dataclass(frozen=True, eq=False)
class _Explanation:
    """A reading of the votes that are left, with the probability of those that were left out.

    Attributes:
        reading: The reading.
        evidence: The logarithm of the probability of all votes.
        blocks: The blocks of followers and their leader.
        nats: How much higher the evidence is than with independent workers, for every block.
    """

    reading: Reading
    evidence: float
    blocks: tuple[frozenset[int], ...] = ()
    nats: tuple[float, ...] = ()

    @property
    def copies(self) -> Copies:
        return self.reading.workers.copies

    def with_block(self, members: frozenset[int], gain: float) -> "_Explanation":
        """Return the same with one more block, which takes the place of those that it holds."""
        known = list(zip(self.blocks, self.nats, strict=True))
        outside = [(block, nats) for block, nats in known if not block <= members]
        inside = sum(nats for block, nats in known if block <= members)
        blocks, nats = zip(*outside, (members, gain + inside), strict=True)
        return replace(self, blocks=blocks, nats=nats)


def can_follow(n_workers: int, n_classes: int) -> bool:
    """Whether followers are looked for among so many workers."""
    return _FEWEST_WORKERS <= n_workers <= MOST_WORKERS and n_classes > 1


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
    known = [*plain.workers.copies.blocks, np.flatnonzero(suspects.pairs.any(axis=1))]
    said = JointCounts.of(engine, len(suspects.pairs), np.unique(np.concatenate(known)))
    search = _Search(method, engine, suspects, said, progress, blocks)
    found = search.explain(plain)
    for _ in range(rounds):
        following = search.improved(found)
        if following is None:
            break
        found = following
    best = _described(search, found, plain) if found.blocks else plain
    engine.sweep(best.workers)  # the engine has the scores of the reading that was tried last
    return best


def look_for_followers(method: Any, engine: Engine, counts: PairCounts) -> Any:
    """Return the workers of a reading without those who follow others, in crowds of any size; None if nobody does.

    In a crowd of more than 30 workers, only the workers who agree most are tried.

    Args:
        method: The adjudicator that looks for followers.
        engine: The engine.
        counts: The comparisons of all workers.
    """
    if len(counts.given) < _FEWEST_WORKERS or not find_suspects(counts).pairs.any():
        return None
    votes, _ = engine.sweep(None)
    found = method.read(engine, votes, None)
    if not can_follow(len(counts.given), engine.n_classes):
        found = leave_out_followers(method, engine, found, counts, None, rounds=1, blocks=1)
    return None if found.workers.copying is None else found.workers


def still_following(engine: Engine, n_workers: int) -> Array:
    """Return (pairs, 2), the followers and leaders of earlier labels who agree about as often in these labels.

    A pair is left out if the two agree less often than they did, by more than chance explains.
    """
    known = engine.known.followers
    if known is None or not len(known):
        return np.zeros((0, 2), np.int64)
    pairs = known[:, :2].astype(np.int64)
    agreed, shared = _agreements(engine, n_workers, pairs).T
    before = (known[:, 2] + 1) / (known[:, 3] + 2)
    error = np.sqrt(before * (1 - before) * (1 / np.maximum(shared, 1) + 1 / np.maximum(known[:, 3], 1)))
    return np.asarray(pairs[agreed >= shared * (before - _ERRORS_BELOW * error)])


def with_agreements(engine: Engine, ending: Ending) -> Ending:
    """Return how the iterations ended, with how often every follower agrees with its leader."""
    pairs = ending.workers.copies.pairs
    if not 0 < len(pairs) <= _MOST_PAIRS:
        return ending
    followed = np.zeros_like(ending.workers.followed)
    followed[pairs[:, 0]] = _agreements(engine, len(followed), pairs)
    return replace(ending, workers=replace(ending.workers, followed=followed))


def _agreements(engine: Engine, n_workers: int, pairs: Array) -> Array:
    """Return (pairs, 2), how often two workers agree, and about how many items both said something."""
    said = JointCounts.of(engine, n_workers, np.unique(pairs))
    both = [said.between(int(leader), int(follower)) for follower, leader in pairs]
    return np.array([(np.trace(counts), counts.sum()) for counts in both], float).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class _Search:
    """What the search for followers needs to know.

    Attributes:
        method: The adjudicator.
        engine: The engine.
        suspects: Which pairs agree suspiciously often.
        said: What any two suspects said about the same items.
        progress: Called after each iteration.
        most_blocks: How many blocks are tried in a round.
    """

    method: Any
    engine: Engine
    suspects: Suspects
    said: JointCounts
    progress: Progress | None
    most_blocks: int

    def explain(self, reading: Reading) -> _Explanation:
        """Add the probability of the votes that a reading leaves out."""
        copies = reading.workers.copies
        pairs = [(int(copies.follows[one]), int(one)) for one in np.flatnonzero(copies.follows >= 0)]
        for members in copies.blocks:  # all exact copies count as one, so that the others are given its votes
            pairs += [(int(members[0]), int(one)) for one in members[1:]]
        return _Explanation(reading, reading.evidence + sum(log_followed(self.said.between(*pair)) for pair in pairs))

    def improved(self, now: _Explanation) -> _Explanation | None:
        """Return the explanation with more followers; None if no more are found."""
        settled = [*now.blocks, *(frozenset(block.tolist()) for block in now.copies.blocks)]
        accepted: list[tuple[float, Array, _Explanation]] = []
        for members in self._new_blocks(settled):
            tried = max(
                (self._fit(now.copies.with_followers(members, tree)) for tree in self.suspects.trees(members)),
                key=lambda one: one.evidence,
            )
            rival = self._all_from(now, tried)
            gain = tried.evidence - rival.evidence
            if gain >= _CLEARLY_MORE and self._keeps_enough(tried, rival):
                accepted.append((gain, members, tried))
        if not accepted:
            return None
        accepted.sort(key=lambda one: -one[0])
        apart: list[tuple[float, Array, _Explanation]] = []
        for one in accepted:
            if all(not np.intersect1d(one[1], other[1]).size for other in apart):
                apart.append(one)
        best = apart[0][2]
        if len(apart) > 1:
            copies = now.copies
            for _, members, tried in apart:
                copies = copies.with_followers(members, tried.copies.follows)
            together = self._fit(copies)
            best, apart = (together, apart) if together.evidence > best.evidence else (best, apart[:1])
        best = replace(best, blocks=now.blocks, nats=now.nats)
        for gain, members, _ in apart:
            best = best.with_block(frozenset(members.tolist()), gain)
        return best

    def _keeps_enough(self, tried: _Explanation, rival: _Explanation) -> bool:
        """Whether an explanation keeps not much less of the votes that it leaves than another one does."""
        copies, workers = tried.copies, rival.reading.workers
        counts, _ = self.engine.sweep(Start(np.ones(len(copies.follows)), copies, None, reading=workers))
        kept = float(counts.totals[KEPT] / counts.totals[ITEMS])
        return tried.reading.kept > kept - _LESS_KEPT and not is_doubtful(tried.reading)

    def _new_blocks(self, settled: list[frozenset[int]]) -> list[Array]:
        """The first blocks that are not settled, and that hold what is settled or have nothing to do with it."""
        new = []
        for block in self.suspects.blocks():
            members = frozenset(block.tolist())
            if all(one < members or not one & members for one in settled):
                new.append(block)
        return new[: self.most_blocks]

    def _fit(self, copies: Copies) -> _Explanation:
        """Read the votes that followers leave."""
        start = Start(np.ones(len(copies.follows)), copies, None)
        return self.explain(read_from(self.method, self.engine, start, self.progress))

    def _all_from(self, now: _Explanation, tried: _Explanation) -> _Explanation:
        """Return the better of the explanation so far and the same begun at the latent classes of another one."""
        workers = now.reading.workers
        start = Start(np.ones(len(workers.follows)), now.copies, workers.vote_classes, reading=tried.reading.workers)
        again = self.explain(read_from(self.method, self.engine, start, self.progress))
        return max(now, again, key=lambda one: one.evidence)


def _described(search: _Search, found: _Explanation, plain: Reading) -> Reading:
    """Return the reading, with what is known about the followers."""
    follows = found.copies.follows
    agreed, compared, nats = np.zeros((3, len(follows)))
    for members, of_block in zip(found.blocks, found.nats, strict=True):
        for one in members:
            if follows[one] >= 0:
                both = search.said.between(int(follows[one]), one)
                agreed[one], compared[one], nats[one] = np.trace(both), both.sum(), of_block
    ending: Ending = found.reading.ending
    differ = partial(_count_different, search.method, ending.workers, plain.workers)
    (changed,) = search.engine.add_labels(differ, "comparing readings")
    copying = Copying(agreed, compared, nats, int(changed[0]), plain.workers)
    return replace(found.reading, ending=replace(ending, workers=replace(ending.workers, copying=copying)))


def _count_different(method: Any, one: Any, other: Any, labels: Labels) -> tuple[Array]:
    """Count the items of a part whose answers differ between two readings."""
    (ours, _), (theirs, _) = (read_items(method, workers, labels) for workers in (one, other))
    return (np.array([(ours != theirs).sum()]),)
