"""Tests that what `aggregate` needs around the methods is the same in NumPy and in kernels."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd import encoding, hashing, numbering
from crowdwise.crowd.labels import Labels
from crowdwise.crowd.sorting import group_by_item, resolve_repeats
from crowdwise.crowd.votes import agreements, disagreement, said_by_others, votes_per_item, votes_per_worker
from crowdwise.numerics import Array
from crowdwise.numerics.twins import kernels_only
from crowdwise.results.quality import expected_right
from crowdwise.results.scores import best_two
from crowdwise.sources import delimited
from crowdwise.sources.unpacking import UnsoundError


def by_both(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    """Return what NumPy says and what the kernel says."""
    by_numpy = function(*arguments)
    with kernels_only():
        return by_numpy, function(*arguments)


def require_same(function: Callable[..., Any], *arguments: Any) -> None:
    """The arrays must be the same to the bit, and of one type: they go on to other kernels."""
    for numpy, kernel in zip(*by_both(function, *arguments), strict=True):
        np.testing.assert_array_equal(numpy, kernel)
        assert (numpy.dtype, numpy.shape) == (kernel.dtype, kernel.shape)


def rows(seed: int, items: int, workers: int, count: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    return (
        random.integers(items, size=count).astype(np.int32),
        random.integers(workers, size=count).astype(np.int32),
        random.integers(5, size=count).astype(np.uint8),
    )


@pytest.fixture(params=[2, 5])
def crowd(request: pytest.FixtureRequest) -> Labels:
    """Labels with items of one to many labels, some of them tied."""
    random = np.random.default_rng(request.param)
    table = cw.simulate(200, 15, request.param, labels_per_item=6, seed=1).rows
    return Labels.from_frame(table.filter(pl.Series(random.random(table.height) < 0.6)))


@pytest.mark.parametrize(("items", "count"), [(300, 1500), (3, 1500), (1, 1), (5, 0)])  # few and many labels an item
def test_rows_are_grouped(items: int, count: int) -> None:
    require_same(group_by_item, *rows(1, items, 20, count), items, 20)


@pytest.mark.parametrize("kept", ["all", "first", "last", "none"])
def test_repeats_are_resolved_as_one_by_one(kept: Literal["all", "first", "last", "none"]) -> None:
    starts, workers, labels = group_by_item(*rows(2, 31, 9, 300), 31, 9)
    expected, repeated, conflicts = [], 0, []
    for item in range(31):
        for worker in range(9):
            of_pair = [row for row in range(starts[item], starts[item + 1]) if workers[row] == worker]
            distinct = list({labels[row]: row for row in reversed(of_pair)}.values())[::-1]
            repeated += len(of_pair) - len(distinct)
            conflicts += [(item, of_pair[0])] if len(distinct) > 1 else []
            choices = {"all": distinct, "first": of_pair[:1], "last": of_pair[-1:], "none": []}
            expected += choices[kept] if len(distinct) > 1 else distinct
    keep, *found = resolve_repeats(starts, workers, labels, kept)
    assert np.flatnonzero(keep).tolist() == sorted(expected)
    assert found == [repeated, len(conflicts), *conflicts[0]]
    alone = np.arange(32)  # one label an item, which nothing repeats
    assert resolve_repeats(alone, workers[:31], labels[:31], kept)[1:] == (0, 0, -1, -1)


@pytest.mark.parametrize("continued", [None, np.zeros(700, bool)])
def test_rows_are_renumbered(continued: Array | None) -> None:
    starts, workers, labels = group_by_item(*rows(3, 40, 9, 700), 40, 9)
    random = np.random.default_rng(4)
    places = numbering.Numbering(*(random.permutation(count).astype(np.int32) for count in (40, 9)))
    for numpy, kernel in zip(*by_both(places.apply, starts, workers, labels, continued), strict=True):
        np.testing.assert_array_equal(numpy, kernel)


@pytest.mark.parametrize("kind", [str, int, float])
def test_values_are_numbered_by_first_appearance(kind: type) -> None:
    """In batches, of which some are short and some long, so that the dictionary becomes a hash table that grows."""
    values = [kind(value) for value in np.random.default_rng(5).integers(3000, size=9000)]
    column = pl.Series("item", values)
    tables = []
    for compiled_from in (0, 1, 3, 4):
        dictionary, codes = encoding.Dictionary(10), []
        for batch in range(3):
            part = column.slice(3000 * batch, 3000)
            if batch < compiled_from:
                codes.append(dictionary.encode(part))
            else:
                with kernels_only():
                    codes.append(dictionary.encode(part))
        tables.append((np.concatenate(codes), dictionary.names))
    first = {value: number for number, value in enumerate(dict.fromkeys(values))}
    for codes_found, names in tables:
        assert codes_found.tolist() == [first[value] for value in values]
        assert names.to_list() == list(first)
        assert codes_found.dtype == np.int32


def test_hashes_of_text_are_the_same_and_as_ever() -> None:
    """They number items and workers, and are in states."""
    names = pl.Series(["", "ann", "bob", "Zoë", "x" * 300, "item 12", "ann"])
    by_numpy, by_kernel = by_both(hashing.hashes_of, names)
    assert by_numpy.tolist() == by_kernel.tolist()
    assert by_numpy[[0, 1, 3]].tolist() == [17665956581633026203, 9265845255492201856, 18127017342606392926]
    of_numbers = hashing.hash_numbers(np.array([0, 1, 2**64 - 1], np.uint64))
    assert of_numbers.tolist() == [0, 6238072747940578789, 13029008266876403067]
    order, starts = hashing.split_by_hash(np.arange(10, dtype=np.uint64), 2)
    assert (order.tolist(), starts.tolist()) == ([0, 1, 7, 9, 4, 5, 6, 8, 2, 3], [0, 4, 7, 8, 10])
    assert hashing.split_by_hash(np.arange(3, dtype=np.uint64), 0)[1].tolist() == [0, 3]


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_the_best_two_are_the_same(classes: int) -> None:
    random = np.random.default_rng(6)
    scores = np.round(random.dirichlet(np.ones(classes), 500), 1)  # with many ties
    scores[:100] *= 1 + 1e-9 * random.random((100, classes))  # that rounding separates
    require_same(best_two, scores, 1e-7)
    require_same(best_two, scores[:0, :0], 1e-7)


def test_what_others_say_is_the_same(crowd: Labels) -> None:
    numpy, kernel = by_both(said_by_others, crowd, crowd.n_classes)
    np.testing.assert_array_equal(numpy, kernel)
    assert set(numpy) == {-1, *range(crowd.n_classes)}


def test_expected_counts_are_the_same(crowd: Labels) -> None:
    random = np.random.default_rng(7)
    evidence, prior = random.normal(1, 1, crowd.n_workers), random.dirichlet(np.ones(crowd.n_classes))
    evidence[0] = 700.0  # beyond what an exponential holds
    for numpy, kernel in zip(*by_both(expected_right, crowd, evidence, prior), strict=True):
        np.testing.assert_allclose(numpy, kernel, rtol=1e-12, atol=1e-14)


def test_disagreement_is_the_same(crowd: Labels) -> None:
    def found(labels: Labels) -> Array:
        out = np.zeros(labels.n_classes)
        disagreement(labels, votes_per_item(labels), out)
        return out

    np.testing.assert_allclose(*by_both(found, crowd), rtol=1e-12)


def test_counts_of_votes_are_the_same(crowd: Labels) -> None:
    np.testing.assert_array_equal(*by_both(votes_per_worker, crowd))
    np.testing.assert_array_equal(*by_both(agreements, crowd, crowd.labels[crowd.item_starts[:-1]]))
    sets = replace(crowd, continued=np.arange(crowd.n_labels) % 3 == 1)
    np.testing.assert_array_equal(*by_both(votes_per_worker, sets))


TEXTS = (
    b'item,worker,label\n"a ""1""",w,x\n\n"b\nc",w,y\r\n',
    b'item,worker,label\n"a,w,x\n',
    b'item,worker,label\na,w,x\n"a"b,w,x\n',
    b'item,worker,label\na "quoted",w,x\n"a",w,x\n',
    b"item,worker,label\na,w,x\rb,w,x\n",
    b"item,worker,label\n\na,w\n",
)


def outcome(inspect: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Return what was found, or why it is refused."""
    try:
        found = inspect(*arguments)
    except UnsoundError as problem:
        return (str(problem),)
    return (repr(found),)


@pytest.mark.parametrize("text", TEXTS)
def test_delimited_text_is_walked_over_the_same_way(text: bytes) -> None:
    numpy, kernel = by_both(outcome, delimited.inspect, text)
    assert numpy == kernel
