"""The commands on exports: questions, convert, truths of the same file, predictions that go back, and memory."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from tests.support.commands import Command
from tests.support.exports import EXAMPLES, VOTES, annotation, label_studio, result


def tasks(path: Path, count: int = 80, **more: Any) -> Path:
    """Write an export of Label Studio with three workers, of whom one is always wrong, and a few truths."""
    made = []
    for item in range(count):
        truth = "ab"[item % 2]
        said = [(1, truth), (2, truth), (3, "ab"[1 - item % 2])]
        annotations = [annotation(worker, result(label)) for worker, label in said]
        if item < 10:
            annotations.append(annotation(9, result(truth), ground_truth=True))
        made.append({"id": item, "data": {"text": f"text {item}"}, "annotations": annotations, **more})
    path.write_text(json.dumps(made))
    return path


def test_one_file_has_the_labels_and_the_truths(tmp_path: Path, run: Command) -> None:
    path = tasks(tmp_path / "export.json")
    compared = run("compare", path, "--truth", path, "--methods", "mv,bwa", "--json")
    assert compared.returncode == 0, compared.stderr
    assert {row["accuracy"] for row in json.loads(compared.stdout)["methods"]} == {1.0}
    with_gold = run("aggregate", path, "--gold", path, "-o", tmp_path / "out.csv")
    assert with_gold.returncode == 0, with_gold.stderr
    assert "is a Label Studio export; labels are the answers to the question 'mood'" in with_gold.stderr
    assert "10 answers are known truths, and no votes." in with_gold.stderr
    assert pl.read_csv(tmp_path / "out.csv")["gold"].sum() == 10


def test_questions_and_convert(tmp_path: Path, run: Command) -> None:
    path = label_studio().write(tmp_path)
    assert "The questions in a Label Studio export" in run("questions", path).stdout
    listed = run("questions", path, "--json")
    assert listed.returncode == 0, listed.stderr
    mood, reason = json.loads(listed.stdout)
    assert (mood["question"], mood["type"], mood["workers"], mood["models"], mood["gold"]) == (
        "mood",
        "choice",
        3,
        1,
        1,
    )
    assert (reason["question"], reason["type"]) == ("reason", "free text")
    out = tmp_path / "votes.parquet"
    assert run("convert", path, "-o", out).returncode == 0
    table = pl.read_parquet(out)
    assert table.columns == ["question", "item", "worker", "label", "kind", "status", "gold", "seconds", "time"]
    votes = table.filter(question="mood", kind="human", status="", gold=False)
    assert sorted(votes.select("item", "worker", "label").rows(), key=str) == sorted(VOTES, key=str)
    assert cw.read_labels(out, question=None).n_labels > len(VOTES)  # a table, in which everything is a row
    refused = run("convert", path, "-o", path)
    assert refused.returncode == 2
    assert "is an input" in refused.stderr


def test_predictions_go_back_to_label_studio(tmp_path: Path, run: Command) -> None:
    path = tasks(tmp_path / "export.json", predictions=[{"model_version": "m", "result": [result("a")]}])
    export = json.loads(path.read_text())
    export.append({"id": 999, "data": {"text": "new"}, "annotations": []})
    path.write_text(json.dumps(export))
    out = tmp_path / "predictions.json"
    done = run("aggregate", path, "--format", "label-studio", "-m", "mv", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "81 tasks with predictions for Label Studio; 1 have no vote, and so no prediction" in done.stderr
    back = json.loads(out.read_text())
    assert [task["id"] for task in back] == [*range(80), 999]
    assert back[-1] == {"id": 999, "data": {"text": "new"}, "predictions": []}
    ((prediction,), data) = (back[1]["predictions"], back[1]["data"])
    assert data == {"text": "text 1"}
    assert prediction["model_version"] == "crowdwise mv"
    assert prediction["score"] == pytest.approx(cw.MajorityVote().fit(cw.read_labels(path)).to_frame()["confidence"][1])
    assert prediction["result"] == [
        {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["b"]}}
    ]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(("kind", "value"), [("choices", [["A", "B"]]), ("taxonomy", [["A", "B / C"]]), ("rating", 4)])
def test_predictions_have_the_form_of_the_answers(kind: str, value: Any, tmp_path: Path, run: Command) -> None:
    made = [{"id": 1, "data": {"url": "u"}, "annotations": [annotation(1, result(value, kind))]}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(made))
    out = tmp_path / "predictions.json"
    done = run("aggregate", path, "--format", "label-studio", "-m", "mv", "--item", "data.url", "-o", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())[0]["predictions"][0]["result"][0]["value"] == {kind: value}


def test_predictions_go_nowhere_else(tmp_path: Path, run: Command) -> None:
    path = tasks(tmp_path / "export.json")
    out = tmp_path / "out.json"
    for arguments, said in [
        ((path, "-o", out), "say so by --format label-studio"),
        ((path, "--format", "label-studio", "--multi", "each", "-o", out), "no answer that Label Studio imports"),
        ((path, "--format", "label-studio", "-o", path), "is given twice"),
        (("-", "--format", "label-studio", "-o", out), "not standard input"),
    ]:
        done = run("aggregate", *arguments)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())
    assert not out.exists()
    other = EXAMPLES["toloka"].write(tmp_path)
    done = run("aggregate", other, "--format", "label-studio", "-o", out)
    assert done.returncode == 1
    assert not out.exists()
