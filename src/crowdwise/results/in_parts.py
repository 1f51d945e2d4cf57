"""`ResultInParts`: the result of a method on labels that are in parts, on disk or in a cluster."""

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl

from ..data.crowd import Crowd
from ..data.knowledge import Known
from ..data.labels import Labels
from ..data.names import Names
from ..data.votes import agreements, votes_per_item, votes_per_worker
from ..numerics import Array
from . import calibration
from .calibration import Scale
from .expected_accuracy import ExpectedAccuracy
from .finite import check_finite
from .gold import GoldCheck, fitted_to
from .history import Counted, History
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
from .ranking import best_two
from .recalibration import Recalibration
from .result import TIE, Ending, Quality, Result
from .tables import ResultTables


class AnswerCounts(NamedTuple):
    """What is counted when the answers are known; the counts of disjoint sets of items can be added.

    Attributes:
        given: See `AgreementCounts`.
        agreed: See `AgreementCounts`.
        compared: See `AgreementCounts`.
        classes: See `AgreementCounts`.
        by_votes: See `AgreementCounts`.
        agreed_in_all: (workers), the number of votes that name the answer of their item.
        votes: (workers), the number of votes.
        ties: (1), the number of items whose best two classes are tied.
        confidence: (1), the sum of the confidences of the answers whose class was not known.
        known: (1), the number of items whose class was known.
        right: (2, workers), what `count_right_by` returns for calibrated probabilities.
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


class Calibrated(NamedTuple):
    """How scores become probabilities; see `calibration.probabilities` and `fitted_to` for the attributes."""

    calibrated_as: str
    scale: Scale
    density: float
    recalibration: Recalibration | None

    def probabilities(self, labels: Labels, scores: Array) -> Array:
        """Return (items, classes), the probabilities of the classes of these items."""
        votes = votes_per_item(labels)
        found = calibration.probabilities(self.calibrated_as, self.scale, scores, votes, self.density)
        return fitted_to(labels.gold, self.recalibration, found)


def count_answers(labels: Labels, scores: Array, calibrated: Calibrated) -> AnswerCounts:
    """Count these items, given their labels and final scores."""
    answers, _, tied = best_two(scores, TIE)
    of_classes = calibrated.probabilities(labels, scores)
    inferred = np.ones(labels.n_items, bool) if labels.gold is None else labels.gold < 0
    return AnswerCounts(
        *count_agreement(labels, answers),
        agreements(labels, answers),
        votes_per_worker(labels),
        np.array([tied.sum()]),
        np.array([np.take_along_axis(of_classes, answers[:, None], axis=1)[inferred].sum()]),
        np.array([labels.n_items - inferred.sum()]),
        np.stack(count_right_by(labels, of_classes)),
    )


class CountingEngine(Protocol):
    """The interface of an engine that can count every part and add up the counts.

    `phase` is the name of this work in the progress bar.
    """

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels and the final scores of every part and return the sum of what it returns."""
        ...

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels of every part and return the sum of what it returns."""
        ...


class ResultInParts(ResultTables):
    """The base of results whose items are in parts, on disk or in a cluster.

    It has the same tables as a `Result`. They are made part by part, and only when they are asked for.

    Attributes:
        method: The method with all its parameters, as the user chose it.
        sweeping_method: The method that the engine ran. It differs from `method` if that method left the work to
            another one; see `credited_to`.
        names: The names of workers and classes, in order of first appearance. The names of the items are in the parts.
        scale: The meaning of the scores; see `Result`.
        workers: What the method learned about the workers, a `Learned`.
        fitted_workers: The same with workers in the order of their numbers, as the parts have them.
        convergence: How the iterations ended.
        n_items: The number of items.
        density: How many labels an item has; see `Result`.
        gold_check: What the items of known class say; see `Result`.
        recalibration: What gold, also that of earlier labels, says about confidence; None without any.
    """

    def __init__(
        self, method: Any, labels: Crowd, engine: CountingEngine, ending: Ending, counted: Counted | None
    ) -> None:
        self.method: Any = method
        self.sweeping_method = method
        self.names = labels.names
        self.n_items = labels.n_items
        self.density = calibration.density_of(labels.n_labels, labels.n_items)
        self.scale: Scale = method.scale
        self.fitted_workers = ending.workers
        self.workers = ending.workers.arranged(labels.numbering)
        self._numbering = labels.numbering
        self.convergence = ending.convergence
        self._counting_engine = engine
        self.gold_check: GoldCheck | None = None
        self.recalibration: Recalibration | None = labels.known.recalibration
        self._counted = counted
        self._sketch_items = labels.item_sketch

    def checked(self, check: GoldCheck, _measure_quality: Any) -> "ResultInParts":
        """Return a copy whose confidence is fitted to what the items of known class say; see `Result.checked`."""
        other = copy(self)
        for made in ("answer_counts", "quality"):  # from confidence as it was
            other.__dict__.pop(made, None)
        other.gold_check, other.recalibration = check, check.recalibration
        return other

    @abstractmethod
    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        """Return the rows of these items, with the scores of all classes."""

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, all in memory; see `Result.to_frame`."""
        return self.lazy(scores, probabilities).collect()

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
        return self._result(names, scores, rows["votes"], difficulty, gold)

    def credited_to(self, method: Any) -> "ResultInParts":
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        other = copy(self)
        other.method = method
        return other

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance; see `Result.workers_frame`."""
        return self._about_workers().workers_frame()

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
        calibrated = Calibrated(self.method.calibrated_as, self.scale, self.density, self.recalibration)
        count = partial(count_answers, calibrated=calibrated)
        counts: AnswerCounts = self._counting_engine.add(count, "counting")
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
        return np.asarray(agreed[self._numbering.worker_places])

    @cached_property
    def quality(self) -> Quality:
        """The quality of every worker; see `Quality`."""
        if not self.sweeping_method.measures_accuracy:
            return Quality(self.agreement)
        before = None if self._counted is None else self._counted.before
        right, variance = self.answer_counts.right
        by_confidence = accuracies_from(right, variance, self.answer_counts.given)
        each_alone = self._each_alone() if self.gold_check is None else by_confidence
        gold = 0 if self.gold_check is None else self.gold_check.items
        return quality_by(self.method.calibrated_as, each_alone, by_confidence, before, gold).arranged(
            self._numbering.worker_places
        )

    def _each_alone(self) -> Estimate:
        """Return the accuracies, assuming independent errors; workers are in the order of their numbers."""
        own = self.sweeping_method.expected_right
        if own is not None:
            count = partial(own, workers=self.fitted_workers)
            right, variance = self._counting_engine.add_labels(count, "measuring workers")
            return accuracies_from(right, variance, self.answer_counts.given)

        def expected_right(evidence: Array, share: Array) -> Any:
            count = partial(count_right, evidence=evidence, share=share)
            return self._counting_engine.add_labels(count, "measuring workers")

        return accuracies_of(AgreementCounts(*self.answer_counts[:5]), expected_right)

    @cached_property
    def history(self) -> History | None:
        """What was counted, to go on from it with other labels; None if the method counts nothing that lasts."""
        if self._counted is None:
            return None
        taught = None if self.recalibration is None else self.recalibration.taught
        items = self._sketch_items()
        return self._counted.history(
            self.method, self.names.workers, self.quality.evidence, items, taught, self.workers.followers
        )

    def _about_workers(self) -> Result:
        """Return a result in memory of all workers and of no items."""
        no_scores = np.zeros((0, len(self.names.classes)))
        return self._result(self.names, no_scores, pl.Series([], dtype=pl.Int32))

    def _result(
        self,
        names: Names,
        scores: Array,
        votes: pl.Series,
        difficulty: Array | None = None,
        gold: Array | None = None,
    ) -> Result:
        """Return a result in memory of all workers and of the items with these names, scores and numbers of votes."""
        return Result(
            method=self.method,
            names=names,
            scores=scores,
            scale=self.scale,
            workers=self.workers,
            convergence=self.convergence,
            ranking=best_two(scores, TIE),
            votes=votes.to_numpy(),
            density=self.density,
            worker_votes=self.answer_counts.votes[self._numbering.worker_places],
            agreement=self.agreement,
            measure_quality=lambda _: self.quality,
            difficulty=difficulty,
            gold=gold,
            gold_check=self.gold_check,
            known=Known(recalibration=self.recalibration),
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_items:,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )


def part_result(
    fit: ResultInParts, labels: Labels, items: pl.Series, scores: Array, difficulty: Array | None
) -> Result:
    """Return the result of one part in memory; it has no votes, agreement and quality of the workers.

    Args:
        fit: The result of all parts, or an object with its method, workers' parameters and convergence.
        labels: The labels of this part.
        items: The names of the items of this part.
        scores: Their final scores.
        difficulty: Their difficulties; None if the method has none.

    Raises:
        DataError: A score is not finite; a `CallError` if a parameter may be to blame.
    """
    variance = fit.sweeping_method.variance
    check_finite(fit.method, items, scores)
    no_workers = np.zeros(0)
    return Result(
        method=fit.method,
        names=replace(labels.names, items=items),
        scores=scores,
        scale=fit.sweeping_method.scale,
        workers=fit.fitted_workers,
        convergence=fit.convergence,
        ranking=best_two(scores, TIE),
        votes=votes_per_item(labels),
        density=fit.density,
        worker_votes=no_workers,
        agreement=no_workers,
        measure_quality=None,
        difficulty=difficulty,
        measure_variance=None if variance is None else partial(variance, labels, scores, fit.fitted_workers),
        gold=labels.gold,
        gold_check=fit.gold_check,
        known=Known(recalibration=fit.recalibration),
    )
