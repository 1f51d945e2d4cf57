"""Tests of `cw.plot`: what is drawn is what the tables say, every chart can be written, and refusals are sentences."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import figures
from crowdwise.crowd.simulation import SimulatedCrowd


@pytest.fixture(scope="module")
def crowd() -> SimulatedCrowd:
    return cw.simulate(120, 10, 3, accuracy=0.65, seed=2)


@pytest.fixture(scope="module")
def result(crowd: SimulatedCrowd) -> cw.Result:
    return cw.Adjudicator().fit(crowd.labels)


def drawn(chart: Any) -> pl.DataFrame:
    """The rows behind a chart: of its largest table."""
    tables = [pl.DataFrame(rows, infer_schema_length=None) for rows in chart.to_dict()["datasets"].values()]
    return max(tables, key=lambda table: table.height)


def axes(chart: Any) -> tuple[str, str]:
    """The titles of the rows and of the columns of a heat map."""
    encoding = chart.to_dict()["layer"][0]["encoding"]
    return encoding["y"]["title"], encoding["x"]["title"]


def matrix(chart: Any) -> dict[tuple[str, str], float]:
    table = drawn(chart)
    for (row,), of_row in table.group_by("row"):
        assert sum(of_row["share"]) == pytest.approx(1) or of_row["count"].sum() == 0, row
    return {(row, column): share for row, column, share in table.select("row", "column", "share").rows()}


def test_workers_are_drawn_with_their_intervals_the_best_first(result: cw.Result) -> None:
    table = result.workers_frame().sort("quality", descending=True, maintain_order=True)
    assert drawn(cw.plot(result)).rows() == table.select("worker", "quality", "quality_low", "quality_high").rows()


def test_many_workers_are_points_and_very_many_a_grid() -> None:
    for workers, columns in ((60, "worker labels quality low high"), (figures.MOST_POINTS + 200, "labels_from count")):
        labels = cw.simulate(3000, workers, 2, labels_per_item=3, seed=1).labels
        table = drawn(cw.plot(cw.MajorityVote().fit(labels), "workers"))
        assert set(columns.split()) <= set(table.columns)
        assert (table["count"].sum() if "count" in table.columns else table.height) == labels.n_workers


def test_items_are_counted_by_confidence_and_by_difficulty(result: cw.Result) -> None:
    for chart, values in (("items", result.confidence), ("difficulty", result.difficulty)):
        table = drawn(cw.plot(result, chart))  # type: ignore[arg-type]
        assert table["count"].sum() == 120
        assert values is not None
        inside = table.filter(pl.col("count") > 0)
        assert inside["low"][0] <= values.min() <= inside["high"][0]


def test_confusions_compare_what_is_given(crowd: SimulatedCrowd, result: cw.Result) -> None:
    rows = crowd.rows.join(result.to_frame().select("item", inferred="label"), on="item").join(crowd.truth, on="item")
    worker = rows["worker"][0]
    of_worker = rows.filter(pl.col("worker") == worker)
    items = rows.unique("item")
    both = {"labels": crowd.labels, "truth": crowd.truth}
    cases: list[tuple[dict[str, Any], pl.DataFrame, str, str, tuple[str, str]]] = [
        ({"labels": crowd.labels}, rows, "inferred", "label", ("Inferred", "Said")),
        ({"labels": crowd.labels, "worker": worker}, of_worker, "inferred", "label", ("Inferred", "Said")),
        ({"truth": crowd.truth}, items, "truth", "inferred", ("Truth", "Inferred")),
        (both, rows, "truth", "label", ("Truth", "Said")),
        ({**both, "worker": worker}, of_worker, "truth", "label", ("Truth", "Said")),
    ]
    for given, table, row, column, titles in cases:
        chart = cw.plot(result, "confusion", **given)
        assert axes(chart) == titles
        found = matrix(chart)
        for of_row in ("c1", "c2", "c3"):
            for of_column in ("c1", "c2", "c3"):
                of_class = table.filter(pl.col(row) == of_row)[column]
                assert found[of_row, of_column] == pytest.approx((of_class == of_column).mean())


def test_what_a_method_learned_of_a_worker_is_its_matrix(crowd: SimulatedCrowd) -> None:
    result = cw.DawidSkene().fit(crowd.labels)
    chart = cw.plot(result, "confusion", worker="w03")
    assert axes(chart) == ("Truth", "Said")
    learned = result.confusion("w03").drop("truth").to_numpy()
    assert drawn(chart)["share"].to_numpy().reshape(3, 3) == pytest.approx(learned)


def test_a_truth_that_nobody_named_has_a_row_of_its_own(result: cw.Result, crowd: SimulatedCrowd) -> None:
    truth = dict(crowd.truth.rows()) | {"i001": "new"}
    found = matrix(cw.plot(result, "confusion", truth=truth))
    inferred = result.labels[result.names.items.to_list().index("i001")]
    assert found["(never said)", inferred] == 1


def test_of_many_classes_the_commonest_are_drawn_and_shares_stay_those_of_all() -> None:
    crowd = cw.simulate(600, 12, 30, accuracy=0.6, seed=1)
    table = drawn(cw.plot(cw.MajorityVote().fit(crowd.labels), "confusion", crowd.labels))
    assert table["row"].n_unique() == table["column"].n_unique() == figures.MOST_CLASSES
    assert (table.group_by("row").agg(pl.col("share").sum())["share"] < 1).any()


def test_results_on_disk_and_of_sets_are_drawn(crowd: SimulatedCrowd, tmp_path: Path) -> None:
    crowd.rows.write_csv(tmp_path / "labels.csv")
    with cw.read_labels(tmp_path / "labels.csv", engine="disk", workdir=tmp_path) as on_disk:
        found = cw.BWA().fit(on_disk)
        memory = cw.BWA().fit(crowd.labels)
        qualities, others = (drawn(cw.plot(one)).sort("worker") for one in (found, memory))
        assert qualities["worker"].equals(others["worker"])
        assert qualities.drop("worker").to_numpy() == pytest.approx(others.drop("worker").to_numpy())
        assert drawn(cw.plot(found, "items")).equals(drawn(cw.plot(memory, "items")))
        assert matrix(cw.plot(found, "confusion", truth=crowd.truth)) == matrix(
            cw.plot(memory, "confusion", truth=crowd.truth)
        )
    sets = cw.Labels.from_arrays([1, 1, 1, 2], ["a", "a", "b", "b"], ["x", "y", "x", "y"], duplicates="set")
    assert matrix(cw.plot(cw.BWA().fit(sets), "confusion", sets))["x", "y"] == pytest.approx(1 / 3)


def test_numbers_have_workers_and_items() -> None:
    crowd = cw.simulate_numbers(60, 8, seed=1)
    result = cw.NumericRobust().fit(crowd.numbers)
    assert set(drawn(cw.plot(result))["worker"]) == set(crowd.numbers.names.workers)
    assert drawn(cw.plot(result, "items"))["count"].sum() == 60
    known = drawn(cw.plot(result, "items", truth=crowd.truth)).sort("item")
    assert known["value"].to_list() == result.to_frame().sort("item")["value"].to_list()
    with pytest.raises(cw.CallError, match="about classes, and these are numbers: draw 'workers' or 'items'"):
        cw.plot(result, "confusion")
    alone = cw.NumericMean().fit(cw.Numbers.from_arrays([1, 2], ["a", "b"], [1.0, 2.0]))
    for chart in ("workers", "items"):
        with pytest.raises(cw.CallError, match="No item has two labels"):
            cw.plot(alone, chart)


def test_refusals_say_what_to_do(crowd: SimulatedCrowd, result: cw.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = cw.MajorityVote().fit(crowd.labels)
    refused: list[tuple[Any, str]] = [
        (lambda: cw.plot(result, "workrs"), "Did you mean 'workers'"),  # type: ignore[arg-type]
        (lambda: cw.plot(result, ["workers"]), "is not one of 'workers'"),  # type: ignore[arg-type]
        (lambda: cw.plot(result, "items", truth=crowd.truth), "does not use truth: leave it out"),
        (lambda: cw.plot(result, "workers", crowd.labels), "does not use labels"),
        (lambda: cw.plot(result, "confusion"), "compares two things: give labels"),
        (lambda: cw.plot(result, "confusion", worker="w01", truth=crowd.truth), "by labels: give them, too"),
        (lambda: cw.plot(result, "confusion", crowd.labels, worker="nobody"), "There is no worker 'nobody'"),
        (lambda: cw.plot(votes, "confusion", worker="w01"), "MajorityVote has no confusion matrices"),
        (lambda: cw.plot(votes, "difficulty"), "MajorityVote has no difficulties of items; the default and glad have"),
        (lambda: cw.plot(None), "has to be what fit returns"),  # type: ignore[arg-type]
        (lambda: cw.plot(result, "confusion", cw.simulate(9, 9, seed=1).labels), "not those of the result"),
    ]
    for call, said in refused:
        with pytest.raises(cw.CallError, match=said):
            call()
    busy = crowd.rows.filter(pl.col("worker") == "w01")["item"].implode()
    elsewhere = crowd.truth.filter(~pl.col("item").is_in(busy))
    with pytest.raises(cw.DataError, match="No item that worker 'w01' labelled has a known truth"):
        cw.plot(result, "confusion", crowd.labels, worker="w01", truth=elsewhere)
    monkeypatch.setattr("crowdwise.errors.find_spec", lambda name: None if name == "altair" else name)
    with pytest.raises(cw.CallError, match=r"A chart needs altair: pip install 'crowdwise\[report\]'"):
        cw.plot(result)


def test_every_chart_is_written_as_an_image(crowd: SimulatedCrowd, result: cw.Result, tmp_path: Path) -> None:
    hostile = crowd.rows.with_columns(pl.col("worker").replace({"w01": "</svg><script>", "w02": "datum.x + 1"}))
    labels = cw.Labels.from_frame(hostile)
    numbers = cw.simulate_numbers(60, 8, seed=1)
    values = cw.NumericRobust().fit(numbers.numbers)
    charts = [
        cw.plot(cw.aggregate(labels)),
        cw.plot(result, "items"),
        cw.plot(result, "difficulty"),
        cw.plot(result, "confusion", crowd.labels),
        cw.plot(values),
        cw.plot(values, "items"),
        cw.plot(values, "items", truth=numbers.truth),
    ]
    for number, chart in enumerate(charts):
        chart.save(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").read_bytes().startswith(b"\x89PNG")
        chart.save(tmp_path / f"{number}.svg")
        assert "<script>" not in (tmp_path / f"{number}.svg").read_text()
    assert np.isfinite(result.confidence).all()
