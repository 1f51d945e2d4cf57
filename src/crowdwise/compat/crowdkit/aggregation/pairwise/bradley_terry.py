"""`BradleyTerry`: the share of every object, by the iterations that crowd-kit runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BasePairwiseAggregator
from crowdwise.compat.crowdkit.aggregation.utils import factorize
from crowdwise.compat.crowdkit.encoded_answers import require_columns


@dataclass(eq=False)
class BradleyTerry(BasePairwiseAggregator):
    """Every vote is equal, and the odds of a against b are the ratio of their scores.

    Hunter's iterations from equal scores, so that every `n_iter` with `tol=0` gives crowd-kit's scores. With another
    `tol`, crowd-kit ends after two iterations by mistake, and this when the scores stop moving. `crowdwise.rank` has
    intervals, ties, and judges who differ.

    Args:
        n_iter: The most iterations.
        tol: The iterations end before if the scores move by less than this in sum.

    Attributes:
        scores_: The score by object; they add up to 1.
        loss_history_: How much the scores moved in every iteration but the first.
    """

    n_iter: int
    tol: float = 1e-5

    def fit(self, data: Any) -> "BradleyTerry":
        """Learn from comparisons; `data` has the columns left, right and label, the better one of the two.

        Rows whose label is neither of the two count for nothing, as in crowd-kit.
        """
        names, codes = factorize(require_columns(data, ("left", "right", "label")).to_numpy())
        count = len(names)
        self.loss_history_: list[float] = []
        if not count:
            self.scores_ = pd.Series([], dtype=np.float64, name="agg_score")
            return self
        left, right, label = codes.T
        decided = (label == left) | (label == right)
        left, right, label = left[decided], right[decided], label[decided]
        wins = np.bincount(label, minlength=count).astype(np.float64)
        scores = np.full(count, 1 / count)
        for _ in range(self.n_iter):
            shared = 1 / (scores[left] + scores[right])
            before = scores
            scores = wins / (np.bincount(left, shared, count) + np.bincount(right, shared, count))
            scores = scores / scores.sum()
            self.loss_history_.append(float(np.abs(scores - before).sum()))
            if self.loss_history_[-1] < self.tol:
                break
        self.scores_ = pd.Series(scores, index=names, name="agg_score")
        return self
