"""`blocks`: which workers are not independent, because they agree more often than workers as good as they are would."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from ..caution import listed
from ..crowd.labels import Labels
from ..crowd.names import Names
from ..crowd.protocol import Crowd, require_crowd, require_single_votes
from ..crowd.reading_report import several
from ..errors import DataError, quoted
from ..families.dependence.blocks import LEAST_COMPARED, WorkerBlocks, confirmed_blocks
from ..families.dependence.pairs import PairCounts, expected_agreement, pairs_refusal
from ..fitting.engines.base import open_engine
from ..methods.mv import MajorityVote
from ..numerics import Array
from ..results.tables import as_html
from .followers import Followers, find_followers

# With fewer workers than this, any agreement is as well explained by a common truth.
_LEAST_WORKERS: Final = 4

_UNSEEN: Final = (
    "Labels alone cannot rule out: copies of a worker who is nearly always right, copies who share few items with each "
    "other, and a group of about half of the workers or more, whose opinion looks like the truth."
)
_CAUTION: Final = (
    "A block is a reason to look, not proof of cheating: copies, prompts of one model and colluders look like this, "
    "and so do experts who know what the others do not. The labels alone cannot tell which of these it is; the truth "
    "of about ten items on which a block and the others disagree can."
)


@dataclass(frozen=True, eq=False)
class Block:
    """Workers who agree with each other more often than workers as good as they are would by the truth alone.

    Attributes:
        number: The number of the block, from 1 on; the largest block is the first.
        members: One row per worker, in the order of the names, with the columns that `Dependence.to_frame` has.
        agreement: Which share of their votes on the same items agree.
        expected: Which share would, if the workers were independent and as good as they are.
        effective: How many independent workers the block counts for.
        are_copies: Whether the members are copies of each other, as good as exact ones.
        sample_of: The worker whose samples all members are (`duplicates="samples"`); None if they are not.
    """

    number: int
    members: pl.DataFrame
    agreement: float
    expected: float
    effective: float
    are_copies: bool
    sample_of: Any = None

    @property
    def names(self) -> str:
        """The members in words; if there are many, the first of them and how many more there are."""
        return self._listed(self.members["worker"])

    @property
    def _quoted(self) -> str:
        return self._listed(map(quoted, self.members["worker"]))

    def _listed(self, names: Iterable[Any]) -> str:
        members = listed(names)
        return members if self.sample_of is None else f"{members} (samples of one worker)"

    def __str__(self) -> str:
        copies = " They are copies of each other, or as good as that." if self.are_copies else ""
        return (
            f"Block {self.number}: {self._quoted} say the same about {self.agreement:.0%} of the items they share. "
            f"Independent workers of the same quality would about {self.expected:.0%}. Together they count for about "
            f"{self.effective:.1f} independent workers.{copies}"
        )


@dataclass(frozen=True, eq=False)
class Dependence:
    """Which workers are not independent.

    Attributes:
        blocks: The blocks of workers who agree too often to be independent; the largest is first.
        workers: The number of workers.
        effective: How many independent workers all workers together count for; it is `workers` if there is no block.
        pairs: The number of pairs of workers.
        compared_pairs: How many of these pairs have enough items in common to be compared.
        empty: The table of no workers, which has the columns of `to_frame`.
        followers: The workers who follow others, as far as the labels clearly say so; None if there are none.
    """

    blocks: Sequence[Block]
    workers: int
    effective: float
    pairs: int
    compared_pairs: int
    empty: pl.DataFrame
    followers: Followers | None = None

    def to_frame(self) -> pl.DataFrame:
        """Return one row per worker in a block; the largest block is first, and within a block names are in order.

        The columns are block (its number), worker, agreement (which share of the worker's votes agree with the votes of
        other members on the same items), expected (which share would, if the workers were independent and as good as
        they are), shared (how many items the worker has in common with another member, in the mean), weight (for how
        many independent workers it counts) and copies (whether the members of the block are copies of each other).
        """
        return pl.concat([self.empty, *(block.members for block in self.blocks)])

    def blocks_frame(self) -> pl.DataFrame:
        """Return one row per block: block, size, members (in words), agreement, expected, effective and copies.

        See `Block` for their meanings.
        """
        rows = [
            (one.number, one.members.height, one.names, one.agreement, one.expected, one.effective, one.are_copies)
            for one in self.blocks
        ]
        kinds = pl.Int32, pl.Int64, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Boolean
        names = "block", "size", "members", "agreement", "expected", "effective", "copies"
        return pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)), orient="row")

    def sentences(self) -> list[str]:
        """Return what was found as sentences: first a summary, then the blocks, last who follows and what it means."""
        return [self.summary, *map(str, self.blocks), *self.cautions]

    @property
    def cautions(self) -> list[str]:
        """Who follows whom, and what blocks may mean, in words; empty if there are no blocks and no followers."""
        followers = [] if self.followers is None else [str(self.followers)]
        return [*followers, *([_CAUTION] if self.blocks or followers else [])]

    @property
    def summary(self) -> str:
        """What was found in a few sentences, and how much could not be looked at."""
        if self.workers < _LEAST_WORKERS:
            return f"With fewer than {_LEAST_WORKERS} workers it cannot be said whether some of them are dependent."
        if self.compared_pairs == 0:
            return f"No two workers have {LEAST_COMPARED} items in common, so none of them can be compared."
        found = f"No suspicious agreement between workers. {_UNSEEN}"
        if self.blocks:
            members = sum(block.members.height for block in self.blocks)
            found = (
                f"{members:,} of {self.workers:,} workers are in {several(len(self.blocks), 'block', 'blocks')}: they "
                "agree more often than independent workers of the same quality would. All workers together count for "
                f"about {self.effective:,.1f} independent ones."
            )
        if self.compared_pairs == self.pairs:
            return found
        return (
            f"{found} Only {self.compared_pairs:,} of {several(self.pairs, 'pair', 'pairs')} of workers have "
            f"{LEAST_COMPARED} items or more in common; the other pairs could not be compared."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        blocks = [
            {**row, "members": block.members.drop("block", "copies").to_dicts()}
            for row, block in zip(self.blocks_frame().to_dicts(), self.blocks, strict=True)
        ]
        return {
            "workers": self.workers,
            "effective": self.effective,
            "pairs": self.pairs,
            "compared_pairs": self.compared_pairs,
            "blocks": blocks,
            "followers": [] if self.followers is None else self.followers.table.to_dicts(),
            "sentences": self.sentences(),
        }

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, and the members of the blocks."""
        return as_html(self.sentences(), {"Workers in blocks": self.to_frame()})

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def blocks(labels: Crowd) -> Dependence:
    """Find workers who agree with each other more often than independent workers of the same quality would.

    No truth is needed. It takes up to 2,000 workers, in memory, on disk or in a cluster.

    Args:
        labels: What the workers said. Every vote names one class; if a worker has several votes on an item, each of
            them is compared with the votes of others.

    Raises:
        CallError: These are no labels.
        DataError: There are too many workers or classes, or a vote names several classes.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(300, 8, labels_per_item=8, accuracy=0.8, seed=1)
    >>> copies = crowd.rows.filter(pl.col("worker") == "w1").with_columns(worker=pl.lit("copy of w1"))
    >>> print(blocks(cw.Labels.from_frame(pl.concat([crowd.rows, copies]))).blocks[0].names)
    copy of w1 and w1
    """
    return blocks_in(labels, *compare_all(labels))


def compare_all(labels: Crowd) -> tuple[PairCounts, WorkerBlocks]:
    """Return the comparisons of all workers, in the order of their numbers, and the blocks that are confirmed.

    Raises as `blocks` does.
    """
    require_crowd(labels, "blocks")
    require_single_votes(labels, "blocks")
    refusal = pairs_refusal(labels.n_workers, labels.n_classes)
    if refusal:
        raise DataError(refusal)
    numbered = labels.numbered if isinstance(labels, Labels) else labels
    # An engine is opened for a method; majority vote is the one that needs nothing.
    with open_engine(MajorityVote(), numbered) as engine:
        return confirmed_blocks(engine)


def blocks_in(labels: Crowd, counts: PairCounts, found: WorkerBlocks) -> Dependence:
    """Return what `blocks` does, given what `compare_all` does."""
    described = _describe(labels.names.numbered(labels.numbering), counts, found)
    return replace(described, followers=find_followers(labels, counts))


def _describe(crowd: Names, counts: PairCounts, found: WorkerBlocks) -> Dependence:
    """Describe the blocks that were found by the names of the workers, which are in the order of their numbers."""
    names = crowd.workers.alias("worker")
    compared = counts.compared
    expected = expected_agreement(counts, found.common) * compared if found.members else compared
    described = []
    for number, (block, effective, copies) in enumerate(
        zip(found.members, found.effective_of_blocks.tolist(), found.are_copies.tolist(), strict=True), 1
    ):
        pairs = np.ix_(block, block)
        agreed, expected_to, comparisons = (matrix[pairs].sum(axis=1) for matrix in (counts.agreed, expected, compared))
        sample_of = _common_worker(crowd, block)
        copies = copies and sample_of is None
        members = _table(number, names.gather(block), agreed, expected_to, comparisons, found.weights[block], copies)
        total = float(comparisons.sum())
        shares = float(agreed.sum()) / total, float(expected_to.sum()) / total
        described.append(Block(number, members.sort("worker"), *shares, effective, copies, sample_of))
    voted = counts.given.sum(axis=1) > 0
    workers = int(voted.sum())
    none = np.zeros(0)
    return Dependence(
        described,
        workers,
        float(found.weights[voted].sum()),
        workers * (workers - 1) // 2,
        int((compared >= LEAST_COMPARED).sum()) // 2,
        _table(0, names.head(0), none, none, none, none, False),
    )


def _common_worker(crowd: Names, block: Array) -> Any:
    """Return the worker whose samples all members of a block are; None if there is none."""
    workers = set() if crowd.sample_of is None else set(crowd.sample_of[block].tolist())
    return crowd.workers[workers.pop()] if len(workers) == 1 else None


def _table(
    number: int, names: pl.Series, agreed: Array, expected: Array, compared: Array, weights: Array, copies: bool
) -> pl.DataFrame:
    """Make the table of the members of one block; see `Dependence.to_frame`."""
    return pl.DataFrame(
        {
            "block": pl.Series([number] * len(names), dtype=pl.Int32),
            "worker": names,
            "agreement": agreed / compared,
            "expected": expected / compared,
            "shared": np.rint(compared / max(len(names) - 1, 1)).astype(np.int64),
            "weight": weights,
            "copies": pl.Series([copies] * len(names), dtype=pl.Boolean),
        }
    )
