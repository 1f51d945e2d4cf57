"""`MajorityVote`: the label with the most votes, or with the largest sum of its workers' skills."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.utils import add_skills_to_data
from crowdwise.compat.crowdkit.encoded_answers import Answers, complete_rows
from crowdwise.crowd.labels import Labels
from crowdwise.crowd.votes import shares
from crowdwise.families.weighted_votes.model import weight_sums
from crowdwise.numerics import Array
from crowdwise.results.scores import TIE, best_two


@dataclass(eq=False)
class MajorityVote(BaseClassificationAggregator):
    """The label with the most votes; of several, the first in sorted order.

    Args:
        default_skill: The skill of workers who have none, with on_missing_skill="value".
        on_missing_skill: What to do with answers of workers who have no skill: raise an "error", "ignore" them, or take
            the "value" of default_skill.

    Attributes:
        labels_: The label by task.
        probas_: The share of the votes, or of the skills, for every label.
        skills_: By worker, the share of the answers that are the label of their task.
    """

    default_skill: float | None = None
    on_missing_skill: str = "error"

    def fit(self, data: Any, skills: Any = None) -> "MajorityVote":
        """Count the votes; with `skills`, a Series by worker, a vote counts as much as its worker's skill."""
        if skills is not None:
            data = add_skills_to_data(complete_rows(data), skills, self.on_missing_skill, self.default_skill)
        answers = Answers.of(data)
        if answers.empty:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            self.probas_ = answers.table(np.zeros((0, 0)))
            self.skills_ = answers.per_worker(np.zeros(0), "skill")
            return self
        if skills is None:
            scores = shares(answers.labels)
        else:
            weight = skills.reindex(answers.workers).astype(float)
            scores = weighted_shares(answers.labels, weight.fillna(self.default_skill or 0.0).to_numpy())
        best = winners(scores)
        self.labels_ = answers.labels_series(best)
        self.probas_ = answers.table(scores)
        self.skills_ = answers.per_worker(agreement(answers, best), "skill")
        return self

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        """Fit, and return the label by task."""
        return self.fit(data, skills).labels_

    def fit_predict_proba(self, data: Any, skills: Any = None) -> Any:
        """Fit, and return the share of every label by task."""
        return self.fit(data, skills).probas_


def weighted_shares(labels: Labels, weight: Array) -> Array:
    """Return the sums of the weights, divided by their sum; where that is zero, the shares of the votes."""
    scores = weight_sums(labels, weight)
    total = scores.sum(axis=1, keepdims=True)
    if (total != 0).all():
        return np.asarray(scores / total)
    return np.asarray(np.divide(scores, total, out=shares(labels), where=total != 0))


def winners(scores: Array) -> Array:
    """Return (items), the class with the highest score; of those that only rounding separates, the first."""
    return best_two(scores, TIE)[0]


def agreement(answers: Answers, best: Array) -> Array:
    """Return (workers), the share of a worker's answers that are the class of their task; repeats count once."""
    starts, workers, said = answers.distinct
    count = len(answers.workers)
    agreed = workers[said == np.repeat(best, np.diff(starts))]
    return np.bincount(agreed, minlength=count) / np.bincount(workers, minlength=count)
