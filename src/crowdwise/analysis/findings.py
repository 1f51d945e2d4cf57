"""`Findings`: what is found about a result that several parts of a page or a screen say, found once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from ..caution import Caution
from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..families.dependence.blocks import WorkerBlocks
from ..families.dependence.pairs import PairCounts, is_quick_to_compare, pairs_refusal
from ..results.in_parts import Inferred
from .blocks import Block, Dependence, blocks_in, compare_all
from .deciders import deciders
from .followers import Followers
from .habits import habits
from .recommendation import Recommendation, recommend
from .rivals import Rivals, rivals_by
from .unusual_workers import are_looked_at, find_unusual, in_words


@dataclass(frozen=True, eq=False)
class Findings:
    """What is found about a result; each is looked for when somebody asks for it first.

    Attributes:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        takes_time: Whether workers are compared with each other also where that is not quick.
    """

    result: Inferred
    labels: Crowd
    takes_time: bool = False

    @cached_property
    def dependence(self) -> Dependence | None:
        """The workers who are not independent; None if workers cannot be compared with each other."""
        cannot = self.labels.set_valued or pairs_refusal(self.labels.n_workers, self.labels.n_classes)
        return None if cannot else blocks_in(self.labels, *self._comparisons)

    @cached_property
    def _comparisons(self) -> tuple[PairCounts, WorkerBlocks]:
        return compare_all(self.labels)

    @property
    def blocks(self) -> Sequence[Block] | None:
        """The blocks of workers; None if they were not looked for."""
        return None if not self._compares or self.dependence is None else self.dependence.blocks

    @property
    def followers(self) -> Followers | None:
        """The workers who follow others and count in full all the same; None if there are none."""
        leaders = self.result.workers.leaders
        if self.blocks is None or self.dependence is None or (leaders is not None and (leaders >= 0).any()):
            return None
        return self.dependence.followers

    @property
    def _compares(self) -> bool:
        """Whether workers are compared with each other: always if that may take time, else where it is quick."""
        return self.takes_time or (isinstance(self.labels, Labels) and is_quick_to_compare(self.labels))

    @cached_property
    def deciders(self) -> list[Caution]:
        """Workers, or blocks of them, whom the answers follow nearly always."""
        here = isinstance(self.labels, Labels) and self.blocks is not None
        return [one.caution for one in deciders(self.result, self.labels, self.blocks or ())] if here else []  # type: ignore[arg-type]  # they are in memory

    @cached_property
    def rivals(self) -> Rivals | None:
        """Other readings of the labels; None if there are none, or if they cannot be looked for."""
        here = isinstance(self.labels, Labels) and not self.labels.set_valued and self._compares
        result: Any = self.result
        return rivals_by(result, self.labels, lambda: self._comparisons) if here else None  # type: ignore[arg-type]  # they are in memory

    @cached_property
    def habits(self) -> pl.DataFrame:
        """What `habits` measures of workers in memory."""
        result: Any = self.result
        return habits(result, self.labels)  # type: ignore[arg-type]  # in memory

    @cached_property
    def flagged(self) -> pl.DataFrame:
        """The rows of `habits` of workers who are worth a look, as `find_unusual` returns them."""
        return find_unusual(self.habits, self.labels.n_classes, self.blocks or ())

    @cached_property
    def unusual(self) -> pl.DataFrame | None:
        """What `unusual_workers` returns; None for crowds that are not looked at unasked."""
        return in_words(self.flagged, self.labels.names.classes) if are_looked_at(self.labels) else None

    @cached_property
    def marks(self) -> pl.DataFrame | None:
        """The same with short reasons, which fit beside a worker in a table: worker and reasons."""
        return in_words(self.flagged, self.labels.names.classes, short=True) if are_looked_at(self.labels) else None

    def recommend(self, source: str = "labels.csv") -> Recommendation:
        """Return what to do next; see `recommend`."""
        return recommend(self.result, self.labels, self.rivals, source)
