"""`Result`: the answer to every item with its score, and the quality of every worker, in memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from ..crowd import votes
from ..crowd.item_sketch import sketch
from ..crowd.knowledge import NOTHING_KNOWN, PriorKnowledge
from ..crowd.labels import Labels
from ..crowd.names import Names
from ..crowd.numbering import Numbering, inverse
from ..errors import CallError
from ..numerics import Array
from . import calibration
from .any_method import AnyMethod
from .calibration import Scale as Scale  # part of what a result is, and so of this module
from .ending import Convergence
from .expected_accuracy import ExpectedAccuracy
from .gold import GoldCheck, fitted_to
from .history import Counted, History
from .learned import AnyLearned, Learned
from .recalibration import Recalibration
from .scores import TIE, best_two, check_finite
from .stated import SoftItems, Stated, measure_stated, soft_items
from .tables import ResultTables, in_order, shown_in_notebook


@dataclass(frozen=True, eq=False)
class Quality:
    """The quality of every worker, larger is better: an estimate of its accuracy, or its agreement with the answers.

    Attributes:
        value: (workers), the quality.
        low, high: (workers), the ends of a 95 % interval; None for agreement, which has no interval.
        each_alone: (2, workers), the ends of the interval, assuming independent errors. It is for comparing workers
            with each other, because errors that they share concern all of them; it need not hold `value`. None for
            agreement.
        label_counts: (2, 3, workers), what the accuracy follows from, which adds up over labels: how many labels are
            right, how many there are, and the effective number of labels (Louis). First assuming independent errors,
            then by calibrated confidence. None for agreement.
    """

    value: Array
    low: Array | None = None
    high: Array | None = None
    each_alone: Array | None = None
    label_counts: Array | None = None

    def reordered(self, workers: Array) -> "Quality":
        """Return the quality of these workers, which are given by their positions."""
        parts = (self.low, self.high, self.each_alone, self.label_counts)
        return Quality(self.value[workers], *(None if part is None else part[..., workers] for part in parts))


def about_votes(labels: Labels, answers: Array) -> dict[str, Any]:
    """Return the attributes of a `Result` with these answers that are about the votes."""
    agreed = votes.agreements(labels, answers)
    worker_votes = votes.votes_per_worker(labels)
    return {
        "votes": votes.votes_per_item(labels),
        "soft_items": None if labels.soft is None else soft_items(labels),
        "measure_stated": None if labels.soft is None else partial(measure_stated, labels),
        "density": calibration.density_of(labels.n_labels, labels.n_items),
        "worker_votes": worker_votes,
        "agreement": np.divide(agreed, worker_votes, out=np.full(len(agreed), np.nan), where=worker_votes > 0),
    }


@dataclass(frozen=True, eq=False)
class Result(ResultTables):
    """The truth that a method inferred from labels in memory.

    Items, workers and classes have codes, which are their positions in `names`. All arrays below are in that order.

    Attributes:
        method: The method with all its parameters, a `Method`; its `repr` says how the result was made.
        names: The names of items, workers and classes.
        scores: (items, classes), always finite; `classes` has the order of the columns.
        scale: The meaning of the scores. "probability": the scores of an item add up to one. "weight": a score is
            between 0 and 1, but the scores of an item need not add up to one. "margin": a score can be any number.
        workers: What the method learned about the workers: the parameters that gave the scores. It is always a
            `Learned`; every method has its own subclass with more attributes.
        convergence: How the iterations ended.
        votes: (items), the number of votes.
        density: How many labels an item of the whole crowd has, and at least 2; see results/calibration.py.
        worker_votes: (workers), the number of votes.
        ranking: Three arrays (items): the code of the best class, the code of the second best class (-1 if there is
            only one class), and whether the two are tied.
        agreement: (workers), the share of the worker's votes that name the inferred label; NaN without votes.
        measure_quality: Computes the workers' quality from the probabilities of all classes, when `quality` is first
            used. If None, the quality is the agreement.
        measure_variance: Computes the posterior variance of the scores; None if the method has none.
        difficulty: (items), larger for harder items; `method.difficulty_is` says what it is. None if the method has no
            difficulties.
        gold: (items), the class that was given as known, -1 where none was; None if none was given at all.
        gold_check: What the items of known class say about the method, and about confidence on this crowd; None if
            there are fewer than two.
        soft_items: What confidence has to know of votes with a probability or a weight; None if votes are plain.
        measure_stated: Computes how well workers are calibrated who state probabilities; None if nobody does.
        counted: What was counted, to go on from it with other labels; None if the method counts nothing that lasts.
        known: Other knowledge that was given, such as a history.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1, 2], ["a", "b", "c", "a"], ["x", "x", "y", "y"])
    >>> cw.MajorityVote().fit(labels).to_frame()["label"].to_list()
    ['x', 'y']
    """

    method: AnyMethod
    names: Names
    scores: Array
    scale: Scale
    workers: AnyLearned
    convergence: Convergence
    ranking: tuple[Array, Array, Array]
    votes: Array
    density: float
    worker_votes: Array
    agreement: Array
    measure_quality: Callable[[Array], Quality] | None
    measure_variance: Callable[[], Array] | None = None
    difficulty: Array | None = None
    gold: Array | None = None
    gold_check: GoldCheck | None = None
    counted: Counted | None = None
    known: PriorKnowledge = NOTHING_KNOWN
    soft_items: SoftItems | None = None
    measure_stated: Callable[[Array], Stated] | None = None

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
        quality: Callable[[str, Labels, Array, Array], Quality] | None = None,
        variance: Callable[[], Array] | None = None,
        difficulty: Array | None = None,
        counted: Counted | None = None,
    ) -> "Result":
        """Make a result: check the scores, and compute ranking, votes and agreement from them.

        `quality` computes the workers' quality from the labels, the answers and the calibrated probabilities when it is
        first used, because it is not needed to infer the truth; without it, the quality is the agreement. `variance`
        does the same for the posterior variance of the scores. The difficulty is that of `workers` if none is given.

        Raises:
            DataError: A score is not finite; a `CallError` if a parameter may be to blame.
        """
        check_finite(method, labels.names.items, scores)
        learned: Any = Learned() if workers is None else workers
        ranking = best_two(scores, TIE)
        answers = ranking[0]
        return cls(
            method=method,
            names=labels.names,
            scores=scores,
            scale=scale,
            workers=learned,
            convergence=convergence,
            ranking=ranking,
            measure_quality=None if quality is None else partial(quality, method.calibrated_as, labels, answers),
            measure_variance=variance,
            difficulty=learned.difficulty if difficulty is None else difficulty,
            gold=labels.gold,
            counted=counted,
            known=labels.known,
            **about_votes(labels, answers),
        )

    @cached_property
    def quality(self) -> Quality:
        """The quality of every worker; see `Quality`."""
        return Quality(self.agreement) if self.measure_quality is None else self.measure_quality(self.probabilities)

    @cached_property
    def stated(self) -> Stated | None:
        """How well the workers are calibrated who state probabilities; None if nobody states any."""
        return None if self.measure_stated is None else self.measure_stated(self.probabilities)

    @cached_property
    def history(self) -> History | None:
        """What was counted, to go on from it with other labels; None if the method counts nothing that lasts."""
        return None if self.counted is None else self.counted.history(self, sketch(self.names.items))

    @cached_property
    def variance(self) -> Array | None:
        """(items, classes), the posterior variance of the scores; None if the method has none."""
        return None if self.measure_variance is None else self.measure_variance()

    @property
    def classes(self) -> pl.Series:
        """The classes in the order of the columns of `scores`, `probabilities` and `variance`."""
        return self.names.classes

    @property
    def answers(self) -> Array:
        """(items), the code of the best class; of tied classes, the first in the order of their values."""
        return self.ranking[0]

    @property
    def labels(self) -> pl.Series:
        """The inferred label of every item, with the data type of the user's labels."""
        return self.names.classes.gather(self.answers).alias("label")

    @property
    def best_scores(self) -> Array:
        """(items), the score of the inferred label."""
        return self._of_answers(self.scores)

    @property
    def second_scores(self) -> Array:
        """(items), the score of the second best class; of the only one, if there is no other."""
        return np.take_along_axis(self.scores, np.maximum(self.ranking[1], 0)[:, None], axis=1)[:, 0]

    @cached_property
    def probabilities(self) -> Array:
        """(items, classes), the calibrated probability of every class; those of an item add up to one.

        `classes` has the order of the columns; `to_frame(probabilities=True)` names them.
        """
        method = self.method.calibrated_as
        found = calibration.probabilities(method, self.scale, self.scores, self.votes, self.density, self.soft_items)
        return fitted_to(self.gold, self.recalibration, found)

    @property
    def recalibration(self) -> Recalibration | None:
        """What gold says about confidence on this crowd: that of these labels, or of earlier ones; None without any."""
        earlier: Recalibration | None = self.known.recalibration
        return earlier if self.gold_check is None else self.gold_check.recalibration

    @property
    def confidence(self) -> Array:
        """(items), the probability that the inferred label is right, calibrated; see results/calibration.py."""
        return self._of_answers(self.probabilities)

    @property
    def expected_accuracy(self) -> ExpectedAccuracy:
        """How many of the inferred labels are right, as far as can be told without a truth, with an interval."""
        inferred = self.confidence if self.gold is None else self.confidence[self.gold < 0]
        gold = 0 if self.recalibration is None else self.recalibration.items
        # The sum does not depend on the order of the items, not even by rounding.
        total = math.fsum(inferred.tolist())
        return ExpectedAccuracy.of(total, len(inferred), self.method.calibrated_as, gold)

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
        best = self.best_scores[:, None]
        return self.scores >= best - TIE * np.abs(best)

    def wins(self, items: Array, classes: Array) -> Array:
        """Return, for each of some items, 1 if the class given for it has its best score and 0 if not.

        Items and classes are given by their codes. If m classes are tied and this is one of them, the value is 1/m. A
        class of -1 never wins.
        """
        winners = self.winners()[items]
        won = winners[np.arange(len(items)), classes] & (classes >= 0)
        return np.asarray(won / winners.sum(axis=1))

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, in order of first appearance.

        Args:
            scores: Whether to add a column `score_<class>` for every class.
            probabilities: Whether to add a column `probability_<class>` for every class, the calibrated probability.

        Returns:
            A table with the columns item, label, confidence, score, runner_up, runner_up_score and votes,
            difficulty if the method has difficulties (see `method.difficulty_is`), and gold if classes were given as
            known. The confidence is the probability that the label is right; the score is the method's own. The
            runner-up is the second best class; it is null if there is only one class.
        """
        answers, second, _ = self.ranking
        # If there is only one class, there is no second best: its code, name and score are null.
        runner_up = pl.Series(second).cast(pl.Int64).replace(-1, None)
        frame = pl.DataFrame(
            {
                "item": self.names.items,
                "label": self.names.classes.gather(answers),
                "confidence": self.confidence,
                "score": self.best_scores,
                "runner_up": self.names.classes.gather(runner_up),
                "runner_up_score": self.second_scores,
                "votes": self.votes,
            }
        ).with_columns(pl.when(pl.col("runner_up").is_not_null()).then("runner_up_score"))
        if self.difficulty is not None:
            frame = frame.with_columns(pl.Series("difficulty", self.difficulty))
        if self.gold is not None:
            frame = frame.with_columns(pl.Series("gold", self.gold >= 0))
        if scores:
            frame = frame.with_columns(self._by_class("score", self.scores))
        if probabilities:
            frame = frame.with_columns(self._by_class("probability", self.probabilities))
        return frame

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of `to_frame` as a lazy table, for code that also takes results on disk."""
        return self.to_frame(scores, probabilities).lazy()

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance.

        Its columns are worker, labels (the number of votes), quality, quality_low, quality_high and agreement. The ends
        of the interval are null if the method has no interval, and the agreement is null without votes. If some workers
        follow others, whose votes count instead of theirs, the column follows has the worker whom each follows. If
        workers have several samples (`duplicates="samples"`), the column sample_of has the worker that each belongs to.
        If votes state probabilities, the columns sharpness, stated, inferred and brier say how well each worker is
        calibrated; see `Stated`.
        """
        absent = pl.Series([None] * len(self.agreement), dtype=pl.Float64)
        leaders = self.workers.leaders
        followers: dict[str, pl.Series] = {}
        if leaders is not None and (leaders >= 0).any():
            followers["follows"] = self.names.workers.gather(pl.Series(leaders).replace(-1, None))
        table = pl.DataFrame(
            {
                "worker": self.names.workers,
                **followers,
                "labels": self.worker_votes,
                "quality": self.quality.value,
                "quality_low": absent if self.quality.low is None else self.quality.low,
                "quality_high": absent if self.quality.high is None else self.quality.high,
                "agreement": pl.Series(self.agreement, nan_to_null=True),
            }
        )
        if self.stated is not None:
            table = table.with_columns(**self.stated.columns())
        sample_of = self.names.sampled_workers
        return table if sample_of is None else table.with_columns(sample_of)

    def about(self, items: pl.Series) -> "Result":
        """Return this result, which has all items; see `Inferred.about`."""
        return self

    def reordered(self, names: Names, numbering: Numbering) -> "Result":
        """Return a copy with items and workers in the order of `names`, where this one has them by their numbers."""
        items, workers = numbering.item_numbers, numbering.worker_numbers
        best, second, tied = self.ranking
        quality, variance, measure = self.measure_quality, self.measure_variance, self.measure_stated
        return replace(
            self,
            names=names,
            scores=np.take(self.scores, items, axis=0),  # three times as fast as with brackets
            workers=self.workers.reordered(numbering),
            ranking=(best[items], second[items], tied[items]),
            votes=self.votes[items],
            worker_votes=self.worker_votes[workers],
            soft_items=None if self.soft_items is None else SoftItems(*(one[items] for one in self.soft_items)),
            measure_stated=None if measure is None else partial(_reordered_stated, measure, numbering),
            known=self.known.with_workers(workers),
            agreement=self.agreement[workers],
            measure_quality=None if quality is None else partial(_reordered_quality, quality, numbering),
            measure_variance=None if variance is None else partial(_reordered_variance, variance, items),
            difficulty=None if self.difficulty is None else self.difficulty[items],
            gold=None if self.gold is None else self.gold[items],
        )

    def checked(self, check: GoldCheck, measure_quality: Callable[[Array], Quality] | None) -> "Result":
        """Return a copy whose confidence is fitted to what the items of known class say.

        `measure_quality` computes the workers' quality from the probabilities; None if it stays as it is.
        """
        return replace(self, gold_check=check, measure_quality=measure_quality or self.measure_quality)

    def credited_to(self, method: AnyMethod) -> "Result":
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        return replace(self, method=method)

    def confusion(self, worker: Any) -> pl.DataFrame:
        """Return the confusion matrix of the worker of this name: how probable it says each class if a class is true.

        There is a row for each true class, which the column truth names, and a column for each class said.

        Raises:
            CallError: The method has no confusion matrices, or there is no such worker.
        """
        matrices = self.workers.confusion
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

    def _of_answers(self, values: Array) -> Array:
        """Return (items): of values (items, classes), those of the inferred labels."""
        return np.take_along_axis(values, self.answers[:, None], axis=1)[:, 0]

    def _by_class(self, name: str, values: Array) -> list[pl.Series]:
        """Return values (items, classes) as columns, one for each class."""
        classes = self.names.classes.cast(pl.String)
        return [pl.Series(f"{name}_{of}", values[:, k]) for k, of in enumerate(classes)]

    def __repr__(self) -> str:
        return (
            f"Result({len(self.votes):,} items, {len(self.agreement):,} workers, {in_order(self.classes)} by "
            f"{self.method!r}; {self.convergence})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how it ended, and the first rows of the tables."""
        hard = "" if self.difficulty is None else f"Difficulty is {self.method.difficulty_is}."
        return shown_in_notebook(self, hard, Labels=self.to_frame(), Workers=self.workers_frame())


def _reordered_quality(measure: Callable[[Array], Quality], numbering: Numbering, probabilities: Array) -> Quality:
    return measure(probabilities[inverse(numbering.item_numbers)]).reordered(numbering.worker_numbers)


def _reordered_stated(measure: Callable[[Array], Stated], numbering: Numbering, probabilities: Array) -> Stated:
    return measure(probabilities[inverse(numbering.item_numbers)]).reordered(numbering.worker_numbers)


def _reordered_variance(measure: Callable[[], Array], items: Array) -> Array:
    return np.asarray(measure()[items])
