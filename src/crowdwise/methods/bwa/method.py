r"""BWA, Bayesian Weighted Average: good workers have more weight in the average of the votes.

$$ z_i \sim N(\mu, \lambda^{-1}), \quad y_{ij} \sim N(z_i, v_j^{-1}), \quad v_j \sim Gamma(a/2, b/2) $$

There is such a model for each class against all others. For one class, z_i is the score of item i, y_ij is 1 if the
vote of worker j names the class and 0 if it does not, and v_j is the weight of the worker's votes. The mean score mu
has the weight lambda, which is `mean_weight`. The prior of the weights is worth a votes (`prior_strength`) with b
errors among them. The weights v are integrated out: the scores are the most likely ones over all possible weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd, require_single_votes
from ...crowd.votes import as_said, disagreement, weight_per_item, weight_per_worker
from ...errors import CallError
from ...families.coins.base import coin_contributions
from ...fitting.engines.memory import make_result
from ...fitting.iterations import Progress
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, random_seed
from ...fitting.sweeping import Statistics, SweepingMethod
from ...numerics import Array, elementary
from ...results.contributions import Contributions
from ...results.ending import Ending
from ...results.in_parts import Inferred
from ...results.result import Scale
from . import model
from .logistic_link import LogisticLink
from .restarts import best_by_class
from .two_sided import TwoSidedAverage
from .weights import Errors, Weights, first_computed


@dataclass(frozen=True)
class BWA(SweepingMethod[Weights, Errors]):
    """Bayesian Weighted Average: the average of the votes, in which good workers have more weight.

    Use it where items have several labels each: it is robust and fast, needs no tuning, and does not trust a worker
    because of a few labels. Where workers confuse particular classes with each other, a confusion-matrix method such
    as `ds` can use that, and BWA cannot. Scores are between 0 and 1, but they are not probabilities. Each class stops
    when its own scores have converged, so the scores of two classes add up to one only within the tolerance.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays(
    ...     [1, 1, 1, 2, 2, 2, 3, 3, 3], ["ann", "bob", "cem"] * 3, ["cat", "cat", "dog"] * 2 + ["dog", "dog", "cat"]
    ... )
    >>> BWA().fit(labels).to_frame().select("item", "label", "votes").rows()
    [(1, 'cat', 3), (2, 'cat', 3), (3, 'dog', 3)]
    """

    key: ClassVar[str] = "bwa"
    summary: ClassVar[str] = (
        "Bayesian Weighted Average: the truth is the workers' average vote, weighted by how well each agrees with it."
    )
    paper: ClassVar[Reference] = Reference(
        "Li, Rubinstein and Cohn",
        "Truth Inference at Scale: A Bayesian Model for Adjudicating Highly Redundant Crowd Annotations",
        "WWW 2019",
        "https://doi.org/10.1145/3308558.3313459",
    )

    prior_strength: float = parameter(
        15.0,
        "How many votes the prior on each worker is worth (a in the paper). The paper uses 15 with prior_correction "
        "and 30 without it.",
        above=0,
    )
    prior_correction: bool = parameter(
        True,
        "Whether to multiply the prior's error rate by 4 (1 - 1/classes). The error rate is measured from the vote "
        "shares, where it is at most 1/4; that of a worker who guesses is 1 - 1/classes.",
    )
    mean_weight: float = parameter(
        1.0,
        "The weight of the mean score of a class in the average of every item (lambda in the paper). It breaks ties.",
        above=0,
    )
    tolerance: float = parameter(
        1e-3,
        "Stop a class when none of its scores moves by more than this in one iteration, relative to the score.",
        above=0,
        tiny=True,
    )
    max_iterations: int = most_iterations(500)
    restarts: int = parameter(
        0,
        "How many random starts to try in addition to majority vote; for each class, the start with the lowest "
        "objective wins. The starts depend on the order of the items' and classes' names.",
        at_least=0,
    )
    seed: int = random_seed()
    weights: Literal["per_worker", "per_label"] = parameter(
        "per_worker",
        '"per_worker": a worker\'s votes for a class and its votes against the class have the same weight. '
        '"per_label": they have different weights, so that a worker can be good at recognising a class and bad at '
        "excluding it; the mean score of a class then stays its share of the votes. Over 17 of the paper's datasets "
        '"per_label" is less accurate, 0.816 on average against 0.829; for such workers, confusion-matrix methods are '
        "better.",
    )
    link: Literal["gaussian", "logistic"] = parameter(
        "gaussian",
        '"gaussian": the model of the paper, in which votes are numbers with an error. "logistic": votes are right or '
        "wrong with a probability, as the paper's introduction suggests; scores are then probabilities, no worker is "
        "worse than guessing, and accuracy is a little lower (0.822 on average, against 0.829).",
    )

    # A change is measured relative to the score plus this number. So a tolerance of 1e-3 is the test of numpy.allclose
    # with rtol=1e-3 and atol=1e-8.
    change_floor: ClassVar[float] = 1e-5
    scale: ClassVar[Scale] = "weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        extended = (self.weights == "per_label") + (self.link == "logistic")
        if extended == 2:
            raise CallError("Weights per label with the logistic link are two-sided confusion matrices: use ds.")
        if extended and self.restarts:
            raise CallError('restarts are for weights="per_worker" and link="gaussian": the others have one start.')
        if self.link == "logistic" and self.prior_strength <= 2:
            raise CallError(f"prior_strength={self.prior_strength!r}: the logistic link needs more than 2.")

    def limits(self) -> Limits:
        """Several starts need memory; weights per label and the logistic link take single votes."""
        plain = self.weights == "per_worker" and self.link == "gaussian"
        own = Limits(takes_sets=plain, takes_soft=plain and not self.restarts)
        if self.weights == "per_label":
            return replace(
                own,
                no_history="because weights per label are anchored at the shares of the votes at hand",
                unexplained="with weights per label, what a vote adds depends on the other votes",
            )
        if self.restarts:
            return replace(
                own,
                in_memory=f"because of restarts={self.restarts} (without them, it does not)",
                no_history="because the best of several starts is taken class by class",
            )
        return own

    @property
    def calibrated_as(self) -> str:
        """Another link and weights per label have constants of their own."""
        if self.link == "logistic":
            return LogisticLink.calibrated_as
        return TwoSidedAverage.calibrated_as if self.weights == "per_label" else self.key

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, by the name of the extension that cannot use them."""
        if not self.limits().takes_sets:
            extension = 'weights="per_label"' if self.weights == "per_label" else 'link="logistic"'
            require_single_votes(labels, f"BWA({extension})")

    @property
    def starts_at_random(self) -> bool:
        """Whether the method starts at random: only with restarts."""
        return self.restarts > 0

    def count_size(self, labels: Labels) -> int:
        """Workers times classes: the counts have an error for every worker and class."""
        return labels.n_workers * labels.n_classes

    def infer(self, labels: Any, progress: Progress | None) -> Inferred:
        """Run the loop once, or from several starts, or run the loop of the chosen link or weights."""
        extension = self._extension(labels.n_classes)
        if extension is not None:
            found: Inferred = extension.fit(labels, progress=progress, warn=False)
            return found.credited_to(self)
        if not self.restarts:
            return super().infer(labels, progress)
        fitted = best_by_class(self, labels, self.restarts, self.seed, progress)
        return make_result(self, labels, fitted.scores, fitted.ending)

    def _extension(self, n_classes: int) -> LogisticLink | TwoSidedAverage | None:
        """What runs instead of this loop if another link or weights per label are chosen; None if neither is."""
        if self.link == "logistic":
            return LogisticLink(self.prior_strength, self.tolerance, self.max_iterations)
        if self.weights == "per_label":
            return TwoSidedAverage(
                self.prior_strength,
                self._correction(n_classes),
                self.mean_weight,
                self.tolerance,
                self.max_iterations,
                self.change_floor,
            )
        return None

    def _correction(self, n_classes: int) -> float:
        """What the prior's error rate is multiplied by."""
        return 4 * (1 - 1 / max(n_classes, 2)) if self.prior_correction else 1.0

    def empty_counts(self, labels: Labels, workers: Weights | None) -> Errors:
        """Zeros, which `sweep` adds to."""
        computed = first_computed(labels.n_classes, labels.set_valued) if workers is None else workers.computed
        errors, sums = elementary.zeros(labels.n_workers, len(computed)), np.zeros((2, len(computed)))
        if workers is not None:
            return Errors(errors, sums, *(np.empty(0),) * 4)
        return Errors(errors, sums, np.zeros(labels.n_workers), np.zeros(labels.n_classes), np.zeros(1), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Weights | None, counts: Errors) -> Array:
        """E step: score items by the weighted average of their votes. Count the squared errors for the M step.

        Classes that have converged are left out.
        """
        if workers is None:
            computed, weights, mirrored = first_computed(labels.n_classes, labels.set_valued), None, False
            counts.votes[:] += weight_per_worker(labels)
            # An item counts by its labels, as in the paper: more than its votes if a vote names several classes.
            disagreement(labels, weight_per_item(labels), counts.disagreement)
            counts.items[:] += labels.n_items
            counts.set_votes[:] += 0 if labels.continued is None else labels.continued.sum()
        else:
            computed, mirrored = workers.computed, workers.mirrored
            mean = workers.mean[list(computed)]
            weights = None if workers.scores_are_known else (workers.computed_weight, mean)
        given = self.mean_weight, self.change_floor, mirrored and weights is not None
        return model.sweep(labels, labels.continued, computed, weights, *given, scores, counts.errors, counts.sums)

    def sweep_known(self, labels: Labels, scores: Array, known: int, workers: Weights | None, counts: Errors) -> None:
        """Count the errors on items of a known class, whose scores stay as they are."""
        self.sweep(labels, scores, None if workers is None else replace(workers, scores_are_known=True), counts)

    def rescore(self, labels: Labels, workers: Weights) -> Array:
        """The scores that follow from these weights, of all classes, whether they have converged or not."""
        scores = np.zeros((labels.n_items, labels.n_classes))
        # Two classes are scored one by one: once one of them has converged, its scores are no longer one minus the
        # scores of the other.
        together = np.eye(2, dtype=bool) if labels.n_classes == 2 else np.ones((1, labels.n_classes), bool)
        for running in together:
            these = replace(workers, running=running)
            self.sweep(labels, scores, these, self.empty_counts(labels, these))
        return scores

    def estimate(self, counts: Errors, previous: Weights | None, change: Array) -> Weights:
        """M step: learn the weights from the errors. A class that has converged keeps those that gave its scores."""
        if previous is None:
            previous = self._prior(counts)
        classes, new_errors, total, squares = previous.counted(counts)
        evidence = self.prior_strength + previous.votes
        smoothed = previous.prior_errors[classes] + new_errors
        variation = squares - total**2 / previous.items
        objective = previous.objective.copy()
        objective[classes] = self.mean_weight / 2 * variation + evidence @ np.log(smoothed) / 2
        moving = change[classes] > self.tolerance
        running = np.zeros_like(previous.running)
        running[classes[moving]] = True
        weight = model.m_step(new_errors, previous.votes, self.prior_strength, previous.prior_errors[classes])
        errors, mean = new_errors, total / previous.items
        if not running.all():
            weight = _keep_converged(previous.weight, weight, running, moving)
            errors = _keep_converged(previous.errors, errors, running, moving)
            mean = _keep_converged(previous.mean, mean, running, moving)
        return replace(previous, weight=weight, errors=errors, mean=mean, running=running, objective=objective)

    def statistics(self, ending: Ending) -> Statistics:
        """Return errors and votes per worker; sums of scores, disagreement and the number of items for all.

        The counts of the last sweep would not do: they leave out classes that had converged before.
        """
        last: Weights = ending.next_workers
        # The best of several starts is taken class by class, and votes for several classes are counted otherwise.
        if self.restarts or last.set_valued:
            return Statistics.nothing()
        about_all = {
            "total": last.mean * last.items,
            "disagreement": last.disagreement,
            "items": np.array([last.items]),
        }
        axes: dict[str, tuple[int, ...]] = {"errors": (1,), "total": (0,), "disagreement": (0,)}
        return Statistics({"errors": last.errors, "votes": last.votes}, about_all, axes)

    def add_earlier(self, counts: Errors, earlier: Mapping[str, Array], workers: Weights | None) -> None:
        """Add earlier errors of the classes that are computed, and in a first sweep what never changes."""
        squares = earlier["total"] ** 2 / np.maximum(earlier["items"], 1.0)  # as if these scores were all alike
        # The first sweep computes class 0 only if class 1 follows from it; then the errors have one column.
        first = first_computed(len(squares), set_valued=counts.errors.shape[1] > 1)
        computed = list(first if workers is None else workers.computed)
        counts.errors[:] += earlier["errors"][:, computed]
        counts.sums[:] += np.stack([earlier["total"], squares])[:, computed]
        if workers is None:
            counts.votes[:] += earlier["votes"]
            counts.disagreement[:] += earlier["disagreement"]
            counts.items[:] += earlier["items"]

    def contributions(self, one: Labels, item: int, workers: Any) -> Contributions:
        """What each vote on one item adds to the weighted average of the class that it names.

        The averages are sums divided by the total weight, which depends on who voted but not on what they said.
        """
        if self.link == "logistic":
            return coin_contributions(one, workers)
        weight = workers.weight[one.workers]
        if one.soft is not None:
            weight = one.soft[:, -1:] * weight
        voters = weight if one.continued is None else weight[~one.continued.astype(bool)]
        total = self.mean_weight + voters.sum(axis=0)
        if one.soft is not None:
            added = (weight / total)[:, None, :] * as_said(one)
            return Contributions(self.mean_weight * workers.mean / total, added, logarithmic=False)
        return Contributions(self.mean_weight * workers.mean / total, weight / total, logarithmic=False)

    def _prior(self, counts: Errors) -> Weights:
        """What is known before the first weights are learned; no class has converged yet."""
        shape = (len(counts.votes), len(counts.disagreement))
        # If votes disagree at all, the sum is at least a half. If they do not, it is zero, and b must not be.
        error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes.sum()
        return Weights(
            weight=np.zeros(shape),
            errors=np.zeros(shape),
            mean=np.zeros(shape[1]),
            prior_errors=self.prior_strength * error_rate * self._correction(shape[1]),
            prior_strength=self.prior_strength,
            votes=counts.votes,
            items=float(counts.items[0]),
            set_valued=bool(counts.set_votes[0]),
            disagreement=counts.disagreement,
            running=np.ones(shape[1], bool),
            objective=np.zeros(shape[1]),
        )

    def variance(self, labels: Labels, scores: Array, workers: Weights) -> Array:
        """(items, classes): the posterior variance of the scores."""
        given = workers.weight, workers.votes, self.prior_strength, self.mean_weight

        def variances(first: int, last: int, part: Labels) -> Array:
            return model.score_variances(part, scores[first:last], *given)

        return np.concatenate(list(labels.map_slices(variances)))


def _keep_converged(previous: Array, new: Array, running: Array, moving: Array) -> Array:
    """The new values of the classes that have not converged, and the previous values of those that have.

    The last axis of `previous` and `running` is all classes, that of `new` and `moving` those that were computed.
    """
    values = previous.copy()
    values[..., running] = new[..., moving]
    return values
