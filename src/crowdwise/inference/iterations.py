"""`Iterations`: counts them, reports each, decides when they end, and says how they ended. Every loop uses it."""

from collections.abc import Callable

from ..results.convergence import Convergence


class Iterations:
    """The iterations of one fit.

    Args:
        tolerance: They have converged when nothing moves by more than this in one iteration.
        most: They end after so many at the latest.
        progress: Called with the number of the iteration and the change in it, after each iteration.
        objective: The objective at the start, if there is one.
    """

    def __init__(
        self,
        tolerance: float,
        most: int,
        progress: Callable[[int, float], None] | None,
        objective: float | None = None,
    ) -> None:
        self._tolerance = tolerance
        self._most = most
        self._progress = progress
        self._objective = [] if objective is None else [objective]
        self._done = 0
        self._change = 0.0

    def ended(self, change: float, objective: float | None = None) -> bool:
        """Count one more iteration, report it, and say whether it was the last."""
        self._done += 1
        self._change = change
        if objective is not None:
            self._objective.append(objective)
        if self._progress is not None:
            self._progress(self._done, change)
        return self._converged or self._done >= self._most

    @property
    def convergence(self) -> Convergence:
        """How they ended."""
        return Convergence(self._done, self._converged, self._change, tuple(self._objective))

    @property
    def _converged(self) -> bool:
        return self._change <= self._tolerance
