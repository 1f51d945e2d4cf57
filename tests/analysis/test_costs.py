"""Tests of decisions by costs: what is decided, what it is expected to cost, and what a label of a worker is worth."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.analysis.costs import align, read_costs
from crowdwise.analysis.decisions import Decisions, cheapest
from crowdwise.analysis.worker_value import coin_values, expected_costs, worker_values
from crowdwise.reporting.blocks import Table, Tiles
from crowdwise.reporting.report_data import ReportData
from crowdwise.reporting.report_page import gather
from tests.support.cases import EVERY, each_method, examples
from tests.support.commands import run
from tests.support.crowds import Rows, crowds
from tests.support.engines import Engine, on_disk

# Ill patients who are sent home cost much, healthy ones who are examined again cost little.
HOSPITAL = {("ill", "well"): 5.0, ("well", "ill"): 1.0}


def hospital() -> cw.Result:
    """Three votes on each of four items: all ill, two ill, one ill, none."""
    votes = ["ill"] * 3 + ["ill", "ill", "well"] + ["ill", "well", "well"] + ["well"] * 3
    return cw.MajorityVote().fit(cw.Labels.from_arrays(np.repeat([1, 2, 3, 4], 3), list("abc") * 4, votes))


def zero_one(classes: pl.Series) -> dict[tuple[Any, Any], float]:
    return {(truth, label): float(truth != label) for truth, label in product(classes, classes)}


def test_decisions_are_those_computed_by_hand() -> None:
    result = hospital()
    ill, well = result.probabilities.T
    decided = cw.decide(result, HOSPITAL)
    table = decided.to_frame()
    assert table["label"].to_list() == ["ill", "ill", "ill", "well"]
    assert table["most_probable"].to_list() == ["ill", "ill", "well", "well"]
    assert table["expected_cost"].to_list() == pytest.approx([well[0], well[1], well[2], 5 * ill[3]])
    assert table["confidence"].to_list() == pytest.approx([ill[0], ill[1], ill[2], well[3]])
    assert table.columns == [
        *("item", "label", "confidence", "expected_cost", "most_probable", "score", "runner_up", "runner_up_score"),
        "votes",
    ]
    cost = decided.expected_cost
    assert cost.total == pytest.approx(well[:3].sum() + 5 * ill[3])
    assert cost.per_item == pytest.approx(cost.total / 4)
    assert cost.most_probable == pytest.approx(well[:2].sum() + 5 * ill[2:].sum())
    assert cost.single == pytest.approx(well.sum())
    assert cost.single_decision == "ill"
    assert (cost.changed, cost.abstained, cost.items) == (1, 0, 4)


def test_who_abstains_has_no_label_and_no_confidence() -> None:
    result = hospital()
    decided = cw.decide(result, HOSPITAL | {(None, "abstain"): 0.3})
    table = decided.to_frame(probabilities=True)
    assert result.probabilities[:, 1].round(2).tolist() == [0.12, 0.37, 0.63, 0.88]
    assert table["label"].to_list() == ["ill", "abstain", "abstain", "abstain"]
    assert table["confidence"].to_list() == [pytest.approx(result.probabilities[0, 0]), None, None, None]
    assert table["expected_cost"].to_list()[1:] == pytest.approx([0.3] * 3)
    assert table["probability_ill"].to_list() == result.probabilities[:, 0].tolist()
    assert (decided.expected_cost.changed, decided.expected_cost.abstained) == (0, 3)
    by_truth = cw.decide(result, HOSPITAL | {("ill", "abstain"): 2, ("well", "abstain"): 0})
    assert by_truth.costs.matrix.tolist() == [[0, 5, 2], [1, 0, 0]]


def test_abstaining_from_numbers_makes_text() -> None:
    labels = cw.Labels.from_arrays([7, 7, 8], ["a", "b", "a"], [0, 1, 1])
    costs = {(0, 1): 1, (1, 0): 1, (None, "abstain"): 0.4}
    table = cw.decide(cw.MajorityVote().fit(labels), costs).to_frame()
    assert table["label"].to_list() == ["abstain", "1"]
    assert table["most_probable"].to_list() == [0, 1]
    without = cw.decide(cw.MajorityVote().fit(labels), {(0, 1): 1, (1, 0): 1}).to_frame()
    assert without["label"].dtype == pl.Int64


def test_a_class_called_abstain_is_a_class() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["abstain", "yes", "yes"])
    result = cw.MajorityVote().fit(labels)
    decided = cw.decide(result, {("abstain", "yes"): 1, ("yes", "abstain"): 3})
    assert not decided.costs.can_abstain
    assert decided.to_frame()["label"].to_list() == ["yes", "yes"]
    with pytest.raises(cw.DataError, match="has no truth in a row of label 'abstain'"):
        cw.decide(result, {("abstain", "yes"): 1, (None, "abstain"): 3})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (HOSPITAL | {("ill", "well"): -1}, "the cost of label 'well' where 'ill' is true is -1.0; a cost is a number"),
        (HOSPITAL | {("ill", "well"): float("nan")}, "is true is nan; a cost is a number from 0 to 1e"),
        (HOSPITAL | {("ill", "well"): float("inf")}, "is true is inf; a cost is a number from 0 to 1e"),
        (HOSPITAL | {("ill", "well"): None}, "where 'ill' is true is missing; a cost is a number"),
        ({("ill", "well"): 1}, "has no cost of label 'ill' where 'well' is true; add a row for it"),
        (HOSPITAL | {("sick", "well"): 1}, "names the class 'sick', which no label names; the labels have 'ill'"),
        (HOSPITAL | {("well", "wel"): 1}, "names the class 'wel', .* Did you mean 'well'?"),
        (HOSPITAL | {("abstain", "well"): 1}, "has 'abstain' as a truth; it is a decision"),
        (HOSPITAL | {("ill", "abstain"): 1}, "no cost of label 'abstain' where 'well' is true; add .* without a truth"),
        (
            HOSPITAL | {(None, "abstain"): 1, ("ill", "abstain"): 2},
            "two costs of label 'abstain' where 'ill' is true: 1 and 2",
        ),
        (
            HOSPITAL | {("ill", "abstain"): 2, (None, "abstain"): 1},
            "two costs of label 'abstain' where any class is true: 2 and 1",
        ),
        (HOSPITAL | {(None, "well"): 1}, "has no truth in a row of label 'well'; only the label 'abstain'"),
        (HOSPITAL | {("ill", None): 1}, "has a row without a label"),
        (pl.DataFrame({"truth": ["ill"] * 2, "label": ["well"] * 2, "cost": [1, 2]}), "two costs .* 1 and 2; keep one"),
        (pl.DataFrame({"truth": ["ill"], "label": ["well"]}), "has no column 'cost' for the cost"),
        (pl.DataFrame({"truth": ["ill"], "label": ["well"], "cost": [True]}), "holds Boolean in column 'cost'"),
        (pl.DataFrame({"truth": ["ill"], "label": ["well"], "cost": ["dear"]}), "is true is 'dear'; a cost is"),
    ],
)
def test_bad_costs_are_refused_by_a_sentence(costs: Any, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.decide(hospital(), costs)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(cw.CallError, match="pairs \\(truth, label\\) as keys, and 'ill' is none"):
        cw.decide(hospital(), {"ill": 1})
    with pytest.raises(cw.CallError, match="has to be what fit returns"):
        cw.decide("labels.csv", HOSPITAL)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(cw.CallError, match="A int is no input"):
        cw.decide(hospital(), 5)


def test_rows_that_repeat_are_one_and_right_labels_may_cost() -> None:
    rows = [("ill", "well", 5.0), ("ill", "well", 5.0), ("well", "ill", 1.0), ("ill", "ill", 0.5)]
    table = pl.DataFrame(rows, schema=["truth", "label", "cost"], orient="row")
    assert align(read_costs(table), pl.Series(["ill", "well"])).matrix.tolist() == [[0.5, 5], [1, 0]]


@examples(40)
@given(crowds())
def test_with_costs_of_zero_and_one_the_most_probable_label_is_decided(rows: Rows) -> None:
    result = cw.MajorityVote().fit(cw.Labels.from_frame(pl.DataFrame(rows, ["item", "worker", "label"], orient="row")))
    decided = cw.decide(result, zero_one(result.names.classes))
    table = decided.to_frame()
    assert table["label"].equals(result.labels)
    assert table["expected_cost"].to_list() == pytest.approx((1 - result.confidence).tolist(), abs=1e-12)
    assert decided.expected_cost.total == pytest.approx(decided.expected_cost.most_probable)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any]:
    """Draw probabilities (items, classes) and costs (classes, decisions), with ties among both."""
    n_classes, abstains = draw(st.integers(1, 4)), draw(st.booleans())
    weights = st.lists(st.integers(0, 5), min_size=n_classes, max_size=n_classes).filter(any)
    drawn = np.array(draw(st.lists(weights, min_size=1, max_size=5)), float)
    cells = n_classes * (n_classes + abstains)
    costs = draw(st.lists(st.integers(0, 6), min_size=cells, max_size=cells))
    return drawn / drawn.sum(axis=1, keepdims=True), np.array(costs, float).reshape(n_classes, -1)


@examples(200)
@given(problems())
def test_decisions_are_those_of_brute_force(problem: Any) -> None:
    chances, costs = problem
    for p, decision in zip(chances, cheapest(expected_costs(chances, costs), chances), strict=True):
        totals = [sum(p[k] * costs[k, d] for k in range(len(p))) for d in range(costs.shape[1])]
        tied = [d for d, total in enumerate(totals) if total <= min(totals) + 1e-9]
        # The most probable class first, then in the order of classes, abstain last.
        likely = [-1.0 if d == len(p) else round(float(p[d]), 9) for d in range(costs.shape[1])]
        assert decision == max(tied, key=lambda d: (likely[d], -d))


@examples(100)
@given(problems(), st.sampled_from([1e-9, 1e-3, 1 / 3, 7.0, 1e9]))
def test_scaled_costs_change_no_decision(problem: Any, factor: float) -> None:
    chances, costs = problem
    plain, scaled = (cheapest(expected_costs(chances, one), chances) for one in (costs, costs * factor))
    assert plain.tolist() == scaled.tolist()


@examples(100)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_value_of_workers(problem: Any, seed: int) -> None:
    chances, costs = problem
    prior, n_classes = chances[0], chances.shape[1]
    generator = np.random.default_rng(seed)
    drawn = generator.dirichlet(np.ones(n_classes), (3, n_classes))
    guessing = np.broadcast_to(generator.dirichlet(np.ones(n_classes)), (1, n_classes, n_classes))
    found = worker_values(costs, prior, np.concatenate([drawn, guessing, np.eye(n_classes)[None]]))
    without = min(sum(prior * costs[:, d]) for d in range(costs.shape[1]))
    for matrix, saved in zip(drawn, found.per_label, strict=False):
        after = sum(
            min(sum(prior * matrix[:, s] * costs[:, d]) for d in range(costs.shape[1])) for s in range(n_classes)
        )
        assert saved == pytest.approx(without - after, abs=1e-9)
    assert found.per_label[3] == pytest.approx(0, abs=1e-9)
    # Who is always right saves all that a wrong decision costs more than the best one.
    assert found.per_label[4] == pytest.approx(without - sum(prior * costs.min(axis=1)), abs=1e-9)
    if without > 0:
        assert found.value.tolist() == pytest.approx((found.per_label / without).tolist())
        assert ((found.value >= 0) & (found.value <= 1)).all()
    else:
        assert np.isnan(found.value).all()


@examples(50)
@given(problems(), st.floats(0, 1))
def test_a_coin_is_a_worker_whose_errors_are_even(problem: Any, right: float) -> None:
    chances, costs = problem
    prior, n_classes = chances[0], chances.shape[1]
    right = right if n_classes > 1 else 1.0
    wrong = (1 - right) / max(n_classes - 1, 1)
    matrix = np.full((n_classes, n_classes), wrong) + (right - wrong) * np.eye(n_classes)
    coin, worker = coin_values(costs, prior, np.array([right])), worker_values(costs, prior, matrix[None])
    assert coin.per_label[0] == pytest.approx(worker.per_label[0], abs=1e-9)


def test_guessing_is_worth_nothing_and_perfection_everything() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 400)
    says = {"perfect": truth, "good": np.where(rng.random(400) < 0.85, truth, 1 - truth), "same": np.zeros(400, int)}
    says["coin"] = rng.integers(0, 2, 400)
    says["also perfect"] = truth
    rows = [(i, name, f"c{label}") for name, labels in says.items() for i, label in enumerate(labels)]
    labels = cw.Labels.from_frame(pl.DataFrame(rows, ["item", "worker", "label"], orient="row"))
    decided = cw.decide(cw.DawidSkene().fit(labels), {("c0", "c1"): 3, ("c1", "c0"): 2})
    value = dict(decided.workers_frame().select("worker", "value").iter_rows())
    assert value["perfect"] > 0.95
    assert value["coin"] < 0.05
    assert value["same"] < 0.01
    assert 0.3 < value["good"] < 0.9
    prior = decided.prior
    saved = decided.workers_frame()["value_per_label"][0]
    assert saved == pytest.approx(value["perfect"] * min(2 * prior[1], 3 * prior[0]))


@each_method
def test_every_method_values_its_workers(key: str) -> None:
    method = EVERY[key]
    crowd = cw.simulate(80, 8, min(method.limits().most_classes or 3, 3), accuracy=0.7, seed=3)
    result = method.fit(crowd.labels)
    decided = cw.decide(result, zero_one(result.names.classes))
    table = decided.workers_frame()
    assert table.columns[-2:] == ["value", "value_per_label"]
    assert table["value"].is_between(0, 1).all()
    assert table["value"].null_count() == 0
    assert decided.expected_cost.total <= decided.expected_cost.single * (1 + 1e-9)
    if result.workers.confusion is not None:
        assert np.allclose(result.workers.confusion.sum(axis=2), 1)


def test_the_sums_do_not_depend_on_the_order_of_rows() -> None:
    rows = cw.simulate(300, 15, 3, labels_per_item=3, seed=4).rows
    costs = zero_one(pl.Series(["c1", "c2", "c3"])) | {("c1", "c2"): 7.3, ("c3", "c2"): 0.1, (None, "abstain"): 0.35}
    one, other = (cw.aggregate(table, costs=costs) for table in (rows, rows.sample(fraction=1.0, shuffle=True, seed=1)))
    assert one.expected_cost == other.expected_cost
    assert one.prior.tolist() == other.prior.tolist()
    assert one.to_frame().sort("item").equals(other.to_frame().sort("item"))
    assert one.workers_frame().sort("worker").equals(other.workers_frame().sort("worker"))


@pytest.mark.usefixtures("workdir")
@pytest.mark.slow
def test_every_engine_decides_the_same(engine: Engine) -> None:
    rows = cw.simulate(400, 20, 3, labels_per_item=3, seed=6).rows
    costs = zero_one(pl.Series(["c1", "c2", "c3"])) | {("c1", "c2"): 9, (None, "abstain"): 0.4}
    method = engine.suited(cw.DawidSkene())
    expected = cw.decide(method.fit(cw.Labels.from_frame(rows)), costs)
    found = cw.decide(method.fit(engine.read(rows)), costs)
    for one, other in (
        (expected.to_frame(scores=True, probabilities=True), found.to_frame(scores=True, probabilities=True)),
        (expected.workers_frame(), found.workers_frame()),
    ):
        assert one.schema == other.schema
        key = one.columns[0]
        exact = pl.selectors.exclude(pl.selectors.float())
        one, other = one.sort(key), other.sort(key)
        assert one.select(exact).equals(other.select(exact))
        for name in one.select(pl.selectors.float()).columns:
            assert other[name].fill_null(-1).to_list() == pytest.approx(one[name].fill_null(-1).to_list(), abs=1e-9)
    assert found.expected_cost.total == pytest.approx(expected.expected_cost.total)
    assert found.expected_cost.abstained == expected.expected_cost.abstained > 0
    assert found.lazy().head(7).collect().height == 7
    assert found.lazy().filter(pl.col("label") == "abstain").collect().height == found.expected_cost.abstained


@pytest.mark.usefixtures("workdir")
@pytest.mark.slow
def test_a_result_on_disk_is_never_in_memory_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = cw.simulate(3000, 20, 3, labels_per_item=3, seed=6).rows
    rows.write_parquet(tmp_path / "votes.parquet")
    labels = on_disk(tmp_path / "votes.parquet")
    assert labels.n_parts > 5
    seen: list[int] = []
    decide = Decisions._decide

    def noting(self: Decisions, table: pl.DataFrame) -> Any:
        seen.append(table.height)
        return decide(self, table)

    monkeypatch.setattr(Decisions, "_decide", noting)
    decided = cw.decide(cw.MajorityVote().fit(labels), zero_one(pl.Series(["c1", "c2", "c3"])))
    decided.write(tmp_path / "truth.csv", tmp_path / "workers.csv")
    assert decided.expected_cost.items == pl.read_csv(tmp_path / "truth.csv").height == 3000
    assert max(seen) < 1000


def test_aggregate_takes_costs_and_keeps_the_result(tmp_path: Path) -> None:
    crowd = cw.simulate(60, 6, 2, seed=1)
    path = tmp_path / "costs.csv"
    path.write_text("truth,label,cost\nc1,c2,4\nc2,c1,1\n")
    decided = cw.aggregate(crowd.rows, costs=path)
    assert isinstance(decided.result, cw.Result)
    assert decided.result.labels.equals(cw.aggregate(crowd.rows).labels)
    assert decided.to_frame().equals(cw.decide(cw.aggregate(crowd.labels), path).to_frame())
    with pytest.raises(cw.DataError, match=r"is -1\.0"):  # before the labels are looked at
        cw.aggregate("no such file.csv", costs={("c1", "c2"): -1})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a crowd of two classes, which are numbers, and costs."""
    folder = tmp_path_factory.mktemp("costs")
    crowd = cw.simulate(200, 12, 2, accuracy=0.6, seed=2)
    classes = pl.col("label").replace_strict({"c1": 0, "c2": 1})
    crowd.rows.with_columns(classes).write_csv(folder / "labels.csv")
    (folder / "costs.csv").write_text("truth,label,cost\n0,1,8\n1,0,1\n,abstain,0.3\n")
    return folder


def test_the_command_writes_decisions_and_says_what_they_cost(folder: Path, tmp_path: Path) -> None:
    files = ("-o", tmp_path / "truth.csv", "--workers", tmp_path / "workers.csv")
    done = run("aggregate", folder / "labels.csv", "--costs", folder / "costs.csv", *files, "--json")
    assert done.returncode == 0, done.stderr
    decided = cw.aggregate(folder / "labels.csv", costs=folder / "costs.csv")
    cost = json.loads(done.stdout)["expected_cost"]
    assert cost["total"] == decided.expected_cost.total
    assert cost["total"] < min(cost["most_probable"], cost["single"])
    assert cost["abstained"] > 0
    written = pl.read_csv(tmp_path / "truth.csv", schema_overrides={"label": pl.String})
    assert written["label"].equals(decided.to_frame()["label"])
    assert written["expected_cost"].sum() == pytest.approx(cost["total"])
    workers = pl.read_csv(tmp_path / "workers.csv")
    assert workers["value_per_label"].to_list() == decided.workers_frame()["value_per_label"].to_list()


def test_the_command_shows_costs_in_its_tables(folder: Path) -> None:
    done = run("aggregate", folder / "labels.csv", "--costs", folder / "costs.csv")
    assert done.returncode == 0, done.stderr
    for text in ("expected cost", "cost of most probable labels", "cost of always", "abstained", "value_per_label"):
        assert text in done.stdout
    assert "expected cost" not in run("aggregate", folder / "labels.csv").stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--costs", "labels.csv"], 2, "labels.csv is also read as labels; name another file."),
        (
            ["--costs", "copy.csv"],
            1,
            "has no column 'truth' for the truth, and has no column 'cost' for the cost; its columns are",
        ),
        (["--costs", "none.csv"], 1, "none.csv"),
        (["--costs", "costs.csv", "-o", "costs.csv"], 2, "costs.csv is an input"),
        (["--costs", "costs.csv", "--engine", "spark"], 2, "--costs does not go with --engine spark"),
    ],
)
def test_the_command_refuses_by_a_sentence(folder: Path, options: list[str], code: int, message: str) -> None:
    (folder / "copy.csv").write_bytes((folder / "labels.csv").read_bytes())
    named = [folder / option if option.endswith(".csv") else option for option in options]
    done = run("aggregate", folder / "labels.csv", *named)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_standard_input_is_not_both_labels_and_costs() -> None:
    done = run("aggregate", "-", "--costs", "-")
    assert done.returncode == 2
    assert "--costs - is also read as labels" in done.stderr


def test_the_report_has_a_section_only_with_costs(folder: Path) -> None:
    labels = cw.read_labels(folder / "labels.csv")
    decided = cw.aggregate(labels, costs=folder / "costs.csv")
    assert isinstance(decided.result, cw.Result)
    sections = {one.id: one.blocks for one in gather(ReportData(decided.result, labels, None, "the command", decided))}
    tiles = next(block for block in sections["costs"] if isinstance(block, Tiles)).tiles
    assert tiles[0].value == f"{decided.expected_cost.per_item:.4g}"
    assert [one.name for one in tiles][-1] == "Without a label"
    decisions, workers = (block for block in sections["costs"] if isinstance(block, Table))
    assert len(decisions.rows) == decided.expected_cost.changed + decided.expected_cost.abstained
    assert len(workers.rows) == labels.n_workers
    assert "costs" not in {one.id for one in gather(ReportData(decided.result, labels, None, "the command"))}


def test_the_example_of_the_page_is_what_it_says() -> None:
    """The numbers in docs/how-to/costs.md."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "costs.md").read_text(encoding="utf-8")
    costs = np.array([[0.0, 10.0, 2.0], [1.0, 0.0, 2.0]])
    chances = np.array([[0.05, 0.95], [0.2, 0.8]])
    expected = expected_costs(chances, costs)
    for row, decision in zip(expected, cheapest(expected, chances), strict=True):
        shown = [f"{value:.2f}" for value in row]
        shown[decision] = f"**{shown[decision]}**"
        assert f"| {' | '.join(shown)} |" in page
    found = worker_values(costs, np.array([0.1, 0.9]), np.array([[[0.9, 0.1], [0.2, 0.8]]]))
    assert f"= {found.per_label[0]:.2f}" in page
    assert f"= {found.value[0]:.3f}" in page
