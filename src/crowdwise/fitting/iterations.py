"""What one iteration reports to the loop of all methods, `Method.run_steps`, and the loop to its caller."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

from ..numerics import Array
from ..results.learned import Learned

# Called with the number of the iteration and the change in it, after each iteration.
Progress: TypeAlias = Callable[[int, float], None]

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Step(Generic[Outcome]):
    """What one iteration reports to the loop."""

    change: float  # the largest change in this iteration, which the loop compares with the method's tolerance
    # Returns what was learned; it is called after the last iteration only, before the generator goes on.
    finish: Callable[[], Outcome]
    objective: float | None = None  # after this iteration; None if the method has none


# What a method in memory yields: `finish` returns the scores and what was learned.
Steps: TypeAlias = Generator[Step[tuple[Array, Learned]], None, None]


def ready(scores: Array, learned: Learned) -> Callable[[], tuple[Array, Learned]]:
    """The `finish` of a step whose scores and learned parameters exist already."""
    return lambda: (scores, learned)


class Counter:
    """Reports the progress of several attempts as if they were one; the attempts may run at the same time."""

    def __init__(self, progress: Progress | None) -> None:
        self.done = 0
        self._progress = progress
        self._lock = Lock()

    def __call__(self, iteration: int, change: float) -> None:
        """Count one more iteration of any attempt, whatever its number there, and report that of all so far."""
        with self._lock:
            self.done += 1
            if self._progress is not None:
                self._progress(self.done, change)
