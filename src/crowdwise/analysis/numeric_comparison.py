"""`compare_numbers`: runs several numeric methods on the same labels and measures their errors and time."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..crowd.labels import Numbers
from ..errors import CallError, DataError
from ..fitting.method import Method
from ..results.ending import RAN_OUT
from .comparison import warm_up
from .numeric_evaluation import numeric_errors

# The columns that need a truth.
_AGAINST_TRUTH: Final = ("mae", "rmse", "correlation", "coverage")


def compare_numbers(
    numbers: Numbers, methods: Mapping[str, Method], truth: Any = None, begin: Callable[[str], None] = lambda _: None
) -> list[dict[str, Any]]:
    """Run every method on the numbers and measure it.

    Args:
        numbers: The labels.
        methods: The numeric methods, each with a key that names it.
        truth: The true values, if some are known: a path, a table, or a mapping from item to value.
        begin: A function that is called with the key of each method before it runs.

    Returns:
        One row per method: method (its key), mae, rmse, correlation, coverage (of the 95 % intervals), seconds (without
        compilation), iterations and ending. Without a truth, the rows begin with seconds. If a method refuses the
        labels, its values are None, and ending is the reason.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(50, 10, seed=1)
    >>> [row["method"] for row in compare_numbers(crowd.numbers, {"mean": cw.NumericMean()}, crowd.truth)]
    ['mean']
    """
    rows = []
    for key, method in methods.items():
        begin(key)
        rows.append({"method": key, **_measure(numbers, method, truth)})
    return rows


def _measure(numbers: Numbers, method: Method, truth: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(_AGAINST_TRUTH) if truth is not None else {}
    row |= {"seconds": None, "iterations": None, "ending": None}
    try:
        warm_up(method, numbers)
        started = time.perf_counter()
        result: Any = method.fit(numbers, warn=False)
        row["seconds"] = time.perf_counter() - started
    except (CallError, DataError) as refusal:
        row["ending"] = str(refusal)
        return row
    if truth is not None:
        found = numeric_errors(result, truth)
        row |= {name: _known(getattr(found, name)) for name in _AGAINST_TRUTH}
    row["iterations"] = result.convergence.iterations
    row["ending"] = "converged" if result.convergence.converged else RAN_OUT
    return row


def _known(value: float) -> float | None:
    """Return a number, or None if it is NaN, which JSON does not have."""
    return None if value != value else value
