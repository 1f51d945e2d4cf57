"""Labels on disk: a method sweeps over parts that are mapped into memory, one for each thread."""

import shutil
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from ..data.disk.labels import LabelsOnDisk
from ..data.disk.part_files import load, save
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
            counts = method.empty_counts(labels, workers)
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
        return ResultOnDisk(self._method, self._labels, self, ending)


class ResultOnDisk(ResultInParts):
    """The inferred truth of labels on disk."""

    def __init__(self, method: Sweeping, labels: LabelsOnDisk, engine: OnDisk, ending: Ending) -> None:
        super().__init__(method, labels, engine, ending)
        self._labels = labels
        self._engine = engine

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """One row per item, part by part, to be written or queried as a stream; see `Result.to_frame`."""

        def frames(columns: list[str] | None, condition: pl.Expr | None, rows: int | None, _: Any) -> Iterator[Any]:
            for number in range(self._labels.n_parts):
                frame = self._part(number).to_frame(scores)
                frame = frame if columns is None else frame.select(columns)
                frame = frame if condition is None else frame.filter(condition)
                yield frame if rows is None else frame.head(rows)
                rows = None if rows is None else max(rows - frame.height, 0)
                self._labels.phases("writing", (number + 1) / self._labels.n_parts)
                if rows == 0:
                    return

        return register_io_source(frames, schema=self._part(0, 0).to_frame(scores).schema)

    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        name, wanted = pl.col("item"), items
        if self._part(0, 0).names.items.dtype != items.dtype:
            name, wanted = name.cast(pl.String), items.cast(pl.String)
        return self.lazy(scores=True).filter(name.is_in(wanted.implode())).collect()

    def _part(self, number: int, most: int | None = None) -> Result:
        """The result of the first `most` items of one part; of all of them if it is None."""
        labels, items = self._labels.parts.load(number), self._labels.parts.item_names(number)
        scores = self.swept_by.finish(self._engine.scores(number))
        if most is not None:
            labels, items, scores = labels.slice(0, most), items.head(most), scores[:most]
        return part_result(self, labels, items, scores)
