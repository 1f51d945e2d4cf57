"""The exceptions `DataError` and `CallError`, and checks that several modules use.

An error message says what is wrong, how many times, what the first case is, and what to do. Both exceptions are
`ValueError`s, so that code which catches `ValueError` also catches them. The command line prints the message and
ends with an exit code. However long the names are that a message has in it, the message is short. And no message has
a password or a key in it: `addresses.without_secrets` hides them.
"""

import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from types import UnionType
from typing import Final

from .addresses import is_address, without_secrets

# The largest size that is allowed: what a laptop has room for in addition to the labels.
_MOST_BYTES: Final = 8 * 2**30
# The packages that each extra installs.
_EXTRAS: Final = {
    "review": ("starlette", "uvicorn", "jinja2"),
    "report": ("altair", "jinja2", "vl_convert"),
    "spark": ("pyspark", "pyarrow"),
    "crowdkit": ("pandas",),
    "sql": ("adbc_driver_manager", "adbc_driver_postgresql", "pyarrow"),
    "duckdb": ("duckdb", "pyarrow"),
    "excel": ("fastexcel", "xlsxwriter"),
}


# The most characters of a message.
LONGEST: Final = 480
# The most characters of a text that are looked at; the others are cut out of its middle at once.
_LOOKED_AT: Final = 10_000
# Text without spaces that is longer than this is cut first: it is a name or a path, and no sentence.
_LONG_NAME: Final = re.compile(r"\S{81,}")


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return the text if it has at most `longest` characters, else its beginning and its end.

    Long names in it are cut first, so that the sentence around them can still be read.

    >>> shortened(f"There is no file {'x' * 1000}.csv.")
    'There is no file xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxx.csv.'
    """
    if len(text) > longest:
        if len(text) > _LOOKED_AT:
            text = f"{text[: _LOOKED_AT // 2]}...{text[-_LOOKED_AT // 2 :]}"
        text = _LONG_NAME.sub(lambda found: f"{found[0][:40]}...{found[0][-20:]}", text)
    if len(text) > longest:
        half = (longest - 5) // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return text


def shown(value: object) -> str:
    """Return a value that a caller gave, on one line and short, for a message.

    >>> shown("x"), shown(10**5000)
    ("'x'", 'an int')
    """
    try:
        return shortened(without_secrets(" ".join(repr(value).split())), 100)
    except Exception:  # anybody may have made its class; and Python writes no number of thousands of digits
        return f"an {type(value).__name__}"


def quoted(name: object) -> str:
    """Return the name of an item, a worker or a class for a message: in quotes, whatever its type is.

    >>> quoted(4), quoted("4")
    ("'4'", "'4'")
    """
    return shown(str(name))


class _ShortError(ValueError):
    """An error whose message is short, whatever names it has in it."""

    def __init__(self, message: str) -> None:
        super().__init__(shortened(without_secrets(message)))


class DataError(_ShortError):
    """The data cannot be used as they are (exit code 1 on the command line)."""


class CallError(_ShortError):
    """The arguments of a call are not allowed (exit code 2 on the command line)."""


def is_utf_8(text: str) -> bool:
    r"""Return whether a text can be written in UTF-8. Bytes of the system that are no text cannot: Python escapes them.

    >>> is_utf_8("caf\u00e9"), is_utf_8("caf\udce9")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def did_you_mean(name: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """Return the end of a message about a name that does not exist: a similar name that does, or nothing.

    Args:
        name: The name that does not exist.
        known: The names that exist; or a mapping, from every name that may be meant to the one that exists for it.

    >>> did_you_mean("BAW", ["bwa", "ds"])
    " Did you mean 'bwa'?"
    >>> did_you_mean("lable", ["label", "table"])
    " Did you mean 'label'?"
    """
    folded = {one.lower(): known[one] if isinstance(known, Mapping) else one for one in known}
    wrong = shortened(name.lower(), 100)  # comparing long names would take long
    close = get_close_matches(wrong, folded, 3)
    close.sort(key=lambda one: sorted(one) != sorted(wrong))  # of equally close ones, that with two letters swapped
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def require_kind(name: str, value: object, kinds: type | UnionType, what: str) -> None:
    """Raise `CallError` if an argument has the wrong type.

    Args:
        name: The name of the argument.
        value: The argument.
        kinds: The types that are allowed.
        what: What the argument has to be, in words.
    """
    if not isinstance(value, kinds):
        given = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
        raise CallError(f"{name} is {given}, and has to be {what}.")


def require_no_address(path: object, what: str) -> None:
    """Raise `CallError` if this is an address, or looks like one, where only a path will do; it is not repeated.

    Args:
        path: The path.
        what: What is to be there, for the message.
    """
    if is_address(os.fspath(path) if isinstance(path, os.PathLike) else path):
        raise CallError(f"{what} is on this machine, and what is given is an address: name a path.")


def require_room(size: int, needs: str, instead: str) -> None:
    """Raise `DataError` if something would need too much memory; call this before it is created.

    Args:
        size: How many bytes it would need.
        needs: The beginning of the message: what needs the memory.
        instead: The end of the message: what to do about it.
    """
    if size > _MOST_BYTES:
        raise DataError(f"{needs} would take {size / 2**30:,.0f} GB. {instead}")


def require_extra(extra: str, what: str) -> None:
    """Raise `CallError` if an optional dependency group (extra) of crowdwise is not installed.

    Args:
        extra: The name of the extra.
        what: The beginning of the message: what needs it.
    """
    missing = [name for name in _EXTRAS[extra] if find_spec(name) is None]
    if missing:
        raise CallError(f"{what} needs {', '.join(missing)}: pip install 'crowdwise[{extra}]'")
