"""`MMSR`: skills from how often any two workers agree, with extreme pairs left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import winners
from crowdwise.compat.crowdkit.aggregation.utils import add_skills_to_data
from crowdwise.compat.crowdkit.encoded_answers import Answers, complete_rows
from crowdwise.crowd.votes import shares
from crowdwise.families.weighted_votes.model import weight_sums
from crowdwise.methods import mmsr


@dataclass(eq=False)
class MMSR(BaseClassificationAggregator):
    """Votes weighted by skills, which are learned from how often any two workers agree.

    Args:
        n_iter: The most iterations.
        tol: It ends when no skill moves by more than this.
        random_state: Not used: skills start equal, not at random.

    Attributes:
        labels_: The label by task; after a prediction.
        scores_: The sums of the weights for every label, divided by their sum; after a prediction.
        skills_: The weight of a vote, by worker: the logarithm of the odds that it is right.
        loss_history_: The largest change of a skill in every iteration.
    """

    n_iter: int = 10000
    tol: float = 1e-10
    random_state: int | None = 0

    def fit(self, data: Any) -> "MMSR":
        """Learn the skills; `data` has the columns task, worker and label."""
        answers = Answers.of(data)
        self.loss_history_: list[float] = []
        weight = np.ones(len(answers.workers))
        if self.n_iter and not answers.empty:
            method = mmsr.MMSR(tolerance=max(self.tol, 0.0), max_iterations=self.n_iter)
            fitted = method.fit(
                answers.labels, progress=lambda _, change: self.loss_history_.append(change), warn=False
            )
            weight = fitted.workers.weight
        self.skills_ = answers.per_worker(weight, "skill", answers.first_workers)
        return self

    def predict(self, data: Any) -> Any:
        """Return the label by task: the one with the largest sum of weights."""
        return self._apply(data).labels_

    def predict_score(self, data: Any) -> Any:
        """Return the sums of the weights for every label, divided by their sum, by task."""
        return self._apply(data).scores_

    def fit_predict(self, data: Any) -> Any:
        """Fit, and return the label by task."""
        return self.fit(data).predict(data)

    def fit_predict_score(self, data: Any) -> Any:
        """Fit, and return the scores of every label by task."""
        return self.fit(data).predict_score(data)

    def _apply(self, data: Any) -> "MMSR":
        self.require_fitted("skills_")
        answers = Answers.of(add_skills_to_data(complete_rows(data), self.skills_, "error", None))
        sums = weight_sums(answers.labels, self.skills_.reindex(answers.workers).to_numpy(float))
        # Weights may be negative. Divided by a negative sum, the worst label would have the highest score.
        total = np.abs(sums.sum(axis=1, keepdims=True))
        self.labels_ = answers.labels_series(winners(sums))
        self.scores_ = answers.table(np.divide(sums, total, out=shares(answers.labels), where=total > 0))
        return self
