r"""The model of `EBCC`.

$$ z_i \sim Cat(\pi), \; g_i \mid z_i = k \sim Cat(\varpi_k), \; y_{ij} \mid z_i = k, g_i = m \sim Cat(V_{jkm}) $$

so that workers' errors are correlated through the subtype.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from .. import kernels
from ..data.labels import Labels, shares
from ..engines.memory import make_result
from ..errors import require_room
from ..inference.confusion_matrices import ConfusionCounts, Confusions
from ..inference.loop import Fitted, IterativeMethod, run
from ..inference.method import Progress, Reference
from ..inference.parameters import parameter
from ..inference.restarts import best_of, by_name, side_by_side
from ..kernels import Array
from ..results.result import Result

# Most subtypes of an item are out of the question; this many nats behind is below the rounding of the best one.
_NEGLIGIBLE: Final = 40.0


@dataclass(frozen=True, eq=False)
class Subtypes(Confusions):
    """Parameters by state, a state being a class with a subtype.

    Attributes:
        vote_classes: (classes), how many items majority vote puts in each class.
        divergence: How far the posterior of the parameters is from their prior.
    """

    vote_classes: Array
    divergence: float

    @property
    def class_prior(self) -> None:
        """Not known by class: the prior is one of states."""
        return None


@dataclass(frozen=True)
class EBCC(IterativeMethod[Subtypes, ConfusionCounts]):
    """Correlated workers through hidden subtypes of the classes.

    Use it where workers share misconceptions: hard items of a class that many get wrong alike. It costs `subtypes`
    times a confusion-matrix method, and random starts end differently: the one with the best bound on the evidence
    wins, which says little about accuracy.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(EBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "ebcc"
    summary: ClassVar[str] = (
        "EBCC: every class has hidden subtypes, and what a worker says depends on class and subtype, by variational "
        "Bayes."
    )
    paper: ClassVar[Reference] = Reference(
        "Li, Rubinstein and Cohn",
        "Exploiting Worker Correlation for Label Aggregation in Crowdsourcing",
        "ICML 2019",
        "https://proceedings.mlr.press/v97/li19i.html",
    )

    starts_at_random: ClassVar[bool] = True

    unexplained_reason: ClassVar[str] = (
        "a class's probability is that of its subtypes together, and only each of those is a sum"
    )

    subtypes: int = parameter(10, "M, how many each class may have.", at_least=1)
    concentration: float = parameter(
        0.1,
        "a, of the prior of the subtypes, Dir(a/M): the smaller, the fewer are used.",
        above=0,
    )
    diagonal: float | None = parameter(
        None,
        "beta_kk, the prior's count of right labels in every row of a confusion matrix. Unless given, 4 as "
        "published, and with more than five classes as many as the others in the row together: it should not expect "
        "workers to be wrong more often than right.",
        above=0,
    )
    off_diagonal: float = parameter(1.0, "beta_kl, its count in every other cell.", above=0)
    tolerance: float = parameter(1e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(
        200,
        "Stop each start then at the latest: subtypes merge slowly, long after the classes have settled.",
        at_least=1,
    )
    restarts: int = parameter(
        2,
        "How many random starts; 40 in the published experiment. More find better bounds, not often answers.",
        at_least=1,
    )
    seed: int = parameter(0, "Of the random starts.", at_least=0)

    @classmethod
    def released(cls) -> "EBCC":
        """The published experiment: the best of forty starts, and a prior of 4 to 1 for any number of classes."""
        return cls(diagonal=4.0, restarts=40, max_iterations=500)

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once."""
        return "because it draws a start for all items at once"

    def infer(self, labels: Any, progress: Progress | None) -> Result:
        """Iterate from several random starts, and keep the one with the best bound."""
        share = shares(labels)

        def attempt(number: int, progress: Progress) -> Fitted:
            random = np.random.default_rng([self.seed, number])
            split = by_name(labels.names.items, random.dirichlet(np.ones(self.subtypes), share.shape))
            start = (share[:, :, None] * split).reshape(len(share), -1)
            return run(self, labels, start, progress)

        best = best_of(self.restarts, attempt, labels, progress)
        return make_result(self, labels, best.scores, best.ending)

    def finish(self, scores: Array) -> Array:
        """The probability of a class is that of its subtypes together."""
        return np.asarray(scores.reshape(len(scores), -1, self.subtypes).sum(axis=2))

    def check(self, labels: Any) -> None:
        """Refuse votes that name several classes, and what would not fit in memory, before any of it is made."""
        super().check(labels)
        require_room(
            self._bytes_needed(labels),
            "EBCC needs a confusion matrix for every worker, and scores for every item, by subtype and start: "
            f"{labels.n_workers:,} workers and {labels.n_items:,} items with {labels.n_classes:,} classes, "
            f"{self.subtypes:,} subtypes and {self.restarts:,} starts",
            "Use fewer subtypes, or a method with a number per worker instead, such as bwa.",
        )

    def _bytes_needed(self, labels: Labels) -> int:
        """What starts take at the worst moment."""
        confusion, share = labels.n_workers * labels.n_classes**2, labels.n_items * labels.n_classes
        evidence, scores = confusion * self.subtypes, share * self.subtypes
        # The best so far is kept. A start at work has counts, posteriors and what they are made from besides, the
        # parameters before, and the scores that it started from.
        kept, besides = evidence + confusion + scores, 4 * evidence + confusion + scores
        at_work = side_by_side(self.restarts, labels)
        return 8 * (share + min(self.restarts, at_work + 1) * kept + at_work * besides)

    def count_size(self, labels: Labels) -> int:
        """A confusion matrix for every worker and subtype."""
        return labels.n_workers * labels.n_classes**2 * self.subtypes

    def empty_counts(self, labels: Labels, workers: Subtypes | None) -> ConfusionCounts:
        """Nothing counted yet."""
        states = labels.n_classes * self.subtypes
        return ConfusionCounts(np.zeros((labels.n_workers, labels.n_classes, states)), np.zeros(states), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Subtypes | None, counts: ConfusionCounts) -> Array:
        """Posterior probabilities of the states, and confusion counted by them."""
        changes = np.zeros(scores.shape[1])
        kernels.sweep_confusions(
            labels.item_starts,
            labels.workers,
            labels.labels,
            None,  # states are too many for registers
            None if workers is None else (workers.evidence.reshape(-1, scores.shape[1]), workers.log_prior),
            _NEGLIGIBLE,
            scores,
            changes,
            *counts,
        )
        return np.asarray(changes.reshape(-1, self.subtypes).max(axis=1))

    def estimate(self, counts: ConfusionCounts, previous: Subtypes | None, change: Array) -> Subtypes:
        """Expected logarithms under the Dirichlet posteriors."""
        states = counts.classes.reshape(-1, self.subtypes)
        n_classes = len(states)
        votes = states.sum(axis=1) if previous is None else previous.vote_classes
        bound = 0.0 if previous is None else counts.log_likelihood[0] - previous.divergence
        # A class without votes keeps a trace of prior, or its logarithm would be minus infinity.
        class_prior, subtype_prior = np.maximum(votes, 1e-9), np.full(states.shape, self.concentration / self.subtypes)
        diagonal = max(4.0, (n_classes - 1) * self.off_diagonal) if self.diagonal is None else self.diagonal
        cell_prior = self.off_diagonal + (diagonal - self.off_diagonal) * np.eye(n_classes)
        cell_prior = np.repeat(cell_prior, self.subtypes, axis=0).T[None]  # (1, said class, states)
        _, log_classes, far = _posterior(states.sum(axis=1), class_prior, 0)
        subtypes, log_subtypes, further = _posterior(states, subtype_prior, 1)
        cells, log_cells, furthest = _posterior(counts.confusion, cell_prior, 1)
        by_class = (cells / cells.sum(axis=1, keepdims=True)).reshape(len(cells), n_classes, n_classes, self.subtypes)
        used = subtypes / subtypes.sum(axis=1, keepdims=True)
        confusion = np.einsum("jlkm,km->jkl", by_class, used)
        return Subtypes(
            evidence=log_cells,
            log_prior=(log_classes[:, None] + log_subtypes).ravel(),
            matrices=confusion,
            objective=np.array([-bound]),
            vote_classes=votes,
            divergence=far + further + furthest,
        )


def _posterior(counts: Array, prior: Array, axis: int) -> tuple[Array, Array, float]:
    """Dirichlet posteriors along an axis: their counts, expected logarithms, and divergence from the prior, summed.

    Most counts are zero, so that the prior's functions of its few numbers do.
    """
    from scipy import special  # slow to import: not before it is needed

    counted = counts > 0
    posterior = counts + prior
    total, prior_total = posterior.sum(axis=axis, keepdims=True), prior.sum(axis=axis, keepdims=True)
    expected = np.broadcast_to(special.digamma(prior), counts.shape).copy()
    expected[counted] = special.digamma(posterior[counted])
    expected -= special.digamma(total)
    grown = special.gammaln(total).sum() - np.broadcast_to(special.gammaln(prior_total), total.shape).sum()
    norm = np.broadcast_to(special.gammaln(prior), counts.shape)[counted].sum()
    norm -= special.gammaln(posterior[counted]).sum()
    return posterior, expected, float(grown + norm + (counts * expected).sum())
