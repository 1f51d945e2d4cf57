"""Tests that 95 % intervals of the workers' quality contain the true accuracy about that often."""

import numpy as np
import polars as pl
import pytest

import crowdwise as cw


@pytest.mark.parametrize(
    ("classes", "per_item", "accuracy", "concentration", "workers"),
    [
        pytest.param(2, 3, 0.7, 10, 100, id="three labels an item"),
        pytest.param(2, 5, 0.7, 10, 100, id="five labels an item"),
        pytest.param(2, 10, 0.75, 10, 100, id="ten labels an item"),
        pytest.param(5, 3, 0.6, 10, 100, id="five classes"),
        pytest.param(5, 5, 0.6, 50, 100, id="workers alike"),
        pytest.param(3, 20, 0.8, 10, 50, id="twenty labels an item"),
        pytest.param(2, 5, 0.85, 20, 300, id="few labels a worker"),
        pytest.param(10, 3, 0.7, 5, 40, id="ten classes"),
    ],
)
def test_quality_intervals_cover(
    classes: int, per_item: int, accuracy: float, concentration: float, workers: int
) -> None:
    covered: list[bool] = []
    bias: list[float] = []
    for seed in range(100, 106):
        crowd = cw.simulate(
            2000, workers, classes, labels_per_item=per_item, accuracy=accuracy, concentration=concentration, seed=seed
        )
        table = cw.BWA().fit(crowd.labels).workers_frame().join(crowd.workers, on="worker")
        true = table["accuracy"].to_numpy()
        covered.extend((table["quality_low"].to_numpy() <= true) & (true <= table["quality_high"].to_numpy()))
        bias.extend(table["quality"].to_numpy() - true)
    assert 0.92 <= np.mean(covered) <= 0.99
    assert abs(np.mean(bias)) < 0.015


def test_a_worker_whom_nobody_can_check_is_unknown() -> None:
    rows = cw.simulate(500, 10, 2, seed=1).rows
    alone = rows.head(200).with_columns(worker=pl.lit("alone"), item="x" + pl.col("item"))
    alone = alone.unique("item", maintain_order=True)
    table = cw.BWA().fit(cw.Labels.from_frame(rows.vstack(alone))).workers_frame()
    low, high = table.filter(table["worker"] == "alone").select("quality_low", "quality_high").row(0)
    assert high - low > 0.3


def test_intervals_hold_their_own_quality() -> None:
    rows = [(i, j, i % 2) for i in range(1000) for j in range(5)]
    quality = cw.BWA().fit(cw.Labels.from_arrays(*zip(*rows, strict=True))).quality
    assert quality.low is not None
    assert quality.high is not None
    assert (quality.low <= quality.value).all()
    assert (quality.value <= quality.high).all()


def test_agreement_flatters_and_quality_does_not() -> None:
    """A worker's own vote helps to choose the answer, so agreement is too high, most of all with few labels."""
    crowd = cw.simulate(5000, 50, 2, labels_per_item=3, accuracy=0.7, seed=1)
    table = cw.BWA().fit(crowd.labels).workers_frame().join(crowd.workers, on="worker")
    truth = table["accuracy"].to_numpy()
    assert (table["agreement"].to_numpy() - truth).mean() > 0.03
    assert abs((table["quality"].to_numpy() - truth).mean()) < 0.02
