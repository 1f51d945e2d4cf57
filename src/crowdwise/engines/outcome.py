"""What a method found in parts: the same tables as a `Result`, made part by part as they are asked for."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from .. import kernels
from ..kernels import Array
from ..labels import Labels, Names
from ..quality import Agreement, accuracies_of, count_agreement, count_right
from ..result import TIE, Ending, Quality, Result, check_finite
from .method import Sweeping
from .parts import Parts

if TYPE_CHECKING:
    from .disk import LabelsOnDisk, OnDisk


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


class ResultInParts:
    """What was found of the workers, and how; what was found of the items is where the parts are.

    Attributes:
        method: The method with all its parameters.
        swept_by: The loop that it ran: itself, or what it asked to sweep on its behalf.
        names: What workers and classes are called; items have their names in their part.
        scale: What the scores are; see `Result`.
        workers: The method's own parameters of the workers.
        convergence: How the loop ended.
    """

    def __init__(self, method: Sweeping, names: Names, engine: PartsEngine, ending: Ending) -> None:
        self.method: Any = method
        self.swept_by = method
        self.names = names
        self.scale = method.scale
        self.workers = ending.workers
        self.convergence = ending.convergence
        self._adding = engine

    def by(self, method: Any) -> "ResultInParts":
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
        if not self.swept_by.coins:
            return Quality(self.agreement)

        def expected_right(evidence: Array, share: Array) -> Any:
            count = partial(count_right, evidence=evidence, share=share)
            return self._adding.add_labels(count, "measuring workers")

        return accuracies_of(Agreement(*self.tally[:4]), expected_right)

    def _about_workers(self) -> Result:
        """A result without items."""
        nothing = np.zeros(0, np.int32)
        return Result(
            method=self.method,
            names=self.names,
            scores=np.zeros((0, len(self.names.classes))),
            scale=self.scale,
            workers=self.workers,
            convergence=self.convergence,
            ranking=(nothing, nothing, nothing),
            votes=nothing,
            worker_votes=self.tally.votes,
            agreement=self.agreement,
            measure_quality=lambda: self.quality,
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


class ResultOnDisk(ResultInParts):
    """The inferred truth of labels on disk; items have their names in `parts`."""

    def __init__(
        self, method: Sweeping, labels: "LabelsOnDisk", parts: Parts, engine: "OnDisk", ending: Ending
    ) -> None:
        super().__init__(method, labels.names, engine, ending)
        self.n_items = labels.n_items
        self._labels = labels
        self._parts = parts
        self._engine = engine

    def parts(self) -> Iterator[Result]:
        """The result of every part: its items are in no other."""
        for number in range(self._labels.n_parts):
            yield self._part(number)

    def about(self, items: pl.Series) -> Result:
        """The result of these items alone, in memory; of the first item, if none of these has a label."""
        chosen: list[Result] = []
        for part in self.parts():
            names, wanted = part.names.items, items
            if names.dtype != wanted.dtype:
                names, wanted = names.cast(pl.String), wanted.cast(pl.String)
            rows = names.is_in(wanted.implode()).arg_true()
            if len(rows):
                chosen.append(_rows(part, rows))
        return _stack(chosen) if chosen else self._part(0, 1)

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """One row per item, part by part, to be written or queried as a stream; see `Result.to_frame`."""

        def frames(columns: list[str] | None, condition: pl.Expr | None, rows: int | None, _: Any) -> Iterator[Any]:
            for number, part in enumerate(self.parts()):
                frame = part.to_frame(scores)
                frame = frame if columns is None else frame.select(columns)
                frame = frame if condition is None else frame.filter(condition)
                yield frame if rows is None else frame.head(rows)
                rows = None if rows is None else max(rows - frame.height, 0)
                self._labels.phases("writing", (number + 1) / self._labels.n_parts)
                if rows == 0:
                    return

        return register_io_source(frames, schema=self._part(0, 0).to_frame(scores).schema)

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """One row per item, all of them in memory."""
        return self.lazy(scores).collect()

    def _part(self, number: int, most: int | None = None) -> Result:
        """The result of the first `most` items of one part."""
        labels, items = self._parts.load(number), self._parts.item_names(number)
        scores = self.swept_by.finish(self._engine.scores(number))
        if most is not None:
            labels, items, scores = labels.slice(0, most), items.head(most), scores[:most]
        return part_result(self, labels, items, scores)

    def __repr__(self) -> str:
        return (
            f"ResultOnDisk({self.n_items:,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )


def _rows(part: Result, rows: pl.Series) -> Result:
    """Some items of a result."""
    return _stack([part], rows.to_numpy())


def _stack(parts: list[Result], rows: Array | None = None) -> Result:
    """Several results as one, or some items of it."""
    take = slice(None) if rows is None else rows
    items = pl.concat([part.names.items for part in parts])
    best, second, tied = (np.concatenate(column)[take] for column in zip(*(p.ranking for p in parts), strict=True))
    return replace(
        parts[0],
        names=replace(parts[0].names, items=items[take]),
        scores=np.concatenate([part.scores for part in parts])[take],
        ranking=(best, second, tied),
        votes=np.concatenate([part.votes for part in parts])[take],
        measure_variance=None,
    )
