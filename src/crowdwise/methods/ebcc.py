r"""EBCC: classes have hidden subtypes, through which the errors of workers are correlated.

$$ z_i \sim Cat(\pi), \; g_i \mid z_i = k \sim Cat(\varpi_k), \; y_{ij} \mid z_i = k, g_i = m \sim Cat(V_{jkm}) $$

Here z_i is the true class of item i and g_i its subtype within the class; pi is how common the classes are, and varpi_k
how common the subtypes of class k are. y_ij is the class that worker j said; when class k and subtype m are true, V_jkm
are the probabilities of what the worker says. Items of one subtype are mistaken by many workers in the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from ..crowd.labels import Labels
from ..crowd.votes import shares
from ..errors import require_room
from ..families.confusion_matrices.base import ConfusionCounts, Confusions
from ..families.confusion_matrices.model import sweep_confusions
from ..fitting.engines.memory import make_result
from ..fitting.iterations import Progress
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import parameter, random_seed, settled_within
from ..fitting.restarts import Fitted, attempts_at_once, best_of, by_name, fit_from
from ..fitting.sweeping import Finished, Statistics, SweepingMethod
from ..numerics import Array
from ..numerics.elementary import softmax
from ..results.ending import Ending
from ..results.result import Result

# A subtype whose log probability is this much below that of the best one is left out: it would be lost in rounding
# anyway, and most subtypes of an item are that unlikely.
_NEGLIGIBLE: Final = 40.0


@dataclass(frozen=True, eq=False)
class Subtypes(Confusions):
    """What EBCC learned: the attributes of `Confusions`, for states instead of true classes.

    A state is a class together with one of its subtypes.

    Attributes:
        vote_classes: (classes), the sum of the vote shares of each class over the items.
        divergence: The Kullback-Leibler divergence of the parameters' posterior from their prior.
    """

    vote_classes: Array
    divergence: float

    @property
    def class_prior(self) -> Array:
        """How common each class is expected to be: the sum over its subtypes."""
        return np.asarray(softmax(self.log_prior).reshape(len(self.vote_classes), -1).sum(axis=1))


@dataclass(frozen=True)
class EBCC(SweepingMethod[Subtypes, ConfusionCounts]):
    """Workers whose errors are correlated through hidden subtypes of the classes.

    Use it where many workers make the same error on the same hard items. It takes `subtypes` times as long as other
    confusion-matrix methods. Random starts lead to different results; the one with the best bound on the probability of
    the labels is kept, but that need not be the most accurate one.

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

    subtypes: int = parameter(
        10, "How many subtypes each class has at most (M in the paper).", at_least=1, at_most=1000
    )
    concentration: float = parameter(
        0.1,
        "The concentration of the prior of the subtypes: the smaller it is, the fewer subtypes are used.",
        above=0,
    )
    diagonal: float | None = parameter(
        None,
        "How many right labels the prior counts in every row of a confusion matrix. If None, 4 as published, but with "
        "more than five classes as many as the wrong labels in the row together, so that the prior does not expect "
        "workers to be wrong more often than right.",
        above=0,
    )
    off_diagonal: float = parameter(
        1.0, "How many labels the prior counts of each wrong class in every row of a confusion matrix.", above=0
    )
    tolerance: float = settled_within(1e-3)
    max_iterations: int = parameter(
        200,
        "The most iterations of each start before it stops without having converged. Subtypes can go on moving long "
        "after the classes have converged.",
        at_least=1,
    )
    restarts: int = parameter(
        2,
        "How many random starts to try; the paper's experiment has 40. More starts find better bounds, but rarely "
        "better answers.",
        at_least=1,
    )
    seed: int = random_seed()

    @classmethod
    def released(cls) -> "EBCC":
        """The method as in its paper: forty starts, and 4 right labels in the prior for any number of classes."""
        return cls(diagonal=4.0, restarts=40, max_iterations=500)

    def limits(self) -> Limits:
        """All labels must be in memory, and scores are no sums over the votes."""
        return replace(
            super().limits(),
            in_memory="because it draws a start for all items at once",
            unexplained="a class's probability is that of its subtypes together, and only each of those is a sum",
        )

    def infer(self, labels: Any, progress: Progress | None) -> Result:
        """Iterate from several random starts, and keep the result with the best bound."""
        best = best_of(self.restarts, partial(self._attempt, labels, shares(labels)), labels, progress)
        return make_result(self, labels, best.scores, best.ending)

    def _attempt(self, labels: Labels, share: Array, number: int, progress: Progress) -> Fitted:
        """Iterate from the vote shares (items, classes), which are split at random between the subtypes."""
        random = np.random.default_rng([self.seed, number])
        split = by_name(labels.names.items, random.dirichlet(np.ones(self.subtypes), share.shape))
        return fit_from(self, labels, (share[:, :, None] * split).reshape(len(share), -1), progress)

    def finish(self, labels: Labels, scores: Array, workers: Subtypes | None) -> Finished:
        """The probabilities of the classes: each is the sum over the subtypes of the class."""
        return Finished(scores.reshape(len(scores), -1, self.subtypes).sum(axis=2))

    def check(self, labels: Any) -> None:
        """Refuse votes that name several classes, and labels for which the arrays would not fit in memory."""
        super().check(labels)
        require_room(
            self._bytes_needed(labels),
            "EBCC needs a confusion matrix for every worker, and scores for every item, by subtype and start: "
            f"{labels.n_workers:,} workers and {labels.n_items:,} items with {labels.n_classes:,} classes, "
            f"{self.subtypes:,} subtypes and {self.restarts:,} starts",
            "Use fewer subtypes, or a method with a number per worker instead, such as bwa.",
        )

    def _bytes_needed(self, labels: Labels) -> int:
        """The most bytes that are in use at the same time."""
        confusion, share = labels.n_workers * labels.n_classes**2, labels.n_items * labels.n_classes
        evidence, scores = confusion * self.subtypes, share * self.subtypes
        # Each run in progress, and the best finished one, has the result that it may return, with its counts. A run in
        # progress also has posteriors and the arrays that those are made from, the parameters of the iteration before,
        # and the scores that it started from.
        kept, temporary = 2 * evidence + confusion + scores, 3 * evidence + confusion + scores
        running = attempts_at_once(self.restarts, labels)
        of_labels = 2 * labels.n_labels  # their numbered copy, and the item of each
        return 8 * (of_labels + share + min(self.restarts, running + 1) * kept + running * temporary)

    def count_size(self, labels: Labels) -> int:
        """The size of the confusion matrices of all workers and subtypes."""
        return labels.n_workers * labels.n_classes**2 * self.subtypes

    def empty_counts(self, labels: Labels, workers: Subtypes | None) -> ConfusionCounts:
        """Zeros, which `sweep` adds to."""
        states = labels.n_classes * self.subtypes
        return ConfusionCounts(np.zeros((labels.n_workers, labels.n_classes, states)), np.zeros(states), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Subtypes | None, counts: ConfusionCounts) -> Array:
        """E step: score items by the probabilities of their states, and count what each worker says of each state."""
        changes = np.zeros(scores.shape[1])
        sweep_confusions(
            labels,
            None,  # there are too many states for the registers of a processor
            None if workers is None else (workers.evidence.reshape(-1, scores.shape[1]), workers.log_prior),
            _NEGLIGIBLE,
            scores,
            changes,
            *counts,
        )
        return np.asarray(changes.reshape(-1, self.subtypes).max(axis=1))

    def clamp(self, scores: Array, known: int) -> None:
        """Leave the subtypes of the known class as they are to each other, and no other class possible."""
        by_class = scores.reshape(len(scores), -1, self.subtypes)
        chosen = by_class[:, known].copy()
        total = chosen.sum(axis=1, keepdims=True)
        by_class[:] = 0.0
        # Of a class that nobody named, all subtypes begin alike.
        by_class[:, known] = np.divide(chosen, total, out=np.full_like(chosen, 1 / self.subtypes), where=total > 0)

    def statistics(self, ending: Ending) -> Statistics:
        """Return what was counted, with an axis for classes and one for subtypes instead of one for states."""
        kept = super().statistics(ending)
        confusion, classes = kept.per_worker["confusion"], kept.shared["classes"]
        kept.per_worker["confusion"] = confusion.reshape(*confusion.shape[:-1], -1, self.subtypes)
        kept.shared["classes"] = classes.reshape(-1, self.subtypes)
        return kept

    def add_earlier(self, counts: ConfusionCounts, earlier: Mapping[str, Array], workers: Subtypes | None) -> None:
        """Add what was counted in earlier labels."""
        of_states = {name: earlier[name].reshape(*earlier[name].shape[:-2], -1) for name in ("confusion", "classes")}
        super().add_earlier(counts, of_states, workers)

    def estimate(self, counts: ConfusionCounts, previous: Subtypes | None, change: Array) -> Subtypes:
        """M step: the expected logarithms of all probabilities under their Dirichlet posteriors."""
        states = counts.classes.reshape(-1, self.subtypes)
        n_classes = len(states)
        votes = states.sum(axis=1) if previous is None else previous.vote_classes
        bound = 0.0 if previous is None else counts.log_likelihood[0] - previous.divergence
        # The prior of a class without votes is not exactly zero, because its logarithm must be finite.
        class_prior, subtype_prior = np.maximum(votes, 1e-9), np.full(states.shape, self.concentration / self.subtypes)
        diagonal = max(4.0, (n_classes - 1) * self.off_diagonal) if self.diagonal is None else self.diagonal
        cell_prior = self.off_diagonal + (diagonal - self.off_diagonal) * np.eye(n_classes)
        cell_prior = np.repeat(cell_prior, self.subtypes, axis=0).T[None]  # (1, said class, states)
        _, log_classes, class_divergence = _posterior(states.sum(axis=1), class_prior, 0)
        subtypes, log_subtypes, subtype_divergence = _posterior(states, subtype_prior, 1)
        cells, log_cells, cell_divergence = _posterior(counts.confusion, cell_prior, 1)
        by_class = (cells / cells.sum(axis=1, keepdims=True)).reshape(len(cells), n_classes, n_classes, self.subtypes)
        used = subtypes / subtypes.sum(axis=1, keepdims=True)
        confusion = np.einsum("jlkm,km->jkl", by_class, used)
        return Subtypes(
            evidence=log_cells,
            log_prior=(log_classes[:, None] + log_subtypes).ravel(),
            matrices=confusion,
            objective=np.array([-bound]),
            vote_classes=votes,
            divergence=class_divergence + subtype_divergence + cell_divergence,
        )


def _posterior(counts: Array, prior: Array, axis: int) -> tuple[Array, Array, float]:
    """Dirichlet posteriors along an axis: their counts, their expected logarithms, and their divergence from the prior.

    The divergence is the sum over all distributions. Most counts are zero, and the prior has few numbers, so the slow
    functions are computed for the prior and for the counts above zero only.
    """
    from scipy import special  # imported here because it is slow to import

    counted = counts > 0
    posterior = counts + prior
    total, prior_total = posterior.sum(axis=axis, keepdims=True), prior.sum(axis=axis, keepdims=True)
    expected = np.broadcast_to(special.digamma(prior), counts.shape).copy()
    expected[counted] = special.digamma(posterior[counted])
    expected -= special.digamma(total)
    totals = special.gammaln(total).sum() - np.broadcast_to(special.gammaln(prior_total), total.shape).sum()
    norm = np.broadcast_to(special.gammaln(prior), counts.shape)[counted].sum()
    norm -= special.gammaln(posterior[counted]).sum()
    return posterior, expected, float(totals + norm + (counts * expected).sum())
