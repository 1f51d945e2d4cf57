"""Runs all replays of all crowds, in one process for every processor."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import polars as pl

from studies.calibrate.crowds import crowds, family

from . import experts, gains, replaying
from .real_crowds import read_crowd

_SEEDS: Final = (0,)
_GAIN_SEEDS: Final = range(8)
STARTS: Final = (1, 2)
# At most so many crowds of a family, because all of them together weigh as much as one.
_MOST_OF_FAMILY: Final = 3


def measure(data: Path) -> pl.DataFrame:
    """Replay everything on the crowds in a folder.

    Returns:
        One row per measurement: kind ("crowd", "expert, " and one of `experts.PARTS`, or "gain"), crowd, family, start
        (how many labels every item has at the start), seed, strategy, step (the number of the batch, or of gold items)
        and accuracy. Of the kind "gain", the strategies are "simulated" and "real".
    """
    rows: list[dict[str, Any]] = []
    os.environ["CROWDWISE_THREADS"] = "1"  # of the processes, which are as many as processors
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        tasks = [pool.submit(_measure, name, folder, seed) for name, folder in _chosen(data) for seed in _SEEDS]
        for done, task in enumerate(as_completed(tasks), 1):
            rows += task.result()
            print(f"{done} of {len(tasks)}", file=sys.stderr, flush=True)
    return pl.DataFrame(rows).sort("kind", "crowd", "start", "seed", "strategy", "step")


def _chosen(data: Path) -> Iterator[tuple[str, Path]]:
    """Yield the first crowds of every family; large ones are first, so that no process waits for them in the end."""
    taken: Counter[str] = Counter()
    found = []
    for name, folder in crowds(data).items():
        if taken[family(name)] < _MOST_OF_FAMILY and read_crowd(name, folder, 0) is not None:
            taken[family(name)] += 1
            found.append((name, folder))
    yield from sorted(found, key=lambda one: -(one[1] / "label.csv").stat().st_size)


def _measure(name: str, folder: Path, seed: int) -> list[dict[str, Any]]:
    """Return the rows of one crowd."""
    crowd = read_crowd(name, folder, seed)
    if crowd is None:
        return []
    about = {"crowd": name, "family": crowd.family, "seed": seed}
    rows = []
    for start in STARTS:
        for strategy in replaying.STRATEGIES:
            for step, accuracy in enumerate(replaying.replay(crowd, strategy, start, seed)):
                rows.append(_row(about, "crowd", strategy, start, step, accuracy))
    for strategy in experts.STRATEGIES:
        for count, found in zip(experts.GOLD, experts.replay_expert(crowd, strategy, seed) or [], strict=False):
            rows += [_row(about, f"expert, {part}", strategy, 0, count, found[part]) for part in experts.PARTS]
    return rows + _gains(name, folder, about)


def _gains(name: str, folder: Path, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of how much is gained by more labels, by several seeds, because that is quick to measure."""
    rows = []
    for seed in _GAIN_SEEDS:
        crowd = read_crowd(name, folder, seed)
        found = None if crowd is None else gains.gain(crowd)
        if found is not None:
            rows += [_row(about | {"seed": seed}, "gain", kind, 3, 3, value) for kind, value in found._asdict().items()]
    return rows


def _row(about: dict[str, Any], kind: str, strategy: str, start: int, step: int, accuracy: float) -> dict[str, Any]:
    return about | {"kind": kind, "strategy": strategy, "start": start, "step": step, "accuracy": accuracy}
