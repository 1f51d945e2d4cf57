"""Tests that methods refuse labels that would need too much memory, before they use it."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

import crowdwise as cw


@pytest.mark.parametrize("key", ["minimax", "loglinear"])
def test_too_many_matrices_of_items_are_refused_before_any_is_made(key: str) -> None:
    rows = pl.DataFrame({"item": np.arange(50_000), "worker": np.arange(50_000) % 50, "label": np.arange(50_000) % 500})
    with pytest.raises(cw.DataError, match="50 workers and 50,000 items with 500 classes would take 186 GB"):
        cw.METHODS[key]().fit(cw.Labels.from_frame(rows))


def test_too_many_matrices_are_refused_before_any_is_made() -> None:
    rows = pl.DataFrame({"item": np.arange(100_000), "worker": np.arange(100_000), "label": np.arange(100_000) % 1000})
    with pytest.raises(cw.DataError, match="100,000 workers with 1,000 classes would take 745 GB"):
        cw.DawidSkene().fit(cw.Labels.from_frame(rows))


def test_matrices_of_subtypes_and_starts_are_counted_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(_: cw.Labels) -> None:
        raise AssertionError("it began")

    monkeypatch.setattr("crowdwise.methods.ebcc.shares", begun)
    monkeypatch.setenv("CROWDWISE_THREADS", "2")
    rows = pl.DataFrame({"item": np.arange(10_000), "worker": np.arange(10_000), "label": np.arange(10_000) % 100})
    labels = cw.Labels.from_frame(rows)
    with pytest.raises(cw.DataError, match=r"100 classes, 10 subtypes and 2 starts would take 78 GB"):
        cw.EBCC().fit(labels)
    with pytest.raises(AssertionError, match="it began"):
        cw.EBCC(subtypes=1, restarts=1).fit(labels)


@pytest.mark.parametrize(("items", "workers"), [(200, 300), (6000, 30)])
@pytest.mark.parametrize(("subtypes", "restarts", "threads"), [(1, 1, 1), (5, 1, 1), (5, 4, 1), (5, 4, 2)])
def test_what_is_counted_is_what_is_allocated(
    items: int, workers: int, subtypes: int, restarts: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", str(threads))
    method = cw.EBCC(subtypes=subtypes, restarts=restarts, max_iterations=2)
    # This imports and compiles what is needed, so that the memory for it is not measured below.
    method.fit(cw.simulate(20, 5, 3, seed=1).labels)
    labels = cw.simulate(items, workers, 12, seed=1).labels
    tracemalloc.start()
    method.fit(labels)
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    needed = method._bytes_needed(labels)
    assert allocated < 1.3 * needed
    # Two threads need not have their peak of memory at the same time.
    assert threads == 2 or allocated > 0.8 * needed
