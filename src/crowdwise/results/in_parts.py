"""What a method found in parts: the same tables as a `Result`, made part by part as they are asked for."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from .. import kernels
from ..data.crowd import Crowd
from ..data.labels import Labels
from ..data.names import Names
from ..kernels import Array
from .quality import AgreementCounts, accuracies_of, count_agreement, count_right
from .result import TIE, Ending, Quality, Result, Scale, check_finite, closest, write_tables


class Tally(NamedTuple):
    """What is counted once there are answers; it adds up over disjoint items."""

    given: Array
    agreed: Array
    compared: Array
    classes: Array
    agreed_in_all: Array  # (workers): votes that name the answer of their item
    votes: Array  # (workers)
    ties: Array  # (1)


def count_tally(labels: Labels, scores: Array) -> Tally:
    """Count these items."""
    answers, _, tied = kernels.best_two(scores, TIE)
    arrays = (labels.item_starts, labels.workers, labels.labels)
    return Tally(
        *count_agreement(labels, answers),
        kernels.agreements(*arrays, answers, labels.n_workers),
        kernels.votes_per_worker(labels.workers, labels.continued, labels.n_workers),
        np.array([tied.sum()]),
    )


class PartsEngine(Protocol):
    """An engine that adds up over parts what is counted from their labels and final scores."""

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], phase: str) -> Any:
        """The sum of `count` over all parts."""
        ...

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """The same for what needs no scores."""
        ...


class ResultInParts(ABC):
    """A result whose items are in parts, on disk or in a cluster; what was found of the workers is here.

    It has the tables of a `Result`, made when they are asked for.

    Attributes:
        method: The method with all its parameters.
        swept_by: The loop that it ran: itself, or another that it ran on its own behalf.
        names: What workers and classes are called; items have their names in their part.
        scale: What the scores are; see `Result`.
        workers: What the method learned of the workers, a `Learned`.
        convergence: How the iterations ended.
        n_items: How many items there are.
    """

    def __init__(self, method: Any, labels: Crowd, engine: PartsEngine, ending: Ending) -> None:
        self.method: Any = method
        self.swept_by = method
        self.names = labels.names
        self.n_items = labels.n_items
        self.scale: Scale = method.scale
        self.workers = ending.workers
        self.convergence = ending.convergence
        self._adding = engine

    @abstractmethod
    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """One row per item, as a stream; see `Result.to_frame`."""

    @abstractmethod
    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        """The rows of these items, with the scores of all classes."""

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """One row per item, all of them in memory."""
        return self.lazy(scores).collect()

    def about(self, items: pl.Series) -> Result:
        """The result of these items alone, in memory; of the first item, if none of these has a label."""
        rows = self._rows_of(items)
        if rows.height == 0:
            rows = self.lazy(scores=True).head(1).collect()
        scores = rows.select(f"score_{name}" for name in self.names.classes.cast(pl.String)).to_numpy()
        return self._result(Names(rows["item"], self.names.workers, self.names.classes), scores, rows["votes"])

    def disputed(self, count: int) -> pl.DataFrame:
        """The rows of the items whose best two classes are closest, the closest first."""
        return closest(self.lazy(), count)

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
    ) -> None:
        """Write the rows of the items to `truth` and those of the workers to `workers`: both of them, or none."""
        write_tables(self.lazy(scores), self.workers_frame, truth, workers)

    def credited_to(self, method: Any) -> "ResultInParts":
        """The same as the result of another method, which this one was a part of."""
        other = copy(self)
        other.method = method
        return other

    def workers_frame(self) -> pl.DataFrame:
        """One row per worker, in order of first appearance."""
        return self._about_workers().workers_frame()

    def confusion(self, worker: Any) -> pl.DataFrame:
        """What one worker says where each class is true; see `Result.confusion`."""
        return self._about_workers().confusion(worker)

    @property
    def tie_count(self) -> int:
        """How many items have a best class that is tied with the second."""
        return int(self.tally.ties[0])

    @cached_property
    def tally(self) -> Tally:
        """What follows from the answers."""
        tally: Tally = self._adding.add(count_tally, "counting")
        return tally

    @cached_property
    def agreement(self) -> Array:
        """Per worker, the share of its votes that name the inferred label (NaN without votes)."""
        votes = self.tally.votes
        unknown = np.full(len(votes), np.nan)
        return np.asarray(np.divide(self.tally.agreed_in_all, votes, out=unknown, where=votes > 0))

    @cached_property
    def quality(self) -> Quality:
        """How good every worker is."""
        if not self.swept_by.measures_accuracy:
            return Quality(self.agreement)

        def expected_right(evidence: Array, share: Array) -> Any:
            count = partial(count_right, evidence=evidence, share=share)
            return self._adding.add_labels(count, "measuring workers")

        return accuracies_of(AgreementCounts(*self.tally[:4]), expected_right)

    def _about_workers(self) -> Result:
        """A result without items."""
        nothing = np.zeros((0, len(self.names.classes)))
        return self._result(self.names, nothing, pl.Series([], dtype=pl.Int32))

    def _result(self, names: Names, scores: Array, votes: pl.Series) -> Result:
        """A result in memory of the items with these names, and of all workers."""
        return Result(
            method=self.method,
            names=names,
            scores=scores,
            scale=self.scale,
            workers=self.workers,
            convergence=self.convergence,
            ranking=kernels.best_two(scores, TIE),
            votes=votes.to_numpy(),
            worker_votes=self.tally.votes,
            agreement=self.agreement,
            measure_quality=lambda: self.quality,
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_items:,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )


def part_result(about: ResultInParts, labels: Labels, items: pl.Series, scores: Array) -> Result:
    """The result of one part: everything about its items, nothing about workers but their parameters."""
    variance = about.swept_by.variance
    check_finite(about.method, items, scores)
    nothing = np.zeros(0)
    return Result(
        method=about.method,
        names=Names(items, labels.names.workers, labels.names.classes),
        scores=scores,
        scale=about.swept_by.scale,
        workers=about.workers,
        convergence=about.convergence,
        ranking=kernels.best_two(scores, TIE),
        votes=kernels.votes_per_item(labels.item_starts, labels.continued),
        worker_votes=nothing,
        agreement=nothing,
        measure_quality=partial(Quality, nothing),
        measure_variance=None if variance is None else partial(variance, labels, scores, about.workers),
    )
