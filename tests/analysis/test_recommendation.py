"""Tests of the one thing that is recommended at the end of a screen and a report."""

import html
import json
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.recommendation import recommend
from tests.support.commands import run
from tests.support.review_server import ReviewProcess


def test_without_gold_random_items_are_asked_for_and_say_what_they_are_worth() -> None:
    crowd = cw.simulate(400, 20, 3, accuracy=0.7, seed=1)
    result = cw.aggregate(crowd.labels)
    found = recommend(result, crowd.labels)
    assert (found.kind, found.decisions, found.minutes) == ("measure", 30, 15)
    assert found.command == "crowdwise review labels.csv --plan random:30"
    before, after = (text.split(" ")[0].split("-") for text in found.effect.split("from ")[1].split("to about "))
    now = result.expected_accuracy
    assert now.low_80 is not None
    assert before == [f"{100 * now.low_80:.0f}", f"{100 * (now.high_80 or 0):.0f}"]
    assert int(after[1]) - int(after[0]) < int(before[1]) - int(before[0])
    known = cw.aggregate(crowd.labels, gold=crowd.truth.sample(40, seed=1))
    assert recommend(known, crowd.labels).kind == "decide"


def test_answers_that_are_sure_enough_need_nothing() -> None:
    crowd = cw.simulate(3000, 12, 2, labels_per_item=10, accuracy=0.97, concentration=100, seed=1)
    result = cw.aggregate(crowd.labels, gold=crowd.truth.sample(300, seed=1))
    assert str(recommend(result, crowd.labels)).startswith("Next: nothing, because in four of five crowds, 90 %")


def test_a_small_crowd_is_decided_whole() -> None:
    crowd = cw.simulate(12, 5, 2, seed=1)
    found = recommend(cw.aggregate(crowd.labels, warn=False), crowd.labels)
    assert (found.kind, found.decisions) == ("decide", 12)


def test_rival_readings_are_settled_first() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 400)
    accuracies = [*random.uniform(0.6, 0.85, 30), 0.55]
    votes = [np.where(random.random(400) < one, truth, 1 - truth) for one in accuracies]
    votes += [np.where(random.random(400) < 0.9, votes[30], random.integers(0, 2, 400)) for _ in range(30)]
    workers, items = np.indices((61, 400))
    labels = cw.Labels.from_arrays(items.ravel(), workers.ravel(), np.stack(votes).ravel())
    result = cw.aggregate(labels, warn=False)
    readings = cw.rivals(result, labels)
    assert readings is not None
    found = recommend(result, labels, readings)
    assert (found.kind, found.decisions) == ("settle", 10)
    assert f"{max(readings.changed):,} answers depend on it" in str(found)


def test_the_command_that_is_recommended_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    crowd = cw.simulate(300, 12, 2, accuracy=0.75, seed=1)
    crowd.rows.rename({"worker": "who", "item": "my item"}).write_csv("my labels.csv")
    done = run("aggregate", "my labels.csv", "--worker", "who", "--item", "my item", "-m", "bwa", "--json")
    told = json.loads(done.stdout)["recommendation"]
    assert told["sentence"].startswith("Next: let an expert decide 30 random items (about 15 minutes): ")
    program, *arguments = shlex.split(told["command"])
    assert program == "crowdwise"
    truth = dict(crowd.truth.rows())
    with ReviewProcess.start(*arguments[1:]) as server:
        classes = {one["name"]: one["code"] for one in server.get("/api/state").json["classes"]}
        while (item := server.next()) is not None:
            assert server.decide(item, classes[truth[item["name"]]]).status == 200
    shown = run(
        "aggregate", "my labels.csv", "--worker", "who", "--item", "my item", "--gold", "my labels.decisions.csv"
    )
    assert shown.returncode == 0, shown.stderr
    assert "Next: " in shown.stdout


@pytest.mark.parametrize(("known", "kind"), [(10, "measure"), (60, "decide")])
def test_a_table_of_gold_is_continued_by_a_list_of_other_items(
    known: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    crowd = cw.simulate(300, 12, 2, accuracy=0.7, concentration=4, seed=2)
    crowd.rows.write_csv("votes.csv")
    crowd.truth.head(known).rename({"item": "thing"}).write_csv("my gold.csv")
    options = ("--gold", "my gold.csv", "--truth-item-column", "thing")
    done = run("aggregate", "votes.csv", *options, "-m", "bwa", "--json")
    told = json.loads(done.stdout)["recommendation"]
    assert told["kind"] == kind
    assert ("more random items" in told["sentence"]) == (kind == "measure")
    assert "add these items to my gold.csv" in told["sentence"]
    assert run("report", "votes.csv", *options, "-m", "bwa", "-o", "page.html").returncode == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert ("20 more known answers first" in page) == (kind == "measure")
    assert f"<code>{html.escape(told['command'], quote=False).replace(chr(39), '&#39;')}</code>" in page
    again = run(*shlex.split(told["command"])[1:])
    assert again.returncode == 0, again.stderr
    listed = pl.read_csv("decide.csv")
    assert listed.height == told["decisions"]
    assert not set(listed["item"]) & set(crowd.truth.head(known)["item"])
    assert set(listed["source"]) == {"random" if kind == "measure" else "chosen"}
