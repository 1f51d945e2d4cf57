r"""LA: items come one by one; each is decided by the workers' records so far, and the decision goes on their records.

$$ \hat z_i = \arg\max_k \sum_{j: y_{ij} = k} c_j / t_j, \quad t_j \to t_j + 1, \; c_j \to c_j + 1[y_{ij} = \hat z_i] $$

from c = 1 and t = 2; a second pass weighs votes by K c_j / t_j - 1. Yang, Zhao, Wei and Chen, "A Lightweight, Effective
and Efficient Model for Label Aggregation in Crowdsourcing", TKDD 18, 2024, https://arxiv.org/abs/2212.00007.
"""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..errors import CallError, require_whole
from ..inference.loop import Progress
from ..inference.restarts import by_name
from ..kernels import Array
from ..results.contributions import Support
from ..results.quality import accuracies
from ..results.result import TIE, Convergence, Result


@dataclass(frozen=True, eq=False)
class Records:
    """What every worker's votes weighed in the end.

    Attributes:
        record: (workers), c / t.
        weight: (workers), of a vote in the second pass.
    """

    record: Array
    weight: Array


@dataclass(frozen=True)
class LightweightAggregation:
    """One look at every item, and one more.

    Use it where labels stream in and an answer cannot wait, or as the quickest step up from majority vote. An answer of
    the first pass depends on the items before it: their order is drawn by the seed, whatever the order of the rows.

    Args:
        passes: 1, scores are shares of the weighted votes; or 2, items are decided again by the final records, scores
            are margins.
        seed: Of the order of the items.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LightweightAggregation().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    passes: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.passes not in (1, 2):
            raise CallError(f"passes={self.passes!r} is neither 1 nor 2.")
        require_whole(0, seed=self.seed)

    @property
    def not_a_sum(self) -> str:
        """Why votes do not add up; empty where they do."""
        return (
            "" if self.passes == 2 else "a first-pass vote weighs what its worker's record was then, which is not kept"
        )

    def support(self, one: Labels, item: int, workers: Records) -> Support:
        """What each vote on one item adds to the score of the class it names."""
        return Support.of_votes(workers.weight[one.workers], one.n_classes)

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called after each pass.
        """
        labels.require_suitable(self)
        labels.require_single_votes("LightweightAggregation")
        arrays = (labels.item_starts, labels.workers, labels.labels)
        drawn = np.random.default_rng(self.seed).random(labels.n_items)
        order = np.argsort(by_name(labels.names.items, drawn))
        scores = np.zeros((labels.n_items, labels.n_classes))
        right, given = np.ones(labels.n_workers), np.full(labels.n_workers, 2.0)
        kernels.stream_votes(*arrays, order, TIE, right, given, scores)
        record = right / given
        weight = labels.n_classes * record - 1
        scores /= scores.sum(axis=1, keepdims=True)
        if progress is not None:
            progress(1, 1.0)
        if self.passes == 2:
            votes = np.zeros(labels.n_workers), np.zeros(labels.n_workers)
            kernels.sweep_votes(*arrays, weight, TIE, True, scores, np.zeros(labels.n_classes), *votes)
            if progress is not None:
                progress(2, 0.0)
        return Result.build(
            self,
            labels,
            scores,
            "weight" if self.passes == 1 else "margin",
            convergence=Convergence(self.passes, True, 0.0),
            workers=Records(record, weight),
            quality=accuracies,
        )
