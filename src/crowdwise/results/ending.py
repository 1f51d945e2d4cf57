"""How the iterations of a method end: `Convergence` and `Ending`."""

from dataclasses import dataclass
from typing import Any, Final

from ..numerics import Array

RAN_OUT: Final = "ran out of iterations"


@dataclass(frozen=True, eq=False)
class Convergence:
    """How the iterations of a method ended; `str` gives it as a phrase.

    Attributes:
        iterations: The number of iterations.
        converged: Whether the scores stopped changing; False if the maximum number of iterations was reached first.
        change: The largest change of a score in the last iteration, as the method measures it.
        objective: The value of the objective function at the start and after every iteration; empty for a method that
            has no objective.
    """

    iterations: int
    converged: bool
    change: float
    objective: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.iterations == 0:
            return "nothing to iterate"
        times = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        if self.converged:
            return f"converged after {times}"
        return f"{RAN_OUT} after {times}: the last one still moved a score by {self.change:.2g}"


@dataclass(frozen=True, eq=False)
class Ending:
    """What the iterations of a method end with, in addition to the scores.

    Attributes:
        workers: The workers' parameters that gave the final scores, a `Learned`.
        convergence: How the iterations ended.
        objective: The objective of the final scores: one value, one value per class, or empty if there is none.
        next_workers: The workers' parameters that follow from the final scores, and that another iteration would start
            from; None if there were no iterations.
        counts: What the last sweep counted; None if there were no iterations.
    """

    workers: Any
    convergence: Convergence
    objective: Array
    next_workers: Any = None
    counts: Any = None
