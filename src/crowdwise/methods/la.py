r"""The model of `LightweightAggregation`.

$$ \hat z_i = \arg\max_k \sum_{j: y_{ij} = k} c_j / t_j, \quad t_j \to t_j + 1, \; c_j \to c_j + 1[y_{ij} = \hat z_i] $$

from c = 1 and t = 2; a second pass weighs votes by K c_j / t_j - 1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..inference.in_memory import InMemoryMethod, Step, Steps, ready
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..inference.restarts import by_name
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust
from ..results.result import TIE, Scale


@dataclass(frozen=True, eq=False)
class Records(Learned):
    """What every worker's votes weighed in the end.

    Attributes:
        record: (workers), c / t.
        weight: (workers), of a vote in the second pass.
    """

    record: Array
    weight: Array

    def trust(self) -> Trust:
        """What a worker's vote weighs in the second pass."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class LightweightAggregation(InMemoryMethod):
    """One look at every item, and one more.

    Use it where labels stream in and an answer cannot wait, or as the quickest step up from majority vote. An answer of
    the first pass depends on the items before it: their order is drawn by the seed, whatever the order of the rows.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LightweightAggregation().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "la"
    summary: ClassVar[str] = (
        "LA: items come one by one; each is decided by the workers' records so far, and the decision goes on their "
        "records."
    )
    paper: ClassVar[Reference] = Reference(
        "Yang, Zhao, Wei and Chen",
        "A Lightweight, Effective and Efficient Model for Label Aggregation in Crowdsourcing",
        "TKDD 18, 2024",
        "https://arxiv.org/abs/2212.00007",
    )

    starts_at_random: ClassVar[bool] = True

    passes: int = parameter(
        2,
        "1, scores are shares of the weighted votes; or 2, items are decided again by the final records, scores are "
        "margins.",
        at_least=1,
        at_most=2,
    )
    seed: int = parameter(0, "Of the order of the items.", at_least=0)

    @property
    def tolerance(self) -> float:  # type: ignore[override]  # a parameter elsewhere
        """The last pass moves nothing any more."""
        return 0.0

    @property
    def max_iterations(self) -> int:  # type: ignore[override]  # a parameter elsewhere
        """As many iterations as passes."""
        return self.passes

    @property
    def scale(self) -> Scale:  # type: ignore[override]  # the same for all elsewhere
        """Shares of weighted votes after one pass, margins after two."""
        return "weight" if self.passes == 1 else "margin"

    @property
    def unexplained_reason(self) -> str:
        """After one pass only, votes do not add up."""
        if self.passes == 2:
            return ""
        return "a first-pass vote weighs what its worker's record was then, which is not kept"

    def contributions(self, one: Labels, item: int, workers: Records) -> Contributions:
        """What each vote on one item adds to the score of the class it names."""
        return Contributions.of_votes(workers.weight[one.workers], one.n_classes)

    def iterate(self, labels: Labels) -> Steps:
        """One pass over the items in a random order, and one more with the final records."""
        arrays = (labels.item_starts, labels.workers, labels.labels)
        drawn = np.random.default_rng(self.seed).random(labels.n_items)
        order = np.argsort(by_name(labels.names.items, drawn))
        scores = np.zeros((labels.n_items, labels.n_classes))
        right, given = np.ones(labels.n_workers), np.full(labels.n_workers, 2.0)
        kernels.stream_votes(*arrays, order, TIE, right, given, scores)
        record = right / given
        weight = labels.n_classes * record - 1
        scores /= scores.sum(axis=1, keepdims=True)
        yield Step(0.0 if self.passes == 1 else 1.0, ready(scores, Records(record, weight)))
        votes = np.zeros(labels.n_workers), np.zeros(labels.n_workers)
        kernels.sweep_votes(*arrays, weight, TIE, scores, np.zeros(labels.n_classes), *votes)
        yield Step(0.0, ready(scores, Records(record, weight)))
