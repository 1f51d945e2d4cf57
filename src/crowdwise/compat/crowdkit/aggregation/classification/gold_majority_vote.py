"""`GoldMajorityVote`: votes weigh how often their workers are right where the truth is known."""

from dataclasses import dataclass
from typing import Any

from crowdwise.compat.crowdkit.aggregation.classification.skilled_vote import SkilledVote
from crowdwise.compat.crowdkit.aggregation.utils import get_accuracy


@dataclass(eq=False)
class GoldMajorityVote(SkilledVote):
    """The skill of a worker is the share of its answers that are right, where the truth is known."""

    def fit(self, data: Any, true_labels: Any) -> "GoldMajorityVote":  # type: ignore[override]  # as in crowd-kit
        """Learn the skills; `true_labels` is a Series of true labels by task, in which a task may have several."""
        self.skills_ = get_accuracy(data, true_labels, by="worker").rename("skill")
        return self

    def fit_predict(self, data: Any, true_labels: Any) -> Any:  # type: ignore[override]  # as in crowd-kit
        """Fit, and return the label by task."""
        return self.fit(data, true_labels).predict(data)

    def fit_predict_proba(self, data: Any, true_labels: Any) -> Any:
        """Fit, and return the share of the skills for every label, by task."""
        return self.fit(data, true_labels).predict_proba(data)
