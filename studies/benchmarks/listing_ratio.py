"""Compares the time of BWA().fit with the time of the paper's program listing in SciPy."""

import os
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import crowdwise as cw

from .listing import bwa
from .timing import seconds, show

# The labels per item of the dataset senti: its labels divided by its items.
_PER_ITEM = 569_282 / 98_980


def on_simulated_senti() -> None:
    """Measure on a simulated crowd as large as senti: 98,980 items, 1,960 workers, 5 classes, 569,282 labels."""
    crowd = cw.simulate(98_980, 1_960, 5, labels_per_item=_PER_ITEM, workload=1.0, seed=1)
    listing, ours = _both(crowd.labels, 3, 15)
    show(
        "simulated senti: SciPy listing / BWA().fit",
        f"{listing:.2f} s / {ours:.3f} s = {listing / ours:.0f} x",
        ">= 50 x",
    )


def on_paper() -> None:
    """Measure on all datasets of the paper, where several labels of a worker on an item are one vote."""
    folder = Path(os.environ.get("CROWDWISE_DATA", "")) / "paper"
    paths = sorted(folder.glob("*/label.csv"))
    if not paths:
        show("the paper's datasets", "not measured", "set CROWDWISE_DATA to the folder that holds paper/")
        return
    listing = ours = 0.0
    for path in paths:
        labels = cw.Labels.from_frame(pl.read_csv(path), duplicates="set")
        one, other = _both(labels, 1, 5)
        listing, ours = listing + one, ours + other
    what = f"{len(paths)} datasets of the paper: SciPy listing / BWA().fit"
    show(what, f"{listing:.2f} s / {ours:.3f} s = {listing / ours:.0f} x", ">= 10 x")


def _both(labels: cw.Labels, listing_repeats: int, repeats: int) -> tuple[float, float]:
    """Return the seconds of the listing and of `BWA().fit`, each the median of so many repeats."""
    rows = tuples(labels)
    return seconds(lambda: bwa(rows), listing_repeats), seconds(lambda: cw.BWA().fit(labels), repeats)


def tuples(labels: cw.Labels) -> NDArray[np.int64]:
    """Return the labels as rows of (item, worker, label), the input of the listing."""
    items = labels.item_of
    return np.column_stack([items, labels.workers, labels.labels]).astype(np.int64)
