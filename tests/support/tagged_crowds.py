"""Simulated crowds whose workers name several classes at once, with the true sets."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

import crowdwise as cw


class Tagged(NamedTuple):
    """A simulated crowd: its answers (item, worker, labels as a list), and the true sets by item."""

    answers: pl.DataFrame
    truth: dict[int, list[str]]


def simulate(
    seed: int,
    *,
    items: int = 200,
    workers: int = 12,
    per_item: int = 5,
    classes: int = 6,
    true_per_item: float = 1.5,
    false: float = -2.5,
) -> Tagged:
    """Simulate workers with an ability for all classes and a part for each, and classes of different frequency."""
    random = np.random.default_rng(seed)
    common = np.clip(random.dirichlet(np.full(classes, 0.7)) * true_per_item, 0.005, 0.9)
    holds = random.random((items, classes)) < common
    ability, part = random.normal(size=workers), random.normal(scale=0.5, size=(2, workers, classes))
    hit, miss = random.normal(0.8, 0.7, classes), random.normal(false, 0.7, classes)
    rows: list[tuple[int, str, list[str]]] = []
    for item in range(items):
        for worker in random.choice(workers, per_item, replace=False):
            right, wrong = hit + ability[worker] + part[0, worker], miss - 0.7 * ability[worker] + part[1, worker]
            named = random.random(classes) < 1 / (1 + np.exp(-np.where(holds[item], right, wrong)))
            rows.append((item, f"w{worker}", names(named)))
    schema: Any = {"item": pl.Int64, "worker": pl.String, "labels": pl.List(pl.String)}
    return Tagged(pl.DataFrame(rows, schema=schema, orient="row"), {i: names(holds[i]) for i in range(items)})


def names(chosen: Any) -> list[str]:
    """Return the names of the classes that are chosen."""
    return [f"c{code:02}" for code in np.flatnonzero(chosen)]


def inferred(labels: cw.Labels, **options: Any) -> cw.SetResult:
    """Return the sets that `aggregate` infers."""
    found: Any = cw.aggregate(labels, **options, warn=False)
    assert isinstance(found, cw.SetResult)
    return found
