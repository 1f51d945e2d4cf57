r"""GLAD: workers differ in ability, and items differ in difficulty.

$$ P(y_{ij} = z_i) = \sigma(\alpha_j e^{\beta_i}) $$

Here z_i is the true class of item i, y_ij the class that worker j said, alpha_j the ability of the worker, and
exp(beta_i) the ease of the item; sigma is the logistic function. A wrong label names each of the other classes equally
often, and all classes are equally likely.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from ...crowd.labels import Labels
from ...fitting.in_memory import InMemoryMethod
from ...fitting.iterations import Step, Steps, ready
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter
from ...numerics import Array
from ...parallel import Threads, runs
from ...results.contributions import Contributions
from ...results.learned import Learned, PerItem, PerWorker, Trust
from . import model

# A run is the work that a thread takes at once. A run of this many labels is long enough for a thread.
_LABELS_PER_RUN: Final = 1 << 13
# How many steps of L-BFGS-B are one iteration.
_STEPS: Final = 5


@dataclass(frozen=True, eq=False)
class Abilities(Learned):
    """How able the workers are, and how easy the items are.

    Attributes:
        ability: (workers), alpha in the formula: the larger, the more often the worker is right.
        log_ease: (items), beta in the formula: the larger, the easier the item.
    """

    ability: PerWorker
    log_ease: PerItem

    @property
    def difficulty(self) -> Array:
        """(items), one divided by the ease: the larger, the harder the item."""
        return np.asarray(np.exp(-self.log_ease))

    def trust(self) -> Trust:
        """A worker is trusted by its ability."""
        return Trust(self.ability, "Ability")


@dataclass(frozen=True)
class GLAD(InMemoryMethod):
    """An ability for every worker and a difficulty for every item.

    Use it where items differ in difficulty: an error of a good worker on a hard item then says little against the
    worker. It learns a number for every item, so it needs all labels in memory and many labels per item.

    It looks for the most likely abilities and eases, summed over all possible true classes, and goes on until nothing
    moves. So the order of the rows and the names change no more than the last digits of a score. Where workers hardly
    agree, the posterior can have several peaks; it climbs to the one that it reaches from equal abilities and eases.

    `GLAD.released()` is what the BWA paper compared with: expectation-maximisation, with a few conjugate gradient steps
    in every iteration. In that code the priors cancel each other, so it has none. Without priors, abilities and eases
    can grow without limit while the scores hardly change. The result then depends on when it stops, and on some data
    rounding alone changes the accuracy by up to 0.01.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(GLAD().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "glad"
    difficulty_is: ClassVar[str] = "one divided by the ease of the item, the beta of the paper"
    summary: ClassVar[str] = "GLAD: a label is right with the sigmoid of its worker's ability times its item's ease."
    paper: ClassVar[Reference] = Reference(
        "Whitehill, Ruvolo, Wu, Bergsma and Movellan",
        "Whose Vote Should Count More: Optimal Integration of Labels from Labelers of Unknown Expertise",
        "NIPS 2009",
        "https://papers.nips.cc/paper/3644",
    )

    prior: bool = parameter(
        True,
        "Whether abilities and logarithms of eases have normal priors with mean one and variance one, as in the paper.",
    )
    tolerance: float = parameter(
        1e-6,
        "Stop when no probability, ability or logarithm of an ease moves by more than this in one iteration. Without "
        "priors: when the expected log likelihood changes by no more than this, relative to itself.",
        at_least=0,
        tiny=True,
    )
    max_iterations: int = most_iterations(200)
    steps: int = parameter(
        25,
        "How many conjugate gradient steps there are at most in one iteration without priors. With priors, this is "
        "not used: an iteration is five steps of L-BFGS-B.",
        at_least=1,
    )

    @classmethod
    def released(cls) -> "GLAD":
        """The method as in the released code that the BWA paper compared with."""
        return cls(prior=False, tolerance=1e-4)

    def iterate(self, labels: Labels) -> Steps:
        """With priors, maximise the posterior; without, expectation-maximisation as in the released code."""
        return self._maximise_posterior(labels) if self.prior else self._maximise_expectations(labels)

    def _maximise_posterior(self, labels: Labels) -> Steps:
        """With priors: find a maximum of the posterior density of abilities and log eases, summed over the classes.

        By Fisher's identity, its gradient is that of the M step's objective after an E step at the same place.
        Expectation-maximisation would use posteriors of the classes from an earlier place.
        """
        from scipy import optimize  # imported here because it is slow to import

        with Evaluation(labels) as at:
            place = at.start
            at.score(place)
            while True:
                before, scores, scale = place, at.scores.copy(), at.scale(place)
                objective = partial(at.negative_log_posterior, scale)
                # Near the minimum, where rounding hides what a step gains, SciPy would try 20 lengths of it.
                options: Any = {"maxiter": _STEPS, "maxls": 6, "ftol": 0.0, "gtol": self.tolerance / 100}
                found = optimize.minimize(objective, place * scale, jac=True, method="L-BFGS-B", options=options)
                place = found.x / scale
                at.score(place)
                change = max(float(np.abs(place - before).max()), float(np.abs(at.scores - scores).max()))
                yield Step(change, ready(at.scores, at.abilities(place)), float(found.fun))

    def _maximise_expectations(self, labels: Labels) -> Steps:
        """Without priors: expectation-maximisation as in the released code."""
        from scipy import optimize  # imported here because it is slow to import

        with Evaluation(labels) as at:
            place, objective = at.start, float("nan")
            while True:
                at.score(place)
                found = optimize.minimize(
                    at.expected, place, jac=True, method="CG", options={"gtol": 0.01, "maxiter": self.steps}
                )
                before, objective = objective, float(found.fun) + at.constant
                change = abs(objective - before) / abs(before) if np.isfinite(before) else float("inf")
                yield Step(change, ready(at.scores, at.abilities(place)), objective)
                place = found.x

    def contributions(self, one: Labels, item: int, workers: Abilities) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of the class that it names."""
        # A label compares the class it names with any other class, and log sigmoid(x) - log sigmoid(-x) is x.
        classes = one.n_classes
        evidence = workers.ability[one.workers] * np.exp(workers.log_ease[item]) + np.log(max(classes - 1, 1))
        return Contributions(np.zeros(classes), np.tile(evidence[:, None], classes), logarithmic=True)


class Evaluation:
    """The labels, the scores, and functions of a place: a vector of all abilities, followed by all log eases.

    Threads work on parts of the items. What they compute is added up in a fixed order, so that sums do not depend on
    the number of threads.
    """

    def __init__(self, labels: Labels) -> None:
        self.scores = np.zeros((labels.n_items, labels.n_classes))
        self.start = np.ones(labels.n_workers + labels.n_items)
        # What the normal priors and the equally likely classes add to every objective. It does not change where the
        # objective is smallest, but the released code measures changes relative to an objective that includes it.
        self.constant = 0.5 * len(self.start) * np.log(2 * np.pi) + labels.n_items * np.log(labels.n_classes)
        self._labels = labels
        self._n_workers = labels.n_workers
        self._gold = np.full(labels.n_items, -1) if labels.gold is None else labels.gold
        places = list(runs(labels.item_starts, max(_LABELS_PER_RUN, 8 * labels.n_workers)))
        self._parts = [(slice(*ends), labels.slice(*ends)) for ends in places]

    def __enter__(self) -> "Evaluation":
        from threadpoolctl import threadpool_limits

        # Dot products between evaluations must use one thread: with several they are slower, and their rounding varies.
        self._resources = ExitStack()
        self._resources.enter_context(threadpool_limits(1, "blas"))
        self._threads = self._resources.enter_context(Threads(len(self._parts)))
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def abilities(self, place: Array) -> Abilities:
        """The abilities and the log eases in a place."""
        return Abilities(place[: self._n_workers], place[self._n_workers :])

    def score(self, place: Array) -> None:
        """E step: overwrite the scores by the posteriors of the classes at this place."""
        at = self.abilities(place)

        def score(part: int) -> None:
            items, labels = self._parts[part]
            given = self._gold[items], at.ability, at.log_ease[items]
            model.e_step(labels, *given, self.scores[items], np.zeros(labels.n_classes))

        self._threads.run(score)

    def expected(self, place: Array) -> tuple[float, Array]:
        """M step: the negative expected log likelihood under the scores, and its gradient."""
        at = self.abilities(place)
        by_worker = np.zeros((len(self._parts), self._n_workers))
        gradient = np.empty(len(place))
        by_item = gradient[self._n_workers :]

        def evaluate(part: int) -> float:
            items, labels = self._parts[part]
            given = self.scores[items], at.ability, at.log_ease[items], by_worker[part], by_item[items]
            return model.m_step_objective(labels, *given)

        value = sum(self._threads.map(evaluate))
        gradient[: self._n_workers] = by_worker.sum(axis=0)
        return value, gradient

    def negative_log_posterior(self, scale: Array, scaled: Array) -> tuple[float, Array]:
        """The negative log posterior density of a place times `scale`, summed over the classes, and its gradient.

        The log likelihood is the expected one plus the entropy of the classes' posteriors.
        """
        from scipy import special  # imported here because it is slow to import

        place = scaled / scale
        self.score(place)
        value, gradient = self.expected(place)
        entropy = float(special.entr(self.scores).sum())
        away = place - 1  # the distance from the priors' mean, which is also their part of the gradient
        return value - entropy + self.constant + 0.5 * float(away @ away), (gradient + away) / scale

    def scale(self, place: Array) -> Array:
        """What to multiply a place by, so that the posterior is about equally curved in all directions.

        It is the square root of the Fisher information that labels have if it is known which are right, plus the
        priors' own.
        """
        at, items, workers = self.abilities(place), self._labels.item_of, self._labels.workers
        ease, ability = np.exp(at.log_ease)[items], at.ability[workers]
        known = ease**2 / (2 + 2 * np.cosh(np.minimum(np.abs(ability * ease), 100.0)))
        by_worker = np.bincount(workers, known, len(at.ability))
        by_item = np.bincount(items, known * ability**2, len(at.log_ease))
        return np.asarray(np.sqrt(1 + np.concatenate([by_worker, by_item])))
