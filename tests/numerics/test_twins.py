"""Tests that the kernels of large crowds give what the NumPy models of small crowds give.

They also pass with NUMBA_DISABLE_JIT=1, which runs the kernels as Python; all but those that use vector registers.
"""

from dataclasses import replace
from typing import Any, cast

import numba
import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.families.coins import kernel as coins_kernel
from crowdwise.families.coins import model as coins_model
from crowdwise.families.confusion_matrices import kernel as confusion_kernel
from crowdwise.families.confusion_matrices import model as confusion_model
from crowdwise.families.dependence import kernel as pairs_kernel
from crowdwise.families.dependence import pairs
from crowdwise.families.log_linear import kernel as log_linear_kernel
from crowdwise.families.log_linear import model as log_linear_model
from crowdwise.families.numeric import kernel as numeric_kernel
from crowdwise.families.numeric import model as numeric_model
from crowdwise.families.weighted_votes import kernel as votes_kernel
from crowdwise.families.weighted_votes import model as votes_model
from crowdwise.methods.adjudicator import few_classes_kernel, logits_kernel, many_classes_kernel, many_model
from crowdwise.methods.adjudicator import model as adjudicator_model
from crowdwise.methods.adjudicator.constants import STRENGTHS
from crowdwise.methods.adjudicator.model import pad
from crowdwise.methods.bwa import kernel as bwa_kernel
from crowdwise.methods.bwa import model as bwa_model
from crowdwise.methods.bwa import two_sided, two_sided_kernel
from crowdwise.methods.bwa.weights import lanes
from crowdwise.methods.glad import kernel as glad_kernel
from crowdwise.methods.glad import model as glad_model
from crowdwise.methods.la import kernel as la_kernel
from crowdwise.methods.la import method as la
from crowdwise.methods.ptbcc import kernel as ptbcc_kernel
from crowdwise.methods.ptbcc import model as ptbcc_model
from crowdwise.numerics import Array, elementary
from crowdwise.numerics.elementary import softmax
from crowdwise.numerics.twins import kernels_only

WITHOUT_JIT = bool(getattr(numba.config, "DISABLE_JIT", False))


def crowd(n_classes: int, seed: int = 0) -> cw.Labels:
    """A crowd that includes an item with one label, a worker with one label, and a class that nobody names."""
    random = np.random.default_rng(seed)
    items, workers = random.integers(40, size=300), random.integers(9, size=300)
    said = random.integers(max(n_classes - 1, 1), size=300)
    rows = (np.append(items, 99), np.append(workers, 99), np.append(said, 0))
    return cw.Labels.from_arrays(*rows, classes=range(n_classes), duplicates="all")


def both(model: Any, kernel: Any, labels: Any, *arguments: Any) -> None:
    """Run the model and the kernel on copies of the same arguments, and compare all arrays and what is returned."""
    swept = []
    for run, of_labels in ((model.__wrapped__, (labels,)), (kernel, labels.arrays)):
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            returned = run(*of_labels, *copies)
        swept.append([returned, *(one for one in copies if isinstance(one, np.ndarray))])
    for ours, theirs in zip(*swept, strict=True):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


# Dawid-Skene and the other confusion matrices


@pytest.mark.parametrize("in_registers", [True, False])
@pytest.mark.parametrize("negligible", [np.inf, 3.0])
@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_confusion_matrices(classes: int, scored: bool, negligible: float, in_registers: bool) -> None:
    if in_registers and WITHOUT_JIT:
        pytest.skip("vector registers need compiled code")
    labels, random = crowd(classes), np.random.default_rng(1)
    log_pi = np.log(random.dirichlet(np.ones(classes), (labels.n_workers, classes)))
    log_pi[0] = -np.inf  # a label of this worker makes every class impossible
    log_pi[1, 0, -1] = -np.inf
    log_p = np.log(random.dirichlet(np.ones(classes)))
    parameters = (log_pi.reshape(-1, classes), log_p) if scored else None
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    sums = np.zeros(classes), np.ones((labels.n_workers, classes, classes)), np.ones(classes), np.ones(1)
    block = tuple(range(classes)) if in_registers else None
    arguments = (block, parameters, negligible, scores, *sums)
    both(confusion_model.sweep_confusions, confusion_kernel.sweep_confusions, labels, *arguments)


def test_confusion_matrices_with_subtypes() -> None:
    labels, random = crowd(3), np.random.default_rng(2)
    states = 12
    log_pi = np.log(random.dirichlet(np.ones(states), (labels.n_workers, 3))).reshape(-1, states)
    parameters = (log_pi, np.log(random.dirichlet(np.ones(states))))
    scores = random.dirichlet(np.ones(states), labels.n_items)
    sums = np.zeros(states), np.zeros((labels.n_workers, 3, states)), np.zeros(states), np.zeros(1)
    arguments = (None, parameters, 40.0, scores, *sums)
    both(confusion_model.sweep_confusions, confusion_kernel.sweep_confusions, labels, *arguments)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("classes", [1, 3])
def test_prototypes(classes: int, first: bool) -> None:
    labels, random = crowd(classes), np.random.default_rng(3)
    matrix = random.dirichlet(np.ones(classes), (2, classes))
    mixtures = (np.log(random.dirichlet(np.ones(2), labels.n_workers)), np.log(random.dirichlet(np.ones(classes))))
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    shapes = (classes,), (labels.n_workers, 2), (2, classes, classes), (classes,), (labels.n_workers, 2), matrix.shape
    arguments = (matrix, None) if first else (np.log(matrix), mixtures)
    sums = (np.zeros(shape) for shape in shapes)
    both(ptbcc_model.sweep_prototypes, ptbcc_kernel.sweep_prototypes, labels, *arguments, scores, *sums)


@pytest.mark.parametrize("of_workers", [True, False])
@pytest.mark.parametrize("classes", [1, 2, 6])
def test_log_linear_matrices(classes: int, of_workers: bool) -> None:
    labels, random = crowd(classes), np.random.default_rng(4)
    groups = log_linear_model.ByWorker.of(labels) if of_workers else labels
    items = groups.arrays[1] if of_workers else labels.item_of
    n_own, n_other = (labels.n_workers, labels.n_items) if of_workers else (labels.n_items, labels.n_workers)
    scores = random.dirichlet(np.full(classes, 0.02), labels.n_items)
    assert classes == 1 or scores.min() < 1e-12
    others = np.exp(-random.gamma(1, 2, (n_other, classes, classes)))
    own = random.normal(0, 3, (n_own, classes, classes))
    weights = np.exp(own - own.max(axis=2, keepdims=True))
    arguments = (items, 2, n_own - 1, scores, others, own, weights, np.eye(classes), 0.5)
    both(log_linear_model.fit_matrices, log_linear_kernel.fit_matrices, groups, *arguments)


@pytest.mark.parametrize("classes", [1, 4])
def test_scores_of_log_linear_matrices(classes: int) -> None:
    labels, random = crowd(classes), np.random.default_rng(5)
    weights = (np.exp(-random.gamma(1, 2, (n, classes, classes))) for n in (labels.n_workers, labels.n_items))
    log_prior = np.log(random.dirichlet(np.ones(classes)))
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    arguments = (3, labels.n_items - 2, *weights, log_prior, scores, np.zeros(classes))
    both(log_linear_model.score_matrices, log_linear_kernel.score_matrices, labels, *arguments)


# Pairs of workers


@pytest.mark.parametrize("classes", [1, 4])
def test_comparisons_of_workers(classes: int) -> None:
    labels, model = crowd(classes), cast(Any, pairs.compare_workers)
    size = labels.n_workers, labels.n_classes
    ours, theirs = model.__wrapped__(labels, *size), pairs_kernel.compare_workers(*labels.arrays, *size)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


# Numbers


@pytest.mark.parametrize("losses", [True, False])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("sweep", ["sweep_means", "sweep_medians", "sweep_without_outliers"])
def test_numbers(sweep: str, equal: bool, losses: bool) -> None:
    """With equal weights, the median of an even number of answers is between two of them."""
    random = np.random.default_rng(6)
    rows = random.integers(40, size=300), random.integers(9, size=300), random.normal(5, 2, 300).round(1)
    rows[2][:10] += 100
    numbers = cw.Numbers.from_arrays(*rows, duplicates="all")
    n = numbers.n_workers
    parameters = np.column_stack([random.gamma(2, 1, n), random.normal(size=n), *random.gamma(2, 1, (2, n))])
    if equal:
        parameters[:] = [1.5, 0, 1, 1]
    parameters[0, 3] = 0  # the answers of this worker say nothing
    prior, doubts, counted = np.array([5.0, 0.2, 0.01]), random.gamma(2, 0.01, (n, 3)), np.zeros(n)
    before = {
        "sweep_means": (counted if losses else None,),
        "sweep_medians": (counted, losses),
        "sweep_without_outliers": (0.01, 0.05, doubts, counted),
    }[sweep]
    after = (parameters, prior, 1.3, random.normal(5, 1, (numbers.n_items, 2)), np.zeros((n, 9)), np.zeros(7))
    both(getattr(numeric_model, sweep), getattr(numeric_kernel, sweep), numbers, *before, *after)


# BWA

in_registers = pytest.mark.skipif(WITHOUT_JIT, reason="vector registers need compiled code")


def set_votes(labels: cw.Labels, sets: bool) -> Any:
    """Which labels continue the vote before them: some that are by the same worker, or None if votes name one class."""
    same = (np.diff(labels.workers, prepend=-1) == 0) & (np.diff(labels.item_of, prepend=-1) == 0)
    assert same.any() or labels.n_classes <= 2
    return same if sets else None


@in_registers
@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("idle", [0, 30_000])  # so many workers are far from the processor's cache
@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize(("n_classes", "classes"), [(1, (0,)), (2, (0,)), (2, (0, 1)), (5, (0, 1, 3)), (11, range(11))])
def test_bwa(n_classes: int, classes: Any, scored: bool, idle: int, sets: bool) -> None:
    labels, random = crowd(n_classes), np.random.default_rng(3)
    workers = labels.names.workers.append(pl.Series(range(1000, 1000 + idle), dtype=pl.Int64))
    labels = replace(labels, names=replace(labels.names, workers=workers))
    mirrored = scored and n_classes == 2 and len(classes) == 1
    classes = lanes(classes, n_classes)
    weight, mean = random.random((labels.n_workers, n_classes)), random.random(n_classes)
    weights = (elementary.columns(weight, classes), mean[list(classes)]) if scored else None
    scores, errors = random.random((labels.n_items, n_classes)), random.random((labels.n_workers, len(classes)))
    settings = classes, weights, 1.5, 1e-5, mirrored
    arguments = (set_votes(labels, sets), *settings, scores, errors, np.ones((2, len(classes))))
    both(bwa_model.sweep, bwa_kernel.sweep, labels, *arguments)


@pytest.mark.parametrize("scored", [True, False])
def test_bwa_with_weights_per_label(scored: bool) -> None:
    labels, random = crowd(4), np.random.default_rng(5)
    shape = labels.n_workers, 4
    weights = (random.random(shape), random.random(shape), random.random(4)) if scored else None
    arguments = (
        weights,
        1.5,
        1e-5,
        random.random((labels.n_items, 4)),
        np.ones(shape),
        np.ones(shape),
        np.ones((2, 4)),
    )
    both(two_sided.sweep_two_sided, two_sided_kernel.sweep_two_sided, labels, *arguments)


# The adjudicator


def varied_crowd(n_classes: int) -> cw.Labels:
    """Items with 1 to 9 labels, and some with so many that products would be too large. Nobody names the last class.

    The first item has a label of each other class, so that none is named most.
    """
    random, named = np.random.default_rng(3), max(n_classes - 1, 1)
    items = np.repeat(np.arange(41), [named, 300, 65, 64, 17, 16, *random.integers(1, 10, 35)])
    said = np.concatenate([np.arange(named), random.integers(named, size=len(items) - named)])
    workers = random.integers(9, size=len(items))
    return cw.Labels.from_arrays(items, workers, said, classes=range(n_classes), duplicates="all")


def weights_of(labels: cw.Labels, weighted: bool) -> Array:
    """Weights of labels, some of which are left out; none if all count as one."""
    return np.random.default_rng(4).choice([0.0, 0.3, 1.0], labels.n_labels) if weighted else np.zeros(0)


def matrices(labels: cw.Labels, known: bool) -> adjudicator_model.Parameters:
    """Parameters of the adjudicator for few classes; perhaps only the first class is possible."""
    random, n_classes = np.random.default_rng(5), labels.n_classes
    chance = softmax(random.normal(0, 2, (labels.n_workers, n_classes, n_classes)))
    prior, ratio = random.dirichlet(np.ones(n_classes)), random.uniform(0.01, 0.5, (3, n_classes, n_classes))
    prior[1:] *= not known
    return pad(chance), np.expm1(STRENGTHS), prior, pad(ratio)


def compare_sweeps(labels: cw.Labels, weights: Array, parameters: tuple[Array, ...]) -> None:
    """Compare the E steps of the adjudicator for few classes, from scores that are all alike."""
    n_workers, n_classes = labels.n_workers, labels.n_classes
    scores, pulls = np.full((labels.n_items, n_classes), 1 / n_classes), np.zeros((3, n_classes, n_classes))
    counts = np.zeros((n_workers, n_classes, n_classes)), pad(np.zeros((n_workers, *pulls.shape)))
    given = weights, parameters, scores, np.zeros(n_classes), *counts, np.zeros(n_classes), pad(pulls), np.zeros(9)
    both(adjudicator_model.sweep_pulls, few_classes_kernel.sweep_pulls, labels, *given)


@pytest.mark.skipif(WITHOUT_JIT, reason="vector registers need compiled code")
@pytest.mark.parametrize(("weighted", "known"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("classes", [1, 2, 5, 9])
def test_adjudicator_e_step(classes: int, weighted: bool, known: bool) -> None:
    labels = varied_crowd(classes)
    weights, parameters = weights_of(labels, weighted), matrices(labels, known)
    compare_sweeps(labels, weights, parameters)
    compare_sweeps(labels, weights, tuple(np.zeros((0, *one.shape[1:])) for one in parameters))
    answer = np.random.default_rng(6).dirichlet(np.ones(classes), classes + parameters[3].size)
    answers = answer[:classes], answer[classes:], np.zeros((labels.n_items, classes)), np.zeros(labels.n_items)
    both(adjudicator_model.answer_items, few_classes_kernel.answer_items, labels, weights, parameters, *answers)


@pytest.mark.skipif(WITHOUT_JIT, reason="vector registers need compiled code")
@pytest.mark.parametrize(("sure", "named"), [(13.8, (54, 60)), (34.0, (22, 24))])
def test_adjudicator_e_step_where_products_are_below_the_smallest_number(sure: float, named: tuple[int, int]) -> None:
    said = np.repeat([0, 1], named)
    labels = cw.Labels.from_arrays(np.zeros_like(said), np.zeros_like(said), said, duplicates="all")
    parameters = pad(softmax(sure * np.eye(2))[None]), *matrices(labels, False)[1:]
    compare_sweeps(labels, np.zeros(0), parameters)


@pytest.mark.skipif(WITHOUT_JIT, reason="vector registers need compiled code")
def test_adjudicator_e_step_with_tables_that_are_fetched_ahead() -> None:
    labels = cw.Labels.from_arrays(np.arange(30_000) // 5, np.arange(30_000), np.arange(30_000) % 7 % 3)
    compare_sweeps(labels, weights_of(labels, True), matrices(labels, False))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 40])
def test_adjudicator_e_step_with_many_classes(classes: int, weighted: bool) -> None:
    labels, random = varied_crowd(classes), np.random.default_rng(7)
    table, square, kinds = (labels.n_workers, classes), (classes, classes), random.dirichlet(np.ones(7))
    workers = (random.random(one) for one in (square, table, table, table))
    parameters = (*workers, np.log(random.dirichlet(np.ones(classes))), np.log(kinds), STRENGTHS)
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    shapes = [*[table] * 5, square, square, classes, 3, 3, 9]
    given = weights_of(labels, weighted), parameters
    sums = (np.zeros(shape) for shape in shapes)
    model, kernel = many_model, many_classes_kernel
    both(model.sweep_named_pulls, kernel.sweep_named_pulls, labels, *given, scores, np.zeros(classes), *sums)
    answers = random.dirichlet(np.ones(classes), classes), scores, np.zeros(labels.n_items)
    both(model.answer_named_items, kernel.answer_named_items, labels, *given, *answers)


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_adjudicator_m_step(classes: int) -> None:
    random, n_workers = np.random.default_rng(8), 6
    confusion = random.gamma(0.5, 5.0, (n_workers, classes, classes))
    shares = random.dirichlet(np.ones(1 + 3 * classes), (n_workers, classes))[..., 1:]
    met = shares.reshape(n_workers, classes, 3, classes).swapaxes(1, 2) * confusion.sum(axis=1)[:, None, :, None]
    confusion[0], met[0] = 0.0, 0.0  # a worker without labels
    centre, variances = 2 * np.eye(classes), np.array([0.5, 0.01, 0.2, 0.1])
    logits = centre + random.normal(0, 0.5, (n_workers, classes, classes))
    moved, sums = adjudicator_model.m_step(confusion, pad(met), centre, variances, logits)
    size = classes**2
    expected = np.zeros((classes, classes)), np.zeros((size, size)), np.zeros(4), np.zeros(4), np.zeros(1)
    given = confusion, pad(met), STRENGTHS, centre, variances, logits
    logits_kernel.step_logits(0, n_workers, *given, *expected)
    np.testing.assert_allclose(moved, logits, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(sums._replace(information=np.tril(sums.information)), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(WITHOUT_JIT, reason="vector registers need compiled code")
@pytest.mark.parametrize("classes", [3, 20])
def test_adjudicator_of_small_and_large_crowds(classes: int) -> None:
    labels = cw.simulate(60, 8, classes=classes, seed=2).labels
    small = cw.Adjudicator().fit(labels)
    with kernels_only():
        large = cw.Adjudicator().fit(labels)
    np.testing.assert_allclose(small.scores, large.scores, rtol=1e-11)
    np.testing.assert_allclose(small.workers.centre, large.workers.centre, rtol=1e-9, atol=1e-11)


# Coins and weighted votes


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_coins(classes: int, scored: bool) -> None:
    labels, random = crowd(classes), np.random.default_rng(6)
    n = labels.n_workers
    log_prior = np.append(np.zeros(classes - 1), -np.inf)  # the last class is impossible
    coins = (random.normal(size=n), np.log(random.random(n)), log_prior) if scored else None
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    arguments = (coins, scores, np.zeros(classes), np.ones(n), np.ones(classes), np.ones(1))
    both(coins_model.sweep_coins, coins_kernel.sweep_coins, labels, *arguments)


@pytest.mark.parametrize("weights", [None, "equal", "signed"])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_weighted_votes(classes: int, weights: str | None) -> None:
    """With equal weights, classes are tied."""
    labels, random = crowd(classes), np.random.default_rng(7)
    weight = {None: None, "equal": np.ones(labels.n_workers), "signed": random.normal(size=labels.n_workers)}[weights]
    counts = np.zeros(classes), np.ones(labels.n_workers), np.ones(labels.n_workers)
    arguments = (weight, 1e-9, random.random((labels.n_items, classes)), *counts)
    both(votes_model.sweep_votes, votes_kernel.sweep_votes, labels, *arguments)


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_glad(classes: int) -> None:
    labels, random = crowd(classes), np.random.default_rng(9)
    gold = np.where(random.random(labels.n_items) < 0.2, random.integers(classes, size=labels.n_items), -1)
    ability, log_ease = random.normal(1, 2, labels.n_workers), random.normal(0, 2, labels.n_items)
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    arguments = (gold, ability, log_ease, scores, np.zeros(classes))
    both(glad_model.e_step, glad_kernel.e_step, labels, *arguments)
    by_worker, by_item = np.ones(labels.n_workers), np.ones(labels.n_items)
    arguments = (scores, ability, log_ease, by_worker, by_item)
    both(glad_model.m_step_objective, glad_kernel.m_step_objective, labels, *arguments)


def test_lightweight_aggregation() -> None:
    labels, random = crowd(4), np.random.default_rng(8)
    order = random.permutation(labels.n_items)
    counts = np.ones(labels.n_workers), np.full(labels.n_workers, 2.0), np.zeros((labels.n_items, 4))
    both(la.stream_votes, la_kernel.stream_votes, labels, order, 1e-9, *counts)
