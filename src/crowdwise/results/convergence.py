"""`Convergence`: how the iterations of a method ended, in a sentence."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Convergence:
    """How the iterations ended.

    Attributes:
        iterations: How many there were.
        converged: Whether the scores settled; False means that the iterations ran out first.
        change: The largest change of a score in the last iteration, as the method measures it.
        objective: The objective at the start and after every iteration; empty where a method has none.
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
        return f"ran out of iterations after {times}: the last one still moved a score by {self.change:.2g}"
