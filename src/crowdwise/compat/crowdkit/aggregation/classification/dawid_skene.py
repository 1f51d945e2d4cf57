"""`DawidSkene` and `OneCoinDawidSkene`: a confusion matrix, or one accuracy, for every worker."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.initial_error import with_initial_error
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import winners
from crowdwise.compat.crowdkit.encoded_answers import Answers, three_columns
from crowdwise.crowd.votes import shares
from crowdwise.families.coins.base import CoinCounts, Coins
from crowdwise.families.confusion_matrices.base import ConfusionCounts, Confusions, log
from crowdwise.fitting.engines.memory import MemoryEngine
from crowdwise.methods import ds, one_coin
from crowdwise.numerics import Array

# As in crowd-kit, no probability is smaller.
_LEAST: Final = 1e-10


@dataclass(eq=False)
class DawidSkene(BaseClassificationAggregator):
    """A confusion matrix for every worker, by expectation-maximisation from majority vote.

    In every iteration the E step scores the classes of the tasks and clamps those of known class; the M step learns the
    workers. The loss is the evidence lower bound for each answer.

    Args:
        n_iter: The most iterations; 0 for majority vote and the matrices that follow from it.
        tol: It ends when the loss grows by less than this.
        initial_error_strategy: What `initial_error` does to the first matrices: "assign" replaces them, "addition" adds
            to their counts.

    Attributes:
        labels_: The label by task.
        probas_: The probability of every label, by task.
        priors_: How common every label is.
        errors_: By worker and label, the probability that the worker gives this label if the column's is true.
        loss_history_: The evidence lower bound for each answer, after every iteration.
    """

    n_iter: int = 100
    tol: float = 1e-5
    initial_error_strategy: Literal["assign", "addition"] | None = None

    def fit(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> "DawidSkene":
        """Learn from answers.

        Args:
            data: The columns task, worker and label.
            true_labels: The true labels of some tasks, a Series by task; these tasks have them from the start.
            initial_error: Matrices of workers from earlier work, with an index of worker and label and a column for
                each label: counts, or with "assign" also probabilities.
        """
        tasks = three_columns(data)["task"]
        answers = Answers.of(data, () if true_labels is None else true_labels[true_labels.index.isin(tasks)])
        if answers.empty:
            self._keep_nothing()
            return self
        gold = None if true_labels is None else _known(answers, true_labels)
        if self.initial_error_strategy is None:
            initial_error = None
        scores, counts = self._run(ds.DawidSkene(), answers, gold, initial_error)
        errors = self._errors(counts, answers, None if self.n_iter else initial_error)
        self._keep(answers, scores, errors)
        return self

    def fit_predict(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """Fit, and return the label by task."""
        return self.fit(data, true_labels, initial_error).labels_

    def fit_predict_proba(self, data: Any, true_labels: Any = None, initial_error: Any = None) -> Any:
        """Fit, and return the probability of every label by task."""
        return self.fit(data, true_labels, initial_error).probas_

    def _run(self, method: Any, answers: Answers, gold: Array | None, initial_error: Any) -> tuple[Array, Any]:
        """Return the final scores (tasks, classes), and the counts of the last M step."""
        labels = answers.labels if gold is None else replace(answers.labels, gold=gold)
        method.check(labels)
        scores = shares(labels)
        self.loss_history_: list[float] = []
        with MemoryEngine(method, labels, scores) as engine:
            counts, _ = engine.sweep(None)  # clamps the first scores too
            workers = self._learn(counts, answers, initial_error)
            loss = -np.inf
            for _ in range(self.n_iter):
                counts, _ = engine.sweep(workers)
                before, workers = workers, self._learn(counts, answers, None)
                # The entropy of the scores is the log likelihood less its expectation, under what made the scores.
                entropy = float(counts.log_likelihood[0]) - self._expected(counts, before)
                new = (self._expected(counts, workers) + entropy) / labels.n_labels
                self.loss_history_.append(new)
                if new - loss < self.tol:
                    break
                loss = new
        return scores, counts

    def _keep(self, answers: Answers, scores: Array, errors: Any) -> None:
        """Set the attributes."""
        # Before the first iteration crowd-kit has majority vote, whose tasks are sorted.
        order = answers.first_tasks if self.n_iter else None
        self.probas_ = answers.table(scores, order=order)
        self.priors_ = pd.Series(scores.mean(axis=0), index=answers.classes.rename("label"), name="prior")
        self.errors_ = errors
        self.labels_ = answers.labels_series(winners(scores), order)

    def _keep_nothing(self) -> None:
        """Set the attributes for a table without rows."""
        self.probas_, self.errors_ = pd.DataFrame(), pd.DataFrame()
        self.priors_ = pd.Series(dtype=float, name="prior")
        self.labels_ = pd.Series(dtype=float, name="agg_label")

    def _errors(self, counts: ConfusionCounts, answers: Answers, initial_error: Any) -> Any:
        """The matrices as crowd-kit has them; see `errors_`."""
        worker, said = answers.first_pairs
        errors = _pairs_table(counts.confusion[worker, said], answers)
        if initial_error is not None:
            errors = with_initial_error(errors, initial_error, self.initial_error_strategy)
        errors = errors.clip(lower=_LEAST)
        return errors / errors.groupby(level="worker", sort=False).transform("sum")

    def _learn(self, counts: ConfusionCounts, answers: Answers, initial_error: Any) -> Confusions:
        given = np.zeros(counts.confusion.shape[:2], bool)
        given[tuple(answers.first_pairs)] = True
        if initial_error is None:
            matrices = np.where(given[:, :, None], np.maximum(counts.confusion, _LEAST), 0.0)
            matrices = matrices / matrices.sum(axis=1, keepdims=True)
        else:
            errors = self._errors(counts, answers, initial_error)
            worker, said = answers.first_pairs
            wanted = pd.MultiIndex.from_arrays([answers.workers.take(worker), answers.classes.take(said)])
            matrices = np.zeros_like(counts.confusion)
            matrices[worker, said] = errors.reindex(index=wanted, columns=answers.classes).fillna(_LEAST).to_numpy()
        prior = np.maximum(counts.classes / counts.classes.sum(), _LEAST)
        return Confusions(log(matrices), np.log(prior), matrices, np.zeros(1))

    def _expected(self, counts: ConfusionCounts, workers: Confusions) -> float:
        said = counts.confusion > 0
        return float((counts.confusion[said] * workers.evidence[said]).sum() + counts.classes @ workers.log_prior)


@dataclass(eq=False)
class OneCoinDawidSkene(DawidSkene):
    """One accuracy for every worker, by expectation-maximisation from majority vote.

    The arguments of the constructor and the attributes are those of `DawidSkene`; `initial_error_strategy` is not used.

    Attributes:
        skills_: The accuracy by worker.
    """

    def fit(self, data: Any) -> "OneCoinDawidSkene":  # type: ignore[override]  # as in crowd-kit
        """Learn from answers; `data` has the columns task, worker and label."""
        answers = Answers.of(data)
        if answers.empty:
            self._keep_nothing()
            return self
        scores, counts = self._run(one_coin.OneCoin(), answers, None, None)
        skill = counts.right / counts.given
        self.skills_ = answers.per_worker(skill, "skill", answers.first_workers)
        worker, said = answers.first_pairs
        right = said[:, None] == np.arange(len(answers.classes))
        errors = np.where(right, skill[worker, None], _wrong(skill, len(answers.classes))[worker, None])
        self._keep(answers, scores, _pairs_table(np.clip(errors, _LEAST, 1 - _LEAST), answers))
        return self

    def fit_predict(self, data: Any) -> Any:  # type: ignore[override]
        """Fit, and return the label by task."""
        return self.fit(data).labels_

    def fit_predict_proba(self, data: Any) -> Any:  # type: ignore[override]
        """Fit, and return the probability of every label by task."""
        return self.fit(data).probas_

    def _learn(self, counts: CoinCounts, answers: Answers, initial_error: Any) -> Coins:  # type: ignore[override]
        prior = np.maximum(counts.classes / counts.classes.sum(), _LEAST)
        return Coins(counts.right / counts.given, np.log(prior), np.zeros(1))

    def _expected(self, counts: CoinCounts, workers: Coins) -> float:  # type: ignore[override]
        right, wrong = np.maximum(workers.accuracy, _LEAST), np.maximum(1 - workers.accuracy, _LEAST)
        others = max(len(counts.classes) - 1, 1)
        said = counts.right * np.log(right) + (counts.given - counts.right) * np.log(wrong / others)
        return float(said.sum() + counts.classes @ workers.log_prior)


def _wrong(skill: Array, n_classes: int) -> Array:
    """Return (workers), the probability of each wrong label."""
    return (1 - skill) / max(n_classes - 1, 1)


def _known(answers: Answers, true_labels: Any) -> Array:
    """Return (tasks), the code of the true label, -1 where it is not known; of several, the last that appears first."""
    gold = np.full(len(answers.tasks), -1)
    for label in true_labels.dropna().unique():
        tasks = answers.tasks.get_indexer(true_labels[true_labels == label].index.unique())
        gold[tasks[tasks >= 0]] = answers.classes.get_loc(label) if (tasks >= 0).any() else -1
    return gold


def _pairs_table(values: Array, answers: Answers) -> Any:
    """Return a table with a row for every worker and label that were together in a row, as they first appear."""
    worker, said = answers.first_pairs
    names = [answers.workers.take(worker), answers.classes.take(said)]
    columns = answers.classes.rename(None)
    if not pd.api.types.is_string_dtype(columns.dtype):
        columns = columns.astype(object)  # as in crowd-kit
    return pd.DataFrame(values, index=pd.MultiIndex.from_arrays(names, names=["worker", "label"]), columns=columns)
