"""`JointCounts`: what followers and leaders say about the same items, and whether earlier followers still follow."""

from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...families.dependence.pairs import cross_tabulate
from ...fitting.engines.base import Engine
from ...numerics import Array
from ...results.ending import Ending

# Followers of earlier labels stay so if they agree no less often than this many standard errors below their rate.
_ERRORS_BELOW: Final = 3.0
# Agreements are counted for so many pairs at most, because what all of them said about the same items is.
_MOST_PAIRS: Final = 100


class JointCounts(NamedTuple):
    """What any two of some workers said about the same items."""

    members: Array  # the codes of these workers, in ascending order
    said: Array  # (members, members, classes, classes), as `cross_tabulate` counts them

    @classmethod
    def of(cls, engine: Engine, workers: Array) -> "JointCounts":
        """Compare some workers on all items."""
        members = np.unique(workers)
        (said,) = engine.add_labels(partial(_count, members), "comparing workers")
        return cls(members, said)

    def between(self, leader: int, follower: int) -> Array:
        """(classes, classes), C in copying.py: how often the leader says one class and the follower another."""
        one, other = np.searchsorted(self.members, (leader, follower))
        return np.asarray(self.said[one, other])


def _count(members: Array, labels: Labels) -> tuple[Array]:
    return (cross_tabulate(labels, members),)


def still_following(engine: Engine) -> Array:
    """Return (pairs, 2), the followers and leaders of earlier labels who agree about as often in these labels.

    A pair is left out if the two agree less often than they did, by more than chance explains.
    """
    known = engine.known.followers
    if known is None or not len(known):
        return np.zeros((0, 2), np.int64)
    pairs = known[:, :2].astype(np.int64)
    agreed, shared = _agreements(engine, pairs).T
    before = (known[:, 2] + 1) / (known[:, 3] + 2)
    error = np.sqrt(before * (1 - before) * (1 / np.maximum(shared, 1) + 1 / np.maximum(known[:, 3], 1)))
    return np.asarray(pairs[agreed >= shared * (before - _ERRORS_BELOW * error)])


def with_agreements(engine: Engine, ending: Ending) -> Ending:
    """Return how the iterations ended, with how often every follower agrees with its leader."""
    pairs = ending.workers.copies.pairs
    if not 0 < len(pairs) <= _MOST_PAIRS:
        return ending
    followed = np.zeros_like(ending.workers.followed)
    followed[pairs[:, 0]] = _agreements(engine, pairs)
    return replace(ending, workers=replace(ending.workers, followed=followed))


def _agreements(engine: Engine, pairs: Array) -> Array:
    """Return (pairs, 2), how often a follower and its leader agree, and about how many items both said something."""
    joint = JointCounts.of(engine, pairs)
    both = [joint.between(leader, follower) for follower, leader in pairs.tolist()]
    return np.array([(np.trace(counts), counts.sum()) for counts in both], float).reshape(-1, 2)
