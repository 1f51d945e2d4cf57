"""`compare`: runs several methods on the same labels and measures their accuracy and time."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..data.labels import Labels
from ..errors import DataError
from ..inference.method import Method
from .evaluation import hits, match, wilson

# Every method first runs on this many items, so that the measured time does not include the compilation of its kernels.
_WARM_UP_ITEMS = 50


def compare(
    labels: Labels,
    methods: Mapping[str, Method],
    truth: Any = None,
    begin: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Run every method on the labels and measure it.

    Args:
        labels: The labels.
        methods: The methods, each with a key that names it.
        truth: The true labels, if some are known: a path, a table, or a mapping from item to class.
        begin: A function that is called with the key of each method before it runs.

    Returns:
        One row per method: method (its key), accuracy, low, high (the ends of a 95 % interval of the accuracy), seconds
        (without compilation), iterations, ties and ending. Without a truth the rows have no accuracy, low and high. If
        a method refuses the labels, its values are None, and ending is the reason.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> [row["method"] for row in compare(crowd.labels, {"mv": cw.MajorityVote()}, crowd.truth)]
    ['mv']
    """
    rows = []
    for key, method in methods.items():
        begin(key)
        rows.append({"method": key, **_measure(labels, method, truth)})
    return rows


def _measure(labels: Labels, method: Method, truth: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"accuracy": None, "low": None, "high": None} if truth is not None else {}
    row |= {"seconds": None, "iterations": None, "ties": None, "ending": None}
    try:
        method.fit(labels.slice(0, min(labels.n_items, _WARM_UP_ITEMS)))
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
