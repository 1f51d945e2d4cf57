"""`Convergence`: how the iterations of a method ended: how many there were and whether they converged."""

from dataclasses import dataclass
from typing import Final

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
