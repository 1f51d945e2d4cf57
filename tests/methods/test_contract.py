"""Tests that every method must pass: the contract in crowdwise.testing, also on random crowds."""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise import methods, testing
from crowdwise.methods import METHODS
from tests.support.cases import CASES, EVERY, each_method, examples
from tests.support.crowds import Rows, crowds, fitting


def test_files_methods_and_cases_are_the_same_set() -> None:
    folder = Path(cw.__file__).parent / "methods"
    files = {path.stem for path in folder.iterdir() if path.name[0] != "_"}
    assert files - {"numeric"} == set(METHODS) == set(CASES)


@each_method
def test_a_case_is_a_method_with_its_defaults_and_a_variant_is_not(key: str) -> None:
    assert type(EVERY[key]) is METHODS[key.split()[0]]
    assert (EVERY[key] == type(EVERY[key])()) == (key in CASES)


@pytest.mark.parametrize("check", testing.CHECKS)
@each_method
def test_the_contract(key: str, check: str) -> None:
    testing.CHECKS[check](EVERY[key])


@each_method
@examples(40)
@given(rows=crowds(), seed=st.integers(0, 1000))
def test_row_order_changes_nothing(key: str, rows: Rows, seed: int) -> None:
    rows = fitting(EVERY[key], rows)
    shuffled = random.Random(seed).sample(rows, len(rows))
    testing.require_same_bits(testing.fit(EVERY[key], rows), testing.fit(EVERY[key], shuffled))


@pytest.mark.parametrize("key", [key for key, method in EVERY.items() if not method.starts_at_random])
@examples(40)
@given(rows=crowds())
def test_names_change_nothing_but_names(key: str, rows: Rows) -> None:
    rows = fitting(EVERY[key], rows)
    renamed = testing.fit(EVERY[key], [(testing.turned(i), testing.turned(j), testing.turned(k)) for i, j, k in rows])
    testing.require_same(testing.fit(EVERY[key], rows), testing.turned_back(renamed))


@each_method
@examples(60)
@given(rows=crowds())
def test_scores_are_finite_and_tables_complete(key: str, rows: Rows) -> None:
    rows = fitting(EVERY[key], rows)
    testing.require_whole(rows, testing.fit(EVERY[key], rows))


class Forgetful(cw.BWA):
    """A method that breaks the contract."""

    def fit(self, labels: Any, **more: Any) -> Any:
        result = super().fit(labels)
        result.scores[0] = np.nan if labels.n_items == 1 else result.scores[0]
        return result


def test_a_broken_promise_is_named() -> None:
    with pytest.raises(AssertionError, match=r"breaks the contract, .*: .*"):
        testing.check_method(Forgetful())
    with pytest.raises(AssertionError, match="is a value: it does not derive from"):
        testing.check_method(object())


@pytest.mark.parametrize("method", [cw.BWA, cw.CBCC, cw.EBCC, cw.LightweightAggregation])
@pytest.mark.parametrize("seed", [-1, 0.5])
def test_a_seed_is_a_whole_number(method: Any, seed: Any) -> None:
    with pytest.raises(cw.CallError, match=f"seed={seed} is not a whole number from 0 on"):
        method(seed=seed)
    method(seed=np.int64(3))


@pytest.mark.parametrize("given", ["labels.csv", None, [1, 2], {"item": 1}])
def test_what_is_no_crowd_is_refused_with_how_to_make_one(given: Any) -> None:
    with pytest.raises(cw.CallError, match=r"A method takes labels, and this is a .*: make labels of it by"):
        cw.BWA().fit(given)


@pytest.mark.parametrize(
    "value", [pytest.param(10**5000, id="long"), 1e300, 1e-320, float("inf"), float("nan"), -1, True, "15", None]
)
def test_numbers_that_make_no_sense_are_refused(value: Any) -> None:
    with pytest.raises(cw.CallError, match=r"prior_strength=.* is not a number above 0"):
        cw.BWA(prior_strength=value)
    assert cw.BWA(prior_strength=np.float32(2)).prior_strength == 2  # type: ignore[arg-type]  # NumPy's numbers are fine


def test_two_methods_cannot_have_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    home: dict[str, Any] = {"__module__": cw.BWA.__module__}
    package: Any = sys.modules[cw.BWA.__module__.rpartition(".")[0]]
    monkeypatch.setattr(package, "Again", type("Again", (cw.BWA,), {"key": "bwa", **home}), raising=False)
    with pytest.raises(TypeError, match="have the same key, 'bwa'"):
        methods._method_in(package, "bwa")
    monkeypatch.setattr(package, "Again", type("Again", (cw.BWA,), home))
    assert methods._method_in(package, "bwa") is cw.BWA
