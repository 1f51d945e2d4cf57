"""`crowdwise.toml`: what a folder says about its labels, so that no command has to be told again.

The keys are the options of `crowdwise aggregate` without the dashes before them. Commands take them as defaults:
options on the command line win. `crowdwise init` writes the file.
"""

import inspect
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from ..errors import DataError, did_you_mean
from . import options
from .groups import flags_of

NAME: Final = "crowdwise.toml"
# The environment variable that makes commands ignore the file, as --no-config does.
IGNORED: Final = "CROWDWISE_NO_CONFIG"
# What the file may say besides how labels are read. Secrets belong elsewhere, so that storage is not among them.
_MORE: Final[Mapping[str, Any]] = {
    "gold": options.Gold,
    "gold_weight": options.GoldWeight,
    "numeric": options.Numeric,
    "costs": options.Costs,
    "ordinal": options.Ordinal,
    "order": options.Order,
    "distance": options.Distance,
}
_LEFT_OUT: Final = ("storage",)


def keys() -> dict[str, tuple[str, Any]]:
    """Return the keys that the file may have, with the name of the parameter of each, and its type."""
    fields = inspect.signature(options.Reading, eval_str=True).parameters
    flags = flags_of(options.Reading)
    found = {flags[name][2:]: (name, field.annotation) for name, field in fields.items() if name not in _LEFT_OUT}
    return found | {name.replace("_", "-"): (name, kind) for name, kind in _MORE.items()}


def is_ignored(arguments: Sequence[str]) -> bool:
    """Return whether a command with these arguments ignores the file, or prints its help."""
    words = {"--no-config", "-h", "--help"}
    return bool(os.environ.get(IGNORED)) or any(one in words for one in arguments)


def read_config() -> dict[str, Any]:
    """Return what `crowdwise.toml` in this folder says, by key, as the command line gives it; {} without such a file.

    Raises:
        DataError: It is no TOML, or has keys or values that are not allowed; the message has all of them.
    """
    try:
        text = Path(NAME).read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(_refusal([f"it cannot be read ({problem})"])) from problem
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise DataError(_refusal([f"it is no valid TOML ({problem})"])) from problem
    known, found, problems = keys(), {}, []
    for key, value in given.items():
        wanted = key.replace("_", "-")
        if wanted not in known:
            meant = did_you_mean(wanted, list(known)).replace(" Did you mean", "; did you mean")
            problems.append(f"there is no option {key!r}{meant.rstrip('?')}")
            continue
        try:
            found[wanted] = _taken(value, get_args(known[wanted][1])[0])
        except ValueError as problem:
            problems.append(f"{key!r} {problem}")
    if problems:
        raise DataError(_refusal(problems))
    return found


def _refusal(problems: Sequence[str]) -> str:
    said = "; ".join(problems)
    return f"{NAME}: {said}. Correct it, write it anew with `crowdwise init FILE --force`, or say --no-config."


def _taken(value: Any, kind: Any) -> Any:
    """Return a value as the command line gives it. Raises `ValueError` with the end of a sentence if it is none."""
    if get_origin(kind) in (UnionType, Union):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if kind is bool:
        if not isinstance(value, bool):
            raise ValueError("has to be true or false")
        return value
    if get_origin(kind) is list:
        values = value if isinstance(value, list) else [value]
        return [_text(one) for one in values]
    if isinstance(value, list):
        return ",".join(_text(one) for one in value)
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("has to be a number")
        return float(value)
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise ValueError(f"has to be one of {', '.join(get_args(kind))}")
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("has to be text")
    return str(value)


def said_of(used: Mapping[str, Any]) -> str:
    """Return the line that says what was taken from the file, by key."""
    words = [f"{key} = {_written(value)}" for key, value in used.items()]
    return f"From {NAME}: {', '.join(words)}."


def as_toml(found: Mapping[str, tuple[Any, str]], intro: str) -> str:
    """Return the text of a file: values by key, each with a comment or an empty text."""
    lines = [f"# {line}" for line in intro.splitlines()]
    for key, (value, comment) in found.items():
        lines += ["", *([f"# {comment}"] if comment else []), f"{key} = {_written(value)}"]
    return "\n".join(lines) + "\n"


def _written(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'
