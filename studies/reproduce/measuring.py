"""Runs methods on datasets and measures their accuracy, iterations and seconds."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw
from crowdwise.analysis.comparison import warm_up
from crowdwise.crowd.read_options import Duplicates
from crowdwise.fitting.method import Method

from .contestants import CONTESTANTS
from .results import Results

# How many times a fit is timed if it takes less than this many seconds: {seconds: times}. The shortest time counts,
# because other work on the machine can only make it longer. With several seeds, the fit of each seed is timed once.
_REPEATS: Final = {0.5: 3, 5.0: 2}

STRENGTHS: Final = range(1, 101)
PRIORS: Final = {"original": False, "adjusted": True}

# A function that is called before each step with its name and whether its result is known already.
Step = Callable[[str, bool], None]


def measure(
    accuracies: Results,
    seconds: Results,
    methods: Sequence[str],
    datasets: Sequence[str],
    data: Path | None,
    step: Step,
) -> None:
    """Measure the methods on the datasets and add the results; what has been measured already is left out.

    Args:
        accuracies: The file of accuracies.
        seconds: The file of times.
        methods: The names of the methods.
        datasets: The names of the datasets.
        data: A folder of datasets, or None.
        step: A function that is called before each step.
    """
    done = accuracies.keys("method", "dataset", "seed") & seconds.keys("method", "dataset", "seed")
    for dataset in datasets:
        for name in methods:
            contestant = CONTESTANTS[name]
            rows, times = [], []
            for seed in range(contestant.seeds):
                known = (name, dataset, seed) in done
                step(f"{name} on {dataset}", known)
                if not known:
                    labels, truth = load(dataset, contestant.duplicates, data)
                    key = {"method": name, "dataset": dataset, "seed": seed}
                    measured, taken = _fit(contestant.make(seed), labels, truth, repeat=contestant.seeds == 1)
                    rows.append(key | measured)
                    times.append(key | {"seconds": taken})
            if rows:
                seconds.add(times)
                accuracies.add(rows)


def measure_sensitivity(results: Results, datasets: Sequence[str], data: Path | None, step: Step) -> None:
    """Measure the accuracy of BWA for all prior strengths and both priors; known datasets are left out.

    Args:
        results: The file of results.
        datasets: The names of the datasets.
        data: A folder of datasets, or None.
        step: A function that is called before each step.
    """
    done = results.keys("dataset")
    for dataset in datasets:
        known = (dataset,) in done
        step(f"BWA's priors on {dataset}", known)
        if known:
            continue
        labels, truth = load(dataset, "set", data)
        rows = []
        for prior, correction in PRIORS.items():
            for strength in STRENGTHS:
                result = cw.BWA(prior_strength=strength, prior_correction=correction).fit(labels)
                key = {"prior": prior, "prior_strength": strength, "dataset": dataset}
                rows.append(key | {"accuracy": cw.accuracy(result, truth)})
        results.add(rows)


@lru_cache(maxsize=3)
def load(dataset: str, duplicates: Duplicates, data: Path | None) -> tuple[cw.Labels, pl.DataFrame]:
    """Load the labels and the truth of a dataset; the last three are cached, because all methods use them in turn."""
    return cw.datasets.load(dataset, folder=data, duplicates=duplicates)


def _fit(method: Method, labels: cw.Labels, truth: pl.DataFrame, repeat: bool) -> tuple[dict[str, Any], float | None]:
    with suppress(cw.DataError):  # a few items can be too few for a method that takes all of them
        warm_up(method, labels)
    try:
        taken, result = _timed(method, labels)
        times = next((count for bound, count in _REPEATS.items() if taken < bound), 1) if repeat else 1
        for _ in range(times - 1):
            taken = min(taken, _timed(method, labels)[0])
    except cw.DataError:  # the method refuses these labels; an empty row means that it is not run again
        return {"accuracy": None, "iterations": None}, None
    return {"accuracy": cw.accuracy(result, truth), "iterations": result.convergence.iterations}, taken


def _timed(method: Method, labels: cw.Labels) -> tuple[float, cw.Result]:
    started = time.perf_counter()
    result = method.fit(labels)
    return time.perf_counter() - started, result
