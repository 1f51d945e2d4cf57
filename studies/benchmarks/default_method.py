"""Compares the time of the default method with that of Dawid-Skene and of loglinear, whole fits in the same run."""

import os
from pathlib import Path

import crowdwise as cw

from .timing import seconds, show


def on_paper() -> None:
    """Measure on the datasets of the paper: on two large ones against Dawid-Skene, on all against loglinear."""
    folder = Path(os.environ.get("CROWDWISE_DATA", "")) / "paper"
    paths = sorted(folder.glob("*/label.csv"))
    if not paths:
        show("the default method", "not measured", "set CROWDWISE_DATA to the folder that holds paper/")
        return
    slower = []
    for path in paths:
        labels = cw.read_labels(path, duplicates="all")
        ours = seconds(lambda labels=labels: cw.Adjudicator().fit(labels), 5)  # type: ignore[misc]
        log_linear = seconds(lambda labels=labels: cw.LogLinear().fit(labels), 3)  # type: ignore[misc]
        if ours > log_linear:
            slower.append(f"{path.parent.name} {ours / log_linear:.1f} x")
        if path.parent.name in ("fact", "adult"):
            dawid_skene = seconds(lambda labels=labels: cw.DawidSkene().fit(labels), 5)  # type: ignore[misc]
            _show(path.parent.name, ours, dawid_skene)
    show("datasets where adjudicator is slower than loglinear", ", ".join(slower) or "none", "none")


def on_six_million_labels() -> None:
    """Measure on a million simulated items with 20,000 workers and five classes."""
    labels = cw.simulate(1_000_000, 20_000, 5, labels_per_item=6, seed=1).labels
    dawid_skene = seconds(lambda: cw.DawidSkene().fit(labels), 1)
    _show("6 million labels", seconds(lambda: cw.Adjudicator().fit(labels), 1), dawid_skene)


def _show(what: str, ours: float, dawid_skene: float) -> None:
    ratio = f"{ours:.2f} s / {dawid_skene:.2f} s = {ours / dawid_skene:.1f} x"
    show(f"{what}: adjudicator / Dawid-Skene, whole fits", ratio, "<= 3 x")
