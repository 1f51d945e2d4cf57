"""`find_followers`: which workers follow others, as far as the labels clearly say so."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..caution import Caution
from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..crowd.reading_report import several
from ..families.dependence.blocks import suspicious_pairs
from ..families.dependence.pairs import PairCounts, is_quick_to_compare
from ..fitting.engines.base import open_engine
from ..methods.adjudicator import (
    FEWEST_WORKERS,
    Adjudicator,
    Suspects,
    can_follow,
    has_readings,
    in_words,
    look_for_followers,
)


@dataclass(frozen=True, eq=False)
class Followers:
    """Workers who follow others: the labels are clearly more probable if they copy than if all are independent.

    Attributes:
        table: One row per follower: worker, follows (whom), agreement (the share of their votes on the same items that
            are equal), shared (how many these are) and nats (how much more probable the labels are, as a natural
            logarithm).
        said: The same in words.
        changed: How many answers of the adjudicator would be different without their votes.
        n_items: The number of items.
        are_left_out: Whether the adjudicator leaves them out by default: not in crowds of more than 30 workers.
    """

    table: pl.DataFrame
    said: str
    changed: int
    n_items: int
    are_left_out: bool

    def __str__(self) -> str:
        changed = f"{several(self.changed, 'answer', 'answers')} of {self.n_items:,}"
        if self.are_left_out:
            return (
                f"The labels suggest copying: {self.said}. The adjudicator leaves out votes of followers where their "
                f"leader has one, which changes {changed}."
            )
        return (
            f"The labels suggest copying: {self.said}. Among more than 30 workers nobody is left out because of "
            f"that; it would change {changed}."
        )

    @property
    def caution(self) -> Caution:
        """What to know about followers who count in full."""
        return Caution(
            "blocks",
            f"The labels suggest copying, and all workers count in full: {self.said}. Without the votes of followers "
            f"the adjudicator would give {several(self.changed, 'other answer', 'other answers')} to {self.n_items:,} "
            "items.",
            "Find out whether they copy, and leave them out if they do.",
            workers=tuple(dict.fromkeys(name for row in self.table.select("worker", "follows").rows() for name in row)),
        )


def find_followers(labels: Crowd, counts: PairCounts) -> Followers | None:
    """Find workers who follow others; None if there are none, or if that would take long.

    In a crowd of more than 30 workers, only the workers who agree most are looked at.

    Args:
        labels: The labels.
        counts: The comparisons of all workers, in the order of their numbers.
    """
    if not has_readings(labels) or not is_quick_to_compare(labels):
        return None
    suspects = Suspects(*suspicious_pairs(counts))
    if labels.n_workers < FEWEST_WORKERS or not suspects.pairs.any():
        return None
    numbered = labels.numbered if isinstance(labels, Labels) else labels
    method = Adjudicator()
    with open_engine(method, numbered) as engine:
        found: Any = look_for_followers(method, engine, suspects)
    if found is None:
        return None
    names, copying = labels.names.numbered(labels.numbering).workers, found.copying
    codes = np.flatnonzero(found.follows >= 0)
    table = pl.DataFrame(
        {
            "worker": names.gather(codes),
            "follows": names.gather(found.follows[codes]),
            "agreement": copying.agreed[codes] / copying.compared[codes],
            "shared": copying.compared[codes].astype(np.int64),
            "nats": copying.nats[codes],
        }
    )
    left_out = can_follow(labels.n_workers, labels.n_classes)
    return Followers(table.sort("worker"), in_words(found, names), copying.changed, labels.n_items, left_out)
