"""Methods find the workers that simulated their crowds."""

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.kernels import Array


@pytest.mark.parametrize("method", [cw.ZenCrowd(), cw.OneCoin()], ids=["zc", "one_coin"])
def test_coins_are_recovered(method: cw.ZenCrowd | cw.OneCoin) -> None:
    crowd = cw.simulate(4000, 20, 3, labels_per_item=10, accuracy=0.7, seed=1)
    result = method.fit(crowd.labels)
    true = crowd.workers.sort("worker")["accuracy"].to_numpy()
    found = result.workers.accuracy[np.argsort(result.names.workers.to_numpy())]
    assert found == pytest.approx(true, abs=0.05)


def confused(seed: int) -> tuple[pl.DataFrame, Array, Array]:
    """A crowd of workers with confusion matrices of their own; the rows, the matrices and the truth."""
    random = np.random.default_rng(seed)
    matrices = random.dirichlet([1, 1, 1], (8, 3)) * 0.4 + 0.6 * np.eye(3)
    truth = random.choice(3, 5000, p=[0.6, 0.3, 0.1])
    said = np.array([[random.choice(3, p=matrices[j, k]) for j in range(8)] for k in truth])
    items, workers = np.divmod(np.arange(40_000), 8)
    return pl.DataFrame({"item": items, "worker": workers, "label": said.ravel()}), matrices, truth


@pytest.mark.parametrize("method", [cw.DawidSkene(), cw.LearningFromCrowds(), cw.IBCC()], ids=["ds", "lfc", "ibcc"])
def test_confusion_matrices_and_class_balance_are_recovered(
    method: cw.DawidSkene | cw.LearningFromCrowds | cw.IBCC,
) -> None:
    rows, matrices, truth = confused(1)
    result = method.fit(cw.Labels.from_frame(rows))
    assert result.workers.confusion == pytest.approx(matrices, abs=0.08)
    assert result.workers.prior == pytest.approx(np.bincount(truth) / len(truth), abs=0.02)
    assert result.confusion(3).columns == ["truth", "0", "1", "2"]
    assert result.confusion(3)["1"].to_numpy() == pytest.approx(result.workers.confusion[3, :, 1])
    with pytest.raises(cw.CallError, match="There is no worker 99"):
        result.confusion(99)


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
    assert (result.workers.difficulty > 0).all()


def test_the_log_likelihood_never_falls() -> None:
    rows, _, _ = confused(2)
    labels = cw.Labels.from_frame(rows.head(8000))
    for method in (cw.DawidSkene(), cw.OneCoin(), cw.ZenCrowd()):
        objective = np.array(method.fit(labels).convergence.objective[2:])
        assert (np.diff(objective) <= 1e-6).all(), method


def test_methods_without_matrices_say_so() -> None:
    result = cw.BWA().fit(cw.simulate(20, 5, seed=1).labels)
    with pytest.raises(cw.CallError, match="BWA has no confusion matrices"):
        result.confusion("w1")


def test_too_many_matrices_are_refused_before_any_is_made() -> None:
    rows = pl.DataFrame({"item": np.arange(100_000), "worker": np.arange(100_000), "label": np.arange(100_000) % 1000})
    with pytest.raises(cw.DataError, match="100,000 workers with 1,000 classes would take 745 GB"):
        cw.DawidSkene().fit(cw.Labels.from_frame(rows))
