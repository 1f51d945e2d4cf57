"""Writes a simulated crowd of any size to a Parquet file, piece by piece, without holding it in memory."""

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

_PIECE_ROWS: Final = 2_000_000
# Constants of SplitMix64, which turns consecutive numbers into random ones.
_SPREAD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)

CLASSES: Final = ("bad", "fair", "good", "poor", "superb")


def write(path: Path, labels: int, items: int, workers: int) -> None:
    """Write a crowd with text ids and rows in random order; no worker labels an item twice.

    The workers are right with probabilities between 0.35 and 0.95; all wrong classes are equally probable.

    Args:
        path: The Parquet file to write.
        labels: The number of labels.
        items: The number of items.
        workers: The number of workers.
    """
    # Row r holds label number (stride * r) mod n. As stride and n have no common factor, every label occurs once. The
    # labels of an item are in rows far apart. In addition, the rows of each piece are shuffled.
    stride = int(labels * 0.6180339887) | 1
    while math.gcd(stride, labels) > 1:
        stride += 2

    digits = max(8, len(str(items - 1)))

    def pieces(*_: object) -> "object":
        for first in range(0, labels, _PIECE_ROWS):
            rng = np.random.default_rng(first)
            rows = np.arange(first, min(first + _PIECE_ROWS, labels), dtype=np.uint64)
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
                # The factor has no common factor with a power of ten, so the ids are all different. They are not in
                # order, because ordered ids would make the file smaller than a real one.
                pl.format("i{}", (pl.col("item") * 38_196_601 % 10**digits).cast(pl.String).str.zfill(digits)).alias(
                    "item"
                ),
                pl.format("w{}", "worker").alias("worker"),
                pl.Series(CLASSES).gather(pl.Series(said)).alias("label"),
            )

    schema = {"item": pl.String, "worker": pl.String, "label": pl.String}
    register_io_source(pieces, schema=schema).sink_parquet(path)  # type: ignore[arg-type]


def _noise(numbers: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """Return a random number of 64 bits for each number; the same number and seed always give the same."""
    mixed = (numbers + np.uint64(seed)) * _SPREAD
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX
    return mixed ^ (mixed >> np.uint64(31))
