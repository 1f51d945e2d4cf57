"""`ResultInParts`: the result of a method on labels that are in parts, on disk or in a cluster."""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import polars as pl

from ..crowd.knowledge import PriorKnowledge
from ..crowd.labels import Labels
from ..crowd.names import Names
from ..crowd.protocol import Crowd
from ..crowd.votes import agreements, votes_per_item, votes_per_worker
from ..numerics import Array
from . import calibration
from .calibration import Scale
from .ending import Convergence, Ending
from .expected_accuracy import ExpectedAccuracy
from .gold import GoldCheck, fitted_to
from .history import Counted, History
from .learned import AnyLearned
from .numeric_result import NumericResult
from .quality import (
    AgreementCounts,
    Estimate,
    accuracies_from,
    accuracies_of,
    count_agreement,
    count_right,
    count_right_by,
    quality_by,
)
from .recalibration import Recalibration
from .result import Quality, Result
from .scores import TIE, best_two, check_finite
from .stated import Stated, count_stated, soft_items
from .tables import ResultTables
from .worker_errors import WorkerErrors


class AnswerCounts(NamedTuple):
    """What is counted when the answers are known: first what `AgreementCounts` has; parts add up.

    Attributes:
        agreed_in_all: (workers), the number of votes that name the answer of their item.
        votes: (workers), the number of votes.
        ties: (1), the number of items whose best two classes are tied.
        confidence: (1), the sum of the confidences of the answers whose class was not known.
        known: (1), the number of items whose class was known.
        right: (2, workers), what `count_right_by` returns for calibrated probabilities.
        stated: (5, workers), what `count_stated` returns for them.
    """

    given: Array
    agreed: Array
    compared: Array
    classes: Array
    by_votes: Array
    agreed_in_all: Array
    votes: Array
    ties: Array
    confidence: Array
    known: Array
    right: Array
    stated: Array


@dataclass(frozen=True, eq=False)
class Fit:
    """What the result of a part has to know of the fit of all parts; executors of a cluster are sent it.

    Attributes:
        method: The method with all its parameters, as the user chose it.
        sweeping_method: The method that the engine ran: another one if `method` left the work to it.
        workers: What the method learned, with workers in the order of their numbers, as the parts have them.
        convergence: How the iterations ended.
        density: How many labels an item has; see `Result`.
        recalibration: What gold, also that of earlier labels, says about confidence; None without any.
        gold_check: What the items of known class say; see `Result`.
        errors: Of numbers: how every worker errs, in the order of `workers`.
        sharpness: How sharp the probabilities of every worker are, in the order of `workers`; see `PriorKnowledge`.
        soft_valued: Whether some vote has a probability or a weight.
    """

    method: Any
    sweeping_method: Any
    workers: AnyLearned
    convergence: Convergence
    density: float
    recalibration: Recalibration | None
    gold_check: GoldCheck | None = None
    errors: WorkerErrors | None = None
    sharpness: Array | None = None
    soft_valued: bool = False

    def probabilities(self, labels: Labels, scores: Array) -> Array:
        """Return (items, classes), the calibrated probabilities of the classes of these items."""
        name, scale = self.method.calibrated_as, self.sweeping_method.scale
        found = calibration.probabilities(name, scale, scores, votes_per_item(labels), self.density, soft_items(labels))
        return fitted_to(labels.gold, self.recalibration, found)

    def part(
        self, labels: Labels, items: pl.Series, scores: Array, difficulty: Array | None = None
    ) -> Result | NumericResult:
        """Return the result of the items of one part, in memory; it has no votes, agreement and quality of the workers.

        Raises the error of `check_finite` if a score is not finite.
        """
        names = replace(labels.names, items=items)
        if self.errors is not None:
            return NumericResult.build(
                self.method, labels, names, scores, self.errors, workers=self.workers, convergence=self.convergence
            )
        check_finite(self.method, items, scores)
        variance, no_workers = self.sweeping_method.variance, np.zeros(0)
        return self.result(
            names,
            scores,
            votes_per_item(labels),
            soft_items=soft_items(labels),
            workers=self.workers,
            worker_votes=no_workers,
            agreement=no_workers,
            measure_quality=None,
            measure_variance=None if variance is None else partial(variance, labels, scores, self.workers),
            difficulty=difficulty,
            gold=labels.gold,
        )

    def result(self, names: Names, scores: Array, votes: Array, **others: Any) -> Result:
        """Return the result of the items with these names, scores and numbers of votes, in memory.

        `others` are the attributes of a `Result` that do not follow from these and from the fit.
        """
        return Result(
            method=self.method,
            names=names,
            scores=scores,
            scale=self.sweeping_method.scale,
            convergence=self.convergence,
            ranking=best_two(scores, TIE),
            votes=votes,
            density=self.density,
            gold_check=self.gold_check,
            known=PriorKnowledge(recalibration=self.recalibration),
            **others,
        )


def count_answers(labels: Labels, scores: Array, fit: Fit) -> AnswerCounts:
    """Count these items, given their labels and final scores."""
    answers, _, tied = best_two(scores, TIE)
    of_classes = fit.probabilities(labels, scores)
    inferred = np.ones(labels.n_items, bool) if labels.gold is None else labels.gold < 0
    return AnswerCounts(
        *count_agreement(labels, answers),
        agreements(labels, answers),
        votes_per_worker(labels),
        np.array([tied.sum()]),
        np.array([np.take_along_axis(of_classes, answers[:, None], axis=1)[inferred].sum()]),
        np.array([labels.n_items - inferred.sum()]),
        np.stack(count_right_by(labels, of_classes)),
        count_stated(labels, of_classes),
    )


class ResultInParts(ResultTables):
    """The base of results whose items are in parts, on disk or in a cluster; answers are classes or numbers.

    It has the same tables as a `Result` or a `NumericResult`. They are made part by part, and only when they are asked
    for. What follows from the tables of classes, such as `quality`, numbers do not have; only they have `errors`.

    Attributes:
        fit: What a part has to know of the fit.
        names: The names of workers and classes, in order of first appearance. The names of the items are in the parts.
        workers: What the method learned about the workers, a `Learned`.
        n_items: The number of items.
    """

    # What `repr` calls a result in this place, after "Result" or "NumericResult".
    where = "InParts"

    # The engine, which calls a function on the labels of every part and adds up what it returns: `add` with the final
    # scores, `add_labels` without.
    _engine: Any

    def __init__(self, method: Any, labels: Crowd, ending: Ending, counted: Counted | None) -> None:
        self.fit = Fit(
            method=method,
            sweeping_method=method,
            workers=ending.workers,
            convergence=ending.convergence,
            density=calibration.density_of(labels.n_labels, labels.n_items),
            recalibration=labels.known.recalibration,
            errors=method.worker_errors(ending) if method.numeric else None,
            sharpness=labels.known.sharpness,
            soft_valued=labels.soft_valued,
        )
        self.names = labels.names
        self.n_items = labels.n_items
        self.workers = ending.workers.reordered(labels.numbering)
        self._numbering = labels.numbering
        self._counted = counted
        self._sketch_items = labels.item_sketch

    @abstractmethod
    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        """Return the rows of these items, with the scores of all classes."""

    def _with(self, **changes: Any) -> Self:
        """Return a copy with another fit, without what followed from the fit before."""
        other = copy(self)
        for name in vars(self):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(other)[name]
        other.fit = replace(self.fit, **changes)
        return other

    def checked(self, check: GoldCheck, _measure_quality: Any) -> Self:
        """Return a copy whose confidence is fitted to what the items of known class say; see `Result.checked`."""
        return self._with(gold_check=check, recalibration=check.recalibration)

    def credited_to(self, method: Any) -> Self:
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        return self._with(method=method)

    @property
    def method(self) -> Any:
        """The method with all its parameters, as the user chose it."""
        return self.fit.method

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers."""
        return self.fit.errors is not None

    @property
    def scale(self) -> Scale:
        """The meaning of the scores; see `Result`."""
        scale: Scale = self.fit.sweeping_method.scale
        return scale

    @property
    def convergence(self) -> Convergence:
        """How the iterations ended."""
        return self.fit.convergence

    @property
    def gold_check(self) -> GoldCheck | None:
        """What the items of known class say; see `Result`."""
        return self.fit.gold_check

    @property
    def recalibration(self) -> Recalibration | None:
        """What gold, also that of earlier labels, says about confidence; None without any."""
        return self.fit.recalibration

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, all in memory; see `Result.to_frame`."""
        return self.lazy(scores, probabilities).collect()

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance; see `Result.workers_frame`."""
        if not self.numeric:
            return self._about_workers().workers_frame()
        nothing = np.zeros(0)
        return NumericResult(
            self.method, self.names, nothing, nothing, nothing, self.workers, self.errors, self.convergence
        ).workers_frame()

    @cached_property
    def errors(self) -> WorkerErrors:
        """How every worker errs, of numbers; see `NumericResult`."""
        if self.fit.errors is None:
            raise AttributeError("errors are of numbers, and these labels are classes.")
        return self.fit.errors.reordered(self._numbering)

    def about(self, items: pl.Series) -> Result:
        """Return the result of these items alone, in memory.

        If none of these items has a label, it is the result of the first item, so that it is never empty.
        """
        rows = self._rows_of(items)
        if rows.height == 0:
            rows = self.lazy(scores=True).head(1).collect()
        class_scores = rows.select(f"score_{name}" for name in self.names.classes.cast(pl.String)).to_numpy()
        # Row by row, as everywhere else: for another layout, kernels would be compiled again.
        scores = np.ascontiguousarray(class_scores)
        names = replace(self.names, items=rows["item"])
        difficulty = rows["difficulty"].to_numpy() if "difficulty" in rows.columns else None
        gold = np.where(rows["gold"], best_two(scores, TIE)[0], -1) if "gold" in rows.columns else None
        return self._result(names, scores, rows["votes"], difficulty=difficulty, gold=gold)

    def confusion(self, worker: Any) -> pl.DataFrame:
        """Return the confusion matrix of one worker; see `Result.confusion`."""
        return self._about_workers().confusion(worker)

    @property
    def tie_count(self) -> int:
        """The number of items whose best two classes are tied."""
        return int(self.answer_counts.ties[0])

    @cached_property
    def answer_counts(self) -> AnswerCounts:
        """The counts over all items, given their answers; workers are in the order of their numbers."""
        if self.numeric:
            raise AttributeError("This is of classes, and these labels are numbers.")
        counts: AnswerCounts = self._engine.add(partial(count_answers, fit=self.fit), "counting")
        return counts

    @property
    def expected_accuracy(self) -> ExpectedAccuracy:
        """How many of the inferred labels are right, as far as can be told without a truth, with an interval."""
        total, known = float(self.answer_counts.confidence[0]), int(self.answer_counts.known[0])
        gold = 0 if self.recalibration is None else self.recalibration.items
        return ExpectedAccuracy.of(total, self.n_items - known, self.method.calibrated_as, gold)

    @cached_property
    def agreement(self) -> Array:
        """(workers), the share of the worker's votes that name the inferred label; NaN for a worker without votes."""
        votes = self.answer_counts.votes
        unknown = np.full(len(votes), np.nan)
        agreed = np.divide(self.answer_counts.agreed_in_all, votes, out=unknown, where=votes > 0)
        return np.asarray(agreed[self._numbering.worker_numbers])

    @cached_property
    def quality(self) -> Quality:
        """The quality of every worker; see `Quality`."""
        if not self.fit.sweeping_method.measures_accuracy:
            return Quality(self.agreement)
        before = None if self._counted is None else self._counted.before
        right, variance = self.answer_counts.right
        by_confidence = accuracies_from(right, variance, self.answer_counts.given)
        independent = self._independent() if self.gold_check is None else by_confidence
        gold = 0 if self.gold_check is None else self.gold_check.items
        return quality_by(self.method.calibrated_as, independent, by_confidence, before, gold).reordered(
            self._numbering.worker_numbers
        )

    def _independent(self) -> Estimate:
        """Return the accuracies, assuming independent errors; workers are in the order of their numbers."""
        own = self.fit.sweeping_method.expected_right
        if own is not None:
            count = partial(own, workers=self.fit.workers)
            right, variance = self._engine.add_labels(count, "measuring workers")
            return accuracies_from(right, variance, self.answer_counts.given)

        def expected_right(log_odds: Array, share: Array) -> Any:
            count = partial(count_right, log_odds=log_odds, share=share)
            return self._engine.add_labels(count, "measuring workers")

        return accuracies_of(AgreementCounts(*self.answer_counts[:5]), expected_right)

    @cached_property
    def stated(self) -> Stated:
        """How well the workers are calibrated who state probabilities; see `Result.stated`."""
        found = Stated.of(self.answer_counts.stated, self.fit.sharpness)
        return found.reordered(self._numbering.worker_numbers)

    @cached_property
    def history(self) -> History | None:
        """What was counted, to go on from it with other labels; None if the method counts nothing that lasts."""
        return None if self._counted is None else self._counted.history(self, self._sketch_items())

    def _about_workers(self) -> Result:
        """Return a result in memory of all workers and of no items."""
        no_scores = np.zeros((0, len(self.names.classes)))
        return self._result(self.names, no_scores, pl.Series([], dtype=pl.Int32))

    def _result(self, names: Names, scores: Array, votes: pl.Series, **about_items: Array | None) -> Result:
        """Return a result in memory of all workers and of the items with these names, scores and numbers of votes."""
        return self.fit.result(
            names,
            scores,
            votes.to_numpy(),
            workers=self.workers,
            worker_votes=self.answer_counts.votes[self._numbering.worker_numbers],
            agreement=self.agreement,
            measure_quality=lambda _: self.quality,
            measure_stated=(lambda _: self.stated) if self.fit.soft_valued else None,
            **about_items,
        )

    def __repr__(self) -> str:
        kind = "NumericResult" if self.numeric else "Result"
        return (
            f"{kind}{self.where}({self.n_items:,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )


# What a method for classes returns: in memory, and on disk or in a cluster. `Result` describes the members.
Inferred: TypeAlias = Result | ResultInParts
