"""Tests that the messages of belief propagation are what the model says, also where a worker has many labels."""

from itertools import product

import numpy as np
import pytest
from scipy.special import betaln

from crowdwise.methods.vi_bp import judge_labels
from crowdwise.numerics import Array

PRIOR = np.array([2.0, 1.0])


def messages(said: Array, beliefs: Array, two_coins: bool) -> Array:
    """What each label of one worker says."""
    order, sign = np.lexsort((said,)), np.where(said == 1, 1.0, -1.0)
    right = 1 / (1 + np.exp(-np.clip(sign * beliefs, -600, 600)))
    out = np.zeros(len(said))
    out[order] = judge_labels(np.array([0, len(said)]), right[order], said[order], PRIOR, two_coins)
    return sign * out


def summed_over_truths(said: Array, beliefs: Array, two_coins: bool) -> Array:
    """The same by adding up all possible truths, with the integral over the abilities in closed form."""
    n = len(said)
    chances = np.stack([1 / (1 + np.exp(beliefs)), 1 / (1 + np.exp(-beliefs))])
    total = np.zeros((n, 2))
    for truth in product((0, 1), repeat=n):
        right = np.array(truth) == said
        groups = [np.array(truth) == k for k in (0, 1)] if two_coins else [np.ones(n, bool)]
        fit = np.exp(sum(betaln(PRIOR[0] + right[one].sum(), PRIOR[1] + (~right)[one].sum()) for one in groups))
        weights = chances[list(truth), np.arange(n)]
        for i in range(n):
            total[i, truth[i]] += fit * np.prod(np.delete(weights, i))
    found: Array = np.log(total[:, 1] / total[:, 0])
    return found


@pytest.mark.parametrize("two_coins", [True, False], ids=["two coins", "one coin"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9])
def test_messages_are_sums_over_all_truths(n: int, two_coins: bool) -> None:
    random = np.random.default_rng(n)
    for _ in range(5):
        said, beliefs = random.integers(0, 2, n).astype(np.uint8), random.normal(0, 4, n)
        expected = summed_over_truths(said, beliefs, two_coins)
        assert messages(said, beliefs, two_coins) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [200, 3000])
def test_messages_of_a_busy_worker_are_integrals_over_its_ability(n: int) -> None:
    """With one coin, the integral over the ability can be computed on a grid instead."""
    random = np.random.default_rng(1)
    said, beliefs = random.integers(0, 2, n).astype(np.uint8), random.normal(0, 3, n)
    ability = np.linspace(0, 1, 20_002)[1:-1]
    right = 1 / (1 + np.exp(-np.where(said == 1, beliefs, -beliefs)))
    logs = (PRIOR[0] - 1) * np.log(ability) + (PRIOR[1] - 1) * np.log1p(-ability)
    for one in right:
        logs += np.log(one * ability + (1 - one) * (1 - ability))
    posterior = np.exp(logs - logs.max())
    found = messages(said, beliefs, False)
    for i in range(0, n, n // 20):
        without = posterior / (right[i] * ability + (1 - right[i]) * (1 - ability))
        ratio = np.log((without * ability).sum() / (without * (1 - ability)).sum())
        assert found[i] == pytest.approx(ratio if said[i] == 1 else -ratio, rel=1e-6)
    assert np.isfinite(messages(said, 1000 * beliefs, True)).all()
