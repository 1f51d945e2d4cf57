"""How the iterations of a method end: `Convergence`, `Ending`, and the refusal of scores that are not finite."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import polars as pl

from ..errors import CallError, DataError
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


def check_finite(method: Any, items: pl.Series, scores: Array) -> None:
    """Raise the error of `out_of_range` if a score is not finite; it names the first item with such a score."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        raise out_of_range(method, f"gave no finite score for item {items[int(np.argmin(finite))]!r}")


def out_of_range(method: Any, problem: str) -> CallError | DataError:
    """Return the error about numbers that became too large or too small for a computer.

    It is a `CallError` that names the parameters which have other values than their defaults; if there are none, it is
    a `DataError`. `problem` is what happened, as words that follow the method's name.
    """
    name = type(method).__name__
    changed = [field for field in fields(method) if getattr(method, field.name) != field.default]
    if not changed:
        return DataError(
            f"{name} {problem}: its numbers became too large or too small. Use another method, such as mv."
        )
    given = ", ".join(f"{field.name}={getattr(method, field.name)!r}" for field in changed)
    usual = ", ".join(f"{field.name}={field.default!r}" for field in changed)
    return CallError(
        f"{name} {problem}: with {given}, its numbers became too large or small. Take values nearer to the defaults: "
        f"{usual}."
    )
