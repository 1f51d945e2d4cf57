"""Every method on every dataset of the paper, by the code behind `crowdwise compare`."""

import os
from collections import Counter
from pathlib import Path

import crowdwise as cw
from crowdwise.analysis.comparison import compare

from .timing import show


def on_paper() -> None:
    """Seconds of each method over all datasets, compilation aside, and of all together."""
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
            # A method that refuses a crowd takes no time for it.
            taken[row["method"]] += row["seconds"] or 0.0
            refused[row["method"]] += row["seconds"] is None
    for key, seconds in taken.items():
        show(f"{key} on {len(paths) - refused[key]} datasets of the paper", f"{seconds:.2f} s")
    show(f"all {len(methods)} methods together", f"{sum(taken.values()):.1f} s", "< 60 s")
