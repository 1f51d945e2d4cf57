"""`SkilledVote`: the base of aggregators that learn a skill for every worker, and then weigh votes by it."""

from typing import Any

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import MajorityVote


class SkilledVote(BaseClassificationAggregator):
    """The base of aggregators whose `fit` learns `skills_`; the answers to predict may be others than those to learn.

    Attributes:
        labels_: The label by task; after a prediction.
        probas_: The share of the skills for every label; after a prediction.
        skills_: The skill by worker.
    """

    def predict(self, data: Any) -> Any:
        """Return the label by task: the one with the largest sum of its workers' skills."""
        return self._apply(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Return the share of the skills for every label, by task."""
        return self._apply(data).probas_

    def _apply(self, data: Any) -> Any:
        self.require_fitted("skills_")
        vote = MajorityVote().fit(data, self.skills_)  # type: ignore[attr-defined]  # `fit` makes it
        self.labels_, self.probas_ = vote.labels_, vote.probas_
        return self


class SelfSkilledVote(SkilledVote):
    """The base of those that learn the skills from the answers alone."""

    def fit_predict(self, data: Any) -> Any:
        """Fit, and return the label by task."""
        return self.fit(data).predict(data)

    def fit_predict_proba(self, data: Any) -> Any:
        """Fit, and return the share of the skills for every label, by task."""
        return self.fit(data).predict_proba(data)
