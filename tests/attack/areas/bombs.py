"""Small compressed files that hold gigabytes: of many rows, of one endless line, of nothing."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..area import Area, Case
from ..rule import MOST_MEMORY, Verdict, judge
from ..running import in_child

_MEGABYTE: Final = 1 << 20
_HEADER: Final = b"item,worker,label\n"


def _rows() -> Iterator[bytes]:
    while True:
        yield b"1,a,x\n" * (_MEGABYTE // 6)


def _line() -> Iterator[bytes]:
    yield b"1,a,"
    while True:
        yield b"x" * _MEGABYTE


def _quoted() -> Iterator[bytes]:
    yield b'1,a,"'
    while True:
        yield b"x\n" * (_MEGABYTE // 2)


def _nothing() -> Iterator[bytes]:
    while True:
        yield b"\n" * _MEGABYTE


def _zeros() -> Iterator[bytes]:
    while True:
        yield b"\x00" * _MEGABYTE


def attack(case: Case) -> Verdict:
    """Read a bomb in a process of its own, which may take no more memory than it was allowed."""
    random = case.random
    pieces = random.choice((_rows, _line, _quoted, _nothing, _zeros))
    megabytes = random.choice((500, 1500, 3000))
    path = case.here / "bomb.csv.gz"
    _write(path, _HEADER if case.chance(0.8) else b"", pieces(), megabytes)
    engine = ["--engine", random.choice(("auto", "disk")), "--memory", "300MB"]
    run = in_child(case, "aggregate", path, "-m", "mv", "-o", "truth.csv", "-q", *engine, most_seconds=300)
    return judge(run, {str(case.here / "truth.csv")}, most_seconds=300, most_memory=2 * MOST_MEMORY)


def _write(path: Path, header: bytes, pieces: Iterator[bytes], megabytes: int) -> None:
    """Write so many megabytes as gzip, without having them in memory."""
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed:
        packed.write(header)
        # Equal pieces are compressed once, and flushed so that their bytes can be repeated.
        first, piece = next(pieces), next(pieces)
        packed.write(first)
        packed.flush(zlib.Z_FULL_FLUSH)
        for _ in range(megabytes):
            packed.write(piece)


AREA = Area("bombs", "compressed files that hold gigabytes", attack, tested=1, weight=1)
