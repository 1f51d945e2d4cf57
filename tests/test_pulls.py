"""The sweep over items that pull, beside its formulas written down plainly: every type of every item, one by one."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from crowdwise.methods.adjudicator import few_classes_kernel
from crowdwise.methods.adjudicator.model import pad
from crowdwise.numerics import Array
from crowdwise.numerics.elementary import softmax

STRENGTHS = np.array([1.0, 2.0, 4.0])


class Crowd(NamedTuple):
    """Labels, and what is known of their workers and items."""

    starts: Array
    workers: Array
    labels: Array
    weights: Array
    logits: Array  # (workers, true class, said class)
    prior: Array  # (true classes), of no pull
    ratio: Array  # (strengths, true class, class that is pulled towards)

    @property
    def parameters(self) -> tuple[Array, Array, Array, Array]:
        """What the kernel needs to know."""
        return pad(softmax(self.logits)), np.expm1(STRENGTHS), self.prior, pad(self.ratio)


def a_crowd(n_classes: int, seed: int, weighted: bool, n_workers: int = 7) -> Crowd:
    """Forty items: one without labels, some with so many that products would be too large, others with a few."""
    random = np.random.default_rng(seed)
    sizes = np.concatenate([[0, 300, 65, 64, 17, 16], random.integers(1, 9, 34)])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    count = int(starts[-1])
    return Crowd(
        starts=starts,
        workers=random.integers(n_workers, size=count).astype(np.int32),
        labels=random.integers(n_classes, size=count).astype(np.uint8),
        weights=random.choice([0.2, 0.7, 1.0], count) if weighted else np.zeros(0),
        logits=random.normal(0, 2, (n_workers, n_classes, n_classes)),
        prior=random.dirichlet(np.ones(n_classes)),
        ratio=random.uniform(0.01, 0.5, (3, n_classes, n_classes)),
    )


def plainly(crowd: Crowd) -> tuple[Array, Array, Array, Array, float]:
    """Scores, confusion, exposure, sums of pulls and the log likelihood, by the formulas of the model."""
    n_workers, n_classes, _ = crowd.logits.shape
    scores = np.zeros((len(crowd.starts) - 1, n_classes))
    confusion, exposure = np.zeros((n_workers, n_classes, n_classes)), np.zeros((n_workers, 3, n_classes, n_classes))
    pulled, likelihood = np.zeros((3, n_classes, n_classes)), 0.0
    towards = STRENGTHS[:, None, None] * np.eye(n_classes)  # (strengths, class, said class)
    neutral_said = np.log(softmax(crowd.logits))
    pulled_said = np.log(softmax(crowd.logits[:, None, :, None] + towards[:, None]))  # (..., true, pulled, said)
    for i in range(len(scores)):
        rows = range(crowd.starts[i], crowd.starts[i + 1])
        neutral = np.log(crowd.prior)
        pulls = np.log(crowd.prior)[:, None] + np.log(crowd.ratio)
        for e in rows:
            weight = crowd.weights[e] if crowd.weights.size else 1.0
            neutral += weight * neutral_said[crowd.workers[e], :, crowd.labels[e]]
            pulls += weight * pulled_said[crowd.workers[e], ..., crowd.labels[e]]
        total = np.logaddexp.reduce(np.concatenate([neutral, pulls.ravel()]))
        likelihood += float(total)
        found = np.exp(pulls - total)
        scores[i] = np.exp(neutral - total) + found.sum(axis=(0, 2))
        pulled += found
        for e in rows:
            confusion[crowd.workers[e], crowd.labels[e]] += scores[i]
            exposure[crowd.workers[e]] += found
    return scores, confusion, pad(exposure), pad(pulled), likelihood


def swept(crowd: Crowd, before: Array) -> tuple[Any, ...]:
    """What the kernel makes of the same crowd, after these scores."""
    n_workers, n_classes, _ = crowd.logits.shape
    scores, changes = before.copy(), np.zeros(n_classes)
    counts = (
        *(np.zeros((n_workers, n_classes, n_classes)), pad(np.zeros((n_workers, 3, n_classes, n_classes)))),
        *(np.zeros(n_classes), pad(np.zeros((3, n_classes, n_classes))), np.zeros(6)),
    )
    arrays = crowd.starts, crowd.workers, crowd.labels, crowd.weights
    few_classes_kernel.sweep_pulls(*arrays, crowd.parameters, scores, changes, *counts)
    return scores, changes, counts


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_classes", "n_workers"), [(1, 7), (2, 7), (3, 7), (9, 7), (3, 30_000)])
def test_a_sweep_is_what_the_formulas_say(n_classes: int, n_workers: int, weighted: bool) -> None:
    crowd = a_crowd(n_classes, n_classes, weighted, n_workers)  # the tables of many workers are fetched ahead
    before = np.full((40, n_classes), 1 / n_classes)
    scores, changes, (confusion, exposure, classes, pulled, totals) = swept(crowd, before)
    *plain, likelihood = plainly(crowd)
    for found, expected in zip((scores, confusion, exposure, pulled), plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(classes, plain[0].sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(changes, np.abs(plain[0] - before).max(axis=0), atol=1e-12)
    said = [plain[0][i, crowd.labels[slice(*crowd.starts[i : i + 2])]] for i in range(40)]
    kept = sum(float(one.mean()) for one in said if one.size)
    moved, largest = np.abs(plain[0] - before).sum() / 2, plain[0].max(axis=1).sum()
    squared = (np.diff(crowd.starts) ** 2).sum()
    np.testing.assert_allclose(totals, [moved, likelihood, kept, largest, 40, squared], rtol=1e-10, atol=1e-12)


def test_a_class_that_is_known_is_the_only_one() -> None:
    crowd = a_crowd(3, seed=5, weighted=False)
    known = crowd._replace(prior=np.where(np.arange(3) == 1, 1.0, 0.0))
    scores, _, (_, exposure, _, _, _) = swept(known, np.zeros((40, 3)))
    np.testing.assert_allclose(scores, [[0.0, 1.0, 0.0]] * 40, rtol=1e-15)
    assert exposure[..., :9].reshape(7, 3, 3, 3)[:, :, [0, 2]].sum() == 0
    assert exposure.sum() > 0


@pytest.mark.parametrize("counts", [(54, 60), (22, 24)])
def test_a_class_that_many_labels_deny_returns_if_more_name_it(counts: tuple[int, int]) -> None:
    # A product of so many small probabilities is below the smallest number that there is.
    sure = 13.8 if counts[0] > 50 else 34.0
    crowd = a_crowd(2, seed=1, weighted=False)._replace(
        starts=np.array([0, sum(counts)]),
        workers=np.zeros(sum(counts), np.int32),
        labels=np.repeat(np.array([0, 1], np.uint8), counts),
        logits=np.tile(sure * np.eye(2), (7, 1, 1)),
    )
    scores, _, (*_, totals) = swept(crowd, np.full((1, 2), 0.5))
    *plain, likelihood = plainly(crowd)
    np.testing.assert_allclose(scores, plain[0], atol=1e-12)
    np.testing.assert_allclose(totals[1], likelihood, rtol=1e-9)
