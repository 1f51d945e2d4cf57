"""All methods, with one file or package for each, and the table of them.

A new method needs no registration: a class that derives from `Method`, with the name of its file as `key`, is in
`METHODS`, and can be imported from `crowdwise`. Those in the folder `numeric` are in `NUMERIC_METHODS`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeVar, cast

from ..errors import CallError, did_you_mean, require_kind
from ..fitting import parameters
from ..fitting.method import Method
from . import numeric

if TYPE_CHECKING:
    from ..families.numeric.base import NumericMethod

Kind = TypeVar("Kind", bound=Method)


class _Methods(Mapping[str, type[Kind]]):
    """The class of every method, by its key; a class is imported when it is first asked for.

    The key of a method is the name of its file or package, so that the keys are known without importing any.
    """

    def __init__(self, package: str, path: Iterable[str]) -> None:
        self._package = package
        self._keys = sorted(file.name for file in iter_modules(path) if f"{package}.{file.name}" != numeric.__name__)
        self._found: dict[str, type[Kind]] = {}

    def __getitem__(self, key: str) -> type[Kind]:
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._found:
            found = _method_in(import_module(f"{self._package}.{key}"), key)
            self._found[key] = cast("type[Kind]", found)
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys


def _method_in(module: ModuleType, key: str) -> type[Method]:
    """The class of the method with this key in its module."""
    found: list[type[Method]] = []
    for value in vars(module).values():
        # A method has a key of its own, and is not one that the module imports.
        is_method = isinstance(value, type) and issubclass(value, Method) and vars(value).get("key") == key
        if is_method and f"{value.__module__}.".startswith(f"{module.__name__}."):
            found.append(value)
    if not found:
        raise TypeError(f"{module.__name__} has no method with the key {key!r}: a method is in the file of its key")
    if len(found) > 1:
        raise TypeError(f"{found[0]!r} and {found[1]!r} have the same key, {key!r}")
    return found[0]


# The class of every method, by its key: the name of the method on the command line.
METHODS: Final[Mapping[str, type[Method]]] = _Methods(__name__, __path__)
# The same for labels that are numbers.
NUMERIC_METHODS: "Final[Mapping[str, type[NumericMethod]]]" = _Methods(numeric.__name__, numeric.__path__)


def choose(key: str, settings: Sequence[str] = (), *, numbers: bool = False) -> Method:
    """The method with this key, and with parameters from texts of the form "name=value".

    With `numbers`, it is one of the methods for numeric labels.

    Refuses unknown keys and parameters, and values that a parameter does not take.

    >>> choose("bwa", ["prior_strength=30", "prior_correction=false"]).prior_correction
    False
    """
    table: Mapping[str, type[Method]] = NUMERIC_METHODS if numbers else METHODS
    kind = " for numbers" if numbers else ""
    if key not in table:
        raise CallError(f"There is no method {key!r}{kind}; there are {', '.join(table)}.{_meant(key, table)}")
    return table[key](**parameters.parse(table[key], settings))


def as_method(given: object, name: str = "method", *, numbers: bool = False) -> Method:
    """The method that somebody means by its key or by itself; `name` is what was given, for the refusal.

    >>> as_method("mv")
    MajorityVote()
    """
    if isinstance(given, str):
        return choose(given, numbers=numbers)
    require_kind(name, given, Method, 'the key of a method, or a method, such as "bwa" or cw.BWA()')
    return cast(Method, given)


def _meant(key: str, table: Mapping[str, type[Method]]) -> str:
    """Return the end of a message about a method that does not exist: one whose key, class or summary is like that.

    >>> _meant("dawid-skene", METHODS), _meant("Majority Vote", METHODS)
    (" Did you mean 'ds'?", " Did you mean 'mv'?")
    """
    spellings = {key: key for key in table} | {method.__name__: key for key, method in table.items()}
    spellings |= {method.summary.partition(":")[0]: key for key, method in table.items()}
    bare = {_bare(spelling): found for spelling, found in reversed(spellings.items())}
    return did_you_mean(_bare(key), bare)


def _bare(name: str) -> str:
    """Return the letters and digits of a name, in small letters."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
