"""Tests that workers who answer at once are named where seconds are known, and that honest ones are not."""

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.haste import hasty
from crowdwise.analysis.unusual_workers import unusual_workers
from crowdwise.crowd.reading_report import pace_of
from crowdwise.numerics import Array
from crowdwise.sources.columns import seconds_column


def timed_rows(seed: int, fast: str | None = "w01") -> pl.DataFrame:
    """A crowd with a column of seconds: workers differ, and one of them hardly looks at the items."""
    random = np.random.default_rng(seed)
    rows = cw.simulate(300, 12, 2, labels_per_item=6, accuracy=0.8, seed=seed).rows
    speed = {worker: float(random.normal(2.3, 0.3)) for worker in rows["worker"].unique().sort()}
    if fast is not None:
        speed[fast] = 0.0
    middle = np.array([speed[worker] for worker in rows["worker"]])
    return rows.with_columns(lead_time=pl.Series(np.exp(middle + random.normal(0, 0.6, len(middle)))))


def told(source: Any, **how: Any) -> dict[str, str]:
    labels = cw.read_labels(source, **how)
    return dict(unusual_workers(cw.BWA().fit(labels), labels).rows())


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet"])
def test_a_worker_who_answers_at_once_is_named_with_its_seconds(extension: str, tmp_path: Path) -> None:
    rows = timed_rows(1)
    path = tmp_path / f"labels.{extension}"
    cw.write({path: rows})
    medians = rows.group_by("worker").agg(pl.col("lead_time").median())
    median = float(medians.filter(pl.col("worker") == "w01")["lead_time"][0])
    others = float(np.median(medians["lead_time"].to_numpy()))
    found = told(path)
    assert f"Answers at once: takes {median:.1f} seconds or less for half of its" in found["w01"]
    assert f"the median worker takes {others:.1f} seconds." in found["w01"]
    assert [worker for worker, reasons in found.items() if "at once" in reasons] == ["w01"]
    assert found == told(io.BytesIO(path.read_bytes()))
    assert "at once" in told(rows)["w01"]  # a table in memory


def test_an_export_says_seconds_too(tmp_path: Path) -> None:
    """Label Studio has the lead time of every annotation."""
    tasks: dict[str, list[Any]] = {}
    for item, worker, label, seconds in timed_rows(2).iter_rows():
        choice = [{"type": "choices", "from_name": "c", "to_name": "t", "value": {"choices": [label]}}]
        tasks.setdefault(item, []).append({"completed_by": worker, "lead_time": seconds, "result": choice})
    content = [{"id": item, "data": {"text": item}, "annotations": said} for item, said in tasks.items()]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert "Answers at once" in told(path)["w01"]


def test_seconds_change_nothing_else(tmp_path: Path) -> None:
    rows = timed_rows(3)
    cw.write({tmp_path / "with.csv": rows, tmp_path / "without.csv": rows.drop("lead_time")})
    first, second = (cw.read_labels(tmp_path / name) for name in ("with.csv", "without.csv"))
    assert second.report.pace is None
    assert first.report == second.report
    assert cw.BWA().fit(first).to_frame().equals(cw.BWA().fit(second).to_frame())
    on_disk = cw.read_labels(tmp_path / "with.csv", engine="disk", workdir=tmp_path)
    assert on_disk.report.pace is None
    on_disk.close()


@pytest.mark.parametrize("values", [["soon", "", "-1"], ["nan", "inf", ""]])
def test_seconds_that_are_none_say_nothing(values: list[str]) -> None:
    assert pace_of(pl.LazyFrame({"worker": ["a", "b", "c"], "seconds": values})) is None


def test_a_column_of_lists_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    timed_rows(4).with_columns(pl.concat_list("lead_time")).write_parquet(path)
    assert cw.read_labels(path).report.pace is None


def test_columns_of_seconds_are_known_by_their_names() -> None:
    assert seconds_column(["a", "Duration (in seconds)"]) == "Duration (in seconds)"
    assert seconds_column(["duration", "lead_time"]) == "lead_time"
    assert seconds_column(["time", "label"]) is None


def crowd_of_medians(workers: int, spread: float, random: np.random.Generator) -> tuple[Array, Array, Array]:
    """Medians of honest workers, who differ by this spread of logarithms; with the number of labels, and the noise."""
    timed = random.integers(10, 60, workers)
    noise = 1.57 * 0.8**2 / timed
    return np.exp(random.normal(2.3, spread, workers) + random.normal(0, np.sqrt(noise))), timed.astype(float), noise


@pytest.mark.parametrize("workers", [5, 8, 15, 30, 100])
@pytest.mark.parametrize("spread", [0.3, 0.5, 0.7, 1.0])
def test_honest_crowds_raise_no_alarm(workers: int, spread: float) -> None:
    random = np.random.default_rng(workers)
    alarms = sum(hasty(*crowd_of_medians(workers, spread, random)).any() for _ in range(600))
    assert alarms / 600 < 0.05


def test_few_workers_cannot_be_compared() -> None:
    assert not hasty(np.array([0.1, 9, 9, 9]), np.full(4, 50.0), np.full(4, 0.01)).any()


@pytest.mark.parametrize("name", ["votes.jsonl", "votes.sqlite"])
def test_seconds_of_mixed_types_are_left_out_in_a_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    rows = [(1, "a", "x", 3), (1, "b", "x", "soon")]
    if name.endswith("jsonl"):
        keys = ("item", "worker", "label", "seconds")
        path.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows))
    else:
        connection = sqlite3.connect(path)
        connection.execute("create table votes (item, worker, label, seconds)")
        connection.executemany("insert into votes values (?, ?, ?, ?)", rows)
        connection.commit()
        connection.close()
    labels = cw.read_labels(path)
    assert labels.n_labels == 2
    assert labels.report.pace is None
    assert any(said.startswith("How fast workers are is not known: ") for said in labels.report.understood)
