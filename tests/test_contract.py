"""What every method keeps, over the table of methods."""

import pickle
import random
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.methods import METHODS

from .cases import CASES, VARIANTS, Case

Rows = list[tuple[str, str, str]]
EVERY = CASES | VARIANTS
each_method = pytest.mark.parametrize("key", EVERY)


@st.composite
def crowds(draw: st.DrawFn) -> Rows:
    """Small crowds in which a worker labels an item at most once."""
    n_items, n_workers, n_classes = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    pairs = [(i, j) for i in range(n_items) for j in range(n_workers)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
    said = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(chosen), max_size=len(chosen)))
    return [(f"i{i}", f"w{j}", f"c{k}") for (i, j), k in zip(chosen, said, strict=True)]


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")


def fit(case: Case, rows: Rows) -> cw.Result:
    """Fit; classes beyond those that the method takes are merged."""
    rows = [(i, j, f"c{int(k[1:]) % case.most_classes}" if k[1:].isdigit() else k) for i, j, k in rows]
    result: cw.Result = case.method.fit(cw.Labels.from_frame(frame(rows)))
    return result


def scores_by_name(result: cw.Result) -> dict[tuple[Any, Any], float]:
    classes, items = result.names.classes.to_list(), result.names.items.to_list()
    return {(i, k): result.scores[a, b] for a, i in enumerate(items) for b, k in enumerate(classes)}


def assert_same(one: cw.Result, other: cw.Result) -> None:
    """The same scores, the same workers and the same answers where they are not tied, under the same names."""
    assert scores_by_name(one) == pytest.approx(scores_by_name(other), rel=1e-6, abs=1e-9)
    ties = dict(zip(one.names.items, one.ties, strict=True))
    assert ties == dict(zip(other.names.items, other.ties, strict=True))
    answers = dict(zip(other.names.items, other.labels, strict=True))
    for item, label in zip(one.names.items, one.labels, strict=True):
        assert ties[item] or answers[item] == label
    if not one.ties.any():  # the quality follows the answers, and those of ties go by name
        qualities = dict(zip(other.names.workers, other.quality.value, strict=True))
        assert dict(zip(one.names.workers, one.quality.value, strict=True)) == pytest.approx(qualities, abs=1e-6)


def test_files_methods_and_cases_are_the_same_set() -> None:
    folder = Path(cw.__file__).parent / "methods"
    files = {path.stem for path in folder.iterdir() if path.name[0] != "_"}
    assert files == set(METHODS) == set(CASES)


@each_method
def test_a_method_is_a_value(key: str) -> None:
    method = EVERY[key].method
    assert type(method) is METHODS[key.split()[0]]
    assert pickle.loads(pickle.dumps(method)) == method
    assert hash(method) == hash(replace(method))
    assert (method == type(method)()) == (key in CASES)
    assert eval(repr(method), {type(method).__name__: type(method)}) == method
    with pytest.raises(AttributeError):
        method.anything = 1


@each_method
@settings(max_examples=40, deadline=None)
@given(rows=crowds(), seed=st.integers(0, 1000))
def test_row_order_changes_nothing(key: str, rows: Rows, seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert_same(fit(EVERY[key], rows), fit(EVERY[key], shuffled))


@pytest.mark.parametrize("key", [key for key, case in EVERY.items() if not case.random])
@settings(max_examples=40, deadline=None)
@given(rows=crowds())
def test_names_and_their_order_change_nothing_but_names(key: str, rows: Rows) -> None:
    last_class = min(10, EVERY[key].most_classes) - 1

    def turned(name: str) -> str:
        return f"c{last_class - int(name[1:])}" if name[0] == "c" else f"{name[0]}{9 - int(name[1:])}"

    rows = [(i, j, f"c{int(k[1:]) % (last_class + 1)}") for i, j, k in rows]
    renamed = fit(EVERY[key], [(turned(i), turned(j), turned(k)) for i, j, k in rows])
    back = {name: turned(name) for name in ["i", "w", "c"] for name in [f"{name}{n}" for n in range(10)]}
    names = cw.Labels.from_frame(frame(rows)).names
    assert set(renamed.names.items.replace_strict(back)) == set(names.items)
    one = fit(EVERY[key], rows)
    assert {(back[i], back[k]): s for (i, k), s in scores_by_name(renamed).items()} == pytest.approx(
        scores_by_name(one), rel=1e-6, abs=1e-9
    )
    assert renamed.ties.tolist() == one.ties.tolist()


@each_method
@settings(max_examples=60, deadline=None)
@given(rows=crowds())
def test_scores_are_finite_and_tables_complete(key: str, rows: Rows) -> None:
    result = fit(EVERY[key], rows)
    assert np.isfinite(result.scores).all()
    if result.scale != "margin":
        assert (result.scores >= 0).all()
        assert (result.scores <= 1 + 1e-12).all()
    if result.scale == "probability":
        assert result.scores.sum(axis=1) == pytest.approx(np.ones(len(result.votes)))
    table = result.to_frame(scores=True)
    assert table["item"].to_list() == list(dict.fromkeys(i for i, _, _ in rows))
    assert table["votes"].sum() == len(rows)
    workers = result.workers_frame()
    assert workers["worker"].to_list() == list(dict.fromkeys(j for _, j, _ in rows))
    assert np.isfinite(workers["quality"].to_numpy()).all()
    if result.quality.low is not None and result.quality.high is not None:
        assert (result.quality.low <= result.quality.value).all()
        assert (result.quality.value <= result.quality.high).all()


@each_method
def test_a_unanimous_crowd_is_believed(key: str) -> None:
    classes = min(3, EVERY[key].most_classes)
    result = fit(EVERY[key], [(f"i{i}", f"w{j}", f"c{i % classes}") for i in range(9) for j in range(4)])
    assert result.labels.to_list() == [f"c{i % classes}" for i in range(9)]
    assert not result.ties.any()


@each_method
def test_a_checkerboard_has_the_obvious_answer(key: str) -> None:
    """Nine workers agree that even items are black; one always says the opposite."""
    rows = [(f"i{i}", f"w{j}", "black" if (i % 2 == 0) == (j < 9) else "white") for i in range(12) for j in range(10)]
    result = fit(EVERY[key], rows)
    assert result.labels.to_list() == ["black", "white"] * 6
    quality = dict(zip(result.names.workers, result.quality.value, strict=True))
    assert min(quality, key=lambda worker: quality[worker]) == "w9"


@each_method
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("i0", "w0", "c0")], id="one label"),
        pytest.param([(f"i{i}", "w0", f"c{i % 2}") for i in range(5)], id="one worker"),
        pytest.param([("i0", f"w{j}", "c0" if j else "c1") for j in range(5)], id="one item"),
        pytest.param([(f"i{i}", f"w{j}", "c0") for i in range(3) for j in range(3)], id="one class"),
        pytest.param(
            [(f"i{i}", f"w{j}", "c0") for i in range(4) for j in range(3)] + [("i0", "w9", "c1")],
            id="a worker with a single label",
        ),
        pytest.param([(f"i{i}", f"w{j}", f"c{i}") for i in range(50) for j in range(3)], id="fifty classes"),
    ],
)
def test_small_and_odd_crowds(key: str, rows: Rows) -> None:
    if len({k for _, _, k in rows}) > EVERY[key].most_classes:
        with pytest.raises(cw.DataError, match="takes two classes, and here are 50"):
            EVERY[key].method.fit(cw.Labels.from_frame(frame(rows)))
        return
    result = fit(EVERY[key], rows)
    assert np.isfinite(result.scores).all()
    counts = frame(rows).group_by("item", "label").len().sort("item", "len", descending=True)
    majority = counts.group_by("item").first()
    assert dict(zip(result.names.items, result.labels, strict=True)) == dict(
        majority.select("item", "label").iter_rows()
    )


@each_method
def test_a_class_that_nobody_voted_for_in_a_slice(key: str) -> None:
    rows = [("i0", "w0", "c0"), ("i0", "w1", "c0"), ("i1", "w0", "c1"), ("i1", "w1", "c0")]
    if EVERY[key].most_classes > 2:
        rows.append(("i1", "w2", "c2"))
    part = cw.Labels.from_frame(frame(rows)).slice(0, 1)
    result = EVERY[key].method.fit(part)
    assert result.labels.to_list() == ["c0"]
    assert result.scores.shape == (1, part.n_classes)


@each_method
def test_a_class_that_only_the_truth_has_counts_as_wrong(key: str) -> None:
    result = fit(EVERY[key], [("i0", "w0", "c0"), ("i1", "w0", "c1")])
    assert cw.accuracy(result, {"i0": "c0", "i1": "never said"}) == 0.5


@each_method
def test_set_valued_votes_are_taken_or_refused_in_one_sentence(key: str) -> None:
    rows = [("i0", "w0", "c0"), ("i0", "w0", "c1"), ("i0", "w1", "c0")]
    labels = cw.Labels.from_frame(frame(rows), duplicates="set")
    if EVERY[key].takes_sets:
        result = EVERY[key].method.fit(labels)
        assert result.votes.tolist() == [2]
        assert result.labels.to_list() == ["c0"]
    else:
        with pytest.raises(cw.DataError, match='duplicates="first", "last", "all" or "drop"'):
            EVERY[key].method.fit(labels)


@each_method
def test_results_are_the_same_to_the_bit_for_any_number_of_threads(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdwise.parallel._SLICE", 1000)
    labels = cw.simulate(5000, 40, min(3, EVERY[key].most_classes), seed=3).labels
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("CROWDWISE_THREADS", threads)
        results.append(EVERY[key].method.fit(labels))
    for other in results[1:]:
        assert np.array_equal(results[0].scores, other.scores)
        assert np.array_equal(results[0].quality.value, other.quality.value)
        assert results[0].convergence.objective == other.convergence.objective


@each_method
def test_slicing_changes_nothing_but_the_last_bits(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = cw.simulate(3000, 40, min(5, EVERY[key].most_classes), seed=4).labels
    whole = EVERY[key].method.fit(labels)
    monkeypatch.setattr("crowdwise.parallel._SLICE", 100)
    sliced = EVERY[key].method.fit(labels)
    assert sliced.scores == pytest.approx(whole.scores, rel=1e-9, abs=1e-12)


@each_method
def test_progress_is_called_with_iterations_and_changes(key: str) -> None:
    seen: list[tuple[int, float]] = []
    result = EVERY[key].method.fit(cw.simulate(100, 10, seed=1).labels, progress=lambda i, c: seen.append((i, c)))
    assert [iteration for iteration, _ in seen] == list(range(1, result.convergence.iterations + 1))


@each_method
def test_a_result_can_be_pickled(key: str) -> None:
    result = fit(EVERY[key], [("i0", "w0", "c0"), ("i0", "w1", "c1"), ("i1", "w0", "c1")])
    assert pickle.loads(pickle.dumps(result)).to_frame().equals(result.to_frame())


@pytest.mark.parametrize("method", [cw.BWA, cw.CBCC, cw.EBCC, cw.LightweightAggregation])
@pytest.mark.parametrize("seed", [-1, 0.5])
def test_a_seed_is_a_whole_number(method: Any, seed: Any) -> None:
    with pytest.raises(cw.CallError, match=f"seed={seed} is not a whole number from 0 on"):
        method(seed=seed)
    method(seed=np.int64(3))


@pytest.mark.parametrize("key", [key for key in METHODS if "max_iterations" in signature(METHODS[key]).parameters])
def test_no_iterations_are_refused(key: str) -> None:
    with pytest.raises(cw.CallError, match="max_iterations"):
        METHODS[key](max_iterations=0).fit(cw.simulate(20, 5, 2, seed=1).labels)
