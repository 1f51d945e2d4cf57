"""The command `python -m studies.calibrate.coverage`: how often the intervals of workers' quality hold their accuracy.

It writes docs/studies/coverage.csv and a section of docs/studies/confidence.md.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import polars as pl
import typer
from rich.console import Console

import crowdwise as cw
from crowdwise.analysis.evaluation import match
from crowdwise.crowd.simulation import SimulatedCrowd
from crowdwise.fitting.method import Method
from crowdwise.numerics import Array
from crowdwise.results.intervals import wilson

from .contestants import duplicates
from .coverage_section import COVERAGE, write_section
from .crowds import crowds, family

# The methods whose intervals are measured.
METHODS: Final = ("adjudicator", "bwa", "ds")
# Only workers with so many labels on items of known truth count: the accuracy of others is too much a matter of chance.
_FEWEST: Final = 50
_SEEDS: Final = range(100, 106)
# Crowds whose workers err each on their own, with 2,000 items each.
SIMULATED: Final[Mapping[str, Mapping[str, Any]]] = {
    "three labels an item": {"workers": 100, "classes": 2, "labels_per_item": 3, "accuracy": 0.7},
    "five labels an item": {"workers": 100, "classes": 2, "labels_per_item": 5, "accuracy": 0.7},
    "ten labels an item": {"workers": 100, "classes": 2, "labels_per_item": 10, "accuracy": 0.75},
    "five classes": {"workers": 100, "classes": 5, "labels_per_item": 3, "accuracy": 0.6},
    "workers alike": {"workers": 100, "classes": 5, "labels_per_item": 5, "accuracy": 0.6, "concentration": 50},
    "twenty labels an item": {"workers": 50, "classes": 3, "labels_per_item": 20, "accuracy": 0.8},
    "few labels a worker": {"workers": 300, "classes": 2, "labels_per_item": 5, "accuracy": 0.85, "concentration": 20},
    "ten classes": {"workers": 40, "classes": 10, "labels_per_item": 3, "accuracy": 0.7, "concentration": 5},
}

console = Console(stderr=True, highlight=False, soft_wrap=True)


class Workers(NamedTuple):
    """What is measured of the workers of one crowd; only those count of whom the accuracy is known well enough.

    Attributes:
        quality: (workers), the quality.
        ends: (2, workers), the ends of its interval.
        each_alone: (2, workers), the ends of the interval that assumes independent errors.
        right: (workers), how many labels on items of known truth are right.
        judged: (workers), how many labels are on items of known truth.
        given: (workers), how many labels there are.
    """

    quality: Array
    ends: Array
    each_alone: Array
    right: Array
    judged: Array
    given: Array

    def row(self) -> dict[str, Any]:
        """Return the columns of `coverage_table` about these workers."""
        accuracy = self.right / self.judged
        row: dict[str, Any] = {
            "workers": len(accuracy),
            "too_high": float((self.quality - accuracy).mean()),
            "ordered": ordered(self.quality, accuracy),
        }
        for name, ends in (("each_alone", self.each_alone), ("given", self.ends)):
            row[f"holds_{name}"] = float(holds(ends[0], ends[1], self.right, self.judged, self.given).mean())
            row[f"width_{name}"] = float((ends[1] - ends[0]).mean())
        return row


def holds(low: Array, high: Array, right: Array, judged: Array, given: Array) -> Array:
    """Return whether an interval of the quality holds the accuracy of each worker.

    The accuracy is known from a part of a worker's labels, so it has an error of its own: Wilson's, times the root of
    the share of the labels that are not known, as for a sample of a finite number of cases. The half widths of both
    intervals add up as squares do. If all labels are known, the interval has to hold the accuracy as it is.

    Args:
        low: (workers), the lower end of the interval.
        high: (workers), the upper end.
        right: (workers), how many labels on items of known truth are right.
        judged: (workers), how many labels are on items of known truth.
        given: (workers), how many labels there are.
    """
    accuracy, least, most = wilson(right, judged)
    unknown = np.sqrt(np.maximum(1 - judged / given, 0))
    middle, half = (low + high) / 2, (high - low) / 2
    below, above = np.hypot(half, unknown * (most - accuracy)), np.hypot(half, unknown * (accuracy - least))
    inside: Array = (accuracy >= middle - below) & (accuracy <= middle + above)
    return inside


def ordered(quality: Array, accuracy: Array) -> float | None:
    """Return how often the better of two workers has the higher quality; None if no two differ.

    >>> ordered(np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.9, 0.5]))
    0.6666666666666666
    """
    first, second = np.triu_indices(len(quality), 1)
    better, higher = accuracy[first] - accuracy[second], quality[first] - quality[second]
    return float((better * higher > 0)[better != 0].mean()) if (better != 0).any() else None


def simulated(name: str, seed: int) -> SimulatedCrowd:
    """Return one of the simulated crowds."""
    return cw.simulate(2000, seed=seed, **SIMULATED[name])


def on_simulated(method: Method, name: str) -> Iterator[Workers]:
    """Yield the workers of each of several crowds; the accuracy is the one that they were simulated with."""
    for seed in _SEEDS:
        crowd = simulated(name, seed)
        result: Any = method.fit(crowd.labels, warn=False)
        table = result.workers_frame().select("worker").join(crowd.workers, on="worker", maintain_order="left")
        known = np.full(len(table), 10**9)  # as good as labels without end
        yield _workers(result, np.rint(table["accuracy"].to_numpy() * known), known, known, known > 0)


def on_real(method: Method, folder: Path) -> Workers | None:
    """Return the workers of a crowd with known truth; None if none of them has enough labels.

    Args:
        method: The method.
        folder: The folder of the crowd.
    """
    labels = cw.read_labels(folder / "label.csv", duplicates=duplicates(method))
    result: Any = method.fit(labels, warn=False)
    known = match(result, folder / "truth.csv")
    truths = np.full(labels.n_items, -2)
    truths[known.items] = known.truths
    true = truths[labels.item_of]
    cases = (true == labels.labels, true > -2, np.ones(labels.n_labels, bool))
    right, judged, given = (np.bincount(labels.workers[case], minlength=labels.n_workers) for case in cases)
    chosen = judged >= _FEWEST
    return _workers(result, right, judged, given, chosen) if chosen.any() else None


def _workers(result: Any, right: Array, judged: Array, given: Array, chosen: Array) -> Workers:
    quality = result.quality
    return Workers(
        quality.value[chosen],
        np.stack([quality.low, quality.high])[:, chosen],
        quality.each_alone[:, chosen],
        right[chosen],
        judged[chosen],
        given[chosen],
    )


def coverage_table(found: Mapping[str, Path]) -> pl.DataFrame:
    """Measure all methods: one row per method and family of crowds, or kind of simulated crowd.

    The columns are kind (real, simulated), method, crowds (the family), workers, too_high (mean quality minus
    accuracy), ordered (how often the better of two workers has the higher quality), and how often 95 % intervals hold
    the accuracy and how wide they are: holds_each_alone and width_each_alone assuming independent errors, holds_given
    and width_given as they are given.
    """
    rows: list[dict[str, Any]] = []
    for key in METHODS:
        method: Method = cw.METHODS[key]()
        for crowd, folder in found.items():
            console.print(f"the workers of {crowd} by {key}")
            workers = on_real(method, folder)
            if workers is not None:
                rows.append({"kind": "real", "method": key, "crowds": family(crowd), **workers.row()})
        for name in SIMULATED:
            console.print(f"{name} by {key}")
            rows += [
                {"kind": "simulated", "method": key, "crowds": name, **one.row()} for one in on_simulated(method, name)
            ]
    means = pl.selectors.float().mean()
    table = pl.DataFrame(rows, infer_schema_length=None).group_by("kind", "method", "crowds", maintain_order=True)
    return table.agg(pl.col("workers").sum(), means)


def main(
    data: Annotated[
        Path | None, typer.Option(help="A folder of datasets, instead of the one that CROWDWISE_DATA names.")
    ] = None,
) -> None:
    """Measure how often the intervals of workers' quality hold their accuracy, and write it to the docs."""
    found = crowds(data or Path(os.environ.get("CROWDWISE_DATA", "")))
    if not found:
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    coverage_table(found).write_csv(COVERAGE, float_precision=4)
    write_section()


if __name__ == "__main__":
    typer.run(main)
