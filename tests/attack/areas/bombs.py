"""Small compressed files that hold gigabytes: of many rows, of one endless line, of nothing."""

import struct
import zlib
from pathlib import Path
from typing import Final

from ..area import Area, Case
from ..rule import MOST_MEMORY, MOST_WAITING, Verdict, judge
from ..running import in_child

_MEGABYTE: Final = 1 << 20
_HEADER: Final = b"item,worker,label\n"
# What a bomb begins with, what is in each of its megabytes, and how many there are.
_KINDS: Final = (
    (b"", b"1,a,x\n" * (_MEGABYTE // 6), 300),
    (b"1,a,", b"x" * _MEGABYTE, 2000),
    (b'1,a,"', b"x\n" * (_MEGABYTE // 2), 2000),
    (b"", b"\n" * _MEGABYTE, 1000),
    (b"", b"\x00" * _MEGABYTE, 2000),
    (b"", b",,\n" * (_MEGABYTE // 3), 500),
)


def attack(case: Case) -> Verdict:
    """Read a bomb in a process of its own, which may take no more memory than it was allowed."""
    random = case.random
    start, piece, megabytes = random.choice(_KINDS)
    path = case.here / random.choice(("bomb.csv.gz", "bomb.csv.gz", "bomb.jsonl.gz"))
    header = random.choice((_HEADER, _HEADER, b""))
    _write(path, header + start, piece, megabytes)
    options = ["-m", "mv", "-o", "truth.csv", "-q", "--engine", random.choice(("auto", "disk")), "--memory", "300MB"]
    run = in_child(case, "aggregate", path, *options)
    return judge(run, {str(case.here / "truth.csv")}, most_seconds=MOST_WAITING, most_memory=2 * MOST_MEMORY)


def _write(path: Path, start: bytes, piece: bytes, count: int) -> None:
    """Write the start and so many equal pieces as gzip.

    A piece is compressed once, and flushed so that what it became can be repeated: that takes no time.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    check = zlib.crc32(start)
    for _ in range(count):
        check = zlib.crc32(piece, check)
    with path.open("wb") as file:
        file.write(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + first)
        for _ in range(count):
            file.write(packed)
        file.write(packer.flush(zlib.Z_FINISH))
        file.write(struct.pack("<II", check, (len(start) + count * len(piece)) & 0xFFFFFFFF))


AREA = Area("bombs", "compressed files that hold gigabytes", attack, tested=1, weight=1)
