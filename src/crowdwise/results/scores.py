"""The scores of items: the best two classes, what counts as a tie, and the refusal of scores that are not finite."""

from dataclasses import fields
from typing import Any, Final

import numpy as np
import polars as pl

from ..errors import CallError, DataError
from ..numerics import Array
from ..numerics.twins import exact_twin

# Two scores are tied if they differ by less than this, relative to the larger one. Equal scores may differ by rounding
# errors, which depend on the order of addition and grow with the iterations.
TIE: Final = 1e-7


@exact_twin("crowdwise.results.scores_kernel")
def best_two(scores: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Return three arrays (items): the best class, the second best, and whether the two are tied.

    The second best is -1 if there is only one class. Scores that differ by no more than `tolerance`, relative to the
    larger, count as equal, because rounding must not break a tie. Of equal classes, the one with the lower number comes
    first.
    """
    n_items, n_classes = scores.shape
    if n_classes < 2:
        return np.zeros(n_items, np.int32), np.full(n_items, -1, np.int32), np.zeros(n_items, np.bool_)
    items, best = np.arange(n_items), scores.argmax(axis=1)
    others = scores.copy()
    others[items, best] = -np.inf
    highest, second = scores[items, best], others.max(axis=1)
    tied = second >= highest - tolerance * abs(highest)
    limit = np.where(tied, highest, second)
    near = scores >= (limit - tolerance * abs(limit))[:, None]
    best[tied] = near[tied].argmax(axis=1)
    near[items, best] = False
    return best.astype(np.int32), near.argmax(axis=1).astype(np.int32), tied


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
