"""Tests of Krippendorff's alpha: a published example, special cases, and its interval."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import crowdwise as cw
from crowdwise.analysis.agreement import krippendorff, said_alike
from crowdwise.numerics import Array

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


def test_the_published_example_for_ordered_classes() -> None:
    """Krippendorff, "Computing Krippendorff's Alpha-Reliability", has 0.815 and 0.849 for the same observers."""
    rows = [(unit, f"o{j}", said) for j, row in enumerate(OBSERVERS) for unit, said in enumerate(row) if said]
    levels: Any = ("nominal", "ordinal", "interval")
    found = {level: cw.alpha(crowd(rows), level) for level in levels}
    assert {level: round(one.value, 3) for level, one in found.items()} == {
        "nominal": 0.743,
        "ordinal": 0.815,
        "interval": 0.849,
    }
    assert all(one.low < one.value < one.high <= 1 for one in found.values())
    assert krippendorff(crowd(rows)) == found["nominal"]


def by_pairs(labels: cw.Labels, places: Array, level: str) -> float:
    """Return alpha by the definition: a matrix of coincidences, and the disagreement of every pair of classes."""
    n_classes = labels.n_classes
    coincidences = np.zeros((n_classes, n_classes))
    for first, last in itertools.pairwise(labels.item_starts):
        for one, other in itertools.permutations(labels.labels[first:last].tolist(), 2):
            coincidences[one, other] += 1 / (last - first - 1)
    given = coincidences.sum(axis=0)
    apart = (places[:, None] - places) ** 2
    if level == "ordinal":
        for one, other in itertools.product(range(n_classes), repeat=2):
            low, high = sorted((places[one], places[other]))
            between = given[(places >= low) & (places <= high)].sum() - (given[one] + given[other]) / 2
            apart[one, other] = between**2
    expected = (np.outer(given, given) * apart).sum() / (given.sum() - 1)
    return 1 - float((coincidences * apart).sum()) / float(expected)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_is_what_all_pairs_say(level: Any) -> None:
    random = np.random.default_rng(3)
    rows = [(i, j, "edcba"[(i + random.integers(0, 3)) % 5]) for i in range(60) for j in range(random.integers(1, 5))]
    labels = crowd(rows)
    places = 4.0 - np.arange(5)  # "e" is the lowest
    assert cw.alpha(labels, level, order=list("edcba")).value == pytest.approx(by_pairs(labels, places, level))


def test_few_labels_in_many_classes_are_counted_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    labels = crowd([(i, j, int(random.integers(0, 9))) for i in range(40) for j in range(3)])
    said = labels.labels.reshape(-1, 3)
    alike = (said[:, :, None] == said[:, None]).sum(axis=2).ravel().tolist()
    assert said_alike(labels).tolist() == alike
    monkeypatch.setattr("crowdwise.analysis.agreement._LARGEST_TABLE", 0)
    assert said_alike(labels).tolist() == alike


def test_only_the_order_counts_for_ordinal_alpha() -> None:
    random = np.random.default_rng(4)
    rows = [(i, j, int((i + random.integers(0, 2)) % 6)) for i in range(50) for j in range(3)]
    stretched = [(i, j, 10**said) for i, j, said in rows]
    assert cw.alpha(crowd(rows), "ordinal") == cw.alpha(crowd(stretched), "ordinal")
    assert cw.alpha(crowd(rows), "interval") != cw.alpha(crowd(stretched), "interval")
    shifted = [(i, j, 1e9 + said) for i, j, said in rows]
    assert cw.alpha(crowd(shifted), "interval").value == pytest.approx(cw.alpha(crowd(rows), "interval").value)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_degenerate_crowds_of_ordered_classes(level: Any) -> None:
    assert math.isnan(cw.alpha(crowd([(1, "a", 1), (2, "b", 2)]), level).value)
    assert cw.alpha(crowd([(1, "a", 1), (1, "b", 1)]), level).value == 1
    assert cw.alpha(crowd([(1, "a", 1), (1, "b", 2)]), level).value == pytest.approx(0)


def test_what_alpha_refuses() -> None:
    labels = crowd([(1, "a", "x"), (1, "b", "y")])
    with pytest.raises(cw.CallError, match="level='ratio' is not one of"):
        cw.alpha(labels, "ratio")  # type: ignore[arg-type]  # it is refused
    with pytest.raises(cw.CallError, match="An order is for the levels ordinal and interval"):
        cw.alpha(labels, order=["x", "y"])
    with pytest.raises(cw.DataError, match="The class 'x' of the labels is no number"):
        cw.alpha(labels, "ordinal")
    with pytest.raises(cw.CallError, match="alpha takes labels"):
        cw.alpha([1, 2])  # type: ignore[arg-type]  # it is refused


def test_many_values_take_memory_for_each_once() -> None:
    """Fifty thousand different numbers: all pairs of them would be 20 GB."""
    random = np.random.default_rng(5)
    truth = random.normal(size=25_000)
    said = np.repeat(truth, 2) + random.normal(0, 0.5, 50_000)
    pairs = np.repeat(np.arange(25_000), 2), np.tile([0, 1], 25_000)
    labels = cw.Labels.from_arrays(*pairs, said, classes=np.unique(said).tolist())
    found = cw.alpha(labels, "interval")
    assert found.low < 0.8 < found.high  # the share of the variance that is the truth's
