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
