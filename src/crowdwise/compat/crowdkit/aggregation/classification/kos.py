"""`KOS`: messages between tasks and workers, for two labels."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import winners
from crowdwise.compat.crowdkit.encoded_answers import Answers
from crowdwise.crowd.votes import shares
from crowdwise.errors import DataError
from crowdwise.methods import kos


@dataclass(eq=False)
class KOS(BaseClassificationAggregator):
    """Messages between tasks and workers, for two labels.

    Args:
        n_iter: The most iterations; it ends before if the messages have settled.
        random_state: Not used: messages start from majority vote, not at random.

    Attributes:
        labels_: The label by task.
    """

    n_iter: int = 100
    random_state: int = 0

    def fit(self, data: Any) -> "KOS":
        """Learn from answers; `data` has the columns task, worker and label. Raises `ValueError` without two labels."""
        answers = Answers.of(data)
        if answers.empty:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            return self
        if len(answers.classes) != 2:
            raise DataError(f"KOS is for two labels, and here are {len(answers.classes)}: use DawidSkene or another.")
        labels = answers.labels
        scores = kos.KOS(max_iterations=self.n_iter).fit(labels, warn=False).scores if self.n_iter else shares(labels)
        self.labels_ = answers.labels_series(winners(scores))
        return self
