"""A crowd of any size, written as Parquet a piece at a time: nothing of it is ever in memory as a whole."""

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

_PIECE: Final = 2_000_000
# Odd constants that spread consecutive numbers over 64 bits.
_SPREAD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)

CLASSES: Final = ("bad", "fair", "good", "poor", "superb")


def write(path: Path, labels: int, items: int, workers: int) -> None:
    """Write `labels` rows with text ids in random order; no worker labels an item twice.

    Workers are right with probabilities spread over 0.35 to 0.95, and err evenly.
    """
    # Row r is about label (stride r) mod n: every label once, neighbours far apart; pieces are shuffled besides.
    stride = int(labels * 0.6180339887) | 1
    while math.gcd(stride, labels) > 1:
        stride += 2

    def pieces(*_: object) -> "object":
        for first in range(0, labels, _PIECE):
            rng = np.random.default_rng(first)
            rows = np.arange(first, min(first + _PIECE, labels), dtype=np.uint64)
            rng.shuffle(rows)
            label = rows * np.uint64(stride) % np.uint64(labels)
            item = label * np.uint64(items) // np.uint64(labels)
            slot = label - (item * np.uint64(labels) + np.uint64(items - 1)) // np.uint64(items)
            worker = (_noise(item, 1) + slot * np.uint64(7919)) % np.uint64(workers)
            truth = _noise(item, 2) % np.uint64(len(CLASSES))
            accuracy = 0.35 + 0.6 * (_noise(worker, 3) % np.uint64(1000)) / 1000
            wrong = (truth + rng.integers(1, len(CLASSES), len(rows)).astype(np.uint64)) % np.uint64(len(CLASSES))
            said = np.where(rng.random(len(rows)) < accuracy, truth, wrong)
            yield pl.DataFrame({"item": item, "worker": worker, "label": said}).select(
                # A multiple coprime to 10^8 numbers the items without an order that would compress.
                pl.format("i{}", (pl.col("item") * 38_196_601 % 10**8).cast(pl.String).str.zfill(8)).alias("item"),
                pl.format("w{}", "worker").alias("worker"),
                pl.Series(CLASSES).gather(pl.Series(said)).alias("label"),
            )

    schema = {"item": pl.String, "worker": pl.String, "label": pl.String}
    register_io_source(pieces, schema=schema).sink_parquet(path)  # type: ignore[arg-type]


def _noise(numbers: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    mixed = (numbers + np.uint64(seed)) * _SPREAD
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX
    return mixed ^ (mixed >> np.uint64(31))
