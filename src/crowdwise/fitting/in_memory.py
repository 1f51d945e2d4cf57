"""`InMemoryMethod`: the base of methods that need all labels in memory at once, and their loop.

They keep something for every item or label. Such a method only writes what happens in one iteration, as a generator
that yields a `Step` after each iteration. The rest is done here: counting iterations, reporting progress, deciding when
to end, and building the result.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, TypeAlias

from ..data.labels import Labels
from ..numerics import Array
from ..results.learned import Learned
from ..results.quality import accuracies, measure_quality
from ..results.result import Result, Scale
from .iterations import Iterations
from .method import Method, Progress


@dataclass(frozen=True)
class Step:
    """What one iteration reports to the loop.

    Attributes:
        change: The largest change in this iteration, which the loop compares with the method's tolerance.
        finish: Returns the scores and what was learned. It is called after the last iteration only, and before the
            generator goes on.
        objective: The objective after this iteration; None if the method has none.
    """

    change: float
    finish: Callable[[], tuple[Array, Learned]]
    objective: float | None = None


def ready(scores: Array, learned: Learned) -> Callable[[], tuple[Array, Learned]]:
    """The `finish` of a step whose scores and learned parameters exist already."""
    return lambda: (scores, learned)


Steps: TypeAlias = Generator[Step, None, None]


class InMemoryMethod(Method):
    """The base of methods that need all labels in memory at once, because they keep something for every item or label.

    A subclass gives `iterate`, and `tolerance` and `max_iterations` as parameters.
    """

    tolerance: float
    max_iterations: int
    scale: ClassVar[Scale] = "probability"

    def last_change(self) -> float:
        """The tolerance."""
        return self.tolerance

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once, as a clause for an error message."""
        return "because it keeps something for every item or label"

    @abstractmethod
    def iterate(self, labels: Labels) -> Steps:
        """Yield a step after each iteration, without end: the loop that asks for steps decides when to stop."""

    def infer(self, labels: Labels, progress: Progress | None) -> Result:
        """Iterate until the scores have converged or the iterations run out, and build the result."""
        return run_steps(self, self.scale, labels, self.iterate(labels), progress)


class Limited(Protocol):
    """What `run_steps` needs to know of a method: when its iterations end."""

    @property
    def tolerance(self) -> float:
        """The iterations have converged when the change in one of them is no more than this."""
        ...

    @property
    def max_iterations(self) -> int:
        """The most iterations before it stops without having converged."""
        ...


def run_steps(method: Limited, scale: Scale, labels: Labels, steps: Steps, progress: Progress | None) -> Result:
    """Iterate until a step's change is within the method's tolerance or its iterations run out, and build the result.

    Args:
        method: Its tolerance and max_iterations end the loop; the result names it.
        scale: What the scores are; see `Result.scale`.
        labels: The labels that the steps are about.
        steps: What the method's `iterate` returned.
        progress: Called with the iteration's number and change after each iteration.
    """
    iterations = Iterations(method.tolerance, method.max_iterations, progress)
    with closing(steps):
        step = next(steps)
        while not iterations.ended(step.change, step.objective):
            step = next(steps)
        scores, learned = step.finish()
    return Result.build(
        method,
        labels,
        scores,
        scale,
        convergence=iterations.convergence,
        workers=learned,
        quality=partial(measure_quality, accuracies),
    )
