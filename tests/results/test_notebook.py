"""The Python interface as a notebook meets it: the order of arguments, natural mistakes, intervals, HTML."""

import copy
import json
import pickle
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import crowdwise as cw
from crowdwise.analysis.evaluation import Accuracy
from crowdwise.analysis.rivals import Rivals
from crowdwise.crowd.simulation import SimulatedCrowd

HOSTILE = '"><img src=x onerror=alert(1)><b>'


@pytest.fixture(scope="module")
def crowd() -> SimulatedCrowd:
    return cw.simulate(80, 8, 3, seed=1)


@pytest.fixture(scope="module")
def result(crowd: SimulatedCrowd) -> cw.Result:
    return cw.Adjudicator().fit(crowd.labels)


TAKES_BOTH: list[Callable[..., Any]] = [
    cw.report,
    cw.review,
    cw.rivals,
    cw.unusual_workers,
    cw.cautions,
    lambda one, other: cw.explain(one, other, "i01"),
    lambda one, other: cw.plot(one, "confusion", other),
]


@pytest.mark.parametrize("call", TAKES_BOTH)
def test_the_result_comes_before_the_labels(
    call: Callable[..., Any], crowd: SimulatedCrowd, result: cw.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a report is written
    call(result, crowd.labels)
    with pytest.raises(cw.CallError, match=r"^The result comes first, then the labels .*cw\.report\(result, labels\)"):
        call(crowd.labels, result)
    with pytest.raises(cw.CallError, match=r"this is a DataFrame: make labels of it by .*cw\.Labels\.from_frame"):
        call(result, crowd.rows)
    numbers = cw.simulate_numbers(20, 6, seed=1).numbers
    if call is not cw.report:
        with pytest.raises(cw.CallError, match="numbers"):
            call(cw.NumericMean().fit(numbers), numbers)
    with pytest.raises(cw.CallError, match="give the result itself, its `result`"):
        call(cw.decide(result, dict.fromkeys(permutations(["c1", "c2", "c3"], 2), 1)), crowd.labels)


def test_numbers_are_reported_in_the_same_order(tmp_path: Path) -> None:
    numbers = cw.simulate_numbers(20, 6, seed=1)
    found = cw.NumericMean().fit(numbers.numbers)
    cw.report(found, numbers.numbers, numbers.truth, tmp_path / "report.html")
    with pytest.raises(cw.CallError, match="The result comes first"):
        cw.report(numbers.numbers, found, path=tmp_path / "report.html")  # type: ignore[arg-type]
    with pytest.raises(cw.CallError, match="The result comes first"):
        cw.numeric_errors(numbers.numbers, numbers.truth)  # type: ignore[arg-type]
    with pytest.raises(cw.CallError, match="a method for numbers"):
        cw.numeric_errors(cw.aggregate(cw.simulate(20, 6, seed=1).labels), numbers.truth)  # type: ignore[arg-type]


def test_an_accuracy_is_a_number_with_an_interval(crowd: SimulatedCrowd, result: cw.Result) -> None:
    found = cw.accuracy(result, crowd.truth)
    (row,) = cw.compare(crowd.labels, [cw.Adjudicator()], crowd.truth)
    assert (found, found.low, found.high, found.items) == (row["accuracy"], row["low"], row["high"], 80)
    assert repr(found) == f"{row['accuracy']:.4f} (95% interval {row['low']:.4f} to {row['high']:.4f}, 80 items)"
    assert str(found) == f"{found}" == str(row["accuracy"]) == json.dumps(found)
    assert type(found - 0.1) is float
    assert pl.Series([found]).dtype == pl.Float64
    assert pd.DataFrame({"accuracy": [found]}).dtypes["accuracy"] == np.float64
    for same in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (same, same.low, same.high, same.items) == (found, found.low, found.high, found.items)


@given(st.lists(st.sampled_from([0.0, 1 / 3, 1 / 2, 1.0]), min_size=1, max_size=50))
def test_the_interval_holds_the_share(right: list[float]) -> None:
    found = Accuracy.of(np.array(right))
    assert 0 <= found.low <= found <= found.high <= 1
    assert found.low < found.high
    whole = Accuracy.of(np.array(right * 4))
    assert whole.high - whole.low < found.high - found.low, "more items say more"


def test_with_ties_the_interval_is_rather_too_wide() -> None:
    """A third of the items is tied; the interval holds the expected share at least as often as it says."""
    random = np.random.default_rng(1)
    held = []
    for _ in range(2000):
        right = np.where(random.random(120) < 1 / 3, 0.5, random.random(120) < 0.8)
        found = Accuracy.of(right)
        held.append(found.low <= 1 / 3 * 0.5 + 2 / 3 * 0.8 <= found.high)
    assert np.mean(held) > 0.95


@pytest.mark.parametrize("made", ["pandas", "polars", "lazy", "categories", "index"])
def test_raw_tables_are_aggregated(made: str, crowd: SimulatedCrowd, result: cw.Result) -> None:
    tables: dict[str, Callable[[], Any]] = {
        "pandas": crowd.rows.to_pandas,
        "polars": lambda: crowd.rows,
        "lazy": crowd.rows.lazy,
        "categories": lambda: crowd.rows.to_pandas().astype("category"),
        "index": lambda: crowd.rows.to_pandas().set_index("item").reset_index(),
    }
    found = cw.aggregate(tables[made]())
    assert found.labels.cast(pl.String).to_list() == result.labels.to_list()
    assert found.to_pandas()["confidence"].to_list() == result.confidence.tolist()


def test_a_method_is_named_in_every_way(crowd: SimulatedCrowd) -> None:
    expected = cw.BWA().fit(crowd.labels).scores
    for method in ("bwa", cw.BWA()):
        assert (cw.aggregate(crowd.rows.to_pandas(), method=method).scores == expected).all()
        assert [row["method"] for row in cw.compare(crowd.labels, method)] == ["bwa"]  # type: ignore[arg-type]
    assert [row["method"] for row in cw.compare(crowd.labels, [cw.BWA(), "mv"])] == ["bwa", "mv"]
    numbers = cw.simulate_numbers(20, 6, seed=1).rows.to_pandas()
    assert cw.aggregate(numbers, numeric=True, method="mean").method == cw.NumericMean()
    with pytest.raises(cw.CallError, match="method is the class BWA, and has to be the key of a method, or a method"):
        cw.aggregate(crowd.rows, method=cw.BWA)  # type: ignore[call-overload]
    with pytest.raises(cw.CallError, match="One of the methods is the class BWA"):
        cw.compare(crowd.labels, [cw.BWA])  # type: ignore[list-item]
    with pytest.raises(cw.CallError, match="The method 'mine' is the class BWA"):
        cw.compare(crowd.labels, {"mine": cw.BWA})  # type: ignore[dict-item]
    with pytest.raises(cw.CallError, match="A method is there twice: give every one a name"):
        cw.compare(crowd.labels, [cw.BWA(), cw.BWA(prior_strength=30)])
    with pytest.raises(cw.CallError, match="Did you mean 'bwa'"):
        cw.aggregate(crowd.rows, method="bwaa")
    with pytest.raises(cw.CallError, match="There is no method 'bwaa'"):
        cw.compare(crowd.labels, ["bwaa"])


def test_a_truth_is_a_series_with_items_as_its_index(crowd: SimulatedCrowd, result: cw.Result) -> None:
    table = crowd.truth.to_pandas()
    series = table.set_index("item")["truth"]
    assert cw.accuracy(result, series) == cw.accuracy(result, crowd.truth)
    some = series.copy()
    some.iloc[40:] = None
    assert cw.accuracy(result, some).items == 40
    with pytest.raises(cw.DataError, match="The series has more than one truth"):
        cw.accuracy(result, pd.Series(["c1", "c2"], index=["i01", "i01"]))
    with pytest.raises(cw.DataError, match="The Series does not convert to Arrow"):  # which is no table of labels
        cw.read_labels(series)
    gold = cw.aggregate(crowd.rows, gold=series.head(10))
    assert (gold.to_frame()["gold"].sum()) == 10


def test_what_is_shown_has_tables_and_no_markup_of_names(crowd: SimulatedCrowd) -> None:
    name = pl.lit(HOSTILE)
    rows = crowd.rows.with_columns(
        pl.concat_str(name, pl.col(column)).alias(column) for column in ("item", "worker", "label")
    )
    labels = cw.Labels.from_frame(rows)
    result = cw.aggregate(labels)
    told = cw.simulate_numbers(20, 6, seed=1).rows.with_columns(
        pl.concat_str(name, pl.col(column)).alias(column) for column in ("item", "worker")
    )
    numbers = cw.Numbers.from_frame(told)
    why = cw.explain(result, labels, labels.names.items[0])
    for shown in (labels, result, why, numbers, cw.aggregate(numbers)):
        page = shown._repr_html_()
        assert "<table" in page
        assert "&lt;img" in page
        assert "<img" not in page
        assert "<b>" not in page


def test_a_comparison_is_shown_as_a_table_with_every_method(crowd: SimulatedCrowd) -> None:
    methods = {f"<b>{number}</b>": cw.MajorityVote() for number in range(15)}
    found = cw.compare(crowd.labels, methods, crowd.truth)
    for page, names in ((found._repr_html_(), "&lt;b&gt;{}&lt;/b&gt;"), (repr(found), "<b>{}</b>")):
        assert all(names.format(number) in page for number in range(15))
        assert all(name in page for name in found[0])
    assert "<table" in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_what_functions_return_shows_itself_as_tables(crowd: SimulatedCrowd, result: cw.Result) -> None:
    labels, larger = crowd.labels, cw.simulate(300, 8, labels_per_item=8, accuracy=0.8, seed=1).rows
    copies = larger.filter(pl.col("worker") == "w1").with_columns(worker=pl.lit(HOSTILE))
    blocks = cw.blocks(cw.Labels.from_frame(pl.concat([larger, copies])))
    rows = [("i1", "j1", "a", "b", "a"), ("i2", "j2", "b", "a", "a")] * 4
    ranked = cw.rank(pl.DataFrame(rows, schema=["item", "judge", "left", "right", "verdict"], orient="row"))
    shown: dict[str, Any] = {
        "Krippendorff": cw.alpha(labels),
        "expected accuracy now": cw.plan(labels, target=0.95, result=result),
        "The most wanted first": cw.next_labels(labels, budget=2, result=result),
        "Objects, the best first": ranked,
        "The first decisions": cw.decide(result, ordinal=True, order=["c1", "c2", "c3"]),
        "Workers in blocks": blocks,
    }
    for words, one in shown.items():
        html = one._repr_html_()
        assert "<table" in html
        assert words in html
        assert HOSTILE not in html


def test_rivals_are_tables() -> None:
    table, none = pl.DataFrame({"item": [1], "label": ["a"]}), pl.Series([], dtype=pl.String)
    rivals = Rivals(["otherwise"], [3], table, none, False, pl.Series([1]), 10)
    html = rivals._repr_html_()
    assert html.count("<table") == 2
    assert "otherwise" in html


def test_the_order_of_classes_and_what_difficulty_is(result: cw.Result) -> None:
    assert result.classes.to_list() == result.names.classes.to_list()
    assert "3 classes ('c1', 'c2', 'c3')" in repr(result)
    assert "Difficulty is the probability that the item pulls" in result._repr_html_()
    for key, method in cw.METHODS.items():
        learns = method().fit(cw.simulate(30, 6, 2, seed=1).labels, warn=False).difficulty is not None
        assert learns == bool(method.difficulty_is), key


def test_charts_need_no_network(result: cw.Result) -> None:
    chart: Any = cw.plot(result, "items")
    html = chart._repr_mimebundle_()["text/html"]
    assert 'src="http' not in html
    assert "vegaEmbed" in html
    assert chart.properties(width=100)._repr_mimebundle_()["text/html"] != html  # a changed one, too


@pytest.mark.parametrize("method", [*cw.METHODS.values(), *cw.NUMERIC_METHODS.values()], ids=lambda one: one.__name__)
def test_scikit_learn_copies_every_method(method: Any) -> None:
    first = method()
    other = clone(first)
    assert other == first
    assert other is not first
    assert type(other) is method
    assert other.get_params() == first.get_params()


def test_set_params_changes_a_method_and_no_result(crowd: SimulatedCrowd) -> None:
    method = cw.BWA()
    result = method.fit(crowd.labels)
    assert method.set_params(tolerance=0.5, max_iterations=1) is method
    assert (method.tolerance, method.max_iterations) == (0.5, 1)
    assert result.method == cw.BWA()
    assert method == cw.BWA(tolerance=0.5, max_iterations=1)
    with pytest.raises(cw.CallError, match=r"has no parameter 'toleranc'.*Did you mean 'tolerance'"):
        method.set_params(max_iterations=7, toleranc=1)
    with pytest.raises(cw.CallError, match="tolerance=-1"):
        method.set_params(max_iterations=7, tolerance=-1)
    assert method.max_iterations == 1  # all or none


def test_judges_and_rates_show_themselves_as_tables(crowd: SimulatedCrowd) -> None:
    for shown in (cw.judges(crowd.labels, warn=False), cw.rate(crowd.labels, "c1")):
        html = shown._repr_html_()
        assert html.count("<table") >= 1
        assert html.startswith("<p>")
