"""Reading exports of annotation platforms: what is a vote, what is a truth, what is neither, and what is refused."""

import gzip
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.platforms import gathering
from crowdwise.reading.read_answers import read_answers
from tests.support.exports import (
    EXAMPLES,
    VOTES,
    Example,
    annotation,
    as_lines,
    in_table,
    label_studio,
    mturk,
    result,
    zipped,
)
from tests.support.tagged_crowds import simulate

# Items and labels of one question, first without a label, then numbers, then text.
MIXED = [
    (1, "ann", None),
    (2, "ann", None),
    (3, "ann", 4),
    (4, "bob", 5),
    ("x", "ann", "good"),
    (7, "bob", 4),
    (8, "a", 5),
]
each_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())


def votes_in(labels: cw.Labels) -> list[tuple[Any, ...]]:
    """The votes as rows, in an order of their own."""
    names = labels.names
    columns = (
        names.items.gather(labels.item_of),
        names.workers.gather(labels.workers),
        names.classes.gather(labels.labels),
    )
    return sorted(zip(*map(list, columns), strict=True), key=str)


def read_tasks(folder: Path, tasks: list[dict[str, Any]], **options: Any) -> cw.Labels:
    """Read tasks of Label Studio."""
    path = folder / "tasks.json"
    path.write_text(json.dumps(tasks))
    labels: cw.Labels = cw.read_labels(path, **options)
    return labels


def task(item: Any, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": item, "data": {"text": "x"}, "annotations": list(annotations), **more}


@each_example
def test_votes_are_read_and_nothing_is_lost(example: Example, tmp_path: Path) -> None:
    path = example.write(tmp_path)
    labels = cw.read_labels(path, **example.options)
    assert votes_in(labels) == sorted(example.votes, key=str)
    assert labels.report.rows == len(example.votes) + sum(labels.report.left_out.values())
    said = labels.report.understood[0]
    assert said.startswith(f"{path if path.is_file() else tmp_path}")
    assert " is a" in said
    table = read_answers(path, **example.options)
    questions = cw.questions(path, **example.options)
    assert max(questions["answers"].to_list()) >= len(example.votes)
    assert table.filter(status="", gold=False, kind="human").drop_nulls("label").height >= len(example.votes)


@each_example
def test_truths_are_read_of_the_same_file(example: Example, tmp_path: Path) -> None:
    path = example.write(tmp_path)
    if example.truths:
        assert dict(cw.read_truth(path, **example.options).rows()) == example.truths
    else:
        with pytest.raises(cw.DataError, match="has no known truth in it"):
            cw.read_truth(path, **example.options)


def votes_on_disk(labels: Any) -> list[tuple[Any, ...]]:
    """The votes of all parts as rows, in an order of their own."""
    parts = [(labels.load(number), labels.item_names(number)) for number in range(labels.n_parts)]
    rows = [
        (items[int(item)], part.names.workers[int(worker)], part.names.classes[int(label)])
        for part, items in parts
        for item, worker, label in zip(part.item_of, part.workers, part.labels, strict=True)
    ]
    return sorted(rows, key=str)


def same_on_disk(source: Path, **options: Any) -> list[tuple[Any, ...]]:
    """The votes, which are the same in memory and on disk, as is what is reported about them."""
    in_memory = cw.read_labels(source, **options)
    with cw.read_labels(source, engine="disk", **options) as on_disk:
        assert votes_on_disk(on_disk) == votes_in(in_memory)
        understood = tuple(one for one in on_disk.report.understood if not one.startswith("On disk, "))
        assert replace(on_disk.report, pace=None, understood=understood) == replace(in_memory.report, pace=None)
        assert not list(Path(on_disk.folder).rglob("kept"))  # answers leave the disk when they are labels
    return votes_in(in_memory)


@each_example
def test_every_engine_reads_the_same_votes(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "_BATCH", 5)  # so that these few answers are written to several files
    assert same_on_disk(example.write(tmp_path), **example.options) == sorted(example.votes, key=str)


def test_types_that_change_within_an_export_become_text_on_every_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_BATCH", 2)
    tasks = [task(item, annotation(worker, result(label, "rating"))) for item, worker, label in MIXED]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    as_text = sorted((str(item), worker, str(label)) for item, worker, label in MIXED if label is not None)
    assert same_on_disk(tmp_path / "tasks.json") == as_text
    several = [task(item, annotation("ann", result(["a", "b"]))) for item in range(5)]
    (tmp_path / "several.json").write_text(json.dumps(several))
    assert len(same_on_disk(tmp_path / "several.json", multi="each")) == 10
    assert len(same_on_disk(tmp_path / "several.json", multi="set")) == 10


def test_several_classes_are_the_same_questions_on_disk(tmp_path: Path) -> None:
    crowd = simulate(3, items=40)
    by_item = crowd.answers.group_by("item", maintain_order=True).agg("worker", "labels")
    tasks = [
        task(item, *(annotation(worker, result(named)) for worker, named in zip(workers, sets, strict=True)))
        for item, workers, sets in by_item.rows()
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    assert {vote[2] for vote in same_on_disk(tmp_path / "tasks.json", multi="each")} == {"yes", "no"}
    cells = crowd.answers.with_columns(pl.col("labels").list.join(";")).vstack(
        pl.DataFrame(
            {"item": [0, 77], "worker": ["w8", "w8"], "labels": ["c00;c01", ""]}, schema_overrides={"item": pl.Int64}
        )
    )
    cells.write_csv(tmp_path / "cells.csv")
    same_on_disk(tmp_path / "cells.csv", multi="each", separator=";", missing=["c05"])
    for key in ("mv", "ds", "adjudicator"):
        options: dict[str, Any] = {"multi": "each", "method": key, "warn": False}
        on_disk = cw.aggregate(tmp_path / "tasks.json", engine="disk", **options)
        # In memory the adjudicator has a model for sets; on disk it does as for any crowd of two classes.
        questions = cw.read_labels(tmp_path / "tasks.json", multi="each")
        in_memory = cw.aggregate(replace(questions, sets=None), method=key, warn=False)
        tables = [one.to_frame(probabilities=True) for one in (in_memory, on_disk)]
        both = tables[0].join(tables[1], on="item")
        assert both.height == tables[1].height == questions.n_items
        assert both["probability_yes"].to_list() == pytest.approx(both["probability_yes_right"].to_list(), abs=1e-6)


def test_auto_keeps_answers_in_memory_while_they_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "_BATCH", 2)
    path = label_studio().write(tmp_path)
    (tmp_path / "work").mkdir()
    options: dict[str, Any] = {"engine": "auto", "workdir": tmp_path / "work"}
    with cw.read_labels(path, memory="600B", **options) as labels:
        assert votes_on_disk(labels) == VOTES
    in_memory = cw.read_labels(path, memory="1GB", **options)
    assert votes_in(in_memory) == VOTES
    assert not list((tmp_path / "work").iterdir())


@each_example
def test_the_format_can_be_named_and_packed(example: Example, tmp_path: Path) -> None:
    path = example.write(tmp_path)
    if path.is_dir():
        return
    named = cw.read_labels(path, format=example.key, **example.options)
    assert votes_in(named) == sorted(example.votes, key=str)
    if path.suffix != ".zip":
        packed = tmp_path / f"{path.name}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert votes_in(cw.read_labels(packed, **example.options)) == sorted(example.votes, key=str)
        with (tmp_path / "in.zip").open("wb") as file:
            file.write(zipped({f"folder/{path.name}": path.read_bytes()}))
        assert votes_in(cw.read_labels(tmp_path / "in.zip", **example.options)) == sorted(example.votes, key=str)
    with path.open("rb") as stream:
        if example.key != "prodigy":
            assert votes_in(cw.read_labels(stream, **example.options)) == sorted(example.votes, key=str)


def test_label_studio_counts_what_is_no_vote(tmp_path: Path) -> None:
    path = label_studio().write(tmp_path)
    labels = cw.read_labels(path)
    assert labels.report.left_out == {
        "cancelled annotations without any answer": 1,
        "empty annotations without any answer": 1,
        "cancelled answer not used": 1,
        "draft answer not used": 1,
        "answer is a known truth, and no votes": 1,
        "predictions of 1 model not used; --models takes them": 4,
    }
    assert "4 predictions are in the export by their number only." in labels.report.understood
    with_more = cw.read_labels(path, models=True, status=["draft", "Cancelled"])
    assert with_more.n_labels == len(VOTES) + 4 + 2
    assert {"m1", "dan", "8"} <= set(with_more.names.workers)
    by_url = cw.read_labels(path, item="data.url")
    assert sorted(by_url.names.items) == ["u1", "u2", "u3", "u4"]
    assert cw.read_truth(path, item="data.url").rows() == [("u1", "a")]


def test_label_studio_choices_of_every_kind(tmp_path: Path) -> None:
    nested = task(1, annotation(1, result([["Animal", "Dog"]])), annotation(2, result([["Animal", "Cat"]])))
    assert votes_in(read_tasks(tmp_path, [nested])) == [(1, "1", "Animal / Dog"), (1, "2", "Animal / Cat")]
    paths = task(1, annotation(1, result([["A", "B"]], "taxonomy")), annotation(2, result([["A"]], "taxonomy")))
    assert votes_in(read_tasks(tmp_path, [paths])) == [(1, "1", "A / B"), (1, "2", "A")]
    ratings = task(1, annotation(1, result(4, "rating")), annotation(2, result(5, "rating")))
    assert votes_in(read_tasks(tmp_path, [ratings])) == [(1, "1", 4), (1, "2", 5)]
    pairs = task(1, annotation(1, result("left", "pairwise")), annotation(2, result("right", "pairwise")))
    compared = read_tasks(tmp_path, [pairs])
    assert votes_in(compared) == [(1, "1", "left"), (1, "2", "right")]
    assert sum("crowdwise rank" in remark for remark in compared.report.understood) == 1


def test_label_studio_refuses_what_is_no_class(tmp_path: Path) -> None:
    with pytest.raises(cw.DataError, match=r"asks for no classes: it has 'mood' \(1 answer, free text\)"):
        read_tasks(tmp_path, [task(1, annotation(1, result(["a"], "textarea")))])
    region = result("a")
    region["value"]["start"] = 3
    with pytest.raises(cw.DataError, match="a choice for each part of an item"):
        read_tasks(tmp_path, [task(1, annotation(1, region))])
    shares_its_id = [result(["PER"], "labels", "name"), result("a")]
    with pytest.raises(cw.DataError, match=r"'mood' \(1 answer, a choice for each part of an item\)"):
        read_tasks(tmp_path, [task(1, annotation(1, *shares_its_id))])
    with pytest.raises(cw.DataError, match="asks for a ranking"):
        read_tasks(tmp_path, [task(1, annotation(1, result([], "ranker"), result("a", question="x")))], question="mood")


def test_label_studio_of_other_versions(tmp_path: Path) -> None:
    legacy = {"id": 1, "data": {"text": "x"}, "completions": [annotation(1, result("a")), annotation(2, skipped=True)]}
    assert votes_in(read_tasks(tmp_path, [legacy])) == [(1, "1", "a")]
    one = tmp_path / "one.json"
    one.write_text(json.dumps(task(1, annotation(1, result("a")))))
    assert votes_in(cw.read_labels(one)) == [(1, "1", "a")]
    folder = tmp_path / "storage"
    folder.mkdir()
    for number, worker in enumerate(("ann", "bob")):
        stored = annotation({"id": number, "email": worker}, result("a"), task={"id": 7, "data": {"text": "x"}})
        (folder / f"{number}.json").write_text(json.dumps(stored))
    assert votes_in(cw.read_labels(folder)) == [(7, "ann", "a"), (7, "bob", "a")]
    long = task(1, *(annotation(number, result("a"), note="x" * 100) for number in range(1000)))
    long["data"] = long.pop("data")  # after the annotations, which are longer than what is looked at
    assert read_tasks(tmp_path, [long]).n_labels == 1000


def test_accepted_predictions_are_counted_and_are_votes(tmp_path: Path) -> None:
    labels = read_tasks(tmp_path, [task(1, annotation(1, result("a", origin="prediction")))])
    assert labels.n_labels == 1
    assert "1 answers were accepted from a prediction without a change, and are votes." in labels.report.understood


def test_several_questions_are_listed(tmp_path: Path) -> None:
    two = [task(1, annotation(1, result("a"), result("x", question="tone")), annotation(2, result("b")))]
    with pytest.raises(cw.CallError, match=r"has 2 questions: 'mood' \(2 answers\), 'tone' \(1 answer\). Choose one"):
        read_tasks(tmp_path, two)
    assert read_tasks(tmp_path, two, question="tone").n_labels == 1
    with pytest.raises(cw.CallError, match=r"has no question 'mod'.*Did you mean 'mood'"):
        read_tasks(tmp_path, two, question="mod")


def test_multi_select_is_refused_until_the_user_says_what_it_means(tmp_path: Path) -> None:
    tasks = [
        task(1, annotation(1, result(["a", "b"])), annotation(2, result(["a"]))),
        task(2, annotation(1, result(["c"])), annotation(2, result([]))),
        task(3, annotation(9, result(["a", "c"]), ground_truth=True)),
    ]
    with pytest.raises(cw.CallError, match=r"2 of 4 answers .* chose no class or several; first: '1' on item 1"):
        read_tasks(tmp_path, tasks)
    with pytest.raises(cw.CallError, match=r"duplicates='last' \(--duplicates\) does nothing here"):
        read_tasks(tmp_path, tasks, multi="set", duplicates="last")
    as_sets = read_tasks(tmp_path, tasks, multi="set")
    assert as_sets.set_valued
    assert as_sets.report.left_out["empty answer not used"] == 1
    each = read_tasks(tmp_path, tasks, multi="each")
    assert each.n_labels == 3 * 2  # a, b and c were each named for one item, which two workers looked at
    assert ("2: c", "1", "yes") in votes_in(each)
    assert ("2: c", "2", "no") in votes_in(each)
    truths = cw.read_truth(tmp_path / "tasks.json", multi="each")
    assert dict(truths.rows()) == {"3: a": "yes", "3: b": "no", "3: c": "yes"}


def test_free_text_is_recognised(tmp_path: Path) -> None:
    tasks = [task(item, annotation(1, result(f"thought {item}"))) for item in range(200)]
    with pytest.raises(cw.DataError, match="have 200 different values; this looks like free text"):
        read_tasks(tmp_path, tasks)


def test_workers_may_be_named_by_files_and_folders(tmp_path: Path) -> None:
    for worker in ("ann", "bob"):
        tasks = [task(item, annotation(None, result("a"))) for item in (1, 2)]
        (tmp_path / f"{worker}.json").write_text(json.dumps(tasks))
        (tmp_path / worker).mkdir()
        (tmp_path / worker / "votes.csv").write_text("item,label\n1,a\n2,b\n")
    with pytest.raises(cw.DataError, match=r"does not say who answered about item 1.*--worker-from"):
        cw.read_labels(tmp_path / "ann.json")
    assert sorted(cw.read_labels(tmp_path / "*.json", worker_from="file").names.workers) == ["ann", "bob"]
    for engine in ("memory", "disk"):
        labels = cw.read_labels(tmp_path / "*/votes.csv", worker_from="folder", engine=engine)
        assert sorted(labels.names.workers) == ["ann", "bob"]
        assert labels.n_labels == 4
    with pytest.raises(cw.CallError, match="both name the worker"):
        cw.read_labels(tmp_path / "*/votes.csv", worker_from="folder", worker="item")
    with (tmp_path / "ann.json").open("rb") as stream, pytest.raises(cw.DataError, match="could name its worker"):
        cw.read_labels(stream, worker_from="file")


def test_what_does_nothing_is_refused(tmp_path: Path) -> None:
    path = label_studio().write(tmp_path)
    with pytest.raises(cw.CallError, match=r"pairs= \(--column-pairs\) does nothing for a Label Studio export"):
        cw.read_labels(path, pairs="a{n}=b{n}")
    with pytest.raises(cw.CallError, match=r"worker= \(--worker-column\) does nothing for a Label Studio export"):
        cw.read_labels(path, worker="completed_by")
    with pytest.raises(cw.CallError, match=r"label= \(--label-column\) does nothing for .*: question="):
        cw.read_labels(path, label="mood", format="label-studio")
    with pytest.raises(cw.CallError, match=r"no option 'modles' of reading. Did you mean 'models'"):
        cw.read_labels(path, modles=True)  # type: ignore[call-overload]
    with pytest.raises(cw.CallError, match=r"no format 'label-studo'.*Did you mean 'label-studio'"):
        cw.read_labels(path, format="label-studo")
    other = tmp_path / "other.csv"
    other.write_text("item,worker,label\n1,a,x\n")
    with pytest.raises(cw.DataError, match=r"is a Label Studio export, but .*other.csv is not"):
        cw.read_labels([path, other])
    with pytest.raises(
        cw.CallError, match=r"is a table and no export of a platform: models= \(--models\) does nothing"
    ):
        cw.read_labels(other, models=True)


def test_a_named_column_of_labels_means_a_table(tmp_path: Path) -> None:
    path = mturk().write(tmp_path)
    labels = cw.read_labels(path, item="HITId", worker="WorkerId", label="Answer.mood.label")
    assert labels.n_labels == len(VOTES) + 1  # the rejected answer counts: nobody says that this is a batch


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": 1, "data": {}, "annotations": [3]}, "an annotation of task 1 is no object"),
        ({"data": {}, "annotations": []}, "task 1 has no 'id'"),
        ({"id": [1], "data": {}, "annotations": []}, "task 1 has neither text nor a number as 'id'"),
        (task(1, annotation(1, {"type": "choices", "value": {"choices": "a"}})), "the choices of task 1 is no list"),
    ],
)
def test_bad_exports_are_refused_in_a_sentence(entry: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(cw.DataError, match=f"This looks like a Label Studio export, but .*tasks.json: {said}. Export"):
        read_tasks(tmp_path, [entry])


def test_broken_json_names_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    whole = json.dumps([task(item, annotation(1, result("a"))) for item in range(5)])
    for end, said in ((-1, "after entry 5 is nothing"), (-30, "entry 5"), (whole.index('"id": 2') + 4, "entry 3")):
        path.write_text(whole[:end])
        with pytest.raises(cw.DataError, match=f"is no sound JSON: {said}"):
            cw.read_labels(path)
    path.write_text(whole + "}")
    with pytest.raises(cw.DataError, match="after its array is '}'"):
        cw.read_labels(path)


def test_small_label_studio_exports_find_their_question(tmp_path: Path) -> None:
    row = {"text": "x", "annotation_id": 1, "lead_time": 1, "id": 1, "annotator": 1, "mood": "a", "score": "[1]"}
    rows = [row, {**row, "annotator": 2, "mood": {"choices": ["a", "b"]}}, {**row, "annotator": 3, "mood": "b"}]
    path = tmp_path / "min.json"
    path.write_text(json.dumps(rows))
    assert cw.read_labels(path, multi="set").report.columns["label"] == "mood"
    path.write_text(json.dumps(rows[:1]))
    with pytest.raises(cw.CallError, match=r"does not mark which columns are answers.*'text', 'mood'"):
        cw.read_labels(path)
    assert votes_in(cw.read_labels(path, question="mood")) == [(1, "1", "a")]
    values = [[{"rating": 4}], [{"rating": 5}]], [[{"taxonomy": [["A", "B"]]}], [{"taxonomy": [["A"]]}]]
    for one, other in values:
        path.write_text(json.dumps([{**row, "mood": one}, {**row, "annotator": 2, "mood": other}]))
        assert votes_in(cw.read_labels(path))[0][2] in (4, "A / B")


def test_argilla_in_parquet_knows_the_names_of_classes(tmp_path: Path) -> None:
    records = pl.DataFrame(
        {
            "id": ["r1", "r2"],
            "q.responses": [["b", "a"], None],
            "q.responses.users": [["ann", "bob"], None],
            "q.responses.status": [["submitted", "draft"], None],
            "q.suggestion": [1, 0],
            "q.suggestion.agent": ["gpt", "gpt"],
        }
    )
    features = {"q.suggestion": {"_type": "ClassLabel", "names": ["a", "b"]}, "id": {"dtype": "string"}}
    path = tmp_path / "train.parquet"
    records.write_parquet(path, metadata={"huggingface": json.dumps({"info": {"features": features}})})
    assert votes_in(cw.read_labels(path)) == [("r1", "ann", "b")]
    votes = votes_in(cw.read_labels(path, models=True))
    assert votes == [("r1", "ann", "b"), ("r1", "gpt", "b"), ("r2", "gpt", "a")]


def test_argilla_settings_say_the_type_of_a_question(tmp_path: Path) -> None:
    example = EXAMPLES["argilla-nested"]
    path = example.write(tmp_path)
    assert any("drafts or were discarded" in one for one in cw.read_labels(path).report.understood)
    (tmp_path / ".argilla" / "settings.json").write_text('{"questions": [{"name": "q", "settings": {"type": "text"}}]}')
    with pytest.raises(cw.DataError, match=r"asks for no classes: it has 'q' .*free text"):
        cw.read_labels(path)


def test_argilla_as_columns(tmp_path: Path) -> None:
    records = EXAMPLES["argilla-flat"].data
    path = tmp_path / "records.json"
    path.write_text(json.dumps({name: [one.get(name) for one in records] for name in records[0]}))
    assert votes_in(cw.read_labels(path)) == sorted(EXAMPLES["argilla-flat"].votes, key=str)


def test_doccano_projects_that_have_no_votes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "doccano.zip"
    shared = as_lines(
        [{"id": 1, "text": "x", "label": ["a"], "by": "ann"}, {"id": 1, "text": "x", "label": ["b"], "by": "bob"}]
    )
    path.write_bytes(zipped({"all.jsonl": shared}))
    with pytest.raises(cw.DataError, match=r"collaborative project.*name it by --worker"):
        cw.read_labels(path)
    assert votes_in(cw.read_labels(path, worker="by")) == [(1, "ann", "a"), (1, "bob", "b")]
    path.write_bytes(zipped({"ann.txt": b"__label__a Nice\n"}))
    with pytest.raises(cw.DataError, match="fastText, which has no ids"):
        cw.read_labels(path)
    path.write_bytes(zipped({"ann.jsonl": as_lines([{"id": 1, "text": "x", "label": [[0, 4, "PER"]]}])}))
    with pytest.raises(cw.DataError, match="1 answer, spans"):
        cw.read_labels(path)
    path.write_bytes(
        zipped({"ann.csv": b"id,text,label\n1,x,a#b\n2,y,c\n3,z,\n", "bob.csv": b"id,text,label\n1,x,a\n"})
    )
    with pytest.raises(cw.CallError, match="chose no class or several"):
        cw.read_labels(path)
    assert cw.read_labels(path, multi="set").report.left_out == {"examples that a member did not label": 1}


def test_prodigy_binary_answers_and_sessions(tmp_path: Path) -> None:
    line = {"_input_hash": 1, "_task_hash": 2, "label": "SPAM", "_session_id": "2024-02-06_10-17-19"}
    path = tmp_path / "spam.jsonl"
    path.write_bytes(as_lines([{**line, "answer": "accept"}, {**line, "answer": "ignore", "_session_id": "x"}]))
    labels = cw.read_labels(path)
    assert votes_in(labels) == [(1, "2024-02-06_10-17-19", "accept")]
    assert labels.report.left_out == {"ignore answer not used": 1}
    assert any("somebody who began anew is two workers" in one for one in labels.report.understood)
    path.write_bytes(as_lines([{"_input_hash": 1, "_task_hash": 2, "answer": "reject", "label": "SPAM"}]))
    assert votes_in(cw.read_labels(path)) == [(1, "spam", "reject")]


BATCH = ["HITId", "WorkerId", "AssignmentStatus"]


def read_batch(folder: Path, names: list[str], rows: list[list[str]], **options: Any) -> cw.Labels:
    files = in_table("batch.csv")([BATCH + names, *(["H1", f"w{n}", "Approved", *row] for n, row in enumerate(rows))])
    (folder / "batch.csv").write_bytes(files["batch.csv"])
    labels: cw.Labels = cw.read_labels(folder / "batch.csv", **options)
    return labels


def test_mechanical_turk_options_that_are_on_or_off(tmp_path: Path) -> None:
    names = ["Answer.cat.on", "Answer.dog.on"]
    one = read_batch(tmp_path, names, [["true", "false"], ["false", "true"]])
    assert votes_in(one) == [("H1", "w0", "cat"), ("H1", "w1", "dog")]
    with pytest.raises(cw.CallError, match=r"has 2 questions: 'cat' \(2 answers\), 'dog' \(2 answers\)"):
        read_batch(tmp_path, names, [["true", "true"], ["false", "true"]])
    each = read_batch(tmp_path, names, [["true", "true"], ["false", "true"]], question="cat")
    assert votes_in(each) == [("H1", "w0", "yes"), ("H1", "w1", "no")]


def test_mechanical_turk_answers_in_json(tmp_path: Path) -> None:
    names = ["Answer.taskAnswers"]
    said = [[json.dumps([{"mood": {"label": label}}])] for label in "ab"]
    assert votes_in(read_batch(tmp_path, names, said)) == [("H1", "w0", "a"), ("H1", "w1", "b")]
    said = [[json.dumps([{"q": {"A": label == "a", "B": label == "b"}}])] for label in "ab"]
    assert votes_in(read_batch(tmp_path, names, said)) == [("H1", "w0", "A"), ("H1", "w1", "B")]
    said = [[json.dumps([{"mood": {"labels": ["a", "b"]}}])]]
    with pytest.raises(cw.CallError, match="chose no class or several"):
        read_batch(tmp_path, names, said)
    with pytest.raises(cw.DataError, match=r"a Mechanical Turk batch, but .*taskAnswers of row 1 is no JSON"):
        read_batch(tmp_path, names, [["[{"]])


def test_mechanical_turk_with_several_items_in_a_hit(tmp_path: Path) -> None:
    names = ["Input.text1", "Input.text2", "Answer.q1", "Answer.q2", "Answer.remark"]
    rows = [["x", "y", "a", "b", "fine"], ["x", "y", "b", "b", ""], ["z", "", "a", "", ""]]
    with pytest.raises(cw.CallError, match=r"2 items in each HIT.*--column-pairs 'Input.text\{n\}=Answer.q\{n\}'"):
        read_batch(tmp_path, names, rows)
    labels = read_batch(tmp_path, names, rows, pairs="Input.text{n}=Answer.q{n}")
    votes = [("x", "w0", "a"), ("x", "w1", "b"), ("y", "w0", "b"), ("y", "w1", "b"), ("z", "w2", "a")]
    assert votes_in(labels) == votes
    assert labels.report.rows == 9 == labels.n_labels + sum(labels.report.left_out.values())
    with pytest.raises(cw.CallError, match="has to be as in"):
        read_batch(tmp_path, names, rows, pairs="Input.text")


def test_ground_truth_manifests(tmp_path: Path) -> None:
    path = tmp_path / "output.manifest"
    plain = {"source-ref": "s3://x", "species": 0, "species-metadata": {"class-name": "dog", "confidence": 0.8}}
    path.write_bytes(as_lines([plain]))
    with pytest.raises(cw.DataError, match=r"has no vote in it.*consolidated already.*worker-response"):
        cw.read_labels(path)
    assert cw.read_truth(path).rows() == [("s3://x", "dog")]
    content = json.dumps({"species": {"label": "dog"}})
    workers = [{"workerId": worker, "annotationData": {"content": content}} for worker in ("ann", "bob")]
    path.write_bytes(
        as_lines([{"source-ref": "s3://x", "job": {"annotationsFromAllWorkers": workers}, "job-metadata": {}}])
    )
    assert votes_in(cw.read_labels(path)) == [("s3://x", "ann", "dog"), ("s3://x", "bob", "dog")]


def test_ground_truth_folders_are_not_counted_twice(tmp_path: Path) -> None:
    EXAMPLES["ground-truth"].write(tmp_path)
    EXAMPLES["consolidation"].write(tmp_path)
    with pytest.raises(cw.CallError, match="or the votes are counted twice"):
        cw.read_labels([tmp_path / "iteration-1", tmp_path / "request.json"])


def test_toloka_with_several_inputs(tmp_path: Path) -> None:
    header = ["INPUT:a", "INPUT:b", "OUTPUT:q", "ASSIGNMENT:worker_id"]
    rows = [header, ["1", "2", "x", "w"], [], ["1", "3", "y", "w"]]
    path = tmp_path / "pool.tsv"
    path.write_bytes(in_table("t", "\t")(rows)["t"])
    labels = cw.read_labels(path)
    assert votes_in(labels) == [("1 / 2", "w", "x"), ("1 / 3", "w", "y")]
    assert any("all of INPUT:a, INPUT:b, joined" in one for one in labels.report.understood)
    assert sorted(cw.read_labels(path, item="INPUT:b").names.items) == ["2", "3"]


def test_labelbox_asks_which_project(tmp_path: Path) -> None:
    (first, *_) = EXAMPLES["labelbox"].data
    both = {**first, "projects": {**first["projects"], "p2": first["projects"]["p1"]}}
    path = tmp_path / "export.ndjson"
    path.write_bytes(as_lines([both]))
    with pytest.raises(cw.CallError, match=r"has 2 questions: 'p1 / Mood' .*'p2 / Mood'"):
        cw.read_labels(path)
    assert cw.read_labels(path, question="p2 / Mood").n_labels == 3


def test_qualtrics_needs_to_know_the_items(tmp_path: Path) -> None:
    path = EXAMPLES["qualtrics"].write(tmp_path)
    with pytest.raises(cw.CallError, match=r"is a survey, whose columns are the items.*--item-pattern"):
        cw.read_labels(path)
    for items, said in (("Q(", "no regular expression"), ("Q.", "has 0 groups"), (r"X(\d+)", "No column of")):
        with pytest.raises(cw.CallError, match=said):
            cw.read_labels(path, items=items)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xml", b'<?xml version="1.0"?>\n<annotations><version>1.1</version></annotations>', "a CVAT export, which"),
        ("a.zip", zipped({"annotations.xml": b"<annotations>"}), "a CVAT export, which does not say who"),
        ("b.zip", zipped({"exportedproject1.json": b"{}", "annotation/x.xmi": b""}), "an INCEpTION project"),
        ("s.json", b'[{"task_id": "1", "callback_url": "", "params": {}}]', "looks like tasks of Scale"),
    ],
)
def test_platforms_without_votes_are_named(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cw.DataError, match=said):
        cw.read_labels(tmp_path / name)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "folder/x.csv"])
def test_a_zip_that_is_no_export_is_refused_by_its_beginning(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip of some kilobytes may unpack to gigabytes."""
    path = tmp_path / "spaces.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b" " * 2**20)
    whole: list[str] = []
    monkeypatch.setattr("crowdwise.sources.zips.unpacked_files", lambda *given: whole.append(given[-1]))
    with pytest.raises(cw.DataError, match="a zip of files that no known platform writes"):
        cw.read_labels(path)
    assert not whole
