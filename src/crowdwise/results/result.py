"""`Result`: the answer to every item with its score, and the quality of every worker, in memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from .. import kernels
from ..data.labels import Labels
from ..data.names import Names
from ..data.numbering import Numbering
from ..errors import CallError
from ..kernels import Array
from .convergence import Convergence
from .finite import check_finite
from .learned import Learned
from .tables import ResultTables

Scale = Literal["probability", "weight", "margin"]

# Two scores are tied if they differ by less than this, relative to the larger one. Equal scores may differ by rounding
# errors, which depend on the order of addition and grow with the iterations.
TIE: Final = 1e-7


@dataclass(frozen=True, eq=False)
class Ending:
    """What the iterations of a method end with, in addition to the scores.

    Attributes:
        workers: The workers' parameters that gave the final scores, a `Learned`.
        convergence: How the iterations ended.
        objective: The objective of the final scores: one value, one value per class, or empty if there is none.
    """

    workers: Any
    convergence: Convergence
    objective: Array


@dataclass(frozen=True, eq=False)
class Quality:
    """The quality of every worker, larger is better: an estimate of its accuracy, or its agreement with the answers.

    Attributes:
        value: (workers), the quality.
        low: (workers), the lower end of a 95 % interval; None for agreement, which has no interval.
        high: (workers), the upper end; None for agreement.
    """

    value: Array
    low: Array | None = None
    high: Array | None = None

    def arranged(self, workers: Array) -> "Quality":
        """Return the quality of these workers, which are given by their positions."""
        value, low, high = self.value[workers], self.low, self.high
        return Quality(value, None if low is None else low[workers], None if high is None else high[workers])


@dataclass(frozen=True, eq=False)
class Result(ResultTables):
    """The truth that a method inferred from labels in memory.

    Items, workers and classes have codes, which are their positions in `names`. All arrays below are in that order.

    Attributes:
        method: The method with all its parameters, a `Method`; its `repr` says how the result was made.
        names: The names of items, workers and classes.
        scores: (items, classes), always finite.
        scale: The meaning of the scores. "probability": the scores of an item add up to one. "weight": a score is
            between 0 and 1, but the scores of an item need not add up to one. "margin": a score can be any number.
        workers: What the method learned about the workers: the parameters that gave the scores. It is always a
            `Learned`. Its type here is Any, because every method has its own subclass with more attributes.
        convergence: How the iterations ended.
        votes: (items), the number of votes.
        worker_votes: (workers), the number of votes.
        ranking: Three arrays (items): the code of the best class, the code of the second best class (-1 if there is
            only one class), and whether the two are tied.
        agreement: (workers), the share of the worker's votes that name the inferred label; NaN without votes.
        measure_quality: Computes the workers' quality; called when `quality` is first used.
        measure_variance: Computes the posterior variance of the scores; None if the method has none.

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
        """Make a result: check the scores, and compute ranking, votes and agreement from them.

        Args:
            method: The method with all its parameters.
            labels: The labels.
            scores: (items, classes), the final scores.
            scale: The meaning of the scores.
            convergence: How the iterations ended.
            workers: What the method learned about the workers; a plain `Learned` if None.
            quality: Computes the workers' quality from the labels and the answers when it is first used, because it is
                not needed to infer the truth. If None, the quality is the agreement.
            variance: Computes the posterior variance of the scores when it is first used; None if there is none.

        Raises:
            DataError: A score is not finite; a `CallError` if a parameter may be to blame.
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
        """The quality of every worker; see `Quality`."""
        return self.measure_quality()

    @cached_property
    def variance(self) -> Array | None:
        """(items, classes), the posterior variance of the scores; None if the method has none."""
        return None if self.measure_variance is None else self.measure_variance()

    @property
    def difficulty(self) -> Array | None:
        """(items), larger for harder items; None if the method has no difficulties."""
        learned: Learned = self.workers
        return learned.difficulty

    @property
    def answers(self) -> Array:
        """(items), the code of the best class; of tied classes, the first in the order of their values."""
        return self.ranking[0]

    @property
    def labels(self) -> pl.Series:
        """The inferred label of every item, with the data type of the user's labels."""
        return self.names.classes.gather(self.answers).alias("label")

    @property
    def confidence(self) -> Array:
        """(items), the score of the inferred label."""
        return np.take_along_axis(self.scores, self.answers[:, None], axis=1)[:, 0]

    @property
    def ties(self) -> Array:
        """(items), whether the best two classes have the same score."""
        return self.ranking[2]

    @property
    def tie_count(self) -> int:
        """The number of items whose best two classes have the same score."""
        return int(self.ties.sum())

    def winners(self) -> Array:
        """Return (items, classes): whether a class has the best score of its item; several do if they are tied."""
        best = self.confidence[:, None]
        return self.scores >= best - TIE * np.abs(best)

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """Return one row per item, in order of first appearance.

        Args:
            scores: Whether to add a column `score_<class>` for every class.

        Returns:
            A table with the columns item, label, score, runner_up, runner_up_score and votes, and difficulty if the
            method has difficulties. The runner-up is the second best class; it is null if there is only one class.
        """
        answers, second, _ = self.ranking
        # If there is only one class, there is no second best: its code, name and score are null.
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
        """Return the table of `to_frame` as a lazy table, for code that also takes results on disk."""
        return self.to_frame(scores).lazy()

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance.

        Its columns are worker, labels (the number of votes), quality, quality_low, quality_high and agreement. The ends
        of the interval are null if the method has no interval, and the agreement is null without votes.
        """
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
        """Return this result, which has all items; see `Inferred.about`."""
        return self

    def arranged(self, names: Names, numbering: Numbering) -> "Result":
        """Return a copy with items and workers in the order of `names`, where this one has them by their numbers."""
        items, workers = numbering.item_places, numbering.worker_places
        best, second, tied = self.ranking
        variance = self.measure_variance
        return replace(
            self,
            names=names,
            scores=self.scores[items],
            workers=self.workers.arranged(numbering),
            ranking=(best[items], second[items], tied[items]),
            votes=self.votes[items],
            worker_votes=self.worker_votes[workers],
            agreement=self.agreement[workers],
            measure_quality=partial(_arranged_quality, self.measure_quality, workers),
            measure_variance=None if variance is None else partial(_arranged_variance, variance, items),
        )

    def credited_to(self, method: Any) -> "Result":
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        return replace(self, method=method)

    def confusion(self, worker: Any) -> pl.DataFrame:
        """Return the confusion matrix of one worker: how probable it is to say each class if a class is true.

        Args:
            worker: The name of the worker.

        Returns:
            A table with a row for each true class: the column truth, and a column for each class said.

        Raises:
            CallError: The method has no confusion matrices, or there is no such worker.
        """
        learned: Learned = self.workers
        matrices = learned.confusion
        if matrices is None:
            raise CallError(f"{type(self.method).__name__} has no confusion matrices; ds, lfc, ibcc and others have.")
        try:
            place = self.names.workers.index_of(worker)
        except pl.exceptions.PolarsError:  # the worker has another type than the names
            place = None
        if place is None:
            raise CallError(f"There is no worker {worker!r}; the first one is {self.names.workers[0]!r}.")
        said = {str(name): matrices[place, :, k] for k, name in enumerate(self.names.classes.cast(pl.String))}
        return pl.DataFrame({"truth": self.names.classes, **said})

    def __repr__(self) -> str:
        return (
            f"Result({len(self.votes):,} items, {len(self.agreement):,} workers by {self.method!r}; {self.convergence})"
        )


def _arranged_quality(measure: Callable[[], Quality], workers: Array) -> Quality:
    return measure().arranged(workers)


def _arranged_variance(measure: Callable[[], Array], items: Array) -> Array:
    return np.asarray(measure()[items])
