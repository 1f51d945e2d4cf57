"""JSON lines: values of every type, escapes, large numbers, whole and damaged."""

import json
from collections.abc import Callable
from typing import Any, Final

from .. import crowds, hostile
from ..answering import check_majority
from ..area import Area, Case
from ..majority import Row
from ..rule import Verdict

_FLOATS: Final = (0.0, 1.5, -2.25, 1e300, 5e-324, 0.1)
_LARGE: Final = (2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**30)


def _text(case: Case, number: int) -> Any:
    return crowds.hostile_names(case, number)


def _integer(case: Case, number: int) -> Any:
    return number * case.random.choice((1, -1, 2**40))


def _large(case: Case, _: int) -> Any:
    return case.random.choice(_LARGE)


def _float(case: Case, number: int) -> Any:
    return _FLOATS[number % len(_FLOATS)]


def _boolean(_: Case, number: int) -> Any:
    return bool(number % 2)


def _mixed(case: Case, number: int) -> Any:
    return case.random.choice((_text, _integer, _large, _float, _boolean))(case, number)


def _nested(case: Case, number: int) -> Any:
    return case.random.choice(([number], {"a": number}, [], {}, [[number, "x"]]))


# Kinds of values, and whether a column of them must be read; of the others, crowdwise may refuse a column.
_KINDS: Final[tuple[tuple[Callable[[Case, int], Any], bool], ...]] = (
    (_text, True),
    (_text, True),
    (_integer, True),
    (_float, True),
    (_boolean, True),
    (_large, False),
    (_mixed, False),
    (_nested, False),
)


def attack(case: Case) -> Verdict:
    """Read JSON lines, and compare with what Python's `json` reads."""
    random = case.random
    kinds = [random.choice(_KINDS if case.chance(0.5) else _KINDS[:3]) for _ in range(3)]
    values = [[kind(case, number) for number in range(random.randint(1, 5))] for kind, _ in kinds]
    sure = all(must for _, must in kinds)
    nested = _nested in [kind for kind, _ in kinds]
    pairs = [(item, worker) for item in values[0] for worker in values[1]]
    pairs = random.sample(pairs, random.randint(1, len(pairs)))
    rows = crowds.spoil(case, [(*pair, random.choice(values[2])) for pair in pairs])
    rules = crowds.rules(case, rows)
    names = [random.choice(choices) for choices in (("item", "task"), ("worker", "rater"), ("label", "lab(el", '"l"'))]
    content = _encoded(case, names, rows)
    damaged = case.chance(0.3)
    if damaged:
        content = _damaged(case, content)
    source = case.here / random.choice(("labels.jsonl", "labels.ndjson", "labels"))
    source.write_bytes(content)
    label = ["--label", names[2]] if names[2] != "label" else []
    read = _decoded(names, content) if damaged else rows
    if read is not None and not nested:
        read = _as_written(read)
    return check_majority(
        case, [source, *label], rules, None if nested else read, is_text=False, may_refuse=damaged or not sure
    )


def _as_written(rows: list[Row]) -> list[Row]:
    """The rows as crowdwise reads them if it reads them: whole numbers beside fractions are fractions, if none changes.

    Columns of other types that differ are text as it was written, so that no two values become one.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    for number, column in enumerate(columns):
        types = {type(value) for value in column if value is not None}
        if types == {int, float} and all(value is None or float(value) == value for value in column):
            columns[number] = [None if value is None else float(value) for value in column]
        elif len(types) > 1:
            columns[number] = [value if isinstance(value, str | None) else json.dumps(value) for value in column]
    return list(zip(*columns, strict=True))


def _encoded(case: Case, names: list[str], rows: list[Row]) -> bytes:
    """The rows as JSON lines, in any order of fields, with spaces and escapes as programs write them."""
    random = case.random
    ascii_only, ending = case.chance(0.5), random.choice(("\n", "\n", "\r\n"))
    others = {"note": hostile.name(case), "more": {"a": [1, None]}} if case.chance(0.3) else {}
    lines = []
    for row in rows:
        fields: list[tuple[str, Any]] = [*zip(names, row, strict=True), *others.items()]
        random.shuffle(fields)
        kept = [(name, value) for name, value in fields if value is not None or case.chance(0.5)]
        lines.append(json.dumps(dict(kept), ensure_ascii=ascii_only))
    return "".join(line + ending for line in lines).encode("utf-8", "surrogatepass")


def _decoded(names: list[str], content: bytes) -> list[Row] | None:
    """The rows as Python's `json` reads them; None if it does not."""
    try:
        objects = [json.loads(line) for line in content.decode("utf-8").split("\n") if line.strip()]
        return [tuple(one.get(name) for name in names) for one in objects]
    except (ValueError, AttributeError, RecursionError):
        return None


def _damaged(case: Case, content: bytes) -> bytes:
    """The file with one thing wrong somewhere."""
    random = case.random
    place = random.randint(0, len(content))
    pieces = (b"}", b"{", b'"', b"\\", b"\x00", b"\xff", b"\n", b",", b"NaN", b"[", b"\xef\xbb\xbf", b"//", b"\\ud800")
    kind = random.choice(("cut", "insert", "insert", "flip", "array", "deep"))
    if kind == "cut":
        return content[:place]
    if kind == "array":
        return b"[" + content.replace(b"\n", b",") + b"]"
    if kind == "deep":
        return content + b'{"item":' * random.choice((10, 100_000)) + b"\n"
    if kind == "flip" and place < len(content):
        return content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :]
    return content[:place] + random.choice(pieces) + content[place:]


AREA = Area("json", "JSON lines of every type, escapes, large numbers, damage", attack, tested=300)
