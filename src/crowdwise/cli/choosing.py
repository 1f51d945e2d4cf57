"""A method by its key and its parameters as text: how the command line chooses one."""

import difflib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ..errors import CallError
from ..inference.loop import Method
from ..methods import METHODS


def choose(key: str, settings: Sequence[str] = ()) -> Method:
    """The method of that key with these parameters, each as "name=value".

    >>> choose("bwa", ["prior_strength=30", "prior_correction=false"]).prior_correction
    False
    """
    if key not in METHODS:
        close = difflib.get_close_matches(key.lower(), METHODS, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise CallError(f"There is no method {key!r}; there are {', '.join(METHODS)}.{hint}")
    known = {field.name: field for field in fields(METHODS[key])}
    values: dict[str, Any] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator or name not in known:
            names = ", ".join(known) or "none"
            raise CallError(f"--set {setting}: {key} takes name=value with one of these names: {names}.")
        try:
            values[name] = _value(text, type(known[name].default))
        except (KeyError, ValueError) as problem:
            raise CallError(f"--set {setting}: {text!r} is no {type(known[name].default).__name__}.") from problem
    method: Method = METHODS[key](**values)
    return method


def _value(text: str, kind: type) -> Any:
    if kind is bool:
        return {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}[text.lower()]
    return kind(text)
