"""Tests that kernels give the same numbers as another way to compute them."""

import numpy as np
import pytest

from crowdwise.families.confusion_matrices import kernel as confusion_matrices_kernel
from crowdwise.methods.cbcc.softmax_scores import score_posterior, softmax_message
from crowdwise.numerics import Array, elementary
from crowdwise.numerics.compilation import compiled
from crowdwise.numerics.simd.exponential import exponential
from crowdwise.numerics.simd.lanes import load, store

THREE = (0, 1, 2)


@compiled
def exponentials(x: Array, out: Array) -> None:
    for i in range(np.uint64(len(x))):
        store(out, i, exponential(load(x, i, THREE), THREE))


def test_exponentials_are_right_to_the_last_bits() -> None:
    random = np.random.default_rng(1)
    x = -np.concatenate(
        [random.exponential(1e-3, 30_000), random.uniform(0, 50, 30_000), random.uniform(0, 700, 30_000)]
    )
    out = np.empty((30_000, 3))
    exponentials(x.reshape(-1, 3), out)
    expected = np.exp(x)
    assert (np.abs(out.ravel() - expected) <= 2 * np.spacing(expected)).all()


def test_exponentials_of_zero_and_of_next_to_nothing() -> None:
    x = np.array([[0.0, -0.0, -1e-300], [-708.5, -720.0, -744.9], [-746.0, -1e300, -np.inf]])
    out = np.empty_like(x)
    exponentials(x, out)
    assert out[0].tolist() == [1, 1, 1]
    assert out[1] == pytest.approx(np.exp(x[1]), rel=1e-12)
    assert out[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("negligible", [np.inf, 3.0])
@pytest.mark.parametrize("scored", [True, False])
def test_few_classes_are_swept_as_many_are(negligible: float, scored: bool) -> None:
    random = np.random.default_rng(2)
    starts, workers = np.arange(0, 601, 3), random.integers(5, size=600).astype(np.int32)
    labels = random.integers(3, size=600).astype(np.uint8)
    evidence = np.log(random.dirichlet(np.ones(3), (5, 3)))
    evidence[0] = -np.inf  # a label of this worker makes every class impossible
    evidence[1, 0, 2] = -np.inf
    swept = []
    for block in (THREE, None):
        scores, changes = np.full((200, 3), 0.25), np.zeros(3)
        counts = np.zeros((5, 3, 3)), np.zeros(3), np.zeros(1)
        prior = np.log([0.5, 0.3, 0.2])
        given = (evidence.reshape(-1, 3), prior) if scored else None
        confusion_matrices_kernel.sweep_confusions(
            starts, workers, labels, block, given, negligible, scores, changes, *counts
        )
        swept.append((scores, changes, *counts))
    for few, many in zip(*swept, strict=True):
        np.testing.assert_allclose(few, many, rtol=1e-13)
    scores = swept[0][0]
    assert scores.sum(axis=1) == pytest.approx(np.ones(200) if scored else np.full(200, 0.75))
    if scored:
        impossible = (workers.reshape(200, 3) == 0).any(axis=1)
        assert impossible.any()
        assert scores[impossible] == pytest.approx(1 / 3)
        assert ((scores == 0).any(axis=1)[~impossible]).any()


@pytest.mark.parametrize("classes", [1, 2, 5, 20])
def test_scores_after_a_message_are_those_of_the_inverted_matrix(classes: int) -> None:
    random = np.random.default_rng(3)
    mean, centre = random.normal(size=(2, 30, classes))
    variance = random.uniform(0.1, 1, (30, classes))
    said = random.gamma(1, 5, (30, classes))
    said[0] = 0  # no label
    message, linear = softmax_message(mean, variance, said)
    covariance = np.linalg.inv(message + 5 * np.eye(classes))
    found_mean, found_variance = score_posterior(mean, variance, said, centre, 5.0)
    assert found_mean == pytest.approx(np.einsum("jlm,jm->jl", covariance, linear + 5 * centre), abs=1e-12)
    assert found_variance == pytest.approx(np.diagonal(covariance, axis1=1, axis2=2), abs=1e-12)


def _rows(seed: int, items: int, workers: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return (
        random.integers(items, size=count).astype(np.int32),
        random.integers(workers, size=count).astype(np.int32),
        random.integers(5, size=count).astype(np.uint8),
    )


@pytest.mark.parametrize("shape", [(7,), (1000, 8), (3, 2, 28)])
def test_tables_begin_at_a_cache_line(shape: tuple[int, ...]) -> None:
    tables = [elementary.zeros(*shape) for _ in range(9)]  # so that one does not begin there by chance
    assert {table.ctypes.data % 64 for table in tables} == {0}
    for table in tables:
        assert table.shape == shape
        assert table.dtype == float
        assert table.flags.c_contiguous
        assert not table.any()


def test_columns_are_a_table_of_their_own() -> None:
    table = np.arange(12.0).reshape(3, 4)
    chosen = elementary.columns(table, (3, 1, 1))
    np.testing.assert_array_equal(chosen, table[:, [3, 1, 1]])
    assert chosen.ctypes.data % 64 == 0
