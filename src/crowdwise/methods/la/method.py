r"""LA, lightweight aggregation: items are decided one by one, by how often workers were right so far.

$$ \hat z_i = \arg\max_k \sum_{j: y_{ij} = k} c_j / t_j, \quad t_j \to t_j + 1, \; c_j \to c_j + 1[y_{ij} = \hat z_i] $$

Here z_i is the class that wins on item i, y_ij the class that worker j said, t_j how many labels of the worker have
been looked at, and c_j how many of those name the winner. c starts at 1 and t at 2. The ratio c_j / t_j is called the
worker's record. A second pass decides all items again, with votes that weigh K c_j / t_j - 1, for K classes.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...crowd.labels import Labels
from ...families.weighted_votes.model import weight_sums
from ...fitting.in_memory import InMemoryMethod
from ...fitting.iterations import Step, Steps, ready
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import parameter, random_seed
from ...fitting.restarts import by_name
from ...numerics import Array
from ...numerics.twins import twin
from ...results.contributions import Contributions
from ...results.learned import Learned, PerWorker, Trust
from ...results.result import Scale
from ...results.scores import TIE


@dataclass(frozen=True, eq=False)
class Records(Learned):
    """How often every worker was right in the first pass, and the weight of its votes in the second.

    Attributes:
        record: (workers), c / t in the formulas: the share of the worker's votes that name the winner.
        weight: (workers), the weight of the worker's votes in the second pass.
    """

    record: PerWorker
    weight: PerWorker

    def trust(self) -> Trust:
        """A worker is trusted by the weight of its votes in the second pass."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class LightweightAggregation(InMemoryMethod):
    """Votes weighted by how often each worker was right, in two passes over the items.

    Use it as the fastest method that is better than majority vote. In the first pass, the answer to an item depends on
    the items before it. Their order is random: it depends on the seed and the names of the items, not on the order of
    the rows.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LightweightAggregation().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "la"
    summary: ClassVar[str] = (
        "LA: items are decided one by one, by votes weighted by how often each worker was right on the items before."
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
        "How many passes to make over the items. With 1, scores are shares of the weighted votes. With 2, all items "
        "are decided again, by how often each worker was right in the first pass, and scores are margins.",
        at_least=1,
        at_most=2,
    )
    seed: int = random_seed("order of the items")

    # Only the last pass reports no change, so the method ends there and counts as converged.
    tolerance: ClassVar[float] = 0.0  # type: ignore[misc]  # no parameter here

    @property
    def max_iterations(self) -> int:  # type: ignore[override]  # in other methods it is a parameter
        """Every pass is an iteration."""
        return self.passes

    @property
    def scale(self) -> Scale:  # type: ignore[override]  # in other methods it is a constant
        """Shares of weighted votes after one pass, margins after two."""
        return "weight" if self.passes == 1 else "margin"

    @property
    def calibrated_as(self) -> str:
        """One pass has a constant of its own, because its scores are shares and not margins."""
        return "la-one-pass" if self.passes == 1 else self.key

    def limits(self) -> Limits:
        """It takes no gold, and only with two passes its scores are sums of what is known in the end."""
        return replace(
            super().limits(),
            no_gold="because it reads the items as a stream in which every answer is its own",
            unexplained=""
            if self.passes == 2
            else "a first-pass vote weighs what its worker's record was then, which is not kept",
        )

    def contributions(self, one: Labels, item: int, workers: Records) -> Contributions:
        """What each vote on one item adds to the score of the class that it names."""
        return Contributions.of_votes(workers.weight[one.workers], one.n_classes)

    def iterate(self, labels: Labels) -> Steps:
        """One pass over the items in a random order, and a second one with the final records."""
        drawn = np.random.default_rng(self.seed).random(labels.n_items)
        order = np.argsort(by_name(labels.names.items, drawn))
        scores = np.zeros((labels.n_items, labels.n_classes))
        right, given = np.ones(labels.n_workers), np.full(labels.n_workers, 2.0)
        stream_votes(labels, order, TIE, right, given, scores)
        record = right / given
        weight = labels.n_classes * record - 1
        scores /= scores.sum(axis=1, keepdims=True)
        yield Step(0.0 if self.passes == 1 else 1.0, ready(scores, Records(record, weight)))
        yield Step(0.0, ready(weight_sums(labels, weight), Records(record, weight)))


@twin("crowdwise.methods.la.kernel")
def stream_votes(labels: Labels, order: Array, tolerance: float, right: Array, given: Array, scores: Array) -> None:
    """Overwrite `scores` (items, classes) by weighted votes; a vote weighs how often its worker was right so far.

    Items are decided in the order of `order`, a permutation of their numbers. `given` (workers) is how many labels of a
    worker have been looked at, and `right` (workers) how many of them name the winner; a vote weighs `right / given`.
    After each item, the labels of its workers are added to both. Classes tie if their scores differ by no more than
    `tolerance`, relative to the highest; where n classes are tied, a label of one of them adds 1/n to `right`.
    """
    for i in order:
        of_item = slice(labels.item_starts[i], labels.item_starts[i + 1])
        workers, said = labels.workers[of_item], labels.labels[of_item]
        scores[i] = np.bincount(said, right[workers] / given[workers], labels.n_classes)
        wins = scores[i] >= scores[i].max() * (1 - tolerance)
        np.add.at(given, workers, 1.0)
        np.add.at(right, workers, wins[said] / wins.sum())
