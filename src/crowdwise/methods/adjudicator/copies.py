"""`Copies`: how much the labels of every worker count, because others say the same."""

from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...errors import DataError
from ...families.dependence.blocks import COPIES, confirm_blocks, confirmed_blocks, find_blocks
from ...families.dependence.outside import count_outside
from ...families.dependence.pairs import PairCounts, correlations, count_pairs, pairs_refusal
from ...fitting.engines.base import Engine
from ...numerics import Array

# It takes so many items that two workers have in common for the correlation of exact copies.
_LEAST_LABELS: Final = 65
# Exact copies are looked for unasked only if comparing all pairs of workers takes no more bytes and comparisons than
# these, so that it takes a small part of the time of the whole fit.
_MOST_BYTES: Final = 2**26
_MOST_COMPARISONS: Final = 2e7
# Followers are looked for among so many workers: it was confirmed on such panels. With more, one copy costs little, and
# experts are taken for copies.
FEWEST_WORKERS, _MOST_WORKERS = 4, 30


def can_follow(n_workers: int, n_classes: int) -> bool:
    """Whether followers are looked for among so many workers."""
    return FEWEST_WORKERS <= n_workers <= _MOST_WORKERS and n_classes > 1


class Copies(NamedTuple):
    """Which workers count as less than one: members of blocks, who count together, and followers, who are left out.

    The votes of a follower are left out on items that its leader labelled, too.
    """

    exponents: Array  # (workers), how many workers each one counts as on items that all of its block labelled
    block_of: Array  # (workers), the number of the worker's block; -1 for none
    follows: Array  # (workers), the code of the worker whom it follows; -1 for none

    @classmethod
    def none(cls, n_workers: int) -> "Copies":
        """Everybody counts as one."""
        return cls.of(np.ones(n_workers), [])

    @classmethod
    def of(cls, exponents: Array, blocks: list[Array]) -> "Copies":
        """Members of blocks count as `exponents` says."""
        block_of = np.full(len(exponents), -1)
        for number, members in enumerate(blocks):
            block_of[members] = number
        return cls(exponents, block_of, np.full(len(exponents), -1))

    @property
    def blocks(self) -> list[Array]:
        """The workers of every block."""
        return [np.flatnonzero(self.block_of == number) for number in np.unique(self.block_of[self.block_of >= 0])]

    @property
    def pairs(self) -> Array:
        """(pairs, 2), every follower with its leader; the others of a block follow its first worker."""
        led = [(one, self.follows[one]) for one in np.flatnonzero(self.follows >= 0)]
        led += [(one, members[0]) for members in self.blocks for one in members[1:]]
        return np.array(sorted(led), np.int64).reshape(-1, 2)

    def with_known(self, pairs: Array) -> "Copies":
        """Return the same with these pairs of follower and leader, but for workers who are in a block already."""
        follows = self.follows.copy()
        for follower, leader in pairs.tolist():
            above = leader
            while above >= 0 and above != follower:
                above = int(follows[above])
            if self.block_of[follower] < 0 and above < 0:  # nobody follows itself, not even by way of others
                follows[follower] = leader
        return self._replace(follows=follows)

    def with_followers(self, members: Array, follows: Array) -> "Copies":
        """Return the same, except that some workers are a tree of followers; `follows` is (workers), as above."""
        changed = Copies(*(one.copy() for one in self))
        changed.exponents[members], changed.block_of[members], changed.follows[members] = 1.0, -1, follows[members]
        return changed

    def counts_all(self) -> bool:
        """Whether everybody counts as one."""
        return bool((self.exponents == 1).all() and (self.follows < 0).all())

    def counted(self, labels: Labels) -> Array | None:
        """(labels), whether each of these labels counts at all; None if all do."""
        return None if (self.follows < 0).all() else ~self._left_out(labels)

    def weights(self, labels: Labels) -> Array:
        """(labels), how much each of these labels counts; empty if all count as one.

        Where only some members of a block labelled an item, they count for more: alone, as one.
        """
        if (self.block_of < 0).all() and (self.follows < 0).all():
            return np.zeros(0)
        block = self.block_of[labels.workers]
        weights, inside = np.ones(len(block)), block >= 0
        if inside.any():
            sizes = np.bincount(self.block_of[self.block_of >= 0])
            meeting = (labels.item_of * len(sizes) + block)[inside]  # the labels of one block on one item
            others = np.bincount(meeting)[meeting] - 1
            of_all_others = 1 / self.exponents[labels.workers[inside]] - 1
            weights[inside] = 1 / (1 + of_all_others * others / (sizes[block[inside]] - 1))
        if (self.follows >= 0).any():
            weights[self._left_out(labels)] = 0.0
        return weights

    def _left_out(self, labels: Labels) -> Array:
        """(labels), whether the worker follows one who labelled the item, too."""
        leads, follows = np.zeros((2, len(self.follows)), bool)
        follows[self.follows >= 0] = leads[self.follows[self.follows >= 0]] = True
        led, leading = (np.flatnonzero(some[labels.workers]) for some in (follows, leads))
        wanted, present = (
            (np.searchsorted(labels.item_starts, votes, "right") - 1) * len(follows) + workers
            for votes, workers in ((led, self.follows[labels.workers[led]]), (leading, labels.workers[leading]))
        )
        present = np.sort(present, kind="stable")
        out = np.zeros(labels.n_labels, bool)
        out[led] = np.searchsorted(present, wanted) < np.searchsorted(present, wanted, "right")
        return out


def count_samples(sample_of: Array) -> Copies:
    """Count the samples of a worker together as one: they are asked of one judge, whose errors all of them share.

    `sample_of` (workers) is whose sample each one is.
    """
    sizes = np.bincount(sample_of, minlength=len(sample_of))
    blocks = [np.flatnonzero(sample_of == one) for one in np.flatnonzero(sizes > 1)]
    return Copies.of(1.0 / sizes[sample_of], blocks)


def count_blocks_once(engine: Engine, n_workers: int, counted: PairCounts | None = None) -> Copies:
    """Count blocks of workers who agree too often as one; raises `DataError` if there are too many to compare."""
    refusal = pairs_refusal(n_workers, engine.n_classes)
    if refusal:
        raise DataError(refusal)
    _, blocks = confirmed_blocks(engine, counted)
    return Copies.of(blocks.weights, blocks.members)


def count_exact_copies_once(
    engine: Engine, given: Array, comparisons: float, counted: PairCounts | None = None
) -> Copies:
    """Count exact copies together as one. They are not looked for if that would take long.

    `given` (workers) is how many labels each gave; `comparisons` is how many pairs of labels are on the same items.
    """
    everybody, n_workers = Copies.none(len(given)), len(given)
    # Only workers with many labels can be found to be exact copies, and comparing these alone is quicker.
    busy = np.flatnonzero(given > _LEAST_LABELS - 0.5)
    too_large = 4 * n_workers**2 * (engine.n_classes + 1) > _MOST_BYTES or comparisons > _MOST_COMPARISONS
    if too_large or pairs_refusal(n_workers, engine.n_classes) or len(busy) < 2:
        return everybody
    pairs: PairCounts = engine.add_labels(count_pairs, "comparing workers") if counted is None else counted
    both = np.ix_(busy, busy)
    pairs = PairCounts(pairs.shared[both], pairs.agreed[both], pairs.given[busy])
    if (correlations(pairs)[0] < COPIES).all():
        return everybody
    blocks = find_blocks(pairs)
    blocks = replace(
        blocks, members=[block for block, same in zip(blocks.members, blocks.are_copies, strict=True) if same]
    )
    if not blocks.members:
        return everybody
    outside = partial(count_outside, blocks=[busy[members] for members in blocks.members])
    confirmed = confirm_blocks(blocks, engine.add_labels(outside, "confirming blocks"))
    copies = [busy[members] for members in confirmed.members]
    for members in copies:
        everybody.exponents[members] = 1 / len(members)
    return Copies.of(everybody.exponents, copies)
