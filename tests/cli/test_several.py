"""`--multi each` on the command line: the files that are written, and the other commands."""

import json
from pathlib import Path

import polars as pl
import pytest

import crowdwise as cw
from tests.support.commands import run
from tests.support.tagged_crowds import simulate


@pytest.fixture(name="tags")
def tags_in_file(tmp_path: Path) -> tuple[Path, Path]:
    """A file with sets in cells, and one with the true sets."""
    crowd = simulate(3, items=40)
    joined = crowd.answers.with_columns(pl.col("labels").list.join(";"))
    joined.write_csv(tmp_path / "tags.csv")
    truth = pl.DataFrame({"item": list(crowd.truth), "truth": [";".join(named) for named in crowd.truth.values()]})
    truth.write_csv(tmp_path / "truth.csv")
    return tmp_path / "tags.csv", tmp_path / "truth.csv"


READING = ("--multi", "each", "--separator", ";")


def test_aggregate_writes_sets_and_measures_them(tags: tuple[Path, Path], tmp_path: Path) -> None:
    path, truth = tags
    out, workers, review = tmp_path / "out.csv", tmp_path / "workers.csv", tmp_path / "review.csv"
    files = ("-o", out, "--workers-output", workers, "--review-output", review)
    done = run("aggregate", path, *READING, "--truth", truth, *files, "--probabilities", "--json")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert values["crowd"]["items"] == 40
    assert values["accuracy"]["adjudicator"]["micro_f1"] > values["accuracy"]["mv"]["micro_f1"]
    table = pl.read_csv(out)
    assert table.columns[:4] == ["item", "labels", "confidence", "votes"]
    assert all(isinstance(json.loads(cell), list) for cell in table["labels"])
    assert any(name.startswith("probability_c") for name in table.columns)
    assert {"precision", "recall", "f1"} <= set(pl.read_csv(workers).columns)
    assert pl.read_csv(review)["item"].str.contains(": ").all()
    screen = run("aggregate", path, *READING, "--gold", truth, "--at-least", "0.7")
    assert "Inferred sets" in screen.stdout
    assert "Least sure pairs" in screen.stdout


def test_provenance_is_of_sets_and_the_review_list_has_limits(tags: tuple[Path, Path], tmp_path: Path) -> None:
    path, truth = tags
    known = pl.read_csv(truth).with_columns(pl.col("truth").fill_null("")).head(5)
    known.write_csv(tmp_path / "gold.csv")
    out, review = tmp_path / "out.csv", tmp_path / "review.csv"
    files = ("-o", out, "--provenance", "--review-output", review, "--review-top", "7")
    done = run("aggregate", path, *READING, "--gold", tmp_path / "gold.csv", *files)
    assert done.returncode == 0, done.stderr
    assert "The review list has 7 of" in done.stderr + done.stdout
    assert pl.read_csv(review).height == 7
    said = (
        pl.read_csv(path).with_columns(pl.col("labels").fill_null("")).group_by("item").agg(pl.col("labels").unique())
    )
    table = pl.read_csv(out).join(said.rename({"labels": "said"}), on="item")
    for row in table.iter_rows(named=True):
        agreed = row["said"] == [";".join(json.loads(row["labels"]))]
        named = row["said"] != [""]
        expected = "decided" if row["item"] in known["item"] and named else "unanimous" if agreed else "inferred"
        assert row["provenance"] == expected
    assert set(table["provenance"]) == {"decided", "unanimous", "inferred"}


def test_other_commands_ask_about_pairs(tags: tuple[Path, Path], tmp_path: Path) -> None:
    path, truth = tags
    rows = json.loads(run("aggregate", path, *READING, "--json", "--at-least", "0").stdout)["labels"]
    first = next(row for row in rows if row["labels"])
    why = run("explain", path, *READING, "--item", f"{first['item']}: {first['labels'][0]}")
    assert why.returncode == 0, why.stderr
    assert "What each vote added" in why.stdout
    item = run("explain", path, *READING, "--item", first["item"])
    assert f"there are '{first['item']}: " in item.stderr
    asked = run("next", path, *READING, "--budget", "5", "-o", tmp_path / "next.csv")
    assert asked.returncode == 0, asked.stderr
    page = run("report", path, *READING, "--truth", truth, "-o", tmp_path / "report.html")
    assert page.returncode == 0, page.stderr
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "yes/no questions, each about one of 40 items" in written
    alpha = cw.alpha(cw.read_labels(path, multi="each", separator=";"), "masi")
    tile = written.partition("Agreement (alpha, MASI)")[2]
    assert f"{alpha.value:.2f}" in tile[:300]
    measured = json.loads(run("aggregate", path, *READING, "--truth", truth, "--json").stdout)["accuracy"][
        "adjudicator"
    ]
    table = written.partition("Sets of classes")[2].partition("</table>")[0]
    for name in ("micro_f1", "macro_f1", "jaccard", "exact"):
        assert f"{measured[name]:.3f}" in table


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("aggregate", "{tags}", *READING, "--engine", "disk", "--at-least", "0.3"), "are made in memory"),
        (("aggregate", "{tags}", *READING, "--ordinal"), "--ordinal does nothing with --multi"),
        (("aggregate", "{tags}", "--at-least", "0.3"), "--at-least does nothing without --multi each"),
        (("report", "{tags}", *READING, "--ordinal", "-o", "r.html"), "without --costs and an order"),
    ],
)
def test_what_does_nothing_is_refused(arguments: tuple[str, ...], sentence: str, tags: tuple[Path, Path]) -> None:
    path, truth = tags
    done = run(*(one.format(tags=path, truth=truth) for one in arguments))
    assert done.returncode == 2
    assert sentence in done.stderr


def test_methods_and_workers_are_measured_by_true_sets(tags: tuple[Path, Path], tmp_path: Path) -> None:
    path, truth = tags
    rows = json.loads(run("compare", path, *READING, "--truth", truth, "--methods", "mv,ds", "--json").stdout)[
        "methods"
    ]
    sets = {item: (named or "").split(";") for item, named in pl.read_csv(truth).iter_rows()}
    result = cw.aggregate(path, multi="each", separator=";", method="mv", warn=False)
    right = [row["chosen"] == (row["class"] in sets[row["item"]]) for row in result.pairs().iter_rows(named=True)]
    ties = (result.pairs()["probability"] == 0.5).sum()
    assert abs(rows[0]["accuracy"] - sum(right) / len(right)) <= ties / len(right)
    pl.read_csv(truth).head(20).write_csv(tmp_path / "gold.csv")
    for known in (("--truth", truth), ("--gold", tmp_path / "gold.csv")):
        done = run("judges", path, *READING, *known, "--json")
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["judges"]) == 12
