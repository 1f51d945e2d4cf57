"""Tests of the lists for a manager: items to look at again, and workers worth a look."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.review import expected_errors
from tests.analysis.test_deciders import panel
from tests.support.commands import run


def with_spammer(often: float, seed: int = 2) -> pl.DataFrame:
    """A crowd of good workers, and one who says c1 nearly always."""
    rows = cw.simulate(400, 20, 3, labels_per_item=6, accuracy=0.8, concentration=50, seed=seed).rows
    says = np.where(np.random.default_rng(seed).random(120) < often, "c1", "c2")
    items = rows["item"].unique(maintain_order=True).head(120)
    spam = pl.DataFrame({"item": items, "worker": ["spam"] * 120, "label": says})
    return pl.concat([rows.select("item", "worker", "label"), spam])


@pytest.mark.parametrize("often", [1.0, 0.97, 0.93])
def test_a_spammer_who_slips_is_still_found(often: float) -> None:
    labels = cw.Labels.from_frame(with_spammer(often))
    for method in (cw.Adjudicator(), cw.BWA(), cw.MajorityVote()):
        told = dict(cw.unusual_workers(method.fit(labels), labels).rows())
        assert "Nearly always the same answer: said 'c1'" in told["spam"]


def test_a_worker_far_below_the_others_is_found_however_much_he_works() -> None:
    rows = cw.simulate(600, 12, 4, labels_per_item=6, accuracy=0.9, concentration=200, seed=4).rows
    random = np.random.default_rng(1)
    for share in (0.1, 0.5, 1.0):
        items = rows["item"].unique(maintain_order=True).head(int(600 * share))
        poor = pl.DataFrame(
            {
                "item": items,
                "worker": ["poor"] * len(items),
                "label": random.choice(["c1", "c2", "c3", "c4"], len(items)),
            }
        )
        labels = cw.Labels.from_frame(pl.concat([rows.select("item", "worker", "label"), poor]))
        assert list(dict(cw.unusual_workers(cw.aggregate(labels), labels).rows())) == ["poor"]


@pytest.mark.parametrize("seed", [1, 5, 9])
def test_the_worst_worker_is_found_also_where_workers_differ_much(seed: int) -> None:
    crowd = cw.simulate(600, 12, 5, labels_per_item=7, accuracy=0.7, concentration=10, seed=seed)
    random = np.random.default_rng(seed + 100)
    truth = crowd.truth.sample(348, seed=seed)
    error = random.integers(1, 5, 348) * (random.random(348) >= 0.28)
    said = [f"c{(int(true[1:]) - 1 + one) % 5 + 1}" for true, one in zip(truth["truth"], error, strict=True)]
    poor = pl.DataFrame({"item": truth["item"], "worker": ["poor"] * 348, "label": said})
    labels = cw.Labels.from_frame(pl.concat([crowd.rows.select("item", "worker", "label"), poor]))
    told = dict(cw.unusual_workers(cw.BWA().fit(labels), labels).rows())
    assert "Far below the others" in told["poor"]


def test_a_worker_who_takes_one_class_for_another_is_told_which() -> None:
    rows = cw.simulate(400, 10, 4, labels_per_item=6, accuracy=0.85, concentration=50, seed=8).rows
    # w01 takes 8 in 10 of what it would call c2 for c3.
    swapped = (pl.col("worker") == "w01") & (pl.col("label") == "c2") & (pl.col("item").str.slice(2) != "0")
    labels = cw.Labels.from_frame(
        rows.with_columns(pl.when(swapped).then(pl.lit("c3")).otherwise("label").alias("label"))
    )
    told = dict(cw.unusual_workers(cw.BWA().fit(labels), labels).rows())
    assert list(told) == ["w01"]
    assert "Takes 'c2' for 'c3': said 'c3' on " in told["w01"]


@pytest.mark.parametrize(("workers", "classes", "concentration"), [(10, 2, 50), (30, 4, 50), (60, 3, 1000)])
def test_honest_crowds_raise_no_alarm(workers: int, classes: int, concentration: float) -> None:
    alarms = 0
    for seed in range(20):
        crowd = cw.simulate(600, workers, classes, accuracy=0.8, concentration=concentration, seed=seed)
        found = cw.unusual_workers(cw.BWA().fit(crowd.labels), crowd.labels)
        alarms += any("Very few labels" not in reasons for reasons in found["reasons"])
    assert alarms <= 2


def test_copies_are_named(tmp_path: Path) -> None:
    rows = cw.simulate(300, 9, 3, labels_per_item=5, seed=3).rows
    first = rows["worker"][0]
    twin = rows.filter(pl.col("worker") == first).with_columns(worker=pl.lit("twin"))
    labels = cw.Labels.from_frame(pl.concat([rows, twin]))
    told = dict(cw.unusual_workers(cw.aggregate(labels), labels).rows())
    assert f"Says the same as {first}: 100% of the labels" in told["twin"]


def test_a_near_copy_is_never_listed_as_best_without_a_mark(tmp_path: Path) -> None:
    rows, _ = panel([0.8] * 7, 300, 1, copy_of_first=0.97)
    rows = rows.with_columns(pl.col("label").replace_strict({0: "no", 1: "yes"}))
    labels = cw.Labels.from_frame(rows)
    result = cw.Adjudicator(copies="separate").fit(labels)
    told = dict(cw.unusual_workers(result, labels).rows())
    assert "Agrees too often with w7: " in told["w0"]
    assert "Agrees too often with w0: " in told["w7"]
    rows.write_csv(tmp_path / "votes.csv")
    shown = run("aggregate", tmp_path / "votes.csv", "--set", "copies=separate").stdout
    best = shown[shown.index("Workers: the best") : shown.index("Least sure items")].splitlines()
    assert [line.split()[0] for line in best if "Agrees too often" in line] == ["w7", "w0"]
    cw.report(result, labels, path=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.index("The answers themselves may be wrong") < page.index("8 workers gave 2,400 labels")
    every = page[page.index("All workers") :]
    assert "Agrees too often with w7" in every
    assert "Agrees too often with w0" in every


def test_items_to_review_are_the_doubtful_ones_the_worst_first() -> None:
    labels = cw.simulate(200, 15, 3, accuracy=0.65, seed=6).labels
    result = cw.DawidSkene().fit(labels)
    table = cw.review(result, labels, top=200).filter(pl.col("reason").is_not_null())
    assert table.height == 200
    least_sure = cw.review(result, labels)
    assert least_sure.height == 20
    assert (least_sure["confidence"] < 0.8).all()
    assert least_sure.equals(table.head(20))
    assert cw.review(result, labels, below=0.7).equals(table.filter(pl.col("confidence") < 0.7))
    assert cw.review(result, labels, below=0.7, top=3).equals(table.head(3))
    held, errors = (1 - least_sure["confidence"]).sum(), (1 - result.confidence).sum()
    said = f"about {held:.0f} of the {errors:.0f} answers that are expected to be wrong."
    assert said in expected_errors(result, least_sure)
    assert table["confidence"].round(9).is_sorted()
    votes = cw.MajorityVote().fit(labels)
    differs = (votes.labels != result.labels).to_numpy() & ~votes.ties
    outvoted = table.filter(pl.col("majority") != pl.col("label"))
    assert outvoted.height == differs.sum() > 0
    assert outvoted["reason"].str.contains("but those who say so are trusted less").all()
    shuffled = cw.Labels.from_frame(
        cw.simulate(200, 15, 3, accuracy=0.65, seed=6).rows.sample(fraction=1, shuffle=True, seed=1)
    )
    assert cw.review(cw.DawidSkene().fit(shuffled), shuffled, top=200).equals(table)
    gold = {table["item"][0]: table["label"][0]}
    assert table["item"][0] not in cw.review(cw.DawidSkene().fit(labels, gold=gold), labels)["item"]


@pytest.mark.parametrize("limits", [{"top": 0}, {"top": 1.5}, {"below": 0}, {"below": 1.1}, {"below": True}])
def test_limits_that_make_no_list_are_refused(limits: dict[str, Any]) -> None:
    labels = cw.simulate(20, 5, seed=1).labels
    with pytest.raises(cw.CallError, match=f"{next(iter(limits))}="):
        cw.review(cw.MajorityVote().fit(labels), labels, **limits)


def test_the_command_writes_both_lists(tmp_path: Path) -> None:
    with_spammer(0.97).write_csv(tmp_path / "labels.csv")
    targets = [tmp_path / name for name in ("labels_out.csv", "workers.csv", "review.csv")]
    options = ["-o", targets[0], "--workers", targets[1], "--review", targets[2]]
    done = run("aggregate", str(tmp_path / "labels.csv"), *map(str, options), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [row["worker"] for row in told["unusual"]] == ["spam"]
    assert str(targets[2]) in told["written"]
    workers = pl.read_csv(targets[1])
    assert workers.filter(pl.col("reasons").is_not_null())["worker"].to_list() == ["spam"]
    assert pl.read_csv(targets[2]).columns == ["item", "label", "confidence", "majority", "votes", "reason"]
    assert "The review list has" in done.stderr
    options[-1:] = [tmp_path / "top.csv", "--review-top", "7", "--quiet"]
    assert run("aggregate", str(tmp_path / "labels.csv"), *map(str, options)).returncode == 0
    assert pl.read_csv(tmp_path / "top.csv").height == 7
    refused = run("aggregate", str(tmp_path / "labels.csv"), "--review-top", "7")
    assert "without --review" in refused.stderr
    refused = run("aggregate", str(tmp_path / "labels.csv"), "--review", str(targets[2]), "--engine", "disk")
    assert refused.returncode != 0
    assert "memory" in refused.stderr
