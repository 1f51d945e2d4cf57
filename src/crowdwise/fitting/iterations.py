"""`Iterations`: counts iterations, reports progress, and decides when a loop ends. Both loops of methods use it."""

from collections.abc import Callable

from ..results.convergence import Convergence


class Iterations:
    """The iterations of one fit.

    Args:
        tolerance: The iterations have converged when the change in one of them is no more than this.
        least: The fewest iterations before the loop ends because it has converged.
        most: The most iterations before the loop ends without having converged.
        progress: Called with the number of the iteration and the change in it, after each iteration.
        objective: The objective before the first iteration; None if the method has none.
    """

    def __init__(
        self,
        tolerance: float,
        most: int,
        progress: Callable[[int, float], None] | None,
        objective: float | None = None,
        least: int = 1,
    ) -> None:
        self._tolerance = tolerance
        self._least = least
        self._most = most
        self._progress = progress
        self._objective = [] if objective is None else [objective]
        self._done = 0
        self._change = 0.0

    def ended(self, change: float, objective: float | None = None) -> bool:
        """Count one more iteration, report it, and return whether it was the last.

        Args:
            change: The largest change in this iteration.
            objective: The objective after it; None if the method has none.
        """
        self._done += 1
        self._change = change
        if objective is not None:
            self._objective.append(objective)
        if self._progress is not None:
            self._progress(self._done, change)
        return self._converged or self._done >= self._most

    @property
    def convergence(self) -> Convergence:
        """How the iterations ended: how many there were, whether they converged, and the objective after each."""
        return Convergence(self._done, self._converged, self._change, tuple(self._objective))

    @property
    def _converged(self) -> bool:
        return self._change <= self._tolerance and self._done >= self._least
