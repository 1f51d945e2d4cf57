"""The disk engine: runs a method on labels in files, part by part, one part in each thread."""

import shutil
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from ...crowd.ids import text
from ...crowd.labels import Labels
from ...numerics import Array
from ...partitions.on_disk import LabelsOnDisk
from ...partitions.part_files import load, save
from ...results.ending import Ending
from ...results.in_parts import ResultInParts
from ...results.numeric_result import NumericResult
from ...results.result import Result
from ...sources.table import from_batches
from ..sweeping import AnySweeping
from .base import Engine, SweepTotal, counted_by, finish_items, sweep_items


class DiskEngine(Engine):
    """Runs one method on labels on disk; the scores are stored in files beside the labels."""

    def __init__(self, method: AnySweeping, labels: LabelsOnDisk) -> None:
        super().__init__(method, labels, labels.known, labels.meta.numbered_names)
        self._labels = labels
        self._folder = labels.workspace.path / f"scores-{labels.next_fit():04}"
        with labels.workspace.writing():
            self._folder.mkdir()
        self._remove_folder = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._mapped_scores: dict[int, Array] = {}  # by the number of the part
        self.last_workers: Any = None  # the workers' parameters in the last sweep
        nothing = labels.meta.empty_part()
        self._width = method.width(nothing)
        self.initial_workers = method.start(nothing)[1]

    def scores(self, number: int) -> Array:
        """Return the scores of one part; they are mapped into memory, so that writing to them changes the file."""
        if number in self._mapped_scores:
            return self._mapped_scores[number]
        scores = load(self._folder / f"{number:04}", np.float64).reshape(-1, self._width)
        if self._labels.stay_mapped:
            self._mapped_scores[number] = scores
        return scores

    def sweep_parts(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all parts."""
        method, total = self.method, SweepTotal()
        self.last_workers = workers

        def step(number: int, labels: Labels) -> tuple[Any, Array]:
            path = self._folder / f"{number:04}"
            is_first_sweep = number not in self._mapped_scores and not path.is_file()
            scores = method.start(labels)[0] if is_first_sweep else self.scores(number)
            outcome = sweep_items(method, labels, scores, workers)
            if is_first_sweep:
                with self._labels.workspace.writing():
                    save(path, scores)
            return outcome

        self._labels.each(step, total.add)
        return total.value

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels and the final scores of every part and return the sum of what it returns."""

        def count_finished(number: int, labels: Labels) -> tuple[Any, ...]:
            return count(labels, finish_items(self.method, labels, self.scores(number), self.last_workers).scores)

        return self._labels.add(count_finished, phase)

    @staticmethod
    def count_labels(crowd: LabelsOnDisk, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels of every part and return the sum of what it returns."""
        return crowd.add(lambda _, labels: count(labels), phase)

    def result(self, ending: Ending) -> "ResultOnDisk":
        """Return the result; its tables are made only when they are asked for."""
        return ResultOnDisk(self, self._labels, ending)


class ResultOnDisk(ResultInParts):
    """The result of a method on labels on disk."""

    where = "OnDisk"

    def __init__(self, engine: DiskEngine, labels: LabelsOnDisk, ending: Ending) -> None:
        counted = counted_by(engine.method, labels.meta.numbered_names, labels.known, ending)
        super().__init__(engine.method, labels, ending, counted)
        self._labels = labels
        self._engine = engine

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy table that is made part by part; see `Result.to_frame` for the columns."""

        def frames() -> Iterator[pl.DataFrame]:
            for number in range(self._labels.n_parts):
                yield self._part(number).to_frame(scores, probabilities)
                self._labels.phases("writing", (number + 1) / self._labels.n_parts)

        return from_batches(frames, self._part(0, 0).to_frame(scores, probabilities).schema)

    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        name, wanted = pl.col("item"), items
        dtype = self._part(0, 0).names.items.dtype
        if dtype != items.dtype:
            name, wanted = text(name, dtype), pl.select(text(pl.lit(items), items.dtype)).to_series()
        return self.lazy(scores=True).filter(name.is_in(wanted.implode())).collect()

    def _part(self, number: int, limit: int | None = None) -> Result | NumericResult:
        """Return the result of the first `limit` items of one part, or of all its items if `limit` is None."""
        labels, items = self._labels.load(number), self._labels.item_names(number)
        scores = self._engine.scores(number)
        if limit is not None:
            labels, items, scores = labels.slice(0, limit), items.head(limit), scores[:limit]
        finished = finish_items(self._engine.method, labels, scores, self.fit.workers)
        return self.fit.part(labels, items, *finished)
