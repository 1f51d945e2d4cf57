"""What counts as a vote, on every engine: samples of one worker, the latest label, spellings, and declared classes."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.times import moments
from tests.support.commands import Command
from tests.support.engines import Engine

SCHEMA = ["item", "worker", "label"]


def votes_of(labels: cw.Labels) -> list[tuple[Any, ...]]:
    """Return the votes, sorted."""
    columns = labels.names.items.gather(labels.item_of), labels.names.workers.gather(labels.workers)
    return sorted(zip(*columns, labels.names.classes.gather(labels.labels), strict=True))


def sampled_judges(items: int = 300, samples: int = 5, seed: int = 4) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return answers of three judges who were asked several times about every item, and the truth."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, items)
    rows = [
        (item, judge, "ny"[truth[item] if draw.random() < 0.7 else 1 - truth[item]])
        for item in range(items)
        for judge in ("a", "b", "c")
        for _ in range(samples)
    ]
    known = pl.DataFrame({"item": range(items), "truth": ["ny"[one] for one in truth]})
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), known


def test_every_sample_is_a_vote() -> None:
    rows, truth = sampled_judges()
    labels = cw.Labels.from_frame(rows, duplicates="samples")
    assert labels.n_labels == rows.height == 4500
    assert labels.names.workers.to_list()[:6] == ["a", "a#2", "a#3", "a#4", "a#5", "b"]
    counted = rows.group_by("item").agg((pl.col("label") == "y").sum().alias("yes")).sort("item")
    majority = pl.DataFrame({"item": counted["item"], "label": np.where(counted["yes"] > 7, "y", "n")})
    found = cw.MajorityVote().fit(labels)
    assert found.to_frame().sort("item")["label"].to_list() == majority["label"].to_list()
    # The default method is no worse than a vote of all samples, and far better than with exact repeats dropped.
    of_all = cw.accuracy(cw.aggregate(rows, duplicates="all"), truth)
    of_samples = cw.accuracy(cw.aggregate(rows, duplicates="samples"), truth)
    assert of_samples > of_all + 0.2
    assert of_samples >= cw.accuracy(found, truth) - 0.02


def test_samples_prefer_no_class() -> None:
    """If answers were numbered in the order of the classes, the first sample would say n more often than the last."""
    rows, _ = sampled_judges()
    labels = cw.Labels.from_frame(rows, duplicates="samples")
    votes = pl.DataFrame(votes_of(labels), schema=SCHEMA, orient="row")
    shares = votes.group_by("worker").agg((pl.col("label") == "y").mean())["label"].to_numpy()
    assert 0.4 < shares.min() < shares.max() < 0.6


def test_samples_do_not_depend_on_the_order_of_rows() -> None:
    rows, _ = sampled_judges(items=20)
    expected = votes_of(cw.Labels.from_frame(rows, duplicates="samples"))
    for seed in range(3):
        shuffled = rows.sample(fraction=1, shuffle=True, seed=seed)
        assert votes_of(cw.Labels.from_frame(shuffled, duplicates="samples")) == expected


def test_tables_say_which_samples_belong_together(engine: Engine) -> None:
    rows, _ = sampled_judges(items=40, samples=2)
    rows = pl.concat([rows, pl.DataFrame([(0, "d", "y")], schema=SCHEMA, orient="row").cast(rows.schema)])
    labels = engine.read(rows, duplicates="samples")
    table = cw.MajorityVote().fit(labels).workers_frame().sort("worker")
    assert table["worker"].to_list() == ["a", "a#2", "b", "b#2", "c", "c#2", "d"]
    assert table["sample_of"].to_list() == ["a", "a", "b", "b", "c", "c", None]
    assert labels.report.conflicts == 120
    assert "the second that of worker#2" in labels.report.repairs[0]


def test_whole_numbers_that_name_workers_become_text_where_they_have_samples(engine: Engine, tmp_path: Path) -> None:
    rows = pl.DataFrame([(1, 7, "y"), (1, 7, "y"), (1, 8, "n")], schema=SCHEMA, orient="row")
    found = cw.MajorityVote().fit(engine.read(rows, duplicates="samples"))
    found.write(workers=tmp_path / "workers.csv")
    assert sorted(found.workers_frame()["worker"].to_list()) == ["7", "7#2", "8"]


def test_a_worker_with_the_name_of_a_sample_is_refused(engine: Engine) -> None:
    rows = pl.DataFrame([(1, "ann", "y"), (1, "ann", "y"), (1, "ann#2", "n")], schema=SCHEMA, orient="row")
    with pytest.raises(cw.DataError, match="There is a worker 'ann#2', which is also the name of a sample of 'ann'"):
        engine.read(rows, duplicates="samples")
    assert engine.read(rows.head(1).vstack(rows.tail(1)), duplicates="samples").n_workers == 2


def test_blocks_of_samples_are_no_copies() -> None:
    crowd = cw.simulate(300, 6, labels_per_item=6, accuracy=0.7, seed=3).rows
    again = crowd.filter(pl.col("worker") == "w1")
    found = cw.blocks(cw.Labels.from_frame(pl.concat([crowd, again, again]), duplicates="samples"))
    assert found.blocks[0].sample_of == "w1"
    assert not found.blocks[0].are_copies
    assert found.blocks[0].names == "w1, w1#2 and w1#3 (samples of one worker)"


TIMED = [
    *[("i1", "ann", "y", "2024-05-01T10:00:00Z"), ("i1", "ann", "n", "2024-05-01T11:30:00+02:00")],
    *[("i1", "bob", "n", "2024-05-01"), ("i2", "ann", "n", "2024-05-02 00:00:00.5"), ("i2", "ann", "y", "2024-05-02")],
]


def test_latest_keeps_the_label_of_the_latest_time(engine: Engine) -> None:
    rows = list(TIMED)
    for seed in range(2):
        random.Random(seed).shuffle(rows)
        table = pl.DataFrame(rows, schema=[*SCHEMA, "created_at"], orient="row")
        labels = engine.read(table, duplicates="latest")
        found = dict(cw.MajorityVote().fit(labels).lazy().select("item", "label").collect().rows())
        assert found["i2"] == "n"
        assert labels.n_labels == 3
        assert labels.report.conflicts == 2
        assert labels.report.columns["time"] == "created_at"
    memory = cw.Labels.from_frame(table, duplicates="latest")
    assert votes_of(memory) == [("i1", "ann", "y"), ("i1", "bob", "n"), ("i2", "ann", "n")]


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (
            [1, 2, 2],
            "1 (item, worker) pair has more than one label at the latest time; first: item 'i', worker 'a' said",
        ),
        (["now", "2024-05-01", "then"], "2 of 3 labels have no time that can be read; first: 'now'."),
        ([1.5, None, 2.5], "1 of 3 labels have no time that can be read; first: no value."),
    ],
)
def test_times_that_do_not_decide_are_refused(times: Any, sentence: str, engine: Engine) -> None:
    table = pl.DataFrame({"item": ["i"] * 3, "worker": ["a"] * 3, "label": ["x", "y", "x"], "when": times})
    table = table.rename({"when": "time"})
    with pytest.raises(cw.DataError) as problem:
        engine.read(table, duplicates="latest")
    assert str(problem.value).startswith(sentence)


def test_times_are_read_as_platforms_write_them() -> None:
    text = [
        "Tue May 03 10:12:25 PDT 2022",
        "2022-05-03T17:12:24Z",
        "2022-05-03T19:12:26.5+02:00",
        "2022-05-03 17:12:27",
    ]
    assert np.argsort(moments(pl.Series(text))).tolist() == [1, 0, 2, 3]
    assert moments(pl.Series(["1651597945", "9"])).tolist() == [1651597945, 9]
    assert np.argsort(moments(pl.Series(["10.5", "9"]))).tolist() == [1, 0]
    dates = pl.Series(["2022-05-03", "2021-01-01"]).str.to_date()
    assert np.argsort(moments(dates)).tolist() == [1, 0]


def test_time_is_for_latest_alone(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,worker,label,seen\n1,a,x,3\n1,a,y,20\n1,b,y,1\n")
    assert votes_of(cw.read_labels(path, duplicates="latest", time="seen")) == [(1, "a", "y"), (1, "b", "y")]
    assert votes_of(cw.read_labels(path, duplicates="last")) == [(1, "a", "y"), (1, "b", "y")]
    with pytest.raises(cw.CallError, match="does nothing without duplicates"):
        cw.read_labels(path, time="seen")
    with pytest.raises(cw.DataError, match="no column that looks like the time"):
        cw.read_labels(path, duplicates="latest")


SPELLED = [
    *[(1, "a", "Yes"), (1, "b", "yes"), (1, "c", "Yes"), (2, "a", "no"), (2, "b", "NO"), (2, "c", "maybe")],
    *[(3, "a", "NA"), (3, "b", "Na"), (3, "c", "Yes")],
]


def test_folding_keeps_the_commonest_spelling_on_every_engine(engine: Engine) -> None:
    rows = pl.DataFrame(SPELLED, schema=SCHEMA, orient="row")
    for table in (rows, rows.reverse()):
        labels = engine.read(table, fold_case=True, missing=["na"])
        assert labels.names.classes.to_list() == ["NO", "Yes", "maybe"]
        assert labels.report.missing == 2
    found = cw.MajorityVote().fit(labels)
    assert cw.accuracy(found, {1: "YES", 2: "no"}) == 1.0
    assert found.history is None or found.history.classes.to_list() == ["NO", "Yes", "maybe"]


def test_gold_and_states_in_another_case_name_the_same_class(tmp_path: Path) -> None:
    rows = cw.simulate(60, 8, 2, seed=2).rows
    upper = rows.with_columns(pl.col("label").str.to_uppercase())
    first = cw.aggregate(cw.Labels.from_frame(rows, fold_case=True), method="bwa")
    assert first.history is not None
    first.history.write(tmp_path / "state.npz")
    second = cw.Labels.from_frame(upper, fold_case=True)
    found = cw.aggregate(second, method="bwa", history=tmp_path / "state.npz")
    assert found.names.classes.to_list() == ["c1", "c2"]
    gold = dict.fromkeys(rows["item"].unique().to_list()[:5], "c1")
    assert cw.aggregate(second, method="bwa", gold=gold).names.classes.to_list() == ["C1", "C2"]


def test_declared_classes_are_classes_although_nobody_names_them(engine: Engine) -> None:
    rows = pl.DataFrame([(1, "a", "yes"), (2, "a", "yes"), (2, "b", "yes")], schema=SCHEMA, orient="row")
    labels = engine.read(rows, classes=["yes", "no", "unsure"])
    assert labels.names.classes.to_list() == ["no", "unsure", "yes"]
    found = cw.aggregate(labels) if engine.name == "memory" else cw.DawidSkene(max_iterations=2).fit(labels)
    assert found.lazy().select("confidence").collect()["confidence"].to_numpy().max() < 1


def test_a_label_outside_the_declared_classes_is_named(engine: Engine) -> None:
    rows = pl.DataFrame([(1, "a", "yes"), (2, "a", "noo"), (2, "b", "maybe")], schema=SCHEMA, orient="row")
    with pytest.raises(cw.DataError) as problem:
        engine.read(rows, classes=["yes", "no"])
    assert str(problem.value).startswith(
        "Column 'label' has the label 'noo', which is none of the declared classes ('no', 'yes'). Did you mean 'no'?"
    )


def test_classes_are_declared_in_the_type_of_the_labels(tmp_path: Path) -> None:
    numbers = cw.Labels.from_arrays([1, 1], ["a", "b"], [1, 2], classes=["1", "2", "3"])
    assert numbers.names.classes.to_list() == [1, 2, 3]
    booleans = cw.Labels.from_arrays([1, 1], ["a", "b"], [True, True], classes=["true", "false"])
    assert booleans.names.classes.to_list() == [False, True]
    path = tmp_path / "votes.csv"
    path.write_text("item,worker,label\n1,a,1\n1,b,2\n")
    assert cw.read_labels(path, classes=["1", "2", "none"]).names.classes.to_list() == ["1", "2", "none"]
    assert cw.read_labels(path, classes=[1, 2, 3]).names.classes.to_list() == [1, 2, 3]
    folded = cw.Labels.from_frame(
        pl.DataFrame([(1, "a", "YES")], SCHEMA, orient="row"), fold_case=True, classes=["yes"]
    )
    assert folded.names.classes.to_list() == ["yes"]
    for wrong in ([], ["a", "a"], ["a", None], 3):
        with pytest.raises(cw.CallError, match="classes"):
            cw.Labels.from_arrays([1], ["a"], ["a"], classes=wrong)  # type: ignore[arg-type]
    with pytest.raises(cw.CallError, match="values that cannot be labels"):
        cw.Labels.from_arrays([1], ["a"], [1], classes=["a"])
    with pytest.raises(cw.CallError, match="is for classes, and these labels are numbers"):
        cw.read_labels(path, classes=["1"], numeric=True)


def test_the_command_line_declares_classes_and_takes_samples(run: Command, tmp_path: Path) -> None:
    path, classes = tmp_path / "votes.csv", tmp_path / "classes.txt"
    path.write_text("item,worker,label\n1,a,yes\n1,a,yes\n1,b,yes\n2,b,yes\n")
    classes.write_text("no\nyes\n")
    for given in ("yes, no", str(classes)):
        done = run("aggregate", str(path), "--classes", given, "--duplicates", "samples", "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert {row["runner_up"] for row in found["labels"]} == {"no"}
        assert [row["votes"] for row in found["labels"]] == [3, 1]
    done = run("aggregate", str(path), "--classes", "no,maybe")
    assert done.returncode == 1
    assert "'yes', which is none of the declared classes" in done.stderr


def test_the_report_says_which_samples_belong_together(tmp_path: Path) -> None:
    rows, _ = sampled_judges(items=30, samples=2)
    labels = cw.Labels.from_frame(rows, duplicates="samples")
    cw.report(cw.MajorityVote().fit(labels), labels, path=tmp_path / "report.html")
    assert "Sample of" in (tmp_path / "report.html").read_text()
    numbers = cw.Numbers.from_arrays([1, 1, 1], ["a", "a", "b"], [2.0, 2.0, 3.0], duplicates="samples")
    workers = cw.aggregate(numbers).workers_frame()
    assert workers["worker"].to_list() == ["a", "a#2", "b"]
    assert workers["sample_of"].to_list() == ["a", "a", None]


def test_samples_that_share_the_errors_of_their_judge_do_not_outvote_the_others() -> None:
    """Three samples of each of five judges, each of which repeats the view of its judge nine times of ten."""
    random = np.random.default_rng(0)
    truth = random.integers(2, size=300)
    rows = []
    for item, true in enumerate(truth.tolist()):
        for judge, accuracy in enumerate((0.75, 0.7, 0.72, 0.8, 0.77)):
            view = true if random.random() < accuracy else 1 - true
            rows += [(item, f"j{judge}", view if random.random() < 0.9 else 1 - view) for _ in range(3)]
    labels = cw.Labels.from_frame(pl.DataFrame(rows, schema=SCHEMA, orient="row"), duplicates="samples")
    known = dict(enumerate(truth.tolist()))
    found = cw.Adjudicator().fit(labels, warn=False)
    assert cw.accuracy(found, known) > cw.accuracy(cw.MajorityVote().fit(labels), known) - 0.02
    assert np.array_equal(found.workers.counted_as, np.full(15, 1 / 3))  # type: ignore[arg-type]  # they are there
    (caution,) = (one for one in found.cautions if one.kind == "copies")
    assert caution.sentence.startswith("Samples of one worker count together as one")
    with pytest.raises(cw.CallError, match="which are one class if the case of letters is folded"):
        cw.Labels.from_frame(
            pl.DataFrame(rows[:1], schema=SCHEMA, orient="row").cast(pl.String), fold_case=True, classes=["yes", "YES"]
        )
