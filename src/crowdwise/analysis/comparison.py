"""Run methods side by side on one crowd."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..data.labels import Labels
from ..errors import DataError
from ..inference.method import Method
from .evaluation import hits, match, wilson

# Enough items to make every kernel compile before the clock starts.
_WARM_UP = 50


def compare(
    labels: Labels,
    methods: Mapping[str, Method],
    truth: Any = None,
    begin: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """One row per method: accuracy (if there is truth), seconds without compilation, iterations, how it ended.

    `low` and `high` are the ends of the accuracy's 95 % interval. A method that refuses the labels has a row that
    says why. `begin` is called with each method's key before it runs.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> [row["method"] for row in compare(crowd.labels, {"mv": cw.MajorityVote()}, crowd.truth)]
    ['mv']
    """
    rows = []
    for key, method in methods.items():
        begin(key)
        rows.append({"method": key, **_one(labels, method, truth)})
    return rows


def _one(labels: Labels, method: Method, truth: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"accuracy": None, "low": None, "high": None} if truth is not None else {}
    row |= {"seconds": None, "iterations": None, "ties": None, "ending": None}
    try:
        method.fit(labels.slice(0, min(labels.n_items, _WARM_UP)))
        started = time.perf_counter()
        result = method.fit(labels)
        row["seconds"] = time.perf_counter() - started
    except DataError as refusal:
        row["ending"] = str(refusal)
        return row
    if truth is not None:
        right = hits(result, match(result, truth))
        row["accuracy"], row["low"], row["high"] = map(float, wilson(right.sum(), len(right)))
    row["iterations"] = result.convergence.iterations
    row["ties"] = int(result.ties.sum())
    row["ending"] = "converged" if result.convergence.converged else "ran out of iterations"
    return row
