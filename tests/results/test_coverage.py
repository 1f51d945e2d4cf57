"""Tests that 95 % intervals of the workers' quality contain the true accuracy about that often."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from studies.calibrate.coverage import SIMULATED, holds, on_real, simulated
from studies.calibrate.coverage_section import COVERAGE, section


def shares_held(method: Any, kind: str) -> float:
    """How often the intervals that assume independent errors hold the accuracy that workers were simulated with."""
    held: list[bool] = []
    for seed in range(100, 104):
        crowd = simulated(kind, seed)
        result = method.fit(crowd.labels)
        table = result.workers_frame().join(crowd.workers, on="worker", maintain_order="left")
        true, (low, high) = table["accuracy"].to_numpy(), result.quality.each_alone
        held.extend((low <= true) & (true <= high))
    return float(np.mean(held))


@pytest.mark.parametrize("kind", SIMULATED)
def test_intervals_cover_where_errors_are_independent(kind: str) -> None:
    assert 0.92 <= shares_held(cw.BWA(), kind) <= 0.98


@pytest.mark.parametrize("kind", ["five labels an item", "twenty labels an item"])
def test_intervals_of_the_default_cover_where_errors_are_independent(kind: str) -> None:
    assert 0.92 <= shares_held(cw.Adjudicator(), kind) <= 0.98


@pytest.mark.parametrize("method", [cw.Adjudicator(), cw.BWA()], ids=lambda method: method.key)
@pytest.mark.parametrize(
    "crowd",
    [
        {"workers": 40, "classes": 2, "traps": 0.3, "accuracy": 0.8},
        {"workers": 12, "classes": 3, "traps": 0.25, "accuracy": 0.75, "labels_per_item": 12},
    ],
    ids=["sparse", "dense"],
)
def test_intervals_cover_where_items_mislead(method: Any, crowd: dict[str, Any]) -> None:
    """Workers who err together look better than they are; quality follows calibrated confidence, which knows that."""
    held, alone = [], []
    for seed in (1, 2):
        made = cw.simulate(1500, seed=seed, **crowd)
        right = (pl.col("label") == pl.col("truth")).mean().alias("accuracy")
        accuracies = made.rows.join(made.truth, on="item").group_by("worker").agg(right)
        result = method.fit(made.labels)
        table = result.workers_frame().join(accuracies, on="worker", maintain_order="left")
        true, (low, high) = table["accuracy"].to_numpy(), result.quality.each_alone
        held.extend((table["quality_low"].to_numpy() <= true) & (true <= table["quality_high"].to_numpy()))
        alone.extend((low <= true) & (true <= high))
        assert np.average(table["quality"], weights=table["labels"]) < result.expected_accuracy.value
    assert np.mean(held) >= 0.93
    assert np.mean(alone) < 0.8


def test_gold_narrows_the_intervals() -> None:
    crowd = cw.simulate(600, 9, 2, labels_per_item=9, accuracy=0.8, traps=0.3, seed=3)
    without = cw.BWA().fit(crowd.labels).quality
    known = cw.BWA().fit(crowd.labels, gold=crowd.truth.sample(200, seed=1)).quality
    assert ((known.high - known.low) < (without.high - without.low)).all()  # type: ignore[operator]  # they are there
    right = (pl.col("label") == pl.col("truth")).mean().alias("accuracy")
    true = crowd.rows.join(crowd.truth, on="item").group_by("worker").agg(right).sort("worker")["accuracy"].to_numpy()
    order = crowd.labels.names.workers.arg_sort().to_numpy()
    assert abs(known.value[order] - true).mean() < abs(without.value[order] - true).mean()
    assert ((known.low[order] <= true) & (true <= known.high[order])).all()  # type: ignore[index]


def test_a_truth_of_a_part_of_the_labels_has_an_error_of_its_own() -> None:
    low, high = np.array([0.7]), np.array([0.8])
    right, judged = np.array([42]), np.array([50])
    assert not holds(low, high, right, judged, judged).any()  # 0.84, for certain
    assert holds(low, high, right, judged, 20 * judged).all()  # 0.84, from every twentieth label


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


def test_agreement_is_too_high_and_quality_is_not() -> None:
    """A worker's own vote helps to choose the answer, so agreement is too high, most of all with few labels."""
    crowd = cw.simulate(5000, 50, 2, labels_per_item=3, accuracy=0.7, seed=1)
    result = cw.BWA().fit(crowd.labels)
    table = result.workers_frame().join(crowd.workers, on="worker", maintain_order="left")
    truth = table["accuracy"].to_numpy()
    assert (table["agreement"].to_numpy() - truth).mean() > 0.03
    assert result.quality.each_alone is not None
    assert abs((result.quality.each_alone.mean(axis=0) - truth).mean()) < 0.02
    assert (table["quality"].to_numpy() - truth).mean() < 0


@pytest.mark.data
def test_intervals_hold_more_of_real_judges(data: Path) -> None:
    """Language models err together; here almost none of the intervals for judges who err on their own holds."""
    for name in ("llmbar_human", "judgebench"):
        workers = on_real(cw.BWA(), data / "judges" / name)
        assert workers is not None
        row = workers.row()
        assert row["holds_each_alone"] < 0.2
        assert row["holds_given"] > 0.8


def test_the_page_has_what_was_measured() -> None:
    assert section() in (COVERAGE.parent / "confidence.md").read_text(encoding="utf-8")
