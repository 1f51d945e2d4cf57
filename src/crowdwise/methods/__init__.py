"""All methods, with one file or package for each, and the table of them.

A new method needs no registration: every class in this package that derives from `Method` and has a `key` is in
`METHODS`, and can be imported from `crowdwise`.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from ..errors import CallError, did_you_mean
from ..inference import parameters
from ..inference.method import Method


def _discover() -> dict[str, type[Method]]:
    """The classes of all methods in this package, by key, in the order of their keys."""
    found: dict[str, type[Method]] = {}
    for file in iter_modules(__path__):
        module = import_module(f"{__name__}.{file.name}")
        for value in vars(module).values():
            # A method has a key of its own, and is not one that the module imports.
            is_method = isinstance(value, type) and issubclass(value, Method) and vars(value).get("key") is not None
            if is_method and f"{value.__module__}.".startswith(f"{module.__name__}."):
                if value.key in found:
                    raise TypeError(f"{value!r} and {found[value.key]!r} have the same key, {value.key!r}")
                found[value.key] = value
    return dict(sorted(found.items()))


# The class of every method, by its key: the name of the method on the command line.
METHODS: Final[Mapping[str, type[Method]]] = _discover()


def choose(key: str, settings: Sequence[str] = ()) -> Method:
    """The method with this key, and with parameters from texts of the form "name=value".

    Refuses unknown keys and parameters, and values that a parameter does not take.

    >>> choose("bwa", ["prior_strength=30", "prior_correction=false"]).prior_correction
    False
    """
    if key not in METHODS:
        spellings = {method.__name__: key for key, method in METHODS.items()} | {key: key for key in METHODS}
        raise CallError(f"There is no method {key!r}; there are {', '.join(METHODS)}.{did_you_mean(key, spellings)}")
    return METHODS[key](**parameters.parse(METHODS[key], settings))
