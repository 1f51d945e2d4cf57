"""The command `python -m calibrate.coverage`: how often the intervals of workers' quality hold their accuracy.

It writes docs/coverage.csv, and a section of docs/confidence.md.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import polars as pl
import typer
from rich.console import Console

import crowdwise as cw
from crowdwise.analysis.evaluation import match
from crowdwise.data.simulation import SimulatedCrowd
from crowdwise.inference.method import Method
from crowdwise.kernels import Array
from crowdwise.results.calibration import constant, transform
from crowdwise.results.intervals import wilson
from crowdwise.results.result import Quality

from .contestants import duplicates
from .coverage_section import COVERAGE, write_section
from .crowds import crowds, family
from .fitting import fit
from .measuring import measure

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

Inside: TypeAlias = Callable[[Array, Array], Array]

console = Console(stderr=True, highlight=False, soft_wrap=True)


def holds(low: Array, high: Array, quality: Array, right: Array, judged: Array, given: Array) -> Array:
    """Return whether an interval of the quality holds the accuracy of each worker.

    The accuracy is known from a part of a worker's labels, so it has an error of its own: Wilson's, times the root of
    the share of the labels that are not known, as for a sample of a finite number of cases. The distances of the ends
    of both intervals add up as squares do. If all labels are known, the interval has to hold the accuracy as it is.

    Args:
        low: (workers), the lower end of the interval.
        high: (workers), the upper end.
        quality: (workers), the quality.
        right: (workers), how many labels on items of known truth are right.
        judged: (workers), how many labels are on items of known truth.
        given: (workers), how many labels there are.
    """
    accuracy, least, most = wilson(right, judged)
    unknown = np.sqrt(np.maximum(1 - judged / given, 0))
    below = np.hypot(quality - low, unknown * (most - accuracy))
    above = np.hypot(high - quality, unknown * (accuracy - least))
    inside: Array = (accuracy >= quality - below) & (accuracy <= quality + above)
    return inside


def _between(accuracy: Array, low: Array, high: Array) -> Array:
    inside: Array = (low <= accuracy) & (accuracy <= high)
    return inside


def simulated(name: str, seed: int) -> SimulatedCrowd:
    """Return one of the simulated crowds."""
    return cw.simulate(2000, seed=seed, **SIMULATED[name])


def on_simulated(method: Method, name: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each crowd: how often the intervals hold the accuracy that workers were simulated with."""
    for seed in _SEEDS:
        crowd = simulated(name, seed)
        result = method.fit(crowd.labels)
        table = result.workers_frame().select("worker").join(crowd.workers, on="worker", maintain_order="left")
        true = table["accuracy"].to_numpy()
        quality: Quality = result.quality
        inside = partial(_between, true)
        yield _row(method.calibrated_as, quality, true, inside, np.ones(len(true), bool))


def on_real(method: Method, folder: Path, probabilities: Any) -> dict[str, Any] | None:
    """Return how often the intervals hold the accuracies on a crowd; None if no worker has enough labels.

    Args:
        method: The method.
        folder: The folder of the crowd.
        probabilities: Returns the probabilities of all classes, given a result.
    """
    labels = cw.read_labels(folder / "label.csv", duplicates=duplicates(method))
    result = method.fit(labels)
    known = match(result, folder / "truth.csv")
    truths = np.full(labels.n_items, -2)
    truths[known.items] = known.truths
    true = truths[labels.item_of]
    cases = (true == labels.labels, true > -2, np.ones(labels.n_labels, bool))
    right, judged, given = (np.bincount(labels.workers[case], minlength=labels.n_workers) for case in cases)
    chosen = judged >= _FEWEST
    if not chosen.any():
        return None
    quality = Quality(result.agreement)
    if result.measure_quality is not None:
        quality = result.measure_quality(probabilities(result))
    accuracy = right / np.maximum(judged, 1)
    inside = partial(holds, quality=quality.value, right=right, judged=judged, given=given)
    return _row(method.calibrated_as, quality, accuracy, inside, chosen)


def _row(calibrated_as: str, quality: Quality, accuracy: Array, inside: Inside, chosen: Array) -> dict[str, Any]:
    """Return what is measured of one crowd.

    Args:
        calibrated_as: The name of the constant of the method.
        quality: The quality of the workers.
        accuracy: (workers), their accuracies.
        inside: Tells which intervals hold the accuracy, given their lower and upper ends.
        chosen: (workers), which of them count.
    """
    row = {"workers": int(chosen.sum()), "too_high": float((quality.value - accuracy)[chosen].mean())}
    if quality.low is None or quality.high is None or quality.each_alone is None:
        return row
    given = np.stack([quality.low, quality.high])
    for name, ends in (
        ("each_alone", quality.each_alone),
        ("given", given),
        ("spread", _spread(calibrated_as, quality, given)),
    ):
        row[f"holds_{name}"] = float(inside(ends[0], ends[1])[chosen].mean())
        row[f"width_{name}"] = float((ends[1] - ends[0])[chosen].mean())
    return row


def _spread(calibrated_as: str, quality: Quality, ends: Array) -> Array:
    """Return the ends of intervals that also hold what the interval of the expected accuracy does; see `interval`."""
    theta = np.arcsin(np.sqrt(quality.value)) + constant(calibrated_as).spreads[95] * np.array([[-1.0], [1.0]])
    shifted = np.sin(np.clip(theta, 0, np.pi / 2)) ** 2
    reach = np.hypot(ends - quality.value, shifted - quality.value)
    return np.asarray(np.clip(quality.value + np.array([[-1.0], [1.0]]) * reach, 0, 1))


def coverage_table(found: Mapping[str, Path], work: Path) -> pl.DataFrame:
    """Measure all methods: one row per method and family of crowds, or kind of simulated crowd.

    The columns are kind (real, simulated), method, crowds (the family), workers, too_high (mean quality minus
    accuracy), and how often intervals hold the accuracy and how wide they are: holds_each_alone and width_each_alone
    for workers who err each on their own, holds_given and width_given as they are given, holds_spread and width_spread
    if the spread of the expected accuracy were added.
    """
    rows: list[dict[str, Any]] = []
    for key in (*METHODS, "mv"):
        method: Method = cw.METHODS[key]()
        # The constants of confidence are those that were not fitted to the family.
        fitted = fit(key, measure({key: method}, found, work, console.print)[key])
        left_out = {crowd.measured.crowd: value for crowd, value in zip(fitted.crowds, fitted.left_out, strict=True)}
        for crowd, folder in found.items():
            console.print(f"the workers of {crowd} by {key}")

            def probabilities(result: Any, values: Any = left_out[crowd], form: Any = fitted.constant.form) -> Array:
                if form == "pool":  # leaving one family out hardly changes its constants
                    return np.asarray(result.probabilities)
                return transform(form, values[0], result.scores, result.votes, result.density)

            row = on_real(method, folder, probabilities)
            if row is not None:
                rows.append({"kind": "real", "method": key, "crowds": family(crowd), **row})
        for name in SIMULATED if key in METHODS else ():
            console.print(f"{name} by {key}")
            rows += [{"kind": "simulated", "method": key, "crowds": name, **row} for row in on_simulated(method, name)]
    means = pl.selectors.float().mean()
    by_family = pl.DataFrame(rows).group_by("kind", "method", "crowds", maintain_order=True)
    return by_family.agg(pl.col("workers").sum(), means)


def main(
    data: Annotated[
        Path | None, typer.Option(help="A folder of datasets, instead of the one that CROWDWISE_DATA names.")
    ] = None,
    work: Annotated[Path, typer.Option(help="Where `python -m calibrate` keeps scores.")] = Path(".calibrated"),
) -> None:
    """Measure how often the intervals of workers' quality hold their accuracy, and write it to the docs."""
    found = crowds(data or Path(os.environ.get("CROWDWISE_DATA", "")))
    if not found:
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    coverage_table(found, work).write_csv(COVERAGE, float_precision=4)
    write_section()


if __name__ == "__main__":
    typer.run(main)
