"""The loop of methods that keep something for every item or label, and so need all labels in memory at once.

Such a method gives the body of one iteration, as a generator that yields a `Step` after each; everything around it is
here: counting iterations, reporting progress, deciding when to end, and building the result.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

from ..data.labels import Labels
from ..kernels import Array
from ..results.learned import Learned
from ..results.quality import accuracies
from ..results.result import Result, Scale
from .iterations import Iterations
from .method import Method, Progress


@dataclass(frozen=True)
class Step:
    """One iteration that was made.

    Attributes:
        change: By how much the iteration moved what the method's tolerance is about.
        finish: Makes the scores and what was learned, if this iteration is the last; called before the next one.
        objective: The objective after it; None where the method has none.
    """

    change: float
    finish: Callable[[], tuple[Array, Learned]]
    objective: float | None = None


def ready(scores: Array, learned: Learned) -> Callable[[], tuple[Array, Learned]]:
    """What a step finishes with where its scores are made already."""
    return lambda: (scores, learned)


Steps: TypeAlias = Generator[Step, None, None]


class InMemoryMethod(Method):
    """The base of methods that keep something for every item or label."""

    tolerance: float
    max_iterations: int
    scale: ClassVar[Scale] = "probability"

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once."""
        return "because it does not sweep over the items in parts"

    @abstractmethod
    def iterate(self, labels: Labels) -> Steps:
        """Set up, then iterate for ever, yielding a step after each iteration; whoever asks for steps ends it."""

    def infer(self, labels: Labels, progress: Progress | None) -> Result:
        """Take steps until they end, and build the result of the last."""
        return run_steps(self, self.scale, labels, self.iterate(labels), progress)


class Limited(Protocol):
    """A method that says when its iterations end."""

    @property
    def tolerance(self) -> float:
        """They have converged when nothing moves by more than this."""
        ...

    @property
    def max_iterations(self) -> int:
        """They end after so many at the latest."""
        ...


def run_steps(method: Limited, scale: Scale, labels: Labels, steps: Steps, progress: Progress | None) -> Result:
    """Take steps until nothing moves by more than the method's tolerance, or its iterations run out."""
    iterations = Iterations(method.tolerance, method.max_iterations, progress)
    with closing(steps):
        step = next(steps)
        while not iterations.ended(step.change, step.objective):
            step = next(steps)
        scores, learned = step.finish()
    return Result.build(
        method, labels, scores, scale, convergence=iterations.convergence, workers=learned, quality=accuracies
    )
