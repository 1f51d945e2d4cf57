"""Tests of GLAD with priors: its objective, and that the order of rows and names do not matter."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import crowdwise as cw
from crowdwise.methods.glad.method import Evaluation
from crowdwise.numerics import Array


def objective(labels: cw.Labels, place: Array) -> float:
    """Return the negative log posterior density of abilities and log eases, by the formulas of the paper."""
    value = float(0.5 * ((place - 1) ** 2 + np.log(2 * np.pi)).sum())
    ability, log_ease = place[: labels.n_workers], place[labels.n_workers :]
    for i in range(labels.n_items):
        said = slice(labels.item_starts[i], labels.item_starts[i + 1])
        right = 1 / (1 + np.exp(-ability[labels.workers[said]] * np.exp(log_ease[i])))
        each = [
            np.where(labels.labels[said] == k, right, (1 - right) / (labels.n_classes - 1)).prod()
            for k in range(labels.n_classes)
        ]
        value -= float(np.log(np.mean(each)))
    return value


@pytest.mark.data
def test_row_order_and_names_change_nothing_on_a_crowd_that_is_hard_to_fit(data: Path) -> None:
    rows = cw.read_labels(data / "paper" / "web" / "label.csv", duplicates="first")
    items = np.repeat(np.arange(rows.n_items), np.diff(rows.item_starts))
    one = cw.GLAD().fit(rows)
    assert one.convergence.converged
    random = np.random.default_rng(0)
    for _ in range(3):
        order, names = random.permutation(rows.n_labels), random.permutation(rows.n_workers)
        workers, said = names[rows.workers[order]], rows.names.classes.gather(rows.labels[order])
        other = cw.GLAD().fit(cw.Labels.from_arrays(items[order], workers, said))
        assert other.names.classes.to_list() == rows.names.classes.to_list()
        back = np.argsort(other.names.items.to_numpy())
        assert other.scores[back] == pytest.approx(one.scores, abs=1e-5)
        assert other.ranking[0][back].tolist() == one.ranking[0].tolist()


@pytest.mark.parametrize("classes", [2, 4])
def test_the_objective_is_the_posterior_density_and_it_is_at_its_smallest(classes: int) -> None:
    labels = cw.simulate(30, 8, classes, labels_per_item=4, accuracy=0.6, seed=5).labels
    result = cw.GLAD().fit(labels)
    place = np.concatenate([result.workers.ability, result.workers.log_ease])
    found = objective(labels, place)
    assert result.convergence.objective[-1] == pytest.approx(found, rel=1e-12)
    assert all(after <= before + 1e-9 for before, after in pairwise(result.convergence.objective))
    for number, aside in product(range(len(place)), (-1e-3, 1e-3)):
        moved = place.copy()
        moved[number] += aside
        assert objective(labels, moved) > found


def test_the_gradient_is_that_of_the_objective() -> None:
    labels = cw.simulate(20, 6, 3, labels_per_item=4, accuracy=0.6, seed=2).labels
    place = np.random.default_rng(1).normal(0.5, 1, labels.n_workers + labels.n_items)
    with Evaluation(labels) as at:
        value, gradient = at.negative_log_posterior(np.ones(len(place)), place)
    assert value == pytest.approx(objective(labels, place), rel=1e-12)
    for number, derivative in enumerate(gradient):
        aside = np.zeros(len(place))
        aside[number] = 1e-5
        difference = objective(labels, place + aside) - objective(labels, place - aside)
        assert derivative == pytest.approx(difference / 2e-5, abs=1e-5)


def test_abilities_settle_where_scores_cannot_move() -> None:
    """Two workers always disagree, so every item is tied; the abilities must be fitted until they converge anyway."""
    rows = [(f"i{i}", worker, label) for i in range(5) for worker, label in (("a", "x"), ("b", "y"))]
    items, workers, said = zip(*rows, strict=True)
    result = cw.GLAD().fit(cw.Labels.from_arrays(items, workers, said))
    assert result.ties.all()
    assert result.convergence.converged
    assert result.convergence.iterations > 1
    assert result.workers.ability[0] == pytest.approx(result.workers.ability[1], abs=1e-9)


def test_iterations_that_run_out_are_said() -> None:
    labels = cw.simulate(200, 20, 3, accuracy=0.5, seed=1).labels
    result = cw.GLAD(max_iterations=3).fit(labels)
    assert (result.convergence.iterations, result.convergence.converged) == (3, False)
    assert result.convergence.change > 1e-6
    assert len(result.convergence.objective) == 3


def test_the_released_one_counts_its_iterations_and_explains_itself() -> None:
    labels = cw.simulate(100, 10, 3, seed=1).labels
    seen: list[int] = []
    result = cw.GLAD.released().fit(labels, progress=lambda iteration, _: seen.append(iteration))
    assert seen == list(range(1, result.convergence.iterations + 1))
    assert result.convergence.converged
    added = result.method.contributions(labels.slice(0, 1), 0, result.workers)
    assert added.scores(labels.slice(0, 1).labels.astype(np.int64)) == pytest.approx(result.scores[0], abs=1e-9)
