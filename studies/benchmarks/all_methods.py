"""Measures the time of every method on all datasets of the paper."""

import os
from collections import Counter
from pathlib import Path

import crowdwise as cw
from crowdwise.analysis.comparison import compare

from .timing import show


def on_paper() -> None:
    """Print the seconds of each method on all datasets, without compilation, and the seconds of all methods."""
    paths = sorted((Path(os.environ.get("CROWDWISE_DATA", "")) / "paper").glob("*/label.csv"))
    if not paths:
        show(
            "all methods on the paper's datasets", "not measured", "set CROWDWISE_DATA to the folder that holds paper/"
        )
        return
    methods = {key: method() for key, method in cw.METHODS.items()}
    taken = dict.fromkeys(methods, 0.0)
    refused: Counter[str] = Counter()
    for path in paths:
        for row in compare(cw.read_labels(path, duplicates="all"), methods):
            # The seconds are None if the method refuses the dataset.
            taken[row["method"]] += row["seconds"] or 0.0
            refused[row["method"]] += row["seconds"] is None
    for key, seconds in taken.items():
        show(f"{key} on {len(paths) - refused[key]} datasets of the paper", f"{seconds:.2f} s")
    show(f"all {len(methods)} methods together", f"{sum(taken.values()):.1f} s", "< 60 s")
