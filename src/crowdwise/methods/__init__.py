"""Every method, one file or package each, and the table of them.

A method is registered by being here: every class in a module of this package that has a `key` of its own is in
`METHODS`, and its name is a name of `crowdwise`.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from ..errors import CallError, did_you_mean
from ..inference import parameters
from ..inference.method import Method


def _discover() -> dict[str, type[Method]]:
    """The methods in this package, by key."""
    found: dict[str, type[Method]] = {}
    for file in iter_modules(__path__):
        module = import_module(f"{__name__}.{file.name}")
        for value in vars(module).values():
            is_method = isinstance(value, type) and issubclass(value, Method) and value.key is not None
            if is_method and value.__module__.startswith(module.__name__):  # else the module only imports it
                found[value.key] = value
    return dict(sorted(found.items()))


# From the key on the command line to the class.
METHODS: Final[Mapping[str, type[Method]]] = _discover()


def choose(key: str, settings: Sequence[str] = ()) -> Method:
    """The method of that key, with parameters given as texts of the form "name=value".

    >>> choose("bwa", ["prior_strength=30", "prior_correction=false"]).prior_correction
    False
    """
    if key not in METHODS:
        raise CallError(f"There is no method {key!r}; there are {', '.join(METHODS)}.{did_you_mean(key, METHODS)}")
    return METHODS[key](**parameters.parse(METHODS[key], settings))
