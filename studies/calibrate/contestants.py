"""The methods that get a constant: every method of the table, and its variants that say they need one of their own."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal, get_args, get_origin

import crowdwise as cw
from crowdwise.crowd.read_options import Duplicates
from crowdwise.fitting.method import Method
from crowdwise.fitting.parameters import Parameter, parameters_of


def contestants() -> dict[str, Method]:
    """Return the methods that get a constant, by the name of the constant (`Method.calibrated_as`).

    Variants are found by trying every value of every parameter that takes only a few values.
    """
    found: dict[str, Method] = {}
    for kind in cw.METHODS.values():
        for method in (kind(), *_variants(kind())):
            found.setdefault(method.calibrated_as, method)
    return dict(sorted(found.items()))


def duplicates(method: Method) -> Duplicates:
    """Return what is done with several labels of one worker on one item: what released implementations do."""
    if method.limits().takes_sets:
        return "set"
    return "last" if method.key == "minimax" else "all"


def _variants(method: Any) -> Iterator[Method]:
    kind: Any = type(method)
    for name, declared in parameters_of(kind).items():
        for value in _few_values(declared):
            yield replace(method, **{name: value})


# A parameter takes a few values if it is a choice, or a whole number between two bounds that are no further apart.
_FEW: Final = 3


def _few_values(declared: Parameter) -> tuple[Any, ...]:
    if get_origin(declared.kind) is Literal:
        return get_args(declared.kind)
    low, high = declared.bounds.at_least, declared.bounds.at_most
    if declared.kind is int and low is not None and high is not None and high - low < _FEW:
        return tuple(range(int(low), int(high) + 1))
    return ()
