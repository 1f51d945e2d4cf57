"""`GLAD`: workers differ in ability, and tasks differ in difficulty."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import track

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import winners
from crowdwise.compat.crowdkit.encoded_answers import Answers, three_columns
from crowdwise.errors import DataError
from crowdwise.methods.glad.method import Evaluation
from crowdwise.numerics import Array


@dataclass(eq=False)
class GLAD(BaseClassificationAggregator):
    """An answer is right with the sigmoid of its worker's ability alpha times its task's ease, the exponential of beta.

    Expectation-maximisation from abilities and betas of one; both have normal priors.

    Args:
        n_iter: The most iterations; 0 for the labels that follow from the start.
        tol: It ends when the loss grows by less than this.
        silent: Whether to show no progress.
        labels_priors: How common labels are, a Series by label; None if all are equally common.
        alphas_priors_mean: The means of the priors of abilities, a Series by worker; None if all are one.
        betas_priors_mean: The means of the priors of betas, a Series by task; None if all are one.
        m_step_max_iter: The most conjugate gradient steps in an iteration.
        m_step_tol: These end when no derivative is larger.

    Attributes:
        labels_: The label by task.
        probas_: The probability of every label, by task.
        alphas_: The ability by worker.
        betas_: The logarithm of the ease, by task.
        loss_history_: The expected log likelihood with the priors, for each answer and label, after every iteration.
    """

    n_iter: int = 100
    tol: float = 1e-5
    silent: bool = True
    labels_priors: Any = None
    alphas_priors_mean: Any = None
    betas_priors_mean: Any = None
    m_step_max_iter: int = 25
    m_step_tol: float = 1e-2

    def fit(self, data: Any) -> "GLAD":
        """Learn from answers; `data` has the columns task, worker and label."""
        answers = Answers.of(data, () if self.labels_priors is None else self.labels_priors.index)
        self._set_priors(answers, data)
        self.loss_history_: list[float] = []
        if answers.empty:
            self._keep(answers, np.zeros((0, 0)), np.ones(0))
            return self
        prior = self.priors_.reindex(answers.classes).to_numpy(float)
        alphas = self.alphas_priors_mean_.reindex(answers.workers).to_numpy(float)
        betas = self.betas_priors_mean_.reindex(answers.tasks).to_numpy(float)
        mean = np.concatenate([alphas, betas])
        if not np.isfinite(mean).all() or not np.isfinite(prior).all():
            raise DataError("The priors must have a number for every label, worker or task: some have none.")
        with Evaluation(answers.labels) as at:
            self._keep(answers, at.scores, self._iterate(at, prior, mean, answers.labels.n_labels))
        return self

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and return the probability of every label by task."""
        return self.fit(data).probas_

    def _iterate(self, at: Evaluation, prior: Array, mean: Array, n_labels: int) -> Array:
        """Return all abilities and then all betas; the scores of `at` are those of the last iteration."""
        from scipy import optimize  # imported here because it is slow to import

        def score(parameters: Array) -> None:
            at.score(parameters)
            at.scores *= prior
            at.scores /= at.scores.sum(axis=1, keepdims=True)

        def loss(parameters: Array) -> tuple[float, Array]:
            value, gradient = at.expected(parameters)
            deviation = parameters - mean
            return value + 0.5 * float(deviation @ deviation), gradient + deviation

        constant = 0.5 * len(mean) * np.log(2 * np.pi)
        parameters = at.start
        score(parameters)
        bound = -loss(parameters)[0] - constant
        for _ in track(range(self.n_iter), "GLAD", disable=self.silent):
            score(parameters)
            options: Any = {"gtol": self.m_step_tol, "maxiter": self.m_step_max_iter}
            optimum = optimize.minimize(loss, parameters, jac=True, method="CG", options=options)
            parameters, before = optimum.x, bound
            bound = -(float(optimum.fun) + constant) / (n_labels * len(prior))
            self.loss_history_.append(bound)
            if bound - before < self.tol:
                break
        return parameters

    def _set_priors(self, answers: Answers, data: Any) -> None:
        """Set the attributes that say what was known before."""
        self.tasks_ = pd.unique(three_columns(data)["task"])
        self.workers_ = pd.unique(data["worker"])
        first = answers.classes.take(answers.first_classes).rename(None)
        flat = pd.Series(1.0 / max(len(first), 1), index=first)
        self.priors_ = flat if self.labels_priors is None else self.labels_priors
        self.prior_labels_ = self.priors_.index.array if self.labels_priors is None else self.priors_.index
        alphas, betas = self.alphas_priors_mean, self.betas_priors_mean
        self.alphas_priors_mean_ = pd.Series(1.0, index=pd.Index(self.workers_)) if alphas is None else alphas
        self.betas_priors_mean_ = pd.Series(1.0, index=pd.Index(self.tasks_)) if betas is None else betas

    def _keep(self, answers: Answers, scores: Array, parameters: Array) -> None:
        """Set the attributes that were learned."""
        self.probas_ = answers.table(scores, "variable")
        best = winners(scores) if len(scores) else np.zeros(0, np.int64)
        self.labels_ = answers.labels_series(best)
        count = len(answers.workers)
        self.alphas_ = answers.per_worker(parameters[:count], "alpha", answers.first_workers)
        tasks = answers.tasks.take(answers.first_tasks)
        self.betas_ = pd.Series(parameters[count:][answers.first_tasks], index=tasks, name="beta")
