"""`deciders`: workers, or blocks of workers, whom the answers follow nearly always, also against all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..caution import Caution, listed
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..crowd.votes import MOST_TO_COMPARE, count_outvoted, is_deciding, shares
from ..methods.mv import MajorityVote
from ..numerics import Array
from ..results.scores import TIE, best_two
from .blocks import Block


@dataclass(frozen=True)
class Decider:
    """A worker, or a block of workers who say the same, whom the answers follow nearly always.

    Attributes:
        workers: The names of the worker, or of the members of the block.
        outvoted: On how many items most others say something else.
        won: How many of these items have the answer of this worker all the same.
        differs: How many answers differ from those of majority vote.
    """

    workers: tuple[Any, ...]
    outvoted: int
    won: int
    differs: int

    @property
    def caution(self) -> Caution:
        """What to know about it, and what to do."""
        one = len(self.workers) == 1
        return Caution(
            "decider",
            f"The answers follow {'worker' if one else 'the workers'} {listed(self.workers)} nearly always: on "
            f"{self.won:,} of the {several(self.outvoted, 'item', 'items')} on which most others say something else. "
            f"{'This worker' if one else 'They'} may be far better than the others, or the method may follow one "
            f"opinion by mistake. Majority vote (-m mv) differs in {several(self.differs, 'answer', 'answers')}.",
            "Look up the truth of some of these, or give gold= (--gold) that is drawn at random.",
            workers=self.workers,
        )


def deciders(result: Any, labels: Labels, blocks: Sequence[Block] = ()) -> list[Decider]:
    """Return the workers whom the answers follow nearly always, also where most others say something else.

    Args:
        result: The result of a method.
        labels: The labels that it is from.
        blocks: Blocks of workers who are not independent; each is taken as one worker with one vote.
    """
    if labels.n_workers > MOST_TO_COMPARE or labels.set_valued or isinstance(result.method, MajorityVote):
        return []
    answers = result.answers
    majority, _, tied = best_two(shares(labels), TIE)
    differs = int((answers != majority)[~tied].sum())
    if differs == 0:
        return []
    names = labels.names.workers
    found: list[Decider] = []
    for block in blocks:
        members = names.is_in(block.members["worker"].implode()).to_numpy()
        first = int(np.flatnonzero(members)[0])
        united = _united(labels, np.where(members, first, np.arange(labels.n_workers)).astype(labels.workers.dtype))
        found += [
            Decider(tuple(block.members["worker"]), outvoted, won, differs)
            for worker, outvoted, won in _deciding(united, answers)
            if worker == first
        ]
    if found:  # of whom each decides alone, too
        return found
    return [Decider((names[worker],), outvoted, won, differs) for worker, outvoted, won in _deciding(labels, answers)]


def _deciding(labels: Labels, answers: Array) -> list[tuple[int, int, int]]:
    """Return the workers whom the answers follow: their codes, how often they are outvoted, and how often they win."""
    _, _, outvoted, won = count_outvoted(labels, answers)
    given = np.bincount(labels.workers, minlength=labels.n_workers)
    codes = np.flatnonzero(is_deciding(outvoted, won, given, labels.n_items))
    return [(int(code), int(outvoted[code]), int(won[code])) for code in codes]


def _united(labels: Labels, as_one: Array) -> Labels:
    """Return the labels with some workers as one, who says something only where all of them who speak say the same."""
    rows = pl.DataFrame({"item": labels.item_of, "worker": as_one[labels.workers], "label": labels.labels})
    alone = pl.col("label").n_unique().over("item", "worker") == 1
    kept = rows.filter(alone).unique(["item", "worker"], maintain_order=True).sort("item", "worker")
    starts = np.concatenate([[0], np.cumsum(np.bincount(kept["item"].to_numpy(), minlength=labels.n_items))])
    return Labels(starts, kept["worker"].to_numpy(), kept["label"].to_numpy(), labels.names, labels.report)
