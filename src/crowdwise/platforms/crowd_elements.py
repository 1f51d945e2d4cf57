"""Answers in the elements of Amazon's forms, such as a classifier; for Mechanical Turk and Ground Truth."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from .fields import Location, is_scalar
from .platform import CHOICE

# What a form says about the picture that was shown, and not what was answered.
_NO_ANSWER: Final = "inputImageProperties"
_LABEL, _LABELS, _ON = ".label", ".labels", ".on"
_YES_NO: Final = {"true": True, "false": False}


class FormAnswer(NamedTuple):
    """What was answered in one place of a form.

    Attributes:
        question: The name of the element.
        choices: What was chosen.
        several: Whether several classes may be chosen.
        type: The type of the answer, as in `Answer`.
        option: If the element is one of several that are each on or off, which one; else None.
    """

    question: str
    choices: tuple[Any, ...]
    several: bool = False
    type: str = CHOICE
    option: str | None = None


def form_answers(at: Location, content: Mapping[str, Any]) -> Iterator[FormAnswer]:
    """Yield the answers of a form: `{"mood": {"label": "sad"}}` says what was chosen for mood.

    Args:
        at: Where the form is.
        content: The form as JSON, or its columns in a table, where all values are text.
    """
    for path, value in _leaves(content):
        name = ".".join(path)
        if name.endswith(_ON) and (isinstance(value, bool) or value in _YES_NO):
            yield FormAnswer("", (_YES_NO.get(value, value),), option=name.removesuffix(_ON))
        elif isinstance(value, bool) and len(path) > 1:
            yield FormAnswer(".".join(path[:-1]), (value,), option=path[-1])
        elif name.endswith(_LABELS):
            choices = at.classes(_listed(at, value, repr(name)), repr(name))
            yield FormAnswer(name.removesuffix(_LABELS), choices, several=True)
        elif isinstance(value, list):
            if all(map(is_scalar, value)):
                yield FormAnswer(name, at.classes(value, repr(name)), several=True)
            else:
                yield FormAnswer(name, (), type="parts of an item")
        else:
            choices = () if value is None or value == "" else at.classes([value], repr(name))
            yield FormAnswer(name.removesuffix(_LABEL), choices)


def _leaves(content: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what is in an object at any depth, with its path."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _leaves({name: one for name, one in value.items() if name != _NO_ANSWER}, (*path, key))
        else:
            yield (*path, key), value


def _listed(at: Location, value: Any, what: str) -> list[Any]:
    """Return a list that may be written as text: in JSON, or with bars between its entries."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = at.parsed(value, what) if value.startswith("[") else value.split("|")
    return value if isinstance(value, list) else [value]
