"""`MACE`: for each answer, a worker either knows it or spams, with habits of its own."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from rich.progress import track
from scipy import special

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import winners
from crowdwise.compat.crowdkit.encoded_answers import Answers
from crowdwise.crowd.votes import shares
from crowdwise.families.confusion_matrices.base import by_true_class
from crowdwise.fitting.engines.memory import MemoryEngine
from crowdwise.methods import mace
from crowdwise.numerics import Array

# How many answers of each label the prior counts in the habits of every worker.
_HABIT: Final = 10.0


@dataclass(eq=False)
class MACE(BaseClassificationAggregator):
    """Workers who either know the answer or spam.

    Args:
        n_restarts: How many starts: one from majority vote, the others at random. The most likely end is taken.
        n_iter: How many iterations each start has.
        method: "vb" for variational Bayes, anything else for expectation-maximisation.
        smoothing: Not used, as in crowd-kit: expectation-maximisation adds 0.01, divided by the number of labels.
        default_noise: How far random starts are from each other.
        alpha: How many answers of spam the prior counts for every worker, with "vb".
        beta: How many answers that are known it counts.
        random_state: The seed of the random starts.
        verbose: Above 0, progress is shown.

    Attributes:
        labels_: The label by task.
        probas_: The probability of every label, by task.
        spamming_: (workers, 2), the weights of spamming and of knowing; workers in the order of their first rows.
        thetas_: (workers, labels), the weight of every label in a worker's spam; both in the order of their first rows.
    """

    n_restarts: int = 10
    n_iter: int = 50
    method: str = "vb"
    smoothing: float = 0.1
    default_noise: float = 0.5
    alpha: float = 0.5
    beta: float = 0.5
    random_state: int = 0
    verbose: int = 0

    def fit(self, data: Any) -> "MACE":
        """Learn from answers; `data` has the columns task, worker and label."""
        answers = Answers.of(data)
        n_workers, classes = len(answers.workers), len(answers.classes)
        self.smoothing_ = 0.01 / max(classes, 1)
        self.theta_priors_ = np.tile([float(self.alpha), float(self.beta)], (n_workers, 1))
        self.strategy_priors_ = np.full((n_workers, classes), _HABIT)
        if answers.empty:
            self._keep(answers, np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((0, 0)))
            return self
        random = np.random.RandomState(self.random_state)
        method = mace.MACE()
        method.check(answers.labels)
        best, most_likely = None, -np.inf
        scores = np.empty((len(answers.tasks), classes))
        with MemoryEngine(method, answers.labels, scores) as engine:
            for start in track(range(max(self.n_restarts, 1)), "MACE", disable=self.verbose <= 0):
                trust, habit = np.full((n_workers, 2), 0.5), np.full((n_workers, classes), 1 / classes)
                if start:
                    trust, habit = (self._draw(random, like.shape) for like in (trust, habit))
                workers = mace.competences(trust[:, 1], trust[:, :1] * habit)
                scores[:] = shares(answers.labels)
                counts, _ = engine.sweep(workers if start else None)
                for _ in range(self.n_iter):
                    trust, habit = self._learn(*mace.known_and_spammed(by_true_class(counts), workers))
                    workers = mace.competences(trust[:, 1], trust[:, :1] * habit)
                    counts, _ = engine.sweep(workers)
                if best is None or counts.log_likelihood[0] > most_likely:
                    best, most_likely = (trust, habit, scores.copy()), counts.log_likelihood[0]
        assert best is not None, "there is at least one start"
        trust, habit, scores = best
        self._keep(answers, scores, trust, habit)
        return self

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and return the probability of every label by task."""
        return self.fit(data).probas_

    def _draw(self, random: np.random.RandomState, shape: tuple[int, ...]) -> Array:
        """Weights at random, all about equal; those of a worker add up to one."""
        weights = random.uniform(1, 2 + self.default_noise, shape)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _learn(self, knew: Array, spammed: Array) -> tuple[Array, Array]:
        """The weights of spamming and knowing, and of habits, from what was known and what was spam."""
        trust = np.stack([spammed.sum(axis=1), knew.sum(axis=1)], axis=1)
        if self.method != "vb":
            trust, habit = trust + self.smoothing_, spammed + self.smoothing_
            return trust / trust.sum(axis=1, keepdims=True), habit / habit.sum(axis=1, keepdims=True)
        return _weights(trust + self.theta_priors_), _weights(spammed + self.strategy_priors_)

    def _keep(self, answers: Answers, scores: Array, trust: Array, habit: Array) -> None:
        """Set the attributes."""
        order = answers.first_tasks
        probas = answers.table(scores, None, order)
        self.probas_ = probas.take(answers.first_classes, axis=1)
        self.labels_ = answers.labels_series(winners(scores), order) if len(scores) else pd.Series(name="agg_label")
        self.spamming_ = trust[answers.first_workers]
        self.thetas_ = habit[answers.first_workers][:, answers.first_classes]


def _weights(counts: Array) -> Array:
    """The exponentials of the expected logarithms of shares, whose distribution has these counts."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.exp(special.digamma(counts) - special.digamma(total)))
