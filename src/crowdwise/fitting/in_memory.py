"""`InMemoryMethod`: the base of methods that need all labels in memory, because they keep something per item or label.

Such a method writes one generator, which yields a `Step` after each iteration. The loop is that of all methods.
"""

from abc import abstractmethod
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import ClassVar

from ..crowd.labels import Labels
from ..results.quality import accuracies, measure_quality
from ..results.result import Result, Scale
from .iterations import Progress, Steps
from .limits import Limits
from .method import Method


class InMemoryMethod(Method):
    """The base of methods that need all labels in memory; a subclass gives `iterate`, tolerance and max_iterations."""

    scale: ClassVar[Scale] = "probability"

    def limits(self) -> Limits:
        """All labels must be in memory."""
        return replace(super().limits(), in_memory="because it keeps something for every item or label")

    @abstractmethod
    def iterate(self, labels: Labels) -> Steps:
        """Yield a step after each iteration, without end: the loop decides when to stop."""

    def infer(self, labels: Labels, progress: Progress | None) -> Result:
        """Iterate until the scores have converged or the iterations run out, and build the result."""
        return result_of_steps(self, self.scale, labels, self.iterate(labels), progress)


def result_of_steps(method: Method, scale: Scale, labels: Labels, steps: Steps, progress: Progress | None) -> Result:
    """Run the loop on these steps and build the result; `scale` is what the scores are, see `Result.scale`."""
    with closing(steps):
        (scores, learned), convergence = method.run_steps(steps, progress)
    return Result.build(
        method,
        labels,
        scores,
        scale,
        convergence=convergence,
        workers=learned,
        quality=partial(measure_quality, accuracies),
    )
