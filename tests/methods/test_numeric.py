"""Tests of numeric labels: methods, intervals, engines, the command and the page."""

import json
import random
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise import testing
from crowdwise.analysis.numeric_agreement import interval_alpha
from crowdwise.cli.app import app
from crowdwise.methods import NUMERIC_METHODS, choose
from tests.support.cases import examples
from tests.support.commands import run
from tests.support.engines import on_spark

METHODS: Final[dict[str, Any]] = {key: method() for key, method in NUMERIC_METHODS.items()}
EVERY: Final[dict[str, Any]] = {**METHODS, "crh squared": cw.NumericCRH("squared")}
each_method = pytest.mark.parametrize("key", EVERY)


def test_files_and_methods_are_the_same_set() -> None:
    folder = Path(cw.__file__).parent / "methods" / "numeric"
    assert {path.stem for path in folder.glob("[a-z]*.py")} == set(METHODS)
    assert set(METHODS) == {"mean", "median", "bwa", "catd", "crh", "lfc", "robust"}
    assert choose("bwa", ["prior_strength=3"], numbers=True) == cw.NumericBWA(prior_strength=3)


@pytest.mark.parametrize("check", testing.NUMERIC_CHECKS)
@each_method
def test_the_contract(key: str, check: str) -> None:
    testing.NUMERIC_CHECKS[check](EVERY[key])


@st.composite
def crowds(draw: Any) -> list[tuple[str, str, float]]:
    """Draw rows of numbers: any finite ones, of few items and workers, at most one for each pair."""
    pairs = draw(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=20))
    number = st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float)
    return [(f"i{i}", f"w{j}", draw(number)) for i, j in sorted(pairs)]


@each_method
@examples(25)
@given(rows=crowds(), seed=st.integers(0, 1000))
def test_any_numbers_in_any_order_give_finite_values(key: str, rows: Any, seed: int) -> None:
    numbers = cw.Numbers.from_frame(testing.table(rows))
    result = EVERY[key].fit(numbers)
    shuffled = cw.Numbers.from_frame(testing.table(random.Random(seed).sample(rows, len(rows))))
    testing.require_same_numbers(result, EVERY[key].fit(shuffled), 0.0)
    values, said = result.values, numbers.labels
    assert np.isfinite(values).all()
    # A value is between the smallest and the largest answer, but for biases, which are no larger than their distance.
    margin = np.ptp(said) + 1e-6 * np.abs(said).max() + 1e-6
    assert (values >= said.min() - margin).all()
    assert (values <= said.max() + margin).all()


@pytest.mark.parametrize("key", ["bwa", "robust", "mean", "lfc", "median"])
@examples(15)
@given(factor=st.floats(1e-6, 1e6), zero=st.floats(-1e3, 1e3), seed=st.integers(0, 20))
def test_values_follow_the_unit(key: str, factor: float, zero: float, seed: int) -> None:
    rows = cw.simulate_numbers(30, 6, wild=0.03, seed=seed).rows
    expected = EVERY[key].fit(cw.Numbers.from_frame(rows))
    moved = EVERY[key].fit(cw.Numbers.from_frame(rows.with_columns(label=factor * (pl.col("label") - zero))))
    assert np.allclose(moved.values / factor + zero, expected.values, rtol=1e-5, atol=1e-3)
    assert np.allclose(moved.errors.spread / factor, expected.errors.spread, rtol=1e-3)


def test_bwa_solves_its_equations() -> None:
    """The updates of the paper with biases, written out; the values are their fixed point."""
    crowd = cw.simulate_numbers(60, 8, seed=3)
    numbers = crowd.numbers
    result = cw.NumericBWA(tolerance=1e-12, max_iterations=5000).fit(numbers)
    item, worker, said = numbers.item_of, numbers.workers, numbers.labels
    learned: Any = result.workers
    mean, precision, _ = learned.prior
    weights, bias = learned.weight, learned.bias
    total = precision + np.bincount(item, weights[worker])
    values = (precision * mean + np.bincount(item, weights[worker] * (said - bias[worker]))) / total
    assert np.allclose(result.to_frame()["value"], values, atol=1e-8)
    sizes = np.diff(numbers.item_starts)
    means = np.bincount(item, said) / sizes
    epsilon = ((said - means[item]) ** 2).sum() / (sizes - 1).sum()
    n = np.bincount(worker)
    bias_variance = 1 / (learned.bias_precision + weights * n)
    expected = np.bincount(worker, (said - bias[worker] - values[item]) ** 2 + 1 / total[item]) + n * bias_variance
    # Besides the variance of the values that the paper has, there is a little for the uncertain mean of all values.
    assert np.allclose(weights, (15 + n) / (15 * epsilon + expected), rtol=0.02)
    shift = weights * np.bincount(worker, said - values[item]) * bias_variance
    assert np.allclose(bias, shift - shift.mean(), atol=1e-6)
    assert abs(bias.mean()) < 1e-9


def test_mean_and_median_are_those_of_polars() -> None:
    rows = cw.simulate_numbers(50, 9, labels_per_item=4.5, seed=2).rows
    expected = rows.group_by("item", maintain_order=True).agg(
        mean=pl.col("label").mean(), median=pl.col("label").median()
    )
    for key in ("mean", "median"):
        found = EVERY[key].fit(cw.Numbers.from_frame(rows)).to_frame()
        assert np.allclose(found["value"], expected[key])
        assert found["item"].equals(expected["item"])


@pytest.mark.parametrize(
    ("key", "wild"), [("robust", 0.0), ("robust", 0.05), ("bwa", 0.0), ("mean", 0.0)], ids=lambda value: str(value)
)
@pytest.mark.parametrize("shape", [(400, 30, 5.0), (200, 30, 3.0), (150, 25, 10.0)], ids=["five", "three", "ten"])
@pytest.mark.slow
def test_intervals_cover(key: str, wild: float, shape: tuple[int, int, float]) -> None:
    items, workers, per_item = shape
    found, of_bias, of_spread = [], [], []
    for seed in range(100, 116):
        crowd = cw.simulate_numbers(items, workers, labels_per_item=per_item, wild=wild, seed=seed)
        result = EVERY[key].fit(crowd.numbers)
        found.append(cw.numeric_errors(result, crowd.truth).coverage)
        table = result.workers_frame().join(crowd.workers, on="worker", suffix="_true")
        bias = table["bias_true"] - table["bias_true"].mean()
        of_bias.append(bias.is_between(table["bias_low"], table["bias_high"]).mean())
        of_spread.append(table["spread_true"].is_between(table["spread_low"], table["spread_high"]).mean())
    assert 0.93 <= np.mean(found) <= 0.97
    assert np.mean(of_bias) >= 0.85
    assert np.mean(of_spread) >= (0.88 if wild == 0 else 0.8)  # some wild answers look like a large spread


def test_wild_answers_move_the_mean_and_not_the_default() -> None:
    crowd = cw.simulate_numbers(300, 20, wild=0.05, seed=1)
    errors = {key: cw.numeric_errors(method.fit(crowd.numbers), crowd.truth) for key, method in METHODS.items()}
    assert errors["robust"].rmse < 0.6 * min(errors["mean"].rmse, errors["bwa"].rmse)
    rows = crowd.rows.with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 0).then(1e9).otherwise("label").alias("label")
    )
    result = cw.aggregate(rows, numeric=True)
    assert cw.numeric_errors(result, crowd.truth).rmse < 4
    assert result.workers_frame()["wild"].sum() > rows.height / 40


def _judges(seed: int) -> tuple[cw.Numbers, pl.DataFrame]:
    """Return ratings from 1 to 10 by eight judges who compress the scale; the first one says 7 to 9 only."""
    random = np.random.default_rng(seed)
    values, slopes = random.normal(5.5, 2.0, 200), random.uniform(0.3, 1.0, 8)
    said = 5.5 + slopes * (values[:, None] - 5.5) + random.normal(0, 0.4, 8) + random.normal(0, 0.6, (200, 8))
    said[:, 0] = np.clip(8 + 0.25 * (values - 5.5) + random.normal(0, 0.2, 200), 7, 9)
    item, judge = np.divmod(np.arange(said.size), 8)
    numbers = cw.Numbers.from_arrays(item, judge, np.clip(np.round(said.ravel()), 1, 10))
    return numbers, pl.DataFrame({"item": np.arange(200), "truth": values})


def test_judges_who_compress_the_scale() -> None:
    """The default is nearer to the truth than the mean, and does not call a judge precise who says little."""
    methods = {"default": cw.NumericRobust(), "without": cw.NumericRobust(slopes=False), "mean": cw.NumericMean()}
    errors: dict[str, list[float]] = {key: [] for key in methods}
    for seed in range(4):
        numbers, truth = _judges(seed)
        results = {key: method.fit(numbers) for key, method in methods.items()}
        for key, result in results.items():
            errors[key].append(cw.numeric_errors(result, truth).mae)
        workers = results["default"].workers_frame().sort("worker")
        assert workers["quality"].arg_min() == 0
        assert workers["slope_high"][0] < 0.5
        assert workers["spread"][0] == workers["spread"].min()  # consistent, not right
    found = {key: np.mean(values) for key, values in errors.items()}
    assert found["default"] < 0.9 * found["mean"]
    assert found["default"] < 0.8 * found["without"]


def test_slopes_are_recovered_and_intervals_still_cover() -> None:
    inside, of_slopes = [], []
    for seed in range(4):
        crowd = cw.simulate_numbers(300, 20, slope=0.3, seed=seed)
        result = cw.aggregate(crowd.numbers, warn=False)
        table = result.workers_frame().join(crowd.workers, on="worker", suffix="_true")
        # Slopes are relative to the crowd: values are on the scale of those whose answers say most.
        true, found, labels = (table[name].to_numpy() for name in ("slope_true", "slope", "labels"))
        scale = float((true / found * labels).sum() / labels.sum())
        low, high = (table[f"slope_{end}"].to_numpy() for end in ("low", "high"))
        of_slopes.append(float(((low <= true / scale) & (true / scale <= high)).mean()))
        rows = result.to_frame().join(crowd.truth, on="item")
        truth, low, high = (rows[name].to_numpy() for name in ("truth", "low", "high"))
        mapped = 50 + scale * (truth - 50)
        inside.append(float(((low <= mapped) & (mapped <= high)).mean()))
    assert np.mean(of_slopes) > 0.85
    assert np.mean(inside) > 0.92


def test_workers_are_recovered() -> None:
    crowd = cw.simulate_numbers(3000, 20, seed=5)
    table = cw.NumericBWA().fit(crowd.numbers).workers_frame().join(crowd.workers, on="worker", suffix="_true")
    assert np.corrcoef(table["bias"], table["bias_true"])[0, 1] > 0.99
    assert np.allclose(table["spread"], table["spread_true"], rtol=0.15)
    assert np.allclose(table["error"] ** 2, table["bias"] ** 2 + table["spread"] ** 2)


def test_several_numbers_of_one_worker() -> None:
    rows: list[Any] = [("i0", "w0", 1.0), ("i0", "w0", 3.0), ("i0", "w0", 3.0), ("i0", "w1", 2.0)]
    with pytest.raises(cw.DataError, match=r"1 \(item, worker\) pair has more .*item 'i0'.*'1.0' and '3.0'"):
        cw.Numbers.from_frame(testing.table(rows))
    assert cw.Numbers.from_frame(testing.table(rows), duplicates="last").labels.tolist() == [3.0, 2.0]
    for order in (rows, rows[::-1]):
        assert sorted(cw.Numbers.from_frame(testing.table(order), duplicates="all").numbered.labels) == [1, 2, 3]
    with pytest.raises(cw.CallError, match='duplicates="set" is for classes'):
        cw.Numbers.from_frame(testing.table(rows), duplicates="set")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["1", "2 kg", "3 kg"], r"2 labels are not finite numbers .*, of 3; first: '2 kg' \(item '2', worker 'b'\)"),
        (["1", "inf", "3"], r"1 label is not a finite number .*first: 'inf'"),
        ([1.0, float("inf"), 3.0], r"1 label is not a finite number .*first: inf"),
        ([1.0, 1e70, 3.0], r"1 label is not a finite number \(up to 1e\+60\).*first: 1e\+70"),
        (["1", "3,5", "2"], r"first: '3,5'.*Write numbers like 12, -0.5 or 1e3"),
        ([True, False, True], r"Column 'label' holds Boolean, and numeric labels are numbers"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(labels: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.Numbers.from_arrays([1, 2, 3], ["a", "b", "c"], labels)
    path = tmp_path / "numbers.parquet"
    pl.DataFrame({"item": [1, 2, 3], "worker": ["a", "b", "c"], "label": labels}).write_parquet(path)
    with pytest.raises(cw.DataError):
        cw.read_numbers(path, engine="disk", workdir=tmp_path)


def test_missing_numbers_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("item,worker,label\n1,a,0.5\n1,b,NA\n2,a,\n2,b, 1e3 \n")
    for engine in ("memory", "disk"):
        numbers = cw.read_numbers(path, missing=["NA"], engine=engine, workdir=tmp_path)
        assert numbers.report.missing == 2
        found = cw.NumericMean().fit(numbers).to_frame().sort("item")
        assert found.rows() == [(1, 0.5, None, None, 1), (2, 1000.0, None, None, 1)]
        numbers.close()


def test_numbers_and_classes_are_not_mixed_up() -> None:
    crowd = cw.simulate_numbers(20, 5, seed=1)
    with pytest.raises(cw.CallError, match="BWA takes classes, and these labels are numbers"):
        cw.BWA().fit(crowd.numbers)
    with pytest.raises(cw.CallError, match="blocks takes classes"):
        cw.blocks(crowd.numbers)
    result = cw.aggregate(crowd.numbers)
    assert isinstance(result, cw.NumericResult)
    with pytest.raises(cw.CallError, match="costs and an order are for classes"):
        cw.aggregate(crowd.numbers, costs={("a", "b"): 1.0})
    with pytest.raises(cw.CallError, match="numeric is for a path or a table"):
        cw.aggregate(crowd.numbers, numeric=True)
    with pytest.raises(cw.CallError, match="scores and probabilities are columns for classes"):
        result.write("values.csv", scores=True)


def test_truths_are_matched_and_checked() -> None:
    numbers = cw.Numbers.from_arrays([1, 1, 2, 2], list("abab"), [1.0, 3.0, 5.0, 5.0])
    result = cw.NumericMean().fit(numbers)
    found = cw.numeric_errors(result, {"1": "4", "2": "5", "3": "9"})
    assert (found.mae, found.rmse, found.items) == (1.0, 2**0.5, 2)
    assert found.correlation == pytest.approx(1.0)
    with pytest.raises(cw.DataError, match="1 label is not a finite number"):
        cw.numeric_errors(result, {"1": "four"})
    with pytest.raises(cw.DataError, match="None of the 1 items with a truth has a label"):
        cw.numeric_errors(result, {7: 1.0})


def test_alpha_for_numbers_is_known() -> None:
    """Krippendorff's alpha is that of the pairs of labels, written out."""
    rows = cw.simulate_numbers(30, 6, labels_per_item=3, seed=1).rows
    numbers = cw.Numbers.from_frame(rows)
    said, item = numbers.labels, numbers.item_of
    square = (said[:, None] - said[None, :]) ** 2
    same = (item[:, None] == item[None, :]) / (np.diff(numbers.item_starts) - 1)[item][:, None]
    n = len(said)
    expected = 1 - (square * same).sum() / n / (square.sum() / (n * (n - 1)))
    found = interval_alpha(numbers)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    assert np.isnan(interval_alpha(cw.Numbers.from_arrays([1], ["a"], [1.0])).value)


def command(*arguments: object) -> None:
    """Run the command line in this process, which is quicker; what is refused is raised."""
    app([str(argument) for argument in arguments], prog_name="crowdwise", standalone_mode=False)


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A folder with a simulated crowd, written by the command."""
    command("simulate", "--numeric", "--items", 120, "--workers", 12, "--wild", 0.02, "-o", tmp_path, "--quiet")
    return tmp_path


def test_the_command_on_files(crowd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values, workers = crowd / "values.csv", crowd / "quality.parquet"
    done = run(  # in a process of its own, as users do
        *("aggregate", crowd / "labels.csv", "--numeric", "-o", values, "--workers", workers),
        *("--truth", crowd / "truth.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert "errors of robust" in done.stdout
    assert "errors of mean" in done.stdout
    found = pl.read_csv(values)
    assert found.columns == ["item", "value", "low", "high", "votes"]
    expected = cw.aggregate(pl.read_csv(crowd / "labels.csv"), numeric=True)
    assert np.allclose(found["value"], expected.values)
    assert pl.read_parquet(workers).columns[:4] == ["worker", "labels", "bias", "bias_low"]
    pl.read_csv(crowd / "labels.csv").write_parquet(crowd / "labels.parquet")
    for engine in ("memory", "disk"):
        command("aggregate", crowd / "labels.parquet", "--numeric", "--json", "-m", "bwa", "--engine", engine)
        answer = json.loads(capsys.readouterr().out)
        assert answer["method"].startswith("NumericBWA(")
        assert len(answer["values"]) == 120
        assert len(answer["workers"]) == 12


def test_the_other_commands(crowd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels, truth = crowd / "labels.csv", crowd / "truth.csv"
    command("compare", labels, "--numeric", "--truth", truth, "--json", "-o", crowd / "c.html")
    rows = json.loads(capsys.readouterr().out)["methods"]
    assert [row["method"] for row in rows] == list(METHODS)
    assert all(row["rmse"] > row["mae"] > 0 for row in rows)
    assert "Root mean squared error" in (crowd / "c.html").read_text()
    command("report", labels, "--numeric", "--truth", truth, "-o", crowd / "report.html")
    page = (crowd / "report.html").read_text()
    assert all(words in page for words in ("Bias and spread", "Inferred against true", "Disputed items"))
    command("methods")
    assert "For numbers, with --numeric:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--gold", "truth.csv"), "--gold is for classes"),
        (("--costs", "truth.csv"), "--costs is for classes"),
        (("--save-state", "s"), "--save-state is for classes"),
        (("--probabilities",), "--probabilities is for classes"),
        (("-m", "adjudicator"), "There is no method 'adjudicator' for numbers; there are bwa"),
        (("-m", "bwa", "--set", "wildness=3"), "bwa takes name=value"),
    ],
)
def test_what_does_not_go_with_numbers_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,1\n1,b,2\n")
    with pytest.raises(cw.CallError, match=words):
        command("aggregate", path, "--numeric", *arguments)


def test_numbers_that_are_taken_as_classes_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "labels.csv"

    def remarks(text: str, *arguments: str) -> str:
        path.write_text(f"item,worker,label\n{text}")
        command("aggregate", path, *arguments)
        return " ".join(capsys.readouterr().err.split())

    found = remarks("1,a,1\n1,b,2\n2,a,3\n2,b,3\n", "-m", "mv")
    assert "The labels are 3 different numbers from 1 to 3, and are taken as classes without an order" in found
    assert "--numeric" in found
    assert "--ordinal" in found
    assert "different numbers" not in remarks("1,a,1\n1,b,2\n2,a,3\n2,b,3\n", "--numeric")
    assert "different numbers" not in remarks("1,a,0\n1,b,1\n", "-m", "mv")


@pytest.mark.parametrize("rows", [[(1, "a", 1.0)], [(i, j, 2.0) for i in range(3) for j in "ab"]], ids=["one", "same"])
def test_a_report_about_nearly_nothing(rows: list[Any], tmp_path: Path) -> None:
    numbers = cw.Numbers.from_arrays(*zip(*rows, strict=True))
    result: Any = cw.NumericRobust().fit(numbers)
    cw.report(result, numbers, {1: 2.0}, tmp_path / "report.html")
    assert "How it was made" in (tmp_path / "report.html").read_text()
    other = cw.Numbers.from_arrays([1, 7], ["a", "b"], [1.0, 2.0])
    with pytest.raises(cw.CallError, match="not from these labels"):
        cw.report(result, other, None, tmp_path / "report.html")


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
@each_method
def test_a_cluster_gives_the_same(key: str, spark_session: Any) -> None:
    engine, rows = on_spark(spark_session), cw.simulate_numbers(80, 8, wild=0.02, seed=4).rows
    method = engine.suited(EVERY[key])
    found = method.fit(engine.read(rows, numeric=True))
    testing.require_same_numbers(found, method.fit(cw.Numbers.from_frame(rows)), 1e-9)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_writes_and_refuses(spark_session: Any, tmp_path: Path) -> None:
    from crowdwise.fitting.engines import spark

    rows = cw.simulate_numbers(40, 6, seed=4).rows.with_columns(pl.col("label").cast(pl.String))
    truth, workers = spark.fit(cw.NumericMean(), spark_session.createDataFrame(rows.to_arrow()))
    assert truth.columns == ["item", "value", "low", "high", "votes"]
    assert workers.columns[:3] == ["worker", "labels", "bias"]
    numbers = on_spark(spark_session).read(rows, numeric=True)
    result: Any = cw.NumericBWA(max_iterations=2).fit(numbers)
    result.write(tmp_path / "values.parquet", tmp_path / "workers.csv")
    assert pl.read_parquet(tmp_path / "values.parquet" / "*.parquet").height == 40
    bad = rows.with_columns(pl.when(pl.col("item") == "i07").then(pl.lit("7 cm")).otherwise("label").alias("label"))
    with pytest.raises(cw.DataError, match=r"labels are not finite numbers .*first: '7 cm' \(item 'i07'"):
        on_spark(spark_session).read(bad, numeric=True)
