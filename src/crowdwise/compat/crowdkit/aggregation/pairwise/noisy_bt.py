"""`NoisyBradleyTerry`: scores of objects by workers with a skill and a bias, to crowd-kit's numbers."""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BasePairwiseAggregator
from crowdwise.compat.crowdkit.aggregation.utils import factorize
from crowdwise.compat.crowdkit.encoded_answers import require_columns
from crowdwise.numerics import Array

# The exponential of more than this is infinite.
_OVERFLOWS: Final = 709.0


@dataclass(eq=False)
class NoisyBradleyTerry(BasePairwiseAggregator):
    """A worker answers by the scores with the probability `skill`, and otherwise takes the left with that of `bias`.

    This gives crowd-kit's numbers, and with them its mistakes: its gradient has the derivatives of workers one place
    too early and from their last answers only, and its penalty has the wrong sign. So the answer depends on the order
    of rows, skills and biases hardly move from their random start, and ties are not allowed. `crowdwise.rank` fits
    judges who differ, with intervals.

    Args:
        n_iter: The most iterations of L-BFGS-B.
        tol: They end before if the loss changes by less than this.
        regularization_ratio: The weight of the penalty.
        random_state: The seed of the start.

    Attributes:
        scores_: The score by object, between 0 and 1.
        skills_: The skill by worker.
        biases_: The bias by worker.
    """

    n_iter: int = 100
    tol: float = 1e-5
    regularization_ratio: float = 1e-5
    random_state: int = 0

    def fit(self, data: Any) -> "NoisyBradleyTerry":
        """Learn from comparisons; `data` has the columns worker, left, right and label, the better one of the two.

        Warns:
            RuntimeWarning: Scores overflowed in the search.
        """
        from scipy.optimize import minimize
        from scipy.special import expit

        rows = require_columns(data, ("worker", "left", "right", "label"))
        objects, codes = factorize(rows[["left", "right", "label"]].to_numpy())
        workers, worker = factorize(rows["worker"].to_numpy())
        votes = _Votes(codes[:, 0], codes[:, 1], codes[:, 0] == codes[:, 2], worker, len(objects), len(workers))
        start = np.random.RandomState(self.random_state).rand(1 + votes.objects + 2 * votes.workers)
        options: Any = {"maxiter": self.n_iter, "ftol": np.float32(self.tol)}
        largest = 0.0

        def loss(x: Array, ratio: float) -> tuple[float, Array]:
            nonlocal largest
            largest = max(largest, float(np.abs(x).max()))
            return votes.loss(x, ratio)

        found = minimize(loss, start, (self.regularization_ratio,), "L-BFGS-B", jac=True, options=options).x
        if largest > _OVERFLOWS:
            warnings.warn(
                "Scores overflowed in the search, as in crowd-kit: some object won or lost nearly everything, so that "
                "no finite score is the best. crowdwise.rank has intervals for such objects.",
                RuntimeWarning,
                stacklevel=2,
            )
        scores, biases, skills = np.split(expit(found[1:]), [votes.objects, votes.objects + votes.workers])
        self.scores_ = pd.Series(scores, index=pd.Index(objects, name="label"), name="agg_score")
        self.biases_ = pd.Series(biases, index=workers, name="bias")
        self.skills_ = pd.Series(skills, index=workers, name="skill")
        return self


@dataclass(frozen=True, eq=False)
class _Votes:
    """Comparisons in codes: the left object, the right one, whether the left won, and the worker."""

    left: Array
    right: Array
    is_left: Array
    worker: Array
    objects: int
    workers: int

    def loss(self, x: Array, ratio: float) -> tuple[float, Array]:
        """Return crowd-kit's loss, and what crowd-kit takes for its gradient.

        The parameters are that of a virtual object, of the objects, the biases and the skills.
        """
        from scipy.special import expit, log_expit

        scores, biases, skills = np.split(x[1:], [self.objects, self.objects + self.workers])
        sign = np.where(self.is_left, 1.0, -1.0)
        skill = expit(skills[self.worker])
        by_score = expit(sign * (scores[self.left] - scores[self.right]))
        by_bias = expit(sign * biases[self.worker])
        likelihood = skill * by_score + (1 - skill) * by_bias
        gap = scores - x[0]
        loss = -np.log(likelihood).sum() + ratio * (log_expit(gap) + log_expit(-gap)).sum()
        gradient = np.zeros_like(x)
        of_score = sign * skill * by_score * (1 - by_score) / likelihood
        of_bias = sign * (1 - skill) * by_bias * (1 - by_bias) / likelihood
        of_skill = skill * (1 - skill) * (by_score - by_bias) / likelihood
        # The last answer of every worker, one place too early; the first of them is that of the last object.
        last = np.full(self.workers, -1)
        np.maximum.at(last, self.worker, np.arange(len(self.worker)))
        gradient[self.objects : self.objects + self.workers] = of_bias[last]
        gradient[self.objects + self.workers : -1] = of_skill[last]
        # What the last object gets from rows before that answer is overwritten by it.
        kept = np.arange(len(self.worker)) > last[0] if self.workers else np.zeros(0, bool)
        for change, place in ((of_score, self.left), (-of_score, self.right)):
            counted = kept | (place != self.objects - 1)
            gradient[1 : self.objects + 1] += np.bincount(place, change * counted, self.objects)
        slope = ratio * np.tanh(gap / 2)
        gradient[1 : self.objects + 1] -= slope
        gradient[0] += slope.sum()
        return float(loss), -gradient
