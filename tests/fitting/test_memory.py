"""Tests that methods refuse labels that would need too much memory, before they use it."""

import gc
import threading
import tracemalloc
import weakref
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.fitting.restarts import Fitted, best_of
from crowdwise.results.ending import Convergence, Ending
from crowdwise.testing import on_threads


@pytest.mark.parametrize("key", ["minimax", "loglinear"])
def test_too_many_matrices_of_items_are_refused_before_any_is_made(key: str) -> None:
    rows = pl.DataFrame(
        {"item": np.arange(400_000), "worker": np.zeros(400_000, int), "label": np.arange(400_000) % 16}
    )
    with (
        patch("crowdwise.errors._MOST_BYTES", 1 << 30),
        pytest.raises(cw.DataError, match="1 workers and 400,000 items with 16 classes would take 2 GB"),
    ):
        cw.METHODS[key]().fit(cw.Labels.from_frame(rows))


def test_too_many_matrices_are_refused_before_any_is_made() -> None:
    rows = pl.DataFrame({"item": np.arange(100_000), "worker": np.arange(100_000), "label": np.arange(100_000) % 1000})
    with pytest.raises(cw.DataError, match="100,000 workers with 1,000 classes would take 4,470 GB"):
        cw.DawidSkene().fit(cw.Labels.from_frame(rows))


def test_matrices_of_subtypes_and_starts_are_counted_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(_: cw.Labels) -> None:
        raise AssertionError("it began")

    monkeypatch.setattr("crowdwise.methods.ebcc.shares", begun)
    rows = pl.DataFrame({"item": np.arange(10_000), "worker": np.arange(10_000), "label": np.arange(10_000) % 100})
    labels = cw.Labels.from_frame(rows)
    with on_threads(2), pytest.raises(cw.DataError, match=r"100 classes, 10 subtypes and 2 starts would take 78 GB"):
        cw.EBCC().fit(labels)
    with pytest.raises(AssertionError, match="it began"):
        cw.EBCC(subtypes=1, restarts=1).fit(labels)


def allocated_by(method: Any, labels: cw.Labels) -> int:
    """The most bytes that Python and NumPy hold at once in a fit, on one thread: the same number in every run."""
    method.fit(replace(labels))  # imports and compiles what is needed; what a copy caches is gone with it
    gc.collect()
    with on_threads(1):
        tracemalloc.start()
        method.fit(labels)
        allocated = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return allocated


@pytest.mark.parametrize(("items", "workers"), [(200, 300), (6000, 30)])
@pytest.mark.parametrize(("subtypes", "restarts"), [(1, 1), (5, 1), (5, 4)])
def test_what_is_counted_is_what_is_allocated(items: int, workers: int, subtypes: int, restarts: int) -> None:
    method = cw.EBCC(subtypes=subtypes, restarts=restarts, max_iterations=2)
    labels = cw.simulate(items, workers, 12, seed=1).labels
    with on_threads(1):
        needed = method._bytes_needed(labels)
    assert 0.8 * needed < allocated_by(method, labels) < 1.3 * needed


def test_several_threads_keep_the_best_attempt_and_no_other() -> None:
    """So many are counted before they begin; they wait for nobody, in whatever order they end."""
    others_ended = threading.Event()
    ended: list[weakref.ref[Fitted]] = []
    alive: list[int] = []

    def attempt(number: int, _: object) -> Fitted:
        if number == 0:
            others_ended.wait()
        # The third is the best.
        ending = Ending(None, Convergence(1, True, 0.0), np.array([abs(number - 3.0)]))
        fitted = Fitted(np.zeros((0, 0)), ending)
        ended.append(weakref.ref(fitted))
        if number == 5:
            alive.append(sum(one() is not None for one in ended))
            others_ended.set()
        return fitted

    with on_threads(2):
        best = best_of(6, attempt, cw.simulate(20, 5, 3, seed=1).labels, None)
    assert best.ending.objective == 0.0
    assert alive == [2]  # the last one and the best


@pytest.mark.parametrize("key", ["ds", "lfc", "mace", "hierarchical", "ibcc", "cbcc", "loglinear", "minimax"])
def test_matrices_take_no_more_than_is_counted(key: str) -> None:
    kind: Any = cw.METHODS[key]
    method = kind(max_iterations=2)
    labels = cw.simulate(150, 60, 60, seed=1).labels
    if method.limits().most_classes is not None:
        labels = cw.simulate(1500, 60, method.limits().most_classes, seed=1).labels
    needed = method.bytes_needed(labels)
    assert 0.5 * needed < allocated_by(method, labels) < 1.3 * needed
