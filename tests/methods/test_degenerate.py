"""Tests of every method with degenerate crowds, with parameters at the ends of their ranges, and with many classes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

import crowdwise as cw
from crowdwise import testing
from crowdwise.fitting.parameters import Parameter, parameter, parameters_of
from crowdwise.parallel import Threads
from tests.support.cases import CASES, EVERY, each_method

CROWDS: dict[str, list[tuple[Any, Any, Any]]] = {
    "one item": [("i", f"w{j}", f"c{j % 3}") for j in range(5)],
    "one worker": [(f"i{i}", "w", f"c{i % 3}") for i in range(6)],
    "one label": [("i", "w", "c")],
    "one class": [(f"i{i}", f"w{j}", "c") for i in range(4) for j in range(3)],
    "a label per worker": [(f"i{j % 5}", f"w{j}", f"c{j % 3}") for j in range(15)],
    "a worker per item": [(f"i{j}", f"w{j}", f"c{j % 3}") for j in range(6)],
    "three crowds": [
        (f"i{g}{i}", f"w{g}{j}", f"c{(i + j * (i % 2)) % 3}") for g in range(3) for i in range(4) for j in range(3)
    ],
    "all agree": [(f"i{i}", f"w{j}", f"c{i % 3}") for i in range(9) for j in range(4)],
    "all disagree": [(f"i{i}", f"w{j}", f"c{(i + j) % 4}") for i in range(8) for j in range(4)],
    "two who contradict each other": [(f"i{i}", f"w{j}", f"c{(i + j) % 2}") for i in range(6) for j in range(2)],
    "every class once": [(f"i{i}", f"w{j}", f"c{i * 4 + j}") for i in range(10) for j in range(4)],
    "integers": [(i, j, i * j % 3) for i in range(5) for j in range(4)],
    "booleans": [(bool(i), bool(j), bool(i ^ j)) for i in range(2) for j in range(2)],
    "dates": [
        (date(2020, 1, 1) + timedelta(i), date(2021, 1, 1) + timedelta(j), date(2022, 1, 1) + timedelta(i * j % 3))
        for i in range(5)
        for j in range(4)
    ],
    "decimals": [(Decimal(i) / 2, Decimal(j) / 4, Decimal(i * j % 3) / 8) for i in range(5) for j in range(4)],
    "a worker with very many labels": [(i, 0, i % 2) for i in range(5000)]
    + [(i % 20, 1 + i // 20, i % 2) for i in range(60)],
    "items with very many labels": [(i, j, (i if j % 3 else j) % 2) for i in range(3) for j in range(500)],
}

# The numbers to try for a parameter, as far as it takes them.
NUMBERS = [0.0, 5e-324, 1e-12, np.nextafter(0.5, 0), np.nextafter(1, 0), 1.0, 1e12]


@each_method
@pytest.mark.parametrize("crowd", CROWDS)
def test_degenerate_crowds(key: str, crowd: str) -> None:
    rows = CROWDS[crowd]
    labels = cw.Labels.from_arrays(*zip(*rows, strict=True))
    method = EVERY[key]
    if method.limits().most_classes is not None and labels.n_classes > method.limits().most_classes:
        with pytest.raises(cw.DataError, match=f"takes at most {method.limits().most_classes} classes"):
            method.fit(labels)
        return
    result = method.fit(labels)
    testing.require_whole(rows, result)
    trust = result.workers.trust()
    assert trust is None or np.isfinite(trust.value).all()


def ends(declared: Parameter) -> Iterator[Any]:
    """The choices of a parameter, or the least and the greatest numbers that it takes."""
    kinds = get_args(declared.kind) or (declared.kind,)
    if get_origin(declared.kind) is Literal:
        yield from kinds
    elif bool in kinds:
        yield from (True, False)
    elif int in kinds:
        # More iterations, steps or starts than anybody can wait for are not refused: they are what was asked for.
        large = [10**9, 10**18] if declared.name in ("seed", "subtypes", "communities") else []
        yield from filter(declared.accepts, [0, 1, 2, *large])
    else:
        # How long the iterations go on changes no formula, so that the ends of the range are enough.
        numbers = [0.0, 5e-324, 1e12] if declared.name == "tolerance" else NUMBERS
        yield from filter(declared.accepts, numbers)


def of(method: Any) -> dict[str, Parameter]:
    """The parameters of a method, by name."""
    kind: Any = type(method)
    return parameters_of(kind)


@pytest.mark.parametrize(("key", "name"), [(key, name) for key in CASES for name in of(CASES[key])])
def test_a_parameter_at_the_ends_of_its_range_gives_whole_results_or_a_sentence(key: str, name: str) -> None:
    method = CASES[key]
    last = min(method.limits().most_classes or 18, 18)
    crowds = [
        [("i", "w", "c"), ("i", "v", "d")],
        [(f"i{i}", f"w{j}", f"c{(i + (j == i)) % min(3, last)}") for i in range(6) for j in range(4)],
        [(f"i{i}", f"w{j}", f"c{(i * 7 + j * j) % last}") for i in range(9) for j in range(4)],
    ]
    values = list(ends(of(method)[name]))
    assert values
    for value in values:
        for rows in crowds:
            outcome = fitted_or_refused(replace(method, **{name: value}), rows)
            if isinstance(outcome, str):
                assert name in outcome
                assert len(outcome) < 500
            else:
                testing.require_whole(rows, outcome)


def fitted_or_refused(method: Any, rows: testing.Rows) -> Any:
    """The result of a method, or the sentence with which it refuses; any other error is raised."""
    try:
        return testing.fit(method, rows)
    except (cw.CallError, cw.DataError) as refusal:
        return str(refusal)


@dataclass(frozen=True)
class Overflowing(cw.MajorityVote):
    """A method whose numbers become too large, on every thread."""

    strength: float = parameter(1.0, "What the numbers grow with.", above=0)

    def infer(self, labels: Any, progress: Any) -> Any:
        with Threads(4) as threads:
            threads.run(lambda _: np.exp(np.full(3, 1000 * self.strength)))
        return super().infer(labels, progress)


@pytest.mark.parametrize("threads", [1, 3])
def test_numbers_out_of_range_are_refused_by_the_name_of_the_parameter(threads: int) -> None:
    labels = cw.Labels.from_arrays([1, 2], ["a", "a"], ["x", "y"])
    nearer = r"with strength=5.0, .* Take values nearer to the defaults: strength=1.0"
    impossible = "Overflowing cannot be computed: its numbers became too large or too small"
    with testing.on_threads(threads):
        with pytest.raises(cw.CallError, match=nearer):
            Overflowing(strength=5.0).fit(labels)
        with pytest.raises(cw.DataError, match=impossible):
            Overflowing().fit(labels)
        assert Overflowing(strength=0.1).fit(labels).labels.to_list() == ["x", "y"]


@pytest.mark.parametrize("key", ["loglinear", "minimax"])
def test_a_matrix_for_every_item_is_for_sixteen_classes(key: str) -> None:
    labels = cw.simulate(40, 5, 17, seed=1).labels
    with pytest.raises(cw.DataError, match=r"takes at most 16 classes, and here are 17: use adjudicator"):
        cw.METHODS[key]().fit(labels)
    cw.METHODS[key]().fit(cw.simulate(40, 5, 16, seed=1).labels)
