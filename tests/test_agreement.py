"""Tests of Krippendorff's alpha: a published example, special cases, and its interval."""

import math
from typing import Any

import pytest

import crowdwise as cw
from crowdwise.analysis.agreement import krippendorff

# Hayes and Krippendorff's example of four observers and twelve units, with missing values: nominal alpha is 0.743.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def crowd(rows: list[tuple[Any, Any, Any]]) -> cw.Labels:
    return cw.Labels.from_arrays(*map(list, zip(*rows, strict=True)))


def test_the_published_example() -> None:
    rows = [(unit, f"o{j}", said) for j, row in enumerate(OBSERVERS) for unit, said in enumerate(row) if said]
    alpha = krippendorff(crowd(rows))
    assert round(alpha.value, 3) == 0.743
    assert alpha.low < alpha.value < alpha.high <= 1


def test_degenerate_crowds() -> None:
    assert math.isnan(krippendorff(crowd([(1, "a", "x"), (2, "b", "y")])).value)
    assert krippendorff(crowd([(1, "a", "x"), (1, "b", "x")])).value == 1
    assert krippendorff(crowd([(1, "a", "x"), (1, "b", "y")])).value == 0
    assert krippendorff(crowd([(i, w, "xy"[i % 2]) for i in range(9) for w in "ab"])).value == 1
    assert krippendorff(crowd([(i, w, w) for i in range(9) for w in "ab"])).value < 0


def test_groups_of_items_give_the_same_interval_as_items(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = cw.simulate(1900, 30, 3, seed=3).labels
    whole = krippendorff(labels)
    monkeypatch.setattr("crowdwise.analysis.agreement._MAX_GROUPS", 600)
    grouped = krippendorff(labels)
    assert grouped.value == pytest.approx(whole.value)
    assert grouped.high - grouped.low == pytest.approx(whole.high - whole.low, rel=0.2)
    assert krippendorff(labels) == grouped


def test_guessing_has_no_agreement() -> None:
    alpha = krippendorff(cw.simulate(2000, 20, 4, accuracy=0.25, concentration=1000, seed=1).labels)
    assert alpha.low < 0.01
    assert abs(alpha.value) < 0.02
