"""`Verdicts`: find the label in the text of a language model as the user says; never guess."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from .fields import is_scalar

# The marks around JSON in a text for people.
_FENCE: Final = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def finder(options: ReadOptions) -> Callable[[str], Any]:
    """Return what finds the label in a text, and returns None if there is none.

    Raises:
        CallError: The user did not say how to find it, or in two ways; or the regular expression is none.
    """
    if (options.verdict is None) == (options.verdict_field is None):
        raise CallError(
            "These are texts of a model: say where the label is in them, by --verdict, a regular expression with one "
            "group such as 'Verdict: (yes|no)', or by --verdict-field, the key of the label in answers that are JSON "
            "(verdict= or verdict_field= in Python)."
            if options.verdict is None
            else "Give --verdict or --verdict-field, not both."
        )
    if options.verdict is not None:
        pattern = compiled("verdict", options.verdict)
        if pattern.groups != 1:
            raise CallError(f"--verdict {options.verdict!r} has {pattern.groups} groups ( ), and has to have one.")
        return lambda text: _in_text(pattern, text)
    path = (options.verdict_field or "").split(".")
    return lambda text: _in_json(path, text)


def compiled(name: str, text: str) -> re.Pattern[str]:
    """Return a regular expression that the user gave. Raises `CallError` if it is none."""
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as problem:
        raise CallError(f"--{name} {text!r} is no regular expression: {problem}.") from problem


def _in_text(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the group of a regular expression; None if it is not in the text, or if different ones are."""
    found = {(one[1] or "").strip() for one in pattern.finditer(text)} - {""}
    return found.pop() if len(found) == 1 else None


def _in_json(path: list[str], text: str) -> Any:
    """Return the field of a text that is JSON."""
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, str):
        value = value.strip()
    return value if is_scalar(value) and value != "" else None
