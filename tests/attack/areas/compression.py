"""Compressed text: whole, of several members, cut off, damaged, and under a wrong name."""

import bz2
import gzip
import io
import zlib

import polars as pl

from .. import crowds, delimited
from ..answering import check_majority
from ..area import Area, Case
from ..rule import Verdict


def _zstandard(content: bytes) -> bytes:
    """The bytes as zstd, of one member; polars is the one library at hand that writes it."""
    file = io.BytesIO()
    pl.DataFrame({"x": [content.decode()]}).write_csv(
        file, include_header=False, quote_style="never", line_terminator="", compression="zstd"
    )
    return file.getvalue()


def _gzip(case: Case, content: bytes) -> bytes:
    """The bytes as gzip, of one or several members."""
    cuts = sorted(case.random.choices(range(len(content) + 1), k=case.random.choice((0, 0, 1, 3))))
    pieces = [content[low:high] for low, high in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    return b"".join(gzip.compress(piece, case.random.choice((0, 1, 9)), mtime=0) for piece in pieces)


def attack(case: Case) -> Verdict:
    """Read compressed CSV, and compare with what was compressed."""
    random = case.random
    rows = crowds.text_rows(case)
    rules = crowds.rules(case, rows)
    plain = delimited.encode(case, rows)
    kind = random.choice(("gzip", "gzip", "zstd", "raw", "bz2", "none"))
    packed = {
        "gzip": lambda: _gzip(case, plain.content),
        "zstd": lambda: _zstandard(plain.content),
        "raw": lambda: zlib.compress(plain.content),
        "bz2": lambda: bz2.compress(plain.content),
        "none": lambda: plain.content,
    }[kind]()
    right = {"gzip": ".csv.gz", "zstd": ".csv.zst"}
    extension = right.get(kind, ".csv.gz") if case.chance(0.8) else random.choice((".csv.zst", ".csv", "", ".gz"))
    damaged = case.chance(0.4)
    if damaged:
        packed = _damaged(case, packed)
    (case.here / f"labels{extension}").write_bytes(packed)
    sure = not damaged and right.get(kind) == extension
    known = None if damaged else plain.rows()  # whole files under a wrong name are recognised, or refused
    return check_majority(case, [f"labels{extension}"], rules, known, may_refuse=not sure or plain.may_be_refused)


def _damaged(case: Case, packed: bytes) -> bytes:
    """The bytes cut off, with something behind them, or with one bit changed."""
    random = case.random
    place = random.randrange(len(packed))
    kind = random.choice(("cut", "flip", "behind", "twice"))
    if kind == "cut":
        return packed[:place]
    if kind == "behind":
        return packed + random.choice((b"\x00" * 100, b"rubbish", b"\x1f\x8b\x08\x00"))
    if kind == "twice":
        return gzip.compress(packed, mtime=0)
    return packed[:place] + bytes([packed[place] ^ 1 << random.randrange(8)]) + packed[place + 1 :]


AREA = Area("compression", "gzip and zstd, several members, cut off, damaged, misnamed", attack, tested=150)
