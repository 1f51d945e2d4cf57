"""Labels on disk: a method sweeps over parts that are mapped into memory, one for each thread."""

import shutil
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from ..data.disk.labels import LabelsOnDisk
from ..data.disk.part_files import Parts, load, save
from ..data.labels import Labels
from ..kernels import Array
from ..parallel import Sum
from ..results.in_parts import ResultInParts, part_result
from ..results.result import Ending, Result
from .base import Sweeping


class OnDisk:
    """One method over labels on disk; scores are in files beside the labels."""

    def __init__(self, method: Sweeping, labels: LabelsOnDisk) -> None:
        self._method = method
        self._labels = labels
        self._parts = parts = labels.parts
        self._folder = parts.place.path / f"scores-{labels.next_fit():04}"
        self._folder.mkdir()
        self._forget = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._mapped: dict[int, Array] = {}
        self.n_classes = labels.n_classes
        self.first: Any = method.start(parts.load(0).slice(0, 0))[1]

    def __enter__(self) -> "OnDisk":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def scores(self, number: int) -> Array:
        """The scores of one part, mapped into memory."""
        if number in self._mapped:
            return self._mapped[number]
        scores = load(self._folder / f"{number:04}", np.float64).reshape(-1, self.n_classes)
        if self._parts.stay_mapped:
            self._mapped[number] = scores
        return scores

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """One pass over all parts."""
        method, total, change = self._method, Sum(), np.zeros(self.n_classes)

        def step(number: int, labels: Labels) -> tuple[Any, Array]:
            path = self._folder / f"{number:04}"
            fresh = number not in self._mapped and not path.is_file()
            scores = method.start(labels)[0] if fresh else self.scores(number)
            counts = method.empty(labels, workers)
            moved = method.sweep(labels, scores, workers, counts)
            if fresh:
                with self._parts.place.writing():
                    save(path, scores)
            return counts, moved

        def add(outcome: tuple[Any, Array]) -> None:
            total.add(outcome[0])
            np.maximum(change, outcome[1], out=change)

        self._labels.each(step, add)
        return total.value, change

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], phase: str) -> Any:
        """The sum of `count` over all parts, given their labels and final scores."""
        return self._labels.add(lambda number, labels: count(labels, self._method.finish(self.scores(number))), phase)

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """The same for what needs no scores."""
        return self._labels.add(lambda _, labels: count(labels), phase)

    def result(self, ending: Ending) -> "ResultOnDisk":
        """The result, as far as it is not asked for yet."""
        return ResultOnDisk(self._method, self._labels, self._parts, self, ending)


class ResultOnDisk(ResultInParts):
    """The inferred truth of labels on disk; items have their names in `parts`."""

    def __init__(self, method: Sweeping, labels: LabelsOnDisk, parts: Parts, engine: OnDisk, ending: Ending) -> None:
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
