"""Change things in an export, as a program that writes it wrongly would."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

# Values that no field expects, and those that some field expects elsewhere.
_STRANGE: Final[list[Any]] = [
    None, True, False, 0, -1, 2**70, 1.5, 1e308, "", "a", "\ud800", "[", '["a"]', [], ["a", "b"], [[]], [None], {},
    {"label": "a"}, {"a": {"b": []}}, [{"result": 3}], "x" * 2000,
]  # fmt: skip
_KINDS: Final = ("drop", "strange", "nest", "swap", "double", "rename")
_NAMES: Final = ("id", "label", "x", "result", "answer")
# What can be in the place of some bytes of a file.
PIECES: Final = (
    *(b"", b"\0", b"\xff", b'"', b"{", b"]", b"\n", b",", b"\\ud800", b"[" * 5000, b"NaN", b"1e999", b"9" * 5000),
)


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or object in the data, with each key or position in it."""
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


def mutate(data: Any, choose: Callable[[int], int]) -> None:
    """Change one thing somewhere. `choose` returns a number below the one that it is given."""
    there = list(places(data))
    if not there:
        return
    owner, key = there[choose(len(there))]
    kind = _KINDS[choose(len(_KINDS))]
    if kind == "drop":
        del owner[key]
    elif kind == "strange":
        owner[key] = copy.deepcopy(_STRANGE[choose(len(_STRANGE))])
    elif kind == "nest":
        owner[key] = [owner[key]] if choose(2) else {"value": owner[key]}
    elif kind == "swap":
        other, place = there[choose(len(there))]
        if isinstance(other[place], dict | list) or isinstance(owner[key], dict | list):
            return  # one could be within the other
        owner[key], other[place] = other[place], owner[key]
    elif kind == "double" and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif kind == "rename" and isinstance(owner, dict):
        owner[_NAMES[choose(len(_NAMES))]] = owner.pop(key)


def damage(content: bytes, choose: Callable[[int], int]) -> bytes:
    """Return a file with some bytes replaced, and perhaps cut off there."""
    at, cut = choose(len(content) + 1), choose(20)
    rest = b"" if choose(2) else content[at + cut :]
    return content[:at] + PIECES[choose(len(PIECES))] + rest
