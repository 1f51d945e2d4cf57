"""Tests that methods recover the parameters of simulated workers."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import crowdwise as cw
from crowdwise.numerics import Array

COINS = cw.simulate(4000, 20, 3, labels_per_item=10, accuracy=0.7, seed=1)


def true_accuracies(result: cw.Result) -> Array:
    """Return the true accuracies of the workers in the crowd COINS, in the order of the result."""
    true = dict(COINS.workers.select("worker", "accuracy").iter_rows())
    return np.array([true[worker] for worker in result.names.workers])


@pytest.mark.parametrize(
    "method", [cw.ZenCrowd(), cw.OneCoin(), cw.BWA(link="logistic")], ids=["zc", "one_coin", "bwa logistic"]
)
def test_coins_are_recovered(method: Any) -> None:
    result = method.fit(COINS.labels)
    assert result.workers.accuracy == pytest.approx(true_accuracies(result), abs=0.05)


@pytest.mark.parametrize(
    "method",
    [cw.Wawa(), cw.ZeroBasedSkill(), cw.IterativeWeightedMajorityVote(), cw.CATD(), cw.CRH(), cw.MMSR()],
    ids=lambda method: type(method).__name__,
)
def test_weights_rank_workers_by_accuracy(method: Any) -> None:
    result = method.fit(COINS.labels)
    assert stats.spearmanr(result.workers.weight, true_accuracies(result)).statistic > 0.95


def test_records_of_the_lightweight_aggregator_are_accuracies() -> None:
    result = cw.LightweightAggregation().fit(COINS.labels)
    # The records count agreement with the decisions, which is higher than the accuracy: the votes make the decisions.
    assert result.workers.record == pytest.approx(true_accuracies(result), abs=0.08)


@pytest.mark.parametrize("method", [cw.BWA(), cw.BWA(weights="per_label")], ids=["bwa", "bwa per label"])
def test_precisions_rank_workers_in_every_class(method: cw.BWA) -> None:
    result = method.fit(COINS.labels)
    weights = result.workers.weight if method.weights == "per_worker" else result.workers.weight_for
    for k in range(3):
        assert stats.spearmanr(weights[:, k], true_accuracies(result)).statistic > 0.95


def test_skills_are_recovered_among_adversaries() -> None:
    """Four of twenty workers all give the same wrong answer to every item."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 2000)
    skill = random.uniform(0.3, 0.9, 16)
    items, workers = np.divmod(np.arange(2000 * 20), 20)
    guess = random.integers(0, 3, len(items))
    accuracies = np.append(skill, np.zeros(4))
    said = np.where(random.random(len(items)) < accuracies[workers], truth[items], guess)
    said = np.where(workers >= 16, (truth[items] + 1) % 3, said)
    result = cw.MMSR().fit(cw.Labels.from_arrays(items, workers, said))
    assert result.workers.skill[:16] == pytest.approx(skill, abs=0.08)
    assert (result.workers.skill[16:] < 0).all()


def test_reliabilities_of_two_classes_are_recovered_by_kos() -> None:
    crowd = cw.simulate(4000, 20, 2, labels_per_item=10, workload=0.0, seed=1)
    result = cw.KOS().fit(crowd.labels)
    true = dict(crowd.workers.select("worker", "accuracy").iter_rows())
    accuracies = [true[worker] for worker in result.names.workers]
    assert np.corrcoef(result.workers.reliability, accuracies)[0, 1] > 0.95


@pytest.mark.parametrize("method", [cw.MeanField(), cw.BeliefPropagation()], ids=["vi_mf", "vi_bp"])
def test_how_often_workers_are_right_about_each_of_two_classes_is_recovered(method: Any) -> None:
    random = np.random.default_rng(1)
    right = random.uniform(0.5, 0.95, (12, 2))
    truth = random.integers(0, 2, 3000)
    items, workers = np.divmod(np.arange(3000 * 12), 12)
    said = np.where(random.random(len(items)) < right[workers, truth[items]], truth[items], 1 - truth[items])
    result = method.fit(cw.Labels.from_arrays(items, workers, said))
    assert result.workers.confusion[:, [0, 1], [0, 1]] == pytest.approx(right, abs=0.05)
    assert cw.accuracy(result, dict(enumerate(truth.tolist()))) > 0.95


def confused(seed: int, balance: tuple[float, ...] = (0.6, 0.3, 0.1)) -> tuple[pl.DataFrame, Array, Array]:
    """Simulate workers with different confusion matrices; return the labels, the matrices and the truth."""
    random = np.random.default_rng(seed)
    matrices = random.dirichlet([1, 1, 1], (8, 3)) * 0.4 + 0.6 * np.eye(3)
    truth = random.choice(3, 5000, p=balance)
    said = np.array([[random.choice(3, p=matrices[j, k]) for j in range(8)] for k in truth])
    items, workers = np.divmod(np.arange(40_000), 8)
    return pl.DataFrame({"item": items, "worker": workers, "label": said.ravel()}), matrices, truth


@pytest.mark.parametrize(
    "method",
    [
        cw.DawidSkene(),
        cw.LearningFromCrowds(),
        cw.IBCC(),
        cw.IBCC("variational"),
        cw.Hierarchical("full"),
        cw.EBCC(subtypes=1, restarts=1),
        cw.CBCC(noise_precision=1.0),
    ],
    ids=["ds", "lfc", "ibcc", "ibcc variational", "hierarchical full", "ebcc", "cbcc"],
)
def test_confusion_matrices_and_class_balance_are_recovered(method: Any) -> None:
    rows, matrices, truth = confused(1)
    result = method.fit(cw.Labels.from_frame(rows))
    assert result.workers.confusion == pytest.approx(matrices, abs=0.08)
    # Priors that are computed from the votes pull the class balance towards the shares of the votes.
    counts_votes = isinstance(method, cw.Hierarchical | cw.EBCC)
    prior = result.workers.class_prior
    assert prior == pytest.approx(np.bincount(truth) / len(truth), abs=0.07 if counts_votes else 0.02)
    assert result.confusion(3).columns == ["truth", "0", "1", "2"]
    assert result.confusion(3)["1"].to_numpy() == pytest.approx(result.workers.confusion[3, :, 1])
    with pytest.raises(cw.CallError, match="There is no worker 'nobody'"):
        result.confusion("nobody")
    with pytest.raises(cw.CallError, match="There is no worker 99"):
        result.confusion(99)


@pytest.mark.parametrize("method", [cw.Minimax(), cw.LogLinear()], ids=["minimax", "loglinear"])
def test_log_linear_matrices_are_recovered(method: Any) -> None:
    """The items have no effects of their own here, and the penalty makes the matrices a little more alike."""
    rows, matrices, _ = confused(1, (1 / 3, 1 / 3, 1 / 3))
    result = method.fit(cw.Labels.from_frame(rows.head(16_000)))
    assert result.workers.confusion == pytest.approx(matrices, abs=0.1)


def test_class_accuracies_and_the_errors_profile_are_recovered() -> None:
    random = np.random.default_rng(0)
    accuracy = random.beta([8, 4, 6], [2, 2, 4], (40, 3))
    profile = np.array([[0, 0.8, 0.2], [0.5, 0, 0.5], [0.1, 0.9, 0]])
    truth = random.integers(0, 3, 3000)
    items, workers = np.divmod(np.arange(30_000), 10)
    workers = (workers + 3 * items) % 40
    wrong = np.array([random.choice(3, p=profile[k]) for k in truth[items]])
    said = np.where(random.random(30_000) < accuracy[workers, truth[items]], truth[items], wrong)
    result = cw.Hierarchical().fit(cw.Labels.from_arrays(items, workers, said))
    order = result.names.workers.to_numpy()
    found = result.workers.confusion
    assert found is not None
    assert np.diagonal(found, axis1=1, axis2=2) == pytest.approx(accuracy[order], abs=0.12)
    wrong_share = found[0] * (1 - np.eye(3))
    assert wrong_share / wrong_share.sum(axis=1, keepdims=True) == pytest.approx(profile, abs=0.06)
    prior = result.workers.row_counts
    assert prior[:, 0] / prior.sum(axis=1) == pytest.approx(accuracy.mean(axis=0), abs=0.05)


def test_prototypes_and_mixtures_are_recovered() -> None:
    random = np.random.default_rng(0)
    prototypes = np.array([[[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    share = random.beta(4, 1.5, 30)  # the share of labels that follow the good prototype
    truth = random.integers(0, 3, 3000)
    items, workers = np.divmod(np.arange(30_000), 10)
    workers = (workers + 7 * items) % 30
    prototype = (random.random(30_000) > share[workers]).astype(int)
    said = np.array([random.choice(3, p=prototypes[s, k]) for s, k in zip(prototype, truth[items], strict=True)])
    result = cw.PTBCC().fit(cw.Labels.from_arrays(items, workers, said))
    share = share[result.names.workers.to_numpy()]
    assert np.corrcoef(result.workers.mixture[:, 0], share)[0, 1] > 0.95
    # The prior is as strong as two fifths of the labels and makes the mixtures alike, so only their mean is compared.
    true = np.einsum("s,skl->kl", [share.mean(), 1 - share.mean()], prototypes)
    found = np.einsum("s,skl->kl", result.workers.mixture.mean(axis=0), result.workers.matrix)
    assert found == pytest.approx(true, abs=0.08)


def test_subtypes_with_shared_misconceptions_are_recovered_by_ebcc() -> None:
    """To six of ten workers, two fifths of the items of class 0 look like class 1; matrices cannot tell which items."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 2000)
    misleading = (truth == 0) & (random.random(2000) < 0.4)
    items, workers = np.divmod(np.arange(20_000), 10)
    right = np.where(misleading[items] & (workers < 6), 0.15, 0.9)
    said = np.where(random.random(20_000) < right, truth[items], 1 - truth[items])
    labels = cw.Labels.from_arrays(items, workers, said)
    truths = dict(enumerate(truth.tolist()))
    assert cw.accuracy(cw.EBCC().fit(labels), truths) > cw.accuracy(cw.DawidSkene().fit(labels), truths) + 0.005
    assert cw.accuracy(cw.EBCC().fit(labels), truths) > 0.95


def test_communities_are_recovered() -> None:
    """There are two communities: workers who are mostly right, and workers who confuse one class with another."""
    random = np.random.default_rng(0)
    kinds = np.array(
        [[[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]], [[0.9, 0.1, 0], [0.9, 0.1, 0], [0, 0, 1]]]
    )
    kind = np.arange(24) % 2
    truth = random.integers(0, 3, 1200)
    items, workers = np.divmod(np.arange(12_000), 10)
    workers = (workers + 5 * items) % 24
    said = np.array([random.choice(3, p=kinds[kind[j], k]) for j, k in zip(workers, truth[items], strict=True)])
    result = cw.CBCC(communities=2).fit(cw.Labels.from_arrays(items, workers, said))
    found = result.workers.membership.argmax(axis=1)
    expected = kind[result.names.workers.to_numpy()]
    assert (found == expected).all() or (found == 1 - expected).all()


def test_spammers_and_their_habits_are_recovered_by_mace() -> None:
    random = np.random.default_rng(0)
    knowing, habits = random.uniform(0.2, 0.9, 10), random.dirichlet([1, 1, 1], 10)
    truth = random.integers(0, 3, 3000)
    items, workers = np.divmod(np.arange(30_000), 10)
    habit = np.array([random.choice(3, p=habits[j]) for j in workers])
    said = np.where(random.random(30_000) < knowing[workers], truth[items], habit)
    result = cw.MACE().fit(cw.Labels.from_arrays(items, workers, said))
    assert result.workers.knowing == pytest.approx(knowing, abs=0.05)
    found = result.workers.spamming / result.workers.spamming.sum(axis=1, keepdims=True)
    assert found == pytest.approx(habits, abs=0.12)


def test_difficulties_are_recovered_by_glad() -> None:
    random = np.random.default_rng(0)
    log_ease, ability = random.normal(0, 1, 400), random.uniform(0.5, 3, 40)
    items, workers = np.divmod(np.arange(16_000), 40)
    right = random.random(16_000) < 1 / (1 + np.exp(-ability[workers] * np.exp(log_ease[items])))
    truth = random.integers(0, 2, 400)
    result = cw.GLAD().fit(cw.Labels.from_arrays(items, workers, np.where(right, truth[items], 1 - truth[items])))
    assert np.corrcoef(result.workers.log_ease, log_ease)[0, 1] > 0.8
    assert np.corrcoef(result.workers.ability, ability)[0, 1] > 0.9
    assert result.difficulty is not None
    assert (result.difficulty > 0).all()
    assert result.to_frame()["difficulty"].to_list() == result.difficulty.tolist()
    assert cw.BWA().fit(cw.simulate(20, 5, seed=1).labels).difficulty is None


def test_the_log_likelihood_never_falls() -> None:
    rows, _, _ = confused(2)
    labels = cw.Labels.from_frame(rows.head(8000))
    for method in (cw.DawidSkene(), cw.OneCoin(), cw.ZenCrowd(), cw.GLAD()):
        objective = np.array(method.fit(labels).convergence.objective[2:])
        assert (np.diff(objective) <= 1e-6).all(), method


def test_methods_without_matrices_say_so() -> None:
    result = cw.BWA().fit(cw.simulate(20, 5, seed=1).labels)
    with pytest.raises(cw.CallError, match="BWA has no confusion matrices; ds, lfc, ibcc and others have"):
        result.confusion("w1")
