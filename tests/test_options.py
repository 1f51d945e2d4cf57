"""What commands say about their options: errors in JSON, options that do nothing, and exports whatever is given."""

import json
from pathlib import Path

import polars as pl
import pytest

import crowdwise as cw

from .commands import Command
from .exports import label_studio

WIDE = "item,ann,bob,text\n1,x,x,one\n2,y,x,two\n3,y,y,three\n"


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """A small table of labels, whose names are numbers."""
    path = tmp_path / "votes.csv"
    cw.simulate(20, 6, 3, seed=1).rows.select(
        item=pl.col("item").str.slice(1).cast(int), worker="worker", label=pl.col("label").str.slice(1)
    ).write_csv(path)
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["aggregate", "nowhere.csv"], 1, "There is no file nowhere.csv."),
        (["aggregate", "{votes}", "-m", "nope"], 2, "There is no method 'nope'"),
        (["aggregate", "{votes}", "--nonsense"], 2, "See `crowdwise aggregate --help`."),
        (["explain", "{votes}", "--item", "99", "-m", "mv"], 2, "There is no item '99'; the first one is '1'."),
        (["methods", "nope"], 2, "There is no method 'nope'"),
        (["datasets", "show", "nope"], 2, "nope"),
    ],
)
def test_an_error_is_one_json_object_where_json_is_asked_for(
    arguments: list[str], code: int, message: str, votes: Path, run: Command
) -> None:
    words = [word.format(votes=votes) for word in arguments]
    ended = run(*words, "--json")
    assert ended.returncode == code
    assert ended.stderr == "" or "error" not in ended.stderr
    said = json.loads(ended.stdout)
    assert set(said) == {"error", "code"}
    assert said["code"] == code
    assert message in said["error"]
    plain = run(*words)
    assert plain.returncode == code
    assert plain.stderr.endswith(f"error: {said['error']}\n")


def test_a_question_mark_ends_a_sentence(run: Command) -> None:
    assert "?. See" not in run("agregate").stderr
    assert "aggregate'? See `crowdwise --help`." in run("agregate").stderr


def test_a_title_names_the_option_that_writes_the_rest(votes: Path, run: Command) -> None:
    assert "Inferred labels (the first 10 of 20; -o FILE writes them all)" in run("aggregate", votes, "-m", "mv").stdout
    compared = run("compare", votes, "--methods", "mv,ds,zc,la,wawa,crh").stdout
    assert "--json prints them all" in compared
    assert "-o FILE" not in compared


def test_a_method_for_numbers_has_a_page_of_its_own(run: Command) -> None:
    of_classes, of_numbers = (run("methods", "bwa", *more).stdout for more in ([], ["--numeric"]))
    assert "crowdwise methods bwa --numeric" in of_classes
    assert of_numbers.startswith("bwa (")
    assert of_numbers != of_classes
    assert "adjudicator" not in run("methods", "--numeric").stdout
    assert run("methods", "ds", "--numeric").returncode == 2


def test_every_pattern_of_columns_is_used(tmp_path: Path, run: Command) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(WIDE)
    ended = run("aggregate", path, "-m", "mv", "--wide-columns", "ann", "--wide-columns", "b*", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["crowd"] == {"items": 3, "workers": 2, "classes": 2, "labels": 6}


@pytest.mark.parametrize("more", [["--encoding", "utf-8"], ["--encoding", "utf-16"], ["--missing", "zzz"]])
def test_an_export_is_recognised_whatever_is_said_of_opening_it(more: list[str], tmp_path: Path, run: Command) -> None:
    path = label_studio().write(tmp_path)
    plain = json.loads(run("aggregate", path, "--question", "mood", "-m", "mv", "--json").stdout)
    if "utf-16" in more:
        path.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")
    ended = run("aggregate", path, "--question", "mood", "-m", "mv", "--json", *more)
    assert ended.returncode == 0, ended.stdout
    assert json.loads(ended.stdout)["labels"] == plain["labels"]
    if "utf-8" in more or "utf-16" in more:
        assert run("questions", path, *more).returncode == 0
        assert run("convert", path, *more, "-o", tmp_path / "all.csv").returncode == 0


def test_an_export_is_recognised_with_options_of_a_storage(tmp_path: Path) -> None:
    path = label_studio().write(tmp_path)
    assert cw.read_labels(path, question="mood", storage={"aws_region": "x"}).n_labels
    with pytest.raises(cw.CallError, match=r"sheet= \(--sheet\) does nothing for a Label Studio export"):
        cw.read_labels(path, question="mood", sheet="x")
    with pytest.raises(cw.CallError, match=r"label_names= \(--label-names\) does nothing"):
        cw.read_labels(path, question="mood", label_names=["a", "b"])
