"""Measures an iteration of every method that sweeps, beside a C loop and beside what the memory allows."""

import os
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import crowdwise as cw
from crowdwise.fitting.sweeping import SweepingMethod
from crowdwise.methods import METHODS

from .limit import CLASSES, Limit
from .timing import show

_ITERATIONS = 6


def on_six_million_labels() -> None:
    """Measure on a million simulated items with 20,000 workers and five classes."""
    labels = cw.simulate(1_000_000, 20_000, CLASSES, labels_per_item=6, seed=1).labels
    limit = _limit()
    if limit is not None:
        _show_beside(
            "an iteration of BWA / the C loop", "bwa", labels, limit.sweep_seconds(labels.numbered), "<= 1.5 x"
        )
        what = "an iteration of the adjudicator / its sweep as a C loop"
        _show_beside(what, "adjudicator", labels, limit.pulls_seconds(labels.numbered), "")
    _show_each("6 million labels", labels, list(METHODS), limit)


def on_pico() -> None:
    """Measure on the labels of all tokens of PICO: 6,951,103 labels of 1,154,910 items by 312 workers, real ones."""
    path = Path(os.environ.get("CROWDWISE_DATA", "")) / "large" / "pico_all" / "label.parquet"
    if not path.exists():
        show("PICO, 7 million labels", "not measured", "set CROWDWISE_DATA to the folder that holds large/pico_all")
        return
    _show_each("PICO, 7 million labels", cw.read_labels(path, duplicates="all"), ["bwa", "ds", "adjudicator"], _limit())


def iteration_seconds(key: str, labels: cw.Labels) -> float | None:
    """Return the seconds of an iteration of a method, the least of several; None if there are fewer than two."""
    kind: Any = METHODS[key]
    limited = {"max_iterations": _ITERATIONS} if "max_iterations" in {field.name for field in fields(kind)} else {}
    ends: list[float] = []
    kind(**limited).fit(labels, progress=lambda _iteration, _change: ends.append(time.perf_counter()))
    return min((after - before for before, after in pairwise(ends)), default=None)


def _show_beside(what: str, key: str, labels: cw.Labels, bare: float, target: str) -> None:
    ours = iteration_seconds(key, labels)
    if ours is not None:
        show(f"6 million labels: {what}", f"{ours * 1e3:.1f} ms / {bare * 1e3:.1f} ms = {ours / bare:.2f} x", target)


def _show_each(what: str, labels: cw.Labels, keys: list[str], limit: Limit | None) -> None:
    for key in keys:
        method: Any = METHODS[key]
        if not issubclass(method, SweepingMethod) or key == "mv":
            continue
        try:
            seconds = iteration_seconds(key, labels)
        except cw.DataError:  # the method refuses so many classes
            continue
        if seconds is None:
            continue
        least = "" if limit is None else f"memory: {_streamed(labels) / limit.bytes_per_second * 1e9:.1f} ns"
        show(f"{what}: {key}, an iteration, per label", f"{seconds / labels.n_labels * 1e9:.1f} ns", least)


def _streamed(labels: cw.Labels) -> float:
    """Return the bytes a label that every sweep moves: worker and label, where items start, and scores twice."""
    per_item = labels.item_starts.itemsize + 2 * 8 * labels.n_classes
    return labels.workers.itemsize + labels.labels.itemsize + per_item * labels.n_items / labels.n_labels


def _limit() -> Limit | None:
    try:
        return Limit()
    except FileNotFoundError as problem:
        show("the C loop", "not measured", str(problem))
        return None
