"""Refuse scores that are not finite, and say which parameter of the method is to blame."""

from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl

from ..errors import CallError, DataError
from ..numerics import Array


def check_finite(method: Any, items: pl.Series, scores: Array) -> None:
    """Raise the error of `out_of_range` if a score is not finite; it names the first item with such a score."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        raise out_of_range(method, f"gave no finite score for item {items[int(np.argmin(finite))]!r}")


def out_of_range(method: Any, problem: str) -> CallError | DataError:
    """Return the error about numbers that became too large or too small for a computer.

    It is a `CallError` that names the parameters which have other values than their defaults; if there are none, it is
    a `DataError`.

    Args:
        method: The method with all its parameters, a dataclass.
        problem: What happened, as words that follow the method's name.
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
