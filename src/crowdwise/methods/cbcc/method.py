r"""CBCC: workers belong to communities, whose members have similar confusion matrices.

$$ c_j \sim Cat(\rho), \; s_{jk} \sim N(\mu_{c_j k}, \nu^{-1} I), \; y_{ij} \mid z_i = k \sim Cat(softmax(s_{jk})) $$

Here z_i is the true class of item i, y_ij the class that worker j said, and c_j the community of the worker. When class
k is true, the probabilities of what the worker says are the softmax of its scores s_jk. The scores are normally
distributed around those of the community, mu, with precision nu (`noise_precision`); rho is how common each community
is. The model is fitted by variational message passing.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import shares
from ...errors import require_room
from ...families.confusion_matrices.base import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, by_true_class
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, random_seed, settled_within
from ...fitting.restarts import by_name
from ...numerics import Array
from ...numerics.elementary import softmax
from ...results.learned import PerWorker
from .softmax_scores import RowPrecision, expected_log, score_posterior, score_prior


@dataclass(frozen=True, eq=False)
class Communities(Confusions):
    """The communities, and for every worker its community and the scores that its confusion matrix is made of.

    Attributes:
        membership: (workers, communities), the probability that a worker belongs to a community.
        mean: (workers, true class, said class), the posterior means of the scores.
        variance: (workers, true class, said class), the posterior variances of the scores.
        centre: (communities, true class, said class), the mean scores of each community.
        centre_prior: (true class, said class), the mean scores of a community before any label.
        centre_precision: The precision of these scores before any label.
    """

    membership: PerWorker
    mean: PerWorker
    variance: PerWorker
    centre: Array
    centre_prior: Array
    centre_precision: RowPrecision


@dataclass(frozen=True)
class CBCC(ConfusionMethod):
    """Confusion matrices of workers who belong to communities.

    Use it where workers have few labels each and are of a few kinds, such as careful workers, spammers, and workers who
    misread the question. Do not use it with many classes: it has a matrix for every worker, so it is slow then. It
    starts with random communities, and the result depends on them: with several classes, compare seeds.

    `CBCC.released()` is what the BWA paper compared with: without damping. On some data it never converges, but changes
    back and forth between two answers.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(CBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "cbcc"
    summary: ClassVar[str] = (
        "CBCC: workers belong to communities, and a worker's confusion matrix is a variation of its community's."
    )
    paper: ClassVar[Reference] = Reference(
        "Venanzi, Guiver, Kazai, Kohli and Shokouhi",
        "Community-Based Bayesian Aggregation Models for Crowdsourcing",
        "WWW 2014",
        "https://doi.org/10.1145/2566486.2567989",
    )

    starts_at_random: ClassVar[bool] = True
    matrices_at_once: ClassVar[int] = 14

    communities: int = parameter(4, "How many communities of workers there are.", at_least=1, at_most=1000)
    noise_precision: float = parameter(
        5.0,
        "How similar the members of a community are: the precision of their scores around its mean (nu).",
        at_least=0.01,
    )
    membership_count: float = parameter(10.0, "How many workers the prior counts in every community.", above=0)
    class_count: float = parameter(1.0, "How many items the prior counts in every class.", above=0)
    damping: float = parameter(
        0.5,
        "The share of a worker's scores that is kept from the iteration before. Without damping the iterations may "
        "never converge (Knowles and Minka, NIPS 2011).",
        at_least=0,
        below=1,
    )
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(100)
    seed: int = random_seed()

    @classmethod
    def released(cls, seed: int = 0) -> "CBCC":
        """The method as in the released code that the BWA paper compared with."""
        return cls(damping=0.0, tolerance=0.0, max_iterations=40, seed=seed)

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and communities whose matrices do not fit in memory."""
        super().check(labels)
        require_room(
            16 * self.communities * (labels.n_workers + labels.n_classes**2),
            f"CBCC has matrices for {self.communities:,} communities with {labels.n_classes:,} classes, which",
            "Use fewer communities.",
        )

    def start(self, labels: Labels) -> tuple[Array, Confusions | None]:
        """Start with every worker in a random community; all communities have the same scores."""
        classes = labels.n_classes
        # iBCC's prior less one label of every class, because a count of one in every cell of a row says nothing.
        right = 7 / 3 * max(classes - 1, 1) - 1
        mean, first_precision = score_prior(right * np.eye(classes)[0])
        # The row of any other true class is the row of class 0 with these two classes exchanged.
        swapped = np.tile(np.arange(classes), (classes, 1))
        swapped[:, 0] = np.arange(classes)
        np.fill_diagonal(swapped, 0)
        prior, precision = mean[swapped], RowPrecision.of_first(first_precision)
        variance = np.diagonal(np.linalg.inv(first_precision))[swapped] + 1 / self.noise_precision
        random = np.random.default_rng(self.seed)
        drawn = by_name(labels.names.workers, random.integers(self.communities, size=labels.n_workers))
        every_worker = (labels.n_workers, classes, classes)
        expected = np.broadcast_to(expected_log(prior, variance), every_worker)
        return shares(labels), Communities(
            evidence=as_evidence(expected),
            log_prior=np.zeros(classes),
            matrices=softmax(expected),
            objective=np.zeros(1),
            membership=np.equal.outer(drawn, np.arange(self.communities)).astype(float),
            mean=np.broadcast_to(prior, every_worker),
            variance=np.broadcast_to(variance, every_worker),
            centre=np.broadcast_to(prior, (self.communities, classes, classes)),
            centre_prior=prior,
            centre_precision=precision,
        )

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: learn the workers' scores from what they said, then the communities, then who belongs to which."""
        from scipy import special  # imported here because it is slow to import

        assert isinstance(previous, Communities)
        said = by_true_class(counts)
        classes = len(counts.classes)
        member = previous.membership
        mean, variance = np.empty_like(said), np.empty_like(said)
        for k in range(classes):
            before = previous.mean[:, k], previous.variance[:, k]
            after = score_posterior(*before, said[:, k], member @ previous.centre[:, k], self.noise_precision)
            mean[:, k], variance[:, k] = (self._damped(*pair) for pair in zip(before, after, strict=True))
        centre, distance = np.empty_like(previous.centre), np.empty_like(member)
        precision, prior = previous.centre_precision, previous.centre_prior
        for community, (share, size) in enumerate(zip(member.T, member.sum(axis=0), strict=True)):
            linear = precision.times(prior) + self.noise_precision * np.tensordot(share, mean, axes=1)
            centre[community], traces = precision.plus(self.noise_precision * size).solve(linear)
            distance[:, community] = ((mean - centre[community]) ** 2).sum(axis=(1, 2)) + classes * traces
        size = special.digamma(member.sum(axis=0) + self.membership_count)
        support = size - self.noise_precision / 2 * distance
        expected = expected_log(mean, variance)
        log_prior = special.digamma(counts.classes + self.class_count)
        return replace(
            previous,
            evidence=as_evidence(expected),
            log_prior=log_prior,
            matrices=softmax(expected),
            objective=-counts.log_likelihood,
            membership=softmax(support),
            mean=mean,
            variance=variance,
            centre=centre,
        )

    def _damped(self, old: Array, new: Array) -> Array:
        """The new values, moved part of the way back to the old ones."""
        return self.damping * old + (1 - self.damping) * new
