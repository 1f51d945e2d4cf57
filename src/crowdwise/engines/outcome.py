"""What a method found on disk: the same tables as a `Result`, made part by part as they are asked for."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

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


class ResultOnDisk:
    """The inferred truth of labels on disk.

    Attributes:
        method: The method with all its parameters.
        names: What workers and classes are called; items have their names in `parts`.
        scale: What the scores are; see `Result`.
        workers: The method's own parameters of the workers.
        convergence: How the loop ended.
    """

    def __init__(
        self, method: Sweeping, labels: "LabelsOnDisk", parts: Parts, engine: "OnDisk", ending: Ending
    ) -> None:
        self.method = method
        self.names = labels.names
        self.scale = method.scale
        self.workers = ending.workers
        self.convergence = ending.convergence
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

    def workers_frame(self) -> pl.DataFrame:
        """One row per worker, in order of first appearance."""
        return self._part(0, 0, self.quality).workers_frame()

    def confusion(self, worker: Any) -> pl.DataFrame:
        """What one worker says where each class is true; see `Result.confusion`."""
        return self._part(0, 0).confusion(worker)

    @property
    def tie_count(self) -> int:
        """How many items have a best class that is tied with the second."""
        return int(self.tally.ties[0])

    @cached_property
    def tally(self) -> Tally:
        """What follows from the answers."""

        def count(number: int, labels: Labels) -> Tally:
            answers, _, tied = kernels.best_two(self._scores(number), TIE)
            arrays = (labels.item_starts, labels.workers, labels.labels)
            return Tally(
                *count_agreement(labels, answers),
                kernels.agreements(*arrays, answers, labels.n_workers),
                kernels.votes_per_worker(labels.workers, labels.continued, labels.n_workers),
                np.array([tied.sum()]),
            )

        tally: Tally = self._labels.add(count, "counting")
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
        if not self.method.coins:
            return Quality(self.agreement)

        def expected_right(evidence: Array, share: Array) -> Any:
            return self._labels.add(lambda _, labels: count_right(labels, evidence, share), "measuring workers")

        return accuracies_of(Agreement(*self.tally[:4]), expected_right)

    def _scores(self, number: int) -> Array:
        return self.method.finish(self._engine.scores(number))

    def _part(self, number: int, most: int | None = None, quality: Quality | None = None) -> Result:
        """The result of the first `most` items of one part; with what is known of the workers if `quality` is."""
        labels = self._parts.load(number)
        items, scores = self._parts.item_names(number), self._scores(number)
        if most is not None:
            labels, items, scores = labels.slice(0, most), items.head(most), scores[:most]
        check_finite(self.method, items, scores)
        variance = self.method.variance
        nothing = np.zeros(0)
        return Result(
            method=self.method,
            names=Names(items, self.names.workers, self.names.classes),
            scores=scores,
            scale=self.scale,
            workers=self.workers,
            convergence=self.convergence,
            ranking=kernels.best_two(scores, TIE),
            votes=kernels.votes_per_item(labels.item_starts, labels.continued),
            worker_votes=nothing if quality is None else self.tally.votes,
            agreement=nothing if quality is None else self.agreement,
            measure_quality=lambda: self.quality if quality is None else quality,
            measure_variance=None if variance is None else partial(variance, labels, scores, self.workers),
        )

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
