"""Parquet and Arrow files with columns of every type, whole and with flipped bits or cut off."""

import io
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import polars as pl

from .. import crowds, hostile
from ..answering import check_majority
from ..area import Area, Case
from ..majority import Row, Rules
from ..rule import Verdict

_DAY: Final = date(2026, 2, 28)
_MOMENT: Final = datetime(1969, 12, 31, 23, 59, 59, 123456)
_TEXT: Final = ("a", "", "b", "é", "=1+1", "nul\x00", "new\nline")
# Types, and values of each that differ from each other. Crowdwise must read these.
_USABLE: Final[tuple[tuple[Any, Sequence[Any]], ...]] = (
    (pl.String, ("x", *_TEXT[2:], *hostile.NAMES[:20])),
    (pl.Int8, (0, -128, 127, 5)),
    (pl.Int16, (0, -(2**15), 2**15 - 1)),
    (pl.Int32, (0, -(2**31), 2**31 - 1)),
    (pl.Int64, (0, -(2**63), 2**63 - 1, 2**53, 2**53 + 1)),
    (pl.Int128, (0, 2**64, -(2**100), 7)),
    (pl.UInt8, (0, 255, 7)),
    (pl.UInt16, (0, 2**16 - 1)),
    (pl.UInt32, (0, 2**32 - 1)),
    (pl.UInt64, (0, 2**63, 2**64 - 1, 3)),
    (pl.Float32, (0.5, -1.5, 2.0)),
    (pl.Float64, (0.1, -1e300, 5e-324, 2.0**53)),
    (pl.Boolean, (False, True)),
    (pl.Date, (_DAY, date(1, 1, 1), date(9999, 12, 31))),
    (pl.Datetime("us"), (_MOMENT, datetime(2026, 1, 1))),
    (pl.Datetime("us", "UTC"), (_MOMENT.replace(tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))),
    (pl.Time, (time(0), time(23, 59, 59))),
    (pl.Decimal(20, 4), (Decimal("1.5000"), Decimal("-3.2500"), Decimal("1234567890123456.0001"))),
    (pl.Categorical, ("x", "b", "é")),
)
# Types that crowdwise must refuse.
_UNUSABLE: Final[tuple[tuple[Any, Sequence[Any]], ...]] = (
    (pl.Binary, (b"x", b"\xff")),
    (pl.Duration("us"), (timedelta(1), timedelta(2))),
    (pl.List(pl.Int64), ([1], [1, 2], [])),
    (pl.Array(pl.Int64, 2), ([1, 2], [3, 4])),
    (pl.Struct({"a": pl.Int64}), ({"a": 1}, {"a": 2})),
    (pl.Null, (None,)),
)
_WRITERS: Final[dict[str, Callable[[pl.DataFrame, Any], Any]]] = {
    "labels.parquet": lambda frame, file: frame.write_parquet(file),
    "plain.parquet": lambda frame, file: frame.write_parquet(file, compression="uncompressed", statistics=False),
    "labels.arrow": lambda frame, file: frame.write_ipc(file),
    "small.feather": lambda frame, file: frame.write_ipc(file, compression="lz4"),
    "stream.ipc": lambda frame, file: frame.write_ipc_stream(file),
    "no extension": lambda frame, file: frame.write_parquet(file),
}


def attack(case: Case) -> Verdict:
    """Read a binary table, and compare with the values that were written."""
    random = case.random
    kinds = [random.choice(_USABLE if case.chance(0.95) else _UNUSABLE) for _ in range(3)]
    usable = all(kind in _USABLE for kind in kinds)
    values = [random.sample(list(values), random.randint(1, len(values))) for _, values in kinds]
    pairs = [(item, worker) for item in values[0] for worker in values[1]]
    pairs = random.sample(pairs, min(len(pairs), 20))
    rows: list[Row] = [(*pair, random.choice(values[2])) for pair in pairs]
    rules = Rules()
    if usable:
        rows = crowds.spoil(case, rows)
        rules = crowds.rules(case, rows)
    schema = dict(zip(("item", "worker", "label"), (kind for kind, _ in kinds), strict=True))
    name = random.choice(list(_WRITERS))
    buffer = io.BytesIO()
    _WRITERS[name](pl.DataFrame(rows, schema=schema, orient="row"), buffer)
    content = buffer.getvalue()
    damaged = case.chance(0.4)
    if damaged:
        content = _damaged(case, content)
    (case.here / name).write_bytes(content)
    # What a flipped bit makes of a table nobody can say; formats without checksums may hold another value after it.
    known = rows if usable and not damaged else None
    verdict = check_majority(case, [name], rules, known, is_text=False)
    if not usable and not damaged and verdict == "right":
        raise AssertionError(f"a column of {schema} was read")
    return verdict


def _damaged(case: Case, content: bytes) -> bytes:
    """The file cut off, or with some bits or bytes changed."""
    random = case.random
    if case.chance(0.3):
        return content[: random.randint(0, len(content) - 1)]
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 3, 20))):
        place = random.randrange(len(changed))
        changed[place] = changed[place] ^ 1 << random.randrange(8) if case.chance(0.7) else random.randrange(256)
    return bytes(changed)


AREA = Area("binary", "Parquet and Arrow columns of every type, flipped bits, cut off", attack, tested=200)
