"""Tests that 95 % intervals of the workers' quality contain the true accuracy about that often."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from calibrate.coverage import SIMULATED, holds, on_real, simulated
from calibrate.coverage_section import COVERAGE, section


def shares_held(method: Any, kind: str) -> tuple[float, float, float]:
    """How often intervals hold the true accuracy, for workers who err on their own and as given; and the mean error."""
    alone: list[bool] = []
    given: list[bool] = []
    errors: list[float] = []
    for seed in range(100, 106):
        crowd = simulated(kind, seed)
        result = method.fit(crowd.labels)
        table = result.workers_frame().join(crowd.workers, on="worker", maintain_order="left")
        true, (low, high) = table["accuracy"].to_numpy(), result.quality.each_alone
        alone.extend((low <= true) & (true <= high))
        given.extend((table["quality_low"].to_numpy() <= true) & (true <= table["quality_high"].to_numpy()))
        errors.extend(table["quality"].to_numpy() - true)
    return float(np.mean(alone)), float(np.mean(given)), float(np.mean(errors))


@pytest.mark.parametrize("kind", SIMULATED)
def test_quality_intervals_cover(kind: str) -> None:
    alone, given, bias = shares_held(cw.BWA(), kind)
    assert 0.92 <= alone <= 0.98
    assert alone <= given <= 0.99
    assert abs(bias) < 0.015


@pytest.mark.parametrize("kind", ["five labels an item", "twenty labels an item"])
def test_intervals_of_the_default_cover(kind: str) -> None:
    alone, given, bias = shares_held(cw.Adjudicator(), kind)
    assert 0.92 <= alone <= given <= 0.99
    assert abs(bias) < 0.03


def test_intervals_hold_both_readings_and_gold_leaves_one() -> None:
    """Workers who err together look better than they are; the interval reaches down to what confidence says."""
    crowd = cw.simulate(400, 9, 2, labels_per_item=9, accuracy=0.8, seed=3)
    together = pl.col("item").rank("dense") % 4 == 0  # on these items, all workers say the same wrong class
    wrong = crowd.rows.join(crowd.truth, on="item", maintain_order="left").with_columns(
        label=pl.when(together)
        .then(pl.when(pl.col("truth") == "c1").then(pl.lit("c2")).otherwise(pl.lit("c1")))
        .otherwise("label")
    )
    labels = cw.Labels.from_frame(wrong.select("item", "worker", "label"))
    right = wrong.group_by("worker").agg(accuracy=(pl.col("label") == pl.col("truth")).mean())
    result = cw.BWA().fit(labels)
    table = result.workers_frame().join(right, on="worker", maintain_order="left")
    assert result.quality.each_alone is not None
    low, high = result.quality.each_alone
    assert (table["accuracy"].to_numpy() < low).all()  # nothing in the labels shows it
    assert ((table["quality_low"] <= pl.Series(low)) & (table["quality_high"] >= pl.Series(high))).all()
    assert (table["quality_low"].to_numpy() < low - 0.05).all()
    known = cw.BWA().fit(labels, gold=crowd.truth.sample(100, seed=1)).quality
    assert np.array_equal(known.each_alone, [known.low, known.high])  # type: ignore[arg-type]  # all are there
    assert abs(known.value - table["accuracy"].to_numpy()).mean() < abs(table["quality"] - table["accuracy"]).mean()


def test_a_truth_of_a_part_of_the_labels_has_an_error_of_its_own() -> None:
    low, high, quality = np.array([0.7]), np.array([0.8]), np.array([0.75])
    right, judged = np.array([42]), np.array([50])
    assert not holds(low, high, quality, right, judged, judged).any()  # 0.84, for certain
    assert holds(low, high, quality, right, judged, 20 * judged).all()  # 0.84, from every twentieth label


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
    table = cw.BWA().fit(crowd.labels).workers_frame().join(crowd.workers, on="worker")
    truth = table["accuracy"].to_numpy()
    assert (table["agreement"].to_numpy() - truth).mean() > 0.03
    assert abs((table["quality"].to_numpy() - truth).mean()) < 0.02


@pytest.mark.data
def test_intervals_hold_more_of_real_judges(data: Path) -> None:
    """Language models err together; here almost none of the intervals for judges who err on their own holds."""
    for name in ("llmbar_human", "judgebench"):
        row = on_real(cw.BWA(), data / "judges" / name, lambda result: result.probabilities)
        assert row is not None
        assert row["holds_each_alone"] < 0.2
        assert row["holds_given"] > 0.5


def test_the_page_has_what_was_measured() -> None:
    assert section() in (COVERAGE.parent / "confidence.md").read_text(encoding="utf-8")
