"""Tests that run with every engine and compare it with memory: reading, fitting, results, writing.

`make test` runs them in memory and on disk, `make test-spark` in Spark.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import cautions
from crowdwise.testing import require_same_found
from tests.support.cases import EVERY
from tests.support.commands import run
from tests.support.engines import Engine

pytestmark = pytest.mark.usefixtures("workdir")


@pytest.mark.slow
def test_every_method_finds_what_it_finds_in_memory(engine: Engine) -> None:
    rows = cw.simulate(150, 12, 3, seed=2).rows.sample(fraction=1, shuffle=True, seed=1)
    labels, memory = engine.read(rows), cw.Labels.from_frame(rows)
    for method in EVERY.values():
        suited = engine.suited(method)
        if engine.name in method.limits().places and (method.limits().most_classes or 3) >= 3:
            require_same_found(suited.fit(labels), suited.fit(memory))


@pytest.mark.parametrize("duplicates", ["first", "all", "set"])
@pytest.mark.slow
def test_the_order_of_rows_changes_no_bit(duplicates: Any, engine: Engine) -> None:
    rows = cw.simulate(300, 20, 12, seed=3).rows
    if duplicates != "first":  # of several labels, "first" takes the one in the first row
        rows = pl.concat([rows, rows.head(40).with_columns(rows["label"].tail(40))])
    found = []
    for seed in range(2):
        labels = engine.read(rows.sample(fraction=1, shuffle=True, seed=seed), duplicates=duplicates)
        for method in (cw.MajorityVote(), cw.BWA(), cw.DawidSkene()):
            if method.limits().takes_sets or not labels.set_valued:
                result = engine.suited(method).fit(labels)
                tables = [result.to_frame(scores=True).sort("item"), result.workers_frame().sort("worker")]
                found.append((seed, [table.rows() for table in tables]))
        labels.close()
    one, other = ([tables for number, tables in found if number == seed] for seed in range(2))
    assert one == other


def test_what_cannot_run_there_is_refused_by_name(engine: Engine) -> None:
    labels = engine.read(cw.simulate(20, 5, 2, seed=2).rows)
    for method in EVERY.values():
        if engine.name not in method.limits().places:
            expected = rf"^{type(method).__name__} needs (all labels in memory|the scores of the iteration before)"
            with pytest.raises(cw.CallError, match=expected):
                method.fit(labels)


@pytest.mark.parametrize("classes", [2, 4])
def test_bwa_settles_class_by_class_as_in_memory(classes: int, engine: Engine) -> None:
    """The iterations continue after some classes have converged and are no longer computed."""
    rows = cw.simulate(200, 10, classes, seed=5).rows
    # On Spark there are so many parts that their counts are first added up on the executors.
    labels = engine.read(rows, partitions=20) if engine.name == "spark" else engine.read(rows)
    require_same_found(cw.BWA().fit(labels), cw.BWA().fit(cw.Labels.from_frame(rows)))


ROWS = [
    *[("i1", "a", "x"), ("i1", "b", "y"), ("i1", "b", "x"), ("i2", "a", "x"), ("i2", "a", "x"), ("i2", "b", "NA")],
    *[("i3", "c", None), ("i4", "c", ""), ("i4", "b", "x"), ("i5", "a", "y"), ("i5", "a", "x"), ("i5", "b", "y")],
]


@pytest.mark.parametrize("duplicates", ["first", "last", "all", "samples", "set", "drop", "error"])
def test_repairs_and_messages_are_those_of_memory(duplicates: Any, engine: Engine) -> None:
    rows = pl.DataFrame(ROWS, schema=["item", "worker", "label"], orient="row")
    asked: dict[str, Any] = {"duplicates": duplicates, "missing": ["NA"]}
    if duplicates == "error":
        with pytest.raises(cw.DataError) as one:
            cw.Labels.from_frame(rows, **asked)
        with pytest.raises(cw.DataError) as other:
            engine.read(rows, **asked)
        assert str(one.value) == str(other.value)
        return
    memory, labels = cw.Labels.from_frame(rows, **asked), engine.read(rows, **asked)
    assert labels.report == memory.report
    require_same_found(cw.BWA().fit(labels), cw.BWA().fit(memory))


@pytest.mark.parametrize(
    ("rows", "strict"),
    [
        ([(1, "a", "x"), (None, "b", "y"), (None, "c", "y")], False),
        ([(1, "a", "x"), (2, "", "y")], False),
        ([(1, "a", None)], False),
        ([(1, "a", "x"), (2, "b", None)], True),
        ([(1, "a", "x"), (1, "a", "x")], True),
    ],
)
def test_bad_rows_get_the_sentence_of_memory(rows: Any, strict: bool, engine: Engine) -> None:
    schema = {"item": pl.Int64, "worker": pl.String, "label": pl.String}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    with pytest.raises(cw.DataError) as one:
        cw.Labels.from_frame(table, strict=strict)
    with pytest.raises(cw.DataError) as other:
        engine.read(table, strict=strict)
    assert str(one.value) == str(other.value)


def test_a_result_answers_the_same_questions(engine: Engine, tmp_path: Path) -> None:
    crowd = cw.simulate(80, 10, 3, seed=6)
    labels, method = engine.read(crowd.rows), engine.suited(cw.DawidSkene())
    found, memory = method.fit(labels), method.fit(crowd.labels)
    known = crowd.truth.sample(20, seed=1)
    assert cw.accuracy(found, known) == cw.accuracy(memory, known)
    with pytest.raises(cw.DataError, match="The truth shares no item with the labels"):
        cw.accuracy(found, {"nothing": "c1"})
    assert found.disputed(4)["item"].to_list() == memory.disputed(4)["item"].to_list()
    first = found.lazy().head(9).collect()
    assert first.columns == memory.to_frame().columns
    of_class = pl.col("label") == "c1"  # of the first rows, not the first rows of it
    assert 0 < first.filter(of_class).height == found.lazy().head(9).filter(of_class).collect().height < first.height
    assert found.confusion("w03").columns == memory.confusion("w03").columns
    assert found.convergence.iterations == memory.convergence.iterations
    found.write(tmp_path / "truth.parquet", tmp_path / "workers.csv", scores=True, probabilities=True)
    written = pl.read_parquet(_file(tmp_path / "truth.parquet")).sort("item")
    assert written["label"].equals(memory.to_frame().sort("item")["label"])
    assert [name for name in written.columns if name.startswith("score_")] == ["score_c1", "score_c2", "score_c3"]
    of_classes = written.select("probability_c1", "probability_c2", "probability_c3")
    assert of_classes.sum_horizontal().to_numpy() == pytest.approx(1)
    assert of_classes.max_horizontal().to_numpy() == pytest.approx(written["confidence"].to_numpy())
    for measure in (cw.log_loss, cw.brier, cw.overconfidence):
        assert measure(found, known) == pytest.approx(measure(memory, known))
    in_memory = list(map(str, cautions(memory, crowd.labels)))
    assert all("ran out of iterations" in sentence for sentence in in_memory)
    assert list(map(str, cautions(found, labels))) == [*in_memory, *_unseen(engine)]
    assert pl.read_csv(_file(tmp_path / "workers.csv")).height == 10
    labels.close()


def _unseen(engine: Engine) -> list[str]:
    """Return what is said about confidence because workers are compared with each other in memory only."""
    sentence = "Whether workers are independent was not looked at. `crowdwise blocks labels.csv` (cw.blocks) does."
    return [] if engine.name == "memory" else [sentence]


def _file(path: Path) -> str:
    """Return the path that polars can read, because a cluster may have written a table as a folder."""
    return f"{path}/*{path.suffix}" if path.is_dir() else str(path)


def test_the_command_line_goes_one_way_for_all(engine: Engine, tmp_path: Path) -> None:
    crowd = cw.simulate(60, 8, 3, seed=4)
    rows = crowd.rows.with_columns(pl.col("item").str.slice(1).cast(pl.Int64) + 7)
    truth = crowd.truth.with_columns(pl.col("item").str.slice(1).cast(pl.Int64) + 7)
    cw.write({tmp_path / "votes.csv": rows, tmp_path / "gold.csv": truth})
    inputs = (tmp_path / "votes.csv", "--truth", tmp_path / "gold.csv", "-m", "one_coin", "--set", "max_iterations=2")
    outputs = ("-o", tmp_path / "truth.parquet", "--workers", tmp_path / "workers.csv")
    done = run("aggregate", *inputs, *outputs, "--json", *engine.options)
    assert done.returncode == 0, done.stderr
    assert "Read 300 rows: item = 'item', worker = 'worker', label = 'label'." in done.stderr
    assert "OneCoin ran out of iterations after 2 iterations" in " ".join(done.stderr.split())
    expected = cw.OneCoin(max_iterations=2).fit(cw.Labels.from_frame(rows))
    told = json.loads(done.stdout)
    assert told["accuracy"] == {
        "one_coin": cw.accuracy(expected, truth),
        "mv": cw.accuracy(cw.MajorityVote().fit(cw.Labels.from_frame(rows)), truth),
    }
    assert told["iterations"] == 2
    assert told["expected_accuracy"] == pytest.approx(asdict(expected.expected_accuracy))
    ending, *others = told["cautions"]
    assert ending["kind"] == "iterations"
    assert [f"{one['sentence']} {one['advice']}" for one in others] == _unseen(engine)
    assert not told["converged"]
    written = pl.read_parquet(_file(tmp_path / "truth.parquet")).sort("item")
    assert written.drop("confidence", "score", "runner_up_score").equals(
        expected.to_frame().sort("item").drop("confidence", "score", "runner_up_score")
    )
    assert pl.read_csv(_file(tmp_path / "workers.csv")).height == 8
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize("target", ["votes.csv", "gold.csv"])
def test_an_output_that_is_an_input_is_refused(target: str, engine: Engine, tmp_path: Path) -> None:
    crowd = cw.simulate(10, 5, 2, seed=4)
    cw.write({tmp_path / "votes.csv": crowd.rows, tmp_path / "gold.csv": crowd.truth})
    before = (tmp_path / target).read_bytes()
    inputs = (tmp_path / "votes.csv", "--truth", tmp_path / "gold.csv")
    done = run("aggregate", *inputs, "-o", tmp_path / target, *engine.options)
    assert done.returncode == 2
    assert f"{tmp_path / target} is an input; write to another" in done.stderr.replace("\n", " ")
    assert (tmp_path / target).read_bytes() == before


def test_a_missing_file_is_one_sentence(engine: Engine, tmp_path: Path) -> None:
    done = run("aggregate", tmp_path / "none.csv", "-o", tmp_path / "truth.csv", *engine.options)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: ")  # Spark says something before it
    assert not list(tmp_path.iterdir())
