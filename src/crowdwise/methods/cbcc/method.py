r"""The model of `CBCC`.

$$ c_j \sim Cat(\rho), \; s_{jk} \sim N(\mu_{c_j k}, \nu^{-1} I), \; y_{ij} \mid z_i = k \sim Cat(softmax(s_{jk})) $$

with a class prior and matrices as in iBCC, by variational message passing.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...data.labels import Labels, shares
from ...inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted
from ...inference.method import Reference
from ...inference.parameters import parameter
from ...inference.restarts import by_name
from ...kernels import Array
from .softmax_scores import expected_log, score_posterior, score_prior


@dataclass(frozen=True, eq=False)
class Communities(Confusions):
    """Workers' scores, and the communities around which they lie.

    Attributes:
        membership: (workers, communities), probabilities.
        mean: (workers, true class, said class), of the scores.
        variance: Of the same shape.
        centre: (communities, true class, said class), the communities' mean scores.
        centre_prior: (true class, said class), their mean before any label, and
        centre_precision: (true class, said class, said class), how sure that is.
    """

    membership: Array
    mean: Array
    variance: Array
    centre: Array
    centre_prior: Array
    centre_precision: Array


@dataclass(frozen=True)
class CBCC(ConfusionMethod):
    """Confusion matrices by communities of workers.

    Use it where workers have few labels each and come in kinds: careful ones, spammers, those who misread the
    question. Its workers have matrices, so many classes take long. Communities start at random, and where they end
    depends on it: with several classes, compare seeds. `CBCC.released()` is what the BWA paper compared with:
    without damping, which on some crowds goes back and forth between two answers for ever.

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

    communities: int = parameter(4, "M, how many there are.", at_least=1)
    noise_precision: float = parameter(5.0, "nu, how alike the members of one are.", above=0)
    membership_count: float = parameter(10.0, "The prior's count of workers in every community.", above=0)
    class_count: float = parameter(1.0, "Its count of items in every class.", above=0)
    damping: float = parameter(
        0.5,
        "The share of the last iteration's scores in the next: messages through the softmax are not certain to "
        "settle without it (Knowles and Minka, NIPS 2011).",
        at_least=0,
        below=1,
    )
    tolerance: float = parameter(1e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(100, "Stop then at the latest.", at_least=1)
    seed: int = parameter(0, "Of the communities that workers start in.", at_least=0)

    @classmethod
    def released(cls, seed: int = 0) -> "CBCC":
        """The implementation in the BWA paper's comparison."""
        return cls(damping=0.0, tolerance=0.0, max_iterations=40, seed=seed)

    def start(self, labels: Labels) -> tuple[Array, Confusions | None]:
        """Every worker in a random community, all of them alike."""
        classes = labels.n_classes
        # As many right labels as in iBCC's prior, and none of the others: a row of ones is no knowledge.
        right = 7 / 3 * max(classes - 1, 1) - 1
        mean, tightness = score_prior(right * np.eye(classes)[0])
        # The other rows are the first with two classes renamed.
        swapped = np.tile(np.arange(classes), (classes, 1))
        swapped[:, 0] = np.arange(classes)
        np.fill_diagonal(swapped, 0)
        prior, precision = mean[swapped], tightness[swapped[:, :, None], swapped[:, None, :]]
        spread = np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2) + 1 / self.noise_precision
        random = np.random.default_rng(self.seed)
        drawn = by_name(labels.names.workers, random.integers(self.communities, size=labels.n_workers))
        every_worker = (labels.n_workers, classes, classes)
        return shares(labels), Communities(
            evidence=as_evidence(np.broadcast_to(expected_log(prior, spread), every_worker)),
            log_prior=np.zeros(classes),
            matrices=np.zeros((0, classes, classes)),
            objective=np.zeros(1),
            membership=np.eye(self.communities)[drawn],
            mean=np.broadcast_to(prior, every_worker),
            variance=np.broadcast_to(spread, every_worker),
            centre=np.broadcast_to(prior, (self.communities, classes, classes)),
            centre_prior=prior,
            centre_precision=precision,
        )

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Workers' scores from what they said, then communities, then who belongs to which."""
        from scipy import special  # slow to import: not before it is needed

        assert isinstance(previous, Communities)
        said = counted(counts)
        classes = len(counts.classes)
        member = previous.membership
        mean, variance = np.empty_like(said), np.empty_like(said)
        centre = np.empty_like(previous.centre)
        distance = np.zeros_like(member)
        identity = self.noise_precision * np.eye(classes)
        for k in range(classes):
            before = previous.mean[:, k], previous.variance[:, k]
            after = score_posterior(*before, said[:, k], member @ previous.centre[:, k], self.noise_precision)
            mean[:, k], variance[:, k] = (self._damped(*pair) for pair in zip(before, after, strict=True))
            precision = previous.centre_precision[k]
            centre_covariance = np.linalg.inv(precision + member.sum(axis=0)[:, None, None] * identity)
            centre_linear = precision @ previous.centre_prior[k] + self.noise_precision * member.T @ mean[:, k]
            centre[:, k] = np.einsum("clm,cm->cl", centre_covariance, centre_linear)
            distance += ((mean[:, None, k] - centre[None, :, k]) ** 2).sum(axis=2)
            distance += np.trace(centre_covariance, axis1=1, axis2=2)
        size = special.digamma(member.sum(axis=0) + self.membership_count)
        support = size - self.noise_precision / 2 * distance
        expected = expected_log(mean, variance)
        log_prior = special.digamma(counts.classes + self.class_count)
        confusion = np.exp(expected)
        return replace(
            previous,
            evidence=as_evidence(expected),
            log_prior=log_prior,
            matrices=confusion / confusion.sum(axis=2, keepdims=True),
            objective=-counts.log_likelihood,
            membership=special.softmax(support, axis=1),
            mean=mean,
            variance=variance,
            centre=centre,
        )

    def _damped(self, old: Array, new: Array) -> Array:
        return self.damping * old + (1 - self.damping) * new
