"""`Result`: what a method found. The answer to every item, how sure it is, and how good every worker is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike, fspath
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from .. import kernels
from ..data.labels import Labels
from ..data.names import Names
from ..data.writing import write
from ..errors import CallError, DataError
from ..kernels import Array
from .convergence import Convergence
from .learned import Learned

Scale = Literal["probability", "weight", "margin"]

# Two scores this close, relative to the larger, are a tie: summing in another order moves the last few bits, and
# iterating from a symmetric start makes more of that.
TIE: Final = 1e-7


@dataclass(frozen=True, eq=False)
class Ending:
    """What a loop ends with besides scores: the parameters that gave them, how it ended, and their objective."""

    workers: Any
    convergence: Convergence
    objective: Array  # of the final scores, as the method's parameters hold it


@dataclass(frozen=True, eq=False)
class Quality:
    """One number per worker, larger is better, with a 95 % interval where the method has a posterior."""

    value: Array
    low: Array | None = None
    high: Array | None = None


@dataclass(frozen=True, eq=False)
class Result:
    """The inferred truth.

    Attributes:
        method: The method with all its parameters; its `repr` is the provenance.
        names: What items, workers and classes are called.
        scores: (items, classes), always finite.
        scale: What the scores are: a "probability", a "weight" in [0, 1] whose rows need not sum to one, or a
            "margin".
        workers: What the method learned of the workers, a `Learned` of its own: the parameters that gave the scores.
        convergence: How the loop ended.
        votes: Votes per item.
        worker_votes: Votes per worker.
        ranking: Per item: the best class, the second best (-1 with one class), whether the two are tied.
        agreement: Per worker, the share of its votes that name the inferred label (NaN without votes).
        measure_quality: Makes the workers' quality, when it is first asked for.
        measure_variance: Makes the posterior variance of the scores; None where the method has none.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1, 2], ["a", "b", "c", "a"], ["x", "x", "y", "y"])
    >>> cw.MajorityVote().fit(labels).to_frame()["label"].to_list()
    ['x', 'y']
    """

    method: Any
    names: Names
    scores: Array
    scale: Scale
    workers: Any
    convergence: Convergence
    ranking: tuple[Array, Array, Array]
    votes: Array
    worker_votes: Array
    agreement: Array
    measure_quality: Callable[[], Quality]
    measure_variance: Callable[[], Array] | None = None

    @classmethod
    def build(
        cls,
        method: Any,
        labels: Labels,
        scores: Array,
        scale: Scale,
        *,
        convergence: Convergence,
        workers: Learned | None = None,
        quality: Callable[[Labels, Array], Quality] | None = None,
        variance: Callable[[], Array] | None = None,
    ) -> "Result":
        """Check the scores and add what follows from them.

        `quality` makes the workers' quality from the labels and the answers; without it, it is the agreement. Neither
        it nor the variance is needed to infer the truth, so they are made when they are first asked for.
        """
        check_finite(method, labels.names.items, scores)
        ranking = kernels.best_two(scores, TIE)
        answers = ranking[0]
        agreed = kernels.agreements(labels.item_starts, labels.workers, labels.labels, answers, labels.n_workers)
        worker_votes = kernels.votes_per_worker(labels.workers, labels.continued, labels.n_workers)
        agreement = np.divide(agreed, worker_votes, out=np.full(len(agreed), np.nan), where=worker_votes > 0)
        return cls(
            method=method,
            names=labels.names,
            scores=scores,
            scale=scale,
            workers=Learned() if workers is None else workers,
            convergence=convergence,
            ranking=ranking,
            votes=kernels.votes_per_item(labels.item_starts, labels.continued),
            worker_votes=worker_votes,
            agreement=agreement,
            measure_quality=partial(Quality, agreement) if quality is None else partial(quality, labels, answers),
            measure_variance=variance,
        )

    @cached_property
    def quality(self) -> Quality:
        """How good every worker is."""
        return self.measure_quality()

    @cached_property
    def variance(self) -> Array | None:
        """(items, classes), the posterior variance of the scores; None where the method has none."""
        return None if self.measure_variance is None else self.measure_variance()

    @property
    def difficulty(self) -> Array | None:
        """How hard every item is, larger is harder; None where the method has no such thing."""
        learned: Learned = self.workers
        return learned.difficulty

    @property
    def answers(self) -> Array:
        """The code of the best class of every item; of tied classes, the first in the order of their values."""
        return self.ranking[0]

    @property
    def labels(self) -> pl.Series:
        """The inferred label of every item, in the user's own dtype."""
        return self.names.classes.gather(self.answers).alias("label")

    @property
    def confidence(self) -> Array:
        """The score of the inferred label of every item."""
        return np.take_along_axis(self.scores, self.answers[:, None], axis=1)[:, 0]

    @property
    def ties(self) -> Array:
        """For every item, whether its best two classes have the same score."""
        return self.ranking[2]

    @property
    def tie_count(self) -> int:
        """How many items are tied."""
        return int(self.ties.sum())

    def winners(self) -> Array:
        """(items, classes): which classes have the best score; more than one where there is a tie."""
        best = self.confidence[:, None]
        return self.scores >= best - TIE * np.abs(best)

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """One row per item, in order of first appearance; with its difficulty where the method has it.

        Args:
            scores: Whether to add a column `score_<class>` for every class.
        """
        answers, second, _ = self.ranking
        # With one class there is no second: its index is null, and so is what follows from it.
        runner_up = pl.Series(second).cast(pl.Int64).replace(-1, None)
        second_score = np.take_along_axis(self.scores, np.maximum(second, 0)[:, None], axis=1)[:, 0]
        frame = pl.DataFrame(
            {
                "item": self.names.items,
                "label": self.names.classes.gather(answers),
                "score": self.confidence,
                "runner_up": self.names.classes.gather(runner_up),
                "runner_up_score": second_score,
                "votes": self.votes,
            }
        ).with_columns(pl.when(pl.col("runner_up").is_not_null()).then("runner_up_score"))
        if self.difficulty is not None:
            frame = frame.with_columns(pl.Series("difficulty", self.difficulty))
        if scores:
            columns = [
                pl.Series(f"score_{name}", self.scores[:, k])
                for k, name in enumerate(self.names.classes.cast(pl.String))
            ]
            frame = frame.with_columns(columns)
        return frame

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """The same as a stream, as a result on disk has it."""
        return self.to_frame(scores).lazy()

    def workers_frame(self) -> pl.DataFrame:
        """One row per worker, in order of first appearance."""
        absent = pl.Series([None] * len(self.agreement), dtype=pl.Float64)
        return pl.DataFrame(
            {
                "worker": self.names.workers,
                "labels": self.worker_votes,
                "quality": self.quality.value,
                "quality_low": absent if self.quality.low is None else self.quality.low,
                "quality_high": absent if self.quality.high is None else self.quality.high,
                "agreement": pl.Series(self.agreement, nan_to_null=True),
            }
        )

    def about(self, items: pl.Series) -> "Result":
        """Itself: everything is in memory."""
        return self

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

    def credited_to(self, method: Any) -> "Result":
        """The same as the result of another method, which this one was a part of."""
        return replace(self, method=method)

    def confusion(self, worker: Any) -> pl.DataFrame:
        """What one worker says where each class is true: a row per true class, a column per class said.

        Args:
            worker: The worker, by its own name.
        """
        learned: Learned = self.workers
        matrices = learned.confusion
        if matrices is None:
            raise CallError(f"{type(self.method).__name__} has no confusion matrices; ds, lfc, ibcc and others have.")
        try:
            place = self.names.workers.index_of(worker)
        except pl.exceptions.PolarsError:  # of another type than the names
            place = None
        if place is None:
            raise CallError(f"There is no worker {worker!r}; the first one is {self.names.workers[0]!r}.")
        said = {str(name): matrices[place, :, k] for k, name in enumerate(self.names.classes.cast(pl.String))}
        return pl.DataFrame({"truth": self.names.classes, **said})

    def __repr__(self) -> str:
        return (
            f"Result({len(self.votes):,} items, {len(self.agreement):,} workers by {self.method!r}; {self.convergence})"
        )


def check_finite(method: Any, items: pl.Series, scores: Array) -> None:
    """Refuse scores that are no numbers, naming the first item that has one."""
    if not np.isfinite(scores).all():
        i = int(np.argmin(np.isfinite(scores).all(axis=1)))
        raise DataError(f"{method!r} gave no finite score for item {items[i]!r}: {scores[i]}.")


def closest(truth: pl.LazyFrame, count: int) -> pl.DataFrame:
    """The rows of a table of items whose best two classes are closest, the closest first."""
    table = truth.select("item", "label", "score", "runner_up", "runner_up_score", "votes").drop_nulls("runner_up")
    margin = pl.col("score") - pl.col("runner_up_score")
    return table.bottom_k(count, by=margin).collect().sort(margin, maintain_order=True)


def write_tables(
    items: pl.LazyFrame,
    workers_frame: Callable[[], pl.DataFrame],
    truth: str | PathLike[str] | None,
    workers: str | PathLike[str] | None,
) -> None:
    """Write the tables of a result, those that have a path: all of them, or none."""
    tables: dict[str, pl.DataFrame | pl.LazyFrame] = {}
    if truth is not None:
        tables[fspath(truth)] = items
    if workers is not None:
        tables[fspath(workers)] = workers_frame()
    write(tables)
