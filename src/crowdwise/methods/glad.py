r"""The model of `GLAD`.

$$ P(y_{ij} = z_i) = \sigma(\alpha_j e^{\beta_i}) $$

with errors even over the other classes and classes equally likely.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..inference.in_memory import InMemoryMethod, Step, Steps, ready
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from ..parallel import Threads, runs
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust

# Labels in a run: an evaluation takes long enough for a thread from few labels on.
_RUN: Final = 1 << 13


@dataclass(frozen=True, eq=False)
class Abilities(Learned):
    """How able the workers and how easy the items are.

    Attributes:
        ability: (workers), alpha: above zero is better than guessing.
        log_ease: (items), beta: the larger, the easier.
    """

    ability: Array
    log_ease: Array

    @property
    def difficulty(self) -> Array:
        """(items), the inverse of the ease: the larger, the harder."""
        return np.asarray(np.exp(-self.log_ease))

    def trust(self) -> Trust:
        """How able a worker is."""
        return Trust(self.ability, "Ability")


@dataclass(frozen=True)
class GLAD(InMemoryMethod):
    """Abilities of workers and difficulties of items.

    Use it where items differ in difficulty: a good worker's error on a hard item costs little. It has a number for
    every item, so it needs all labels in memory and many labels per item.

    `GLAD.released()` is what the BWA paper compared with: its priors cancel, so it has none. Without
    them abilities and eases run away along directions that change nothing else, early stopping decides, and rounding
    alone moves the accuracy on some crowds by up to 0.01.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(GLAD().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "glad"
    summary: ClassVar[str] = "GLAD: a label is right with the sigmoid of its worker's ability times its item's ease."
    paper: ClassVar[Reference] = Reference(
        "Whitehill, Ruvolo, Wu, Bergsma and Movellan",
        "Whose Vote Should Count More: Optimal Integration of Labels from Labelers of Unknown Expertise",
        "NIPS 2009",
        "https://papers.nips.cc/paper/3644",
    )

    prior: bool = parameter(
        True,
        "Whether abilities and log eases have normal priors around one with variance one, as in the paper.",
    )
    tolerance: float = parameter(
        1e-4,
        "Stop when the expected log likelihood changes by less than this, relative to itself.",
        at_least=0,
    )
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)
    steps: int = parameter(25, "Conjugate gradient steps in every iteration.", at_least=1)

    @classmethod
    def released(cls) -> "GLAD":
        """The implementation in the BWA paper's comparison."""
        return cls(prior=False)

    def iterate(self, labels: Labels) -> Steps:
        """Score the items, then fit abilities and eases to the scores."""
        from scipy import optimize  # slow to import: not before it is needed
        from threadpoolctl import threadpool_limits

        arrays = (labels.item_starts, labels.workers, labels.labels)
        n_workers, n_items = labels.n_workers, labels.n_items
        parts = list(runs(labels.item_starts, max(_RUN, 8 * n_workers)))
        point = np.ones(n_workers + n_items)
        scores = np.zeros((n_items, labels.n_classes))
        # The released code's constant: it enters the relative change that stops it.
        constant = 0.5 * len(point) * np.log(2 * np.pi) + n_items * np.log(labels.n_classes)
        history: list[float] = []
        # SciPy's steps are dot products, and several threads for one make it slower and its rounding unsteady.
        with threadpool_limits(1, "blas"), Threads(len(parts)) as threads:

            def score(part: int) -> None:
                changes = np.zeros(labels.n_classes)
                kernels.score_abilities(*parts[part], *arrays, point[:n_workers], point[n_workers:], scores, changes)

            def objective(trial: Array) -> tuple[float, Array]:
                abilities = trial[:n_workers], trial[n_workers:]
                by_worker = np.zeros((len(parts), n_workers))
                gradient = np.empty(len(trial))
                by_item = gradient[n_workers:]
                values: list[float] = []

                def evaluate(part: int) -> float:
                    given = (*arrays, scores, *abilities)
                    return kernels.ability_objective(*parts[part], *given, by_worker[part], by_item)

                threads.run(evaluate, values.append)
                gradient[:n_workers] = by_worker.sum(axis=0)
                value = sum(values)
                if self.prior:
                    gradient += trial - 1
                    value += 0.5 * float(((trial - 1) ** 2).sum())
                return value, gradient

            while True:
                threads.run(score)
                found = optimize.minimize(
                    objective, point, jac=True, method="CG", options={"gtol": 0.01, "maxiter": self.steps}
                )
                used, point = point, found.x
                history.append(float(found.fun) + constant)
                change = abs(history[-1] - history[-2]) / abs(history[-2]) if len(history) > 1 else float("inf")
                learned = Abilities(used[:n_workers], used[n_workers:])
                yield Step(change, ready(scores, learned), history[-1])

    def contributions(self, one: Labels, item: int, workers: Abilities) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of the class it names."""
        # log sigmoid(x) - log sigmoid(-x) is x.
        classes = one.n_classes
        evidence = workers.ability[one.workers] * np.exp(workers.log_ease[item]) + np.log(max(classes - 1, 1))
        return Contributions(np.zeros(classes), np.tile(evidence[:, None], classes), logarithmic=True)
