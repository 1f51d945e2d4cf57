"""`parameter`: declares a parameter of a method, with its default, its meaning and the values it takes.

    prior_strength: float = parameter(15.0, "How many votes the prior is worth.", above=0)

The annotation says which type a value must have: `bool`, `int`, `float`, a `Literal` of choices, or one of those
`| None`. `check` refuses values that a parameter does not take, whether they come from Python or from `--set` on the
command line. `parse` makes values from text.
"""

import types
from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..errors import CallError, did_you_mean, shown

KEY: Final = "crowdwise parameter"
# Numbers are neither larger than this, nor closer to 0 than one divided by this.
_LARGEST: Final = 1e12
# Whole numbers are not larger than this: counts and seeds have 64 bits.
_LARGEST_WHOLE: Final = 10**18
# The texts that stand for True and False on the command line.
_BOOLEANS: Final = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


@dataclass(frozen=True)
class Bounds:
    """The numbers that a parameter takes; a bound that is None does not apply.

    No number is so large, or so close to 0, that computing with it overflows. `tiny` is whether it may be as close to 0
    as numbers can be: for thresholds, by which nothing is divided.
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    tiny: bool = False

    def hold(self, value: Any) -> bool:
        """Whether a number is finite and within the bounds."""
        return (
            self.computable(value)
            and (self.at_least is None or value >= self.at_least)
            and (self.above is None or value > self.above)
            and (self.at_most is None or value <= self.at_most)
            and (self.below is None or value < self.below)
        )

    def computable(self, value: Any) -> bool:
        """Whether a number is neither so large nor so close to 0 that computing with it would fail."""
        if isinstance(value, Integral):
            return abs(int(value)) <= _LARGEST_WHOLE
        return bool(abs(value) <= _LARGEST and (value == 0 or self.tiny or abs(value) >= 1 / _LARGEST))

    def __str__(self) -> str:
        ends = {
            "from {:g} on": self.at_least,
            "above {:g}": self.above,
            "up to {:g}": self.at_most,
            "below {:g}": self.below,
        }
        return " and ".join(words.format(end) for words, end in ends.items() if end is not None)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method, as it was declared; `kind` is the annotation of its field."""

    name: str
    kind: Any
    default: Any
    meaning: str
    bounds: Bounds

    @property
    def allowed(self) -> str:
        """Which values the parameter takes, in words.

        >>> Parameter("seed", int, 0, "", Bounds(at_least=0)).allowed
        'a whole number from 0 on'
        """
        return " or ".join(self._words(kind) for kind in _alternatives(self.kind))

    def accepts(self, value: Any) -> bool:
        """Whether the parameter takes this value."""
        return any(self._fits(kind, value) for kind in _alternatives(self.kind))

    def parse(self, text: str) -> Any:
        """The value that a text stands for; a text that stands for none is refused."""
        meant: Any = text
        for kind in (float, *_alternatives(self.kind)):
            value = _from_text(kind, text)
            if value is not _NO_VALUE:
                meant = value
                if kind in _alternatives(self.kind) and self._fits(kind, value):
                    return value
        raise CallError(f"{self.name}={text} is not {self.allowed}.{self._hint(meant)}")

    def require(self, value: Any) -> None:
        """Refuse a value that the parameter does not take."""
        if not self.accepts(value):
            raise CallError(f"{self.name}={shown(value)} is not {self.allowed}.{self._hint(value)}")

    def _fits(self, kind: Any, value: Any) -> bool:
        if kind is type(None):
            return value is None
        if get_origin(kind) is Literal:
            return isinstance(value, str) and value in get_args(kind)
        if kind is bool or isinstance(value, bool | np.bool_):
            return kind is bool and isinstance(value, bool | np.bool_)
        if kind is str:
            return isinstance(value, str)
        number = Integral if kind is int else Real
        return isinstance(value, number) and self.bounds.hold(value)

    def _words(self, kind: Any) -> str:
        if kind is type(None):
            return "None"
        if get_origin(kind) is Literal:
            return "one of " + ", ".join(map(repr, get_args(kind)))
        if kind is bool:
            return "True or False"
        if kind is str:
            return "a text"
        return f"a {'whole ' if kind is int else ''}number {self.bounds}".strip()

    def _hint(self, value: Any) -> str:
        """A sentence to add when a value is refused: what is wrong with it, or which choice may have been meant."""
        if isinstance(value, Integral) and not self.bounds.computable(value):
            return " It must have at most 18 digits."
        if isinstance(value, Real) and not self.bounds.computable(value):
            closest = "" if self.bounds.tiny else f"at least {1 / _LARGEST:g} away from 0 and "
            return f" It must be {closest}at most {_LARGEST:g}."
        choices = [choice for kind in _alternatives(self.kind) for choice in get_args(kind) if isinstance(choice, str)]
        return did_you_mean(value, choices) if isinstance(value, str) else ""


def parameter(
    default: Any,
    meaning: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    tiny: bool = False,
) -> Any:
    """Declare a parameter of a method, as the value of a field of a dataclass.

    Its meaning is a sentence that can be understood by itself: docs and report show it alone. The rest is `Bounds`.
    """
    return field(default=default, metadata={KEY: (meaning, Bounds(at_least, above, at_most, below, tiny))})


def settled_within(default: float, moving: str = "probability") -> Any:
    """Declare the tolerance of a method: how little its probabilities, or else what is `moving`, may move."""
    return parameter(default, f"Stop when no {moving} moves by more than this in one iteration.", at_least=0, tiny=True)


def values_settled() -> Any:
    """Declare the tolerance of a numeric method: how little values may move on average."""
    meaning = "Stop when values move by no more than this on average in one iteration, in units of the typical error."
    return parameter(1e-6, meaning, at_least=0, tiny=True)


def most_iterations(default: int) -> Any:
    """Declare how many iterations a method makes at most."""
    return parameter(default, "The most iterations before it stops without having converged.", at_least=1)


def random_seed(gives: str = "starts") -> Any:
    """Declare the seed of a method that draws random numbers, and what these give."""
    return parameter(0, f"The random seed: the same seed gives the same {gives}.", at_least=0)


def meaning_of(field: Field[Any]) -> str:
    """What the parameter of a field means; empty if the field was not declared by `parameter`."""
    return _declared(field)[0]


def _declared(field: Field[Any]) -> tuple[str, Bounds]:
    found: tuple[str, Bounds] = field.metadata.get(KEY, ("", Bounds()))
    return found


@cache
def parameters_of(method: Any) -> dict[str, Parameter]:
    """All parameters of a class of methods, by name, in the order in which they are declared."""
    kinds = get_type_hints(method)
    return {one.name: Parameter(one.name, kinds[one.name], one.default, *_declared(one)) for one in fields(method)}


def check(method: Any) -> None:
    """Refuse a method if one of its parameters has a value that it does not take."""
    kind: Any = type(method)
    for name, declared in parameters_of(kind).items():
        declared.require(getattr(method, name))


def check_weight(weight: float) -> None:
    """Raise `CallError` if items of known class cannot count so much."""
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 < weight <= 1e6:
        raise CallError(f"gold_weight={weight!r} has to be a number above 0 and at most 1,000,000.")


def check_decay(decay: float) -> None:
    """Raise `CallError` if earlier counts cannot be multiplied by this."""
    if isinstance(decay, bool) or not isinstance(decay, int | float) or not 0 < decay <= 1:
        raise CallError(f"decay={shown(decay)} has to be a number above 0 and at most 1.")


def parse(method: Any, settings: Sequence[str]) -> dict[str, Any]:
    """The values of parameters, by name, from texts of the form "name=value"; refuses what is wrong with them."""
    known = parameters_of(method)
    values: dict[str, Any] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if name in method.renamed:
            raise CallError(f"--set {setting}: {method.renamed[name]}")
        if not separator or name not in known:
            names = ", ".join(known) or "none"
            raise CallError(
                f"--set {setting}: {method.key} takes name=value with one of these names: {names}."
                f"{did_you_mean(name, list(known)) if name not in known else ''}"
            )
        if name in values:
            raise CallError(f"--set {name} was given more than once; give every parameter one value.")
        try:
            values[name] = known[name].parse(text)
        except CallError as problem:
            raise CallError(f"--set {problem}") from problem
    return values


# Says that a text stands for no value; None would not do, because it is a value.
_NO_VALUE: Final = object()


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """The types of a union such as `int | None`; a type that is no union, alone."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _from_text(kind: Any, text: str) -> Any:
    """The value of this type that a text stands for; `_NO_VALUE` if there is none."""
    if kind is type(None):
        return None if text.lower() == "none" else _NO_VALUE
    if get_origin(kind) is Literal:
        return text
    if kind is bool:
        return _BOOLEANS.get(text.lower(), _NO_VALUE)
    try:
        return kind(text)
    except (ValueError, OverflowError):
        return _NO_VALUE
