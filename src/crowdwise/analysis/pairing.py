"""`same_labels` and `require_result`: the checks of calls that take a result, and the labels that it is from.

The result is always the first argument, the labels the second.
"""

from dataclasses import replace
from typing import Any

from ..crowd.labels import Labels
from ..crowd.protocol import is_crowd, require_crowd
from ..errors import CallError, require_kind
from ..results.result import Result
from ..results.tables import ResultTables


def require_result(result: Any) -> None:
    """Refuse what is not the result of a method on classes."""
    _require_classes(result)
    if not hasattr(result, "about"):
        raise CallError(f"result is a {type(result).__name__}, and has to be what fit returns.")


def require_order(result: object) -> None:
    """Refuse labels where the result has to be."""
    if is_crowd(result):
        raise CallError(
            "The result comes first, then the labels or the truth, as in cw.report(result, labels): the first argument "
            "here is labels."
        )


def is_numeric(result: object) -> bool:
    """Whether this is the result of a method on numbers."""
    return isinstance(result, ResultTables) and result.numeric


def require_numbers(result: object) -> None:
    """Refuse what is not the result of a method on numbers."""
    require_order(result)
    if not is_numeric(result):
        raise CallError(f"result is a {type(result).__name__}, and has to be what fit of a method for numbers returns.")


def _require_classes(result: object) -> None:
    """Refuse labels, results of numbers, and decisions, where the result of a method on classes has to be."""
    require_order(result)
    if is_numeric(result):
        raise CallError("This call is for classes, and the result has numbers; cw.numeric_errors and cw.plot take it.")
    if isinstance(result, ResultTables) and isinstance(getattr(result, "result", None), ResultTables):
        raise CallError(f"This is a {type(result).__name__}, made of a result: give the result itself, its `result`.")


def same_labels(result: Result, labels: Labels) -> Labels:
    """Return the labels that a result is from, with the classes of the result, some of which gold or a state may name.

    Raises a CallError if the arguments are in the wrong order, or if the names of items, workers or classes of the
    labels are not those of the result.
    """
    _require_classes(result)
    require_kind("result", result, Result, "a result of labels in memory, as fit returns it")
    require_crowd(labels, "This call")
    require_kind("labels", labels, Labels, "labels in memory")
    if not result.names.classes.equals(labels.names.classes):
        missing = labels.names.codes_in(result.names.classes) < 0
        labels = labels if missing.any() else labels.with_classes(result.names.classes)
    for role in ("items", "workers", "classes"):
        ours, theirs = getattr(result.names, role), getattr(labels.names, role)
        if ours is not theirs and not (ours.dtype == theirs.dtype and ours.equals(theirs)):
            raise CallError(f"These labels are not those of the result: their {role} differ.")
    if labels.soft is not None:  # the result knows how sharp its workers are
        labels = replace(labels, known=replace(labels.known, sharpness=result.known.sharpness))
    return labels
