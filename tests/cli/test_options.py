"""What commands say about their options: errors in JSON, options that do nothing, and exports whatever is given."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.main import get_command

import crowdwise as cw
from crowdwise.cli.app import app
from tests.support import judge_logs
from tests.support.commands import Command
from tests.support.exports import label_studio

WIDE = "item,ann,bob,text\n1,x,x,one\n2,y,x,two\n3,y,y,three\n"


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """A small table of labels, whose names are numbers."""
    path = tmp_path / "votes.csv"
    cw.simulate(20, 6, 3, seed=1).rows.select(
        item=pl.col("item").str.slice(1).cast(int), worker="worker", label=pl.col("label").str.slice(1)
    ).write_csv(path)
    return path


# Options that do nothing beside the others, by command; and what the refusal says.
USELESS = [
    ("aggregate {votes} --scores", "--scores does nothing without --output or --json."),
    ("aggregate {votes} --probabilities", "--probabilities does nothing without --output or --json."),
    ("aggregate {votes} --columns cleanlab", "--columns does nothing without --output or --workers-output."),
    ("aggregate {votes} --decay 0.5", "--decay does nothing without --history."),
    ("aggregate {votes} --gold-weight 5", "--gold-weight does nothing without --gold."),
    ("aggregate {votes} --truth-item x", "--truth-item-column does nothing without --truth or --gold."),
    ("plan {votes} --target 0.9 --truth-label x", "--truth-label-column does nothing without --gold."),
    ("aggregate {votes} --review-top 3", "--review-top does nothing without --review-output."),
    ("aggregate {votes} --storage a=b", "--storage does nothing here"),
    ("aggregate {votes} --sheet x", "--sheet is for a workbook of Excel"),
    ("aggregate {votes} --query x", "--query is for a database"),
    ("aggregate {votes} --table x", "--table is for a database"),
    ("aggregate {votes} --transposed", "--transposed is for a JSON object of objects, or a matrix"),
    ("aggregate {votes} --question x", "question does nothing"),
    ("aggregate {votes} --models", "models does nothing"),
    ("aggregate {votes} --multi set", "--multi set is for exports"),
    ("aggregate {votes} --status x", "status does nothing"),
    ("aggregate {votes} --column-pairs x", "--column-pairs does nothing"),
    ("aggregate {votes} --distance squared", "is for ordered classes"),
    ("aggregate {votes} --bom", "--bom does nothing here"),
    ("aggregate {binary} --encoding cp1252", "--encoding is for text, which this is not"),
    ("aggregate {wide} --wide --worker nope", "--worker-column does nothing in a wide table"),
    ("aggregate {wide} --wide-columns ann --label nope", "--label-column does nothing in a wide table"),
    ("aggregate {votes} --numeric --scores -o x.csv", "--scores is for classes"),
    ("aggregate {votes} --numeric --columns cleanlab -o x.csv", "--columns is for classes"),
    ("aggregate {votes} --numeric --fold-case", "--fold-case is for classes"),
    ("compare {votes} --numeric --gold x.csv", "--gold is for classes"),
    ("report {votes} --numeric --costs x.csv -o x.html", "--costs is for classes"),
    ("questions {export} --duplicates foo", "No such option: --duplicates"),
    ("questions {export} --question nope", "--question does nothing here"),
    ("convert {export} --question nope -o x.csv", "--question does nothing here"),
    ("convert {export} --missing NA -o x.csv", "No such option: --missing"),
    ("convert {export} --verdict x -o x.csv", "--verdict does nothing for a Label Studio export"),
    ("blocks {votes} --truth-item x", "No such option: --truth-item"),
    ("next {votes} --budget 1 --seed 3", "--seed does nothing without --random."),
    ("simulate -o x --spread 3", "--spread does nothing without --numeric."),
    ("simulate -o x --numeric --traps 0.1", "--traps is for classes"),
    ("datasets --json show web", "--json does nothing before show"),
]


@pytest.mark.parametrize(("command", "message"), USELESS)
def test_an_option_that_does_nothing_is_refused(
    command: str, message: str, votes: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(votes.parent)
    Path("wide.csv").write_text(WIDE)
    pl.read_csv(votes).write_parquet("votes.parquet")
    export = label_studio().write(votes.parent)
    files = {"votes": votes, "wide": "wide.csv", "binary": "votes.parquet", "export": export}
    before = sorted(votes.parent.iterdir())
    ended = run(*(word.format(**files) for word in command.split()))
    assert message in ended.stderr + ended.stdout
    assert ended.returncode == 2, ended.stderr
    assert sorted(votes.parent.iterdir()) == before


MESSY = """item,worker,label
1,ann,yes
1,bob,Yes
1,cem, no
2,ann,NA
2,bob,yes
2,bob,yes
3,ann,no
3,bob,no
3,cem,yes
4,ann,yes
4,cem,no
"""
# The arguments of every command that the test below tries, without the option.
BASES = {
    "aggregate": "messy.csv -m mv --json",
    "compare": "messy.csv --methods mv,ds --json",
    "explain": "messy.csv --item 1 -m mv --json",
    "blocks": "messy.csv --json",
    "plan": "messy.csv --target 0.9 -m mv --json",
    "next": "messy.csv --budget 2 -m mv --json",
    "questions": "export.json --json",
    "convert": "export.json -o out.csv",
    "simulate": "-o folder --items 8",
    "methods": "ds --json",
}
# Values of options that take text; others take "x".
VALUES = {
    "method": "ds",
    "methods": "mv",
    "duplicates": "last",
    "missing": "NA",
    "format": "table",
    "engine": "disk",
    "memory": "1GB",
    "workdir": ".",
    "columns": "cleanlab",
    "strategy": "uncertain",
    "ask": "expert",
    "set_": "seed=1",
    "output": "other.csv",
    "workload": "0.9",
    "workers": "workers.csv",
    "review": "review.csv",
    "truth": "truth.csv",
    "gold": "truth.csv",
    "costs": "costs.csv",
    "order": "NA, no,Yes,no,yes",
    "extension": "parquet",
    "wide_columns": "worker",
    "save_state": "day.state",
    "price": "0.1",
    "review_top": "2",
    "review_below": "0.9",
}
# Options that may change nothing although they are used.
MAY_CHANGE_NOTHING = {
    "duplicates": "nobody gave an item two labels",
    "samples": "nobody gave an item two labels",
    "format": "it is a table anyway",
    "memory": "a limit that is not reached",
    "workdir": "temporary files are removed again",
    "engine": "every engine gives the same",
    "as_json": "it is given already",
    "force": "no file is there",
    "no_config": "there is no crowdwise.toml",
    "log": "the file has no probabilities",
    "numeric": "labels may be the same",
    "per_item_max": "a limit that is not reached",
    "item": "the column that is recognised",
    "encoding": "every encoding of the file gives the same",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", BASES)
def test_every_option_changes_something_or_is_refused(
    command: str, tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tries every option that there is, so that an option that is added later is tried too."""

    def outcome(*option: str) -> tuple[int, str, str]:
        folder = tmp_path / "again"
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("messy.csv").write_text(MESSY)
        Path("truth.csv").write_text("item,truth\n1,yes\n3,no\n")
        Path("costs.csv").write_text("truth,label,cost\nyes,no,1\n")
        label_studio().write(folder).rename("export.json")
        ended = run(command, *BASES[command].split(), *option)
        made = {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        shutil.rmtree(folder)
        seconds = re.sub(r'"seconds": [^,}]*', "", ended.stdout)
        return ended.returncode, f"{seconds}{ended.stderr}{made}", ended.stderr + ended.stdout

    code, base, said = outcome()
    assert code == 0, said
    silent = []
    for parameter in get_command(app).commands[command].params:  # type: ignore[attr-defined]  # it is a group
        if parameter.param_type_name != "option" or parameter.name in ("help", *MAY_CHANGE_NOTHING):
            continue
        name = max(parameter.opts, key=len)
        usual = {int: "3", float: "0.5"}.get(type(parameter.default), "x")
        code, result, said = outcome(name, *([] if parameter.is_flag else [VALUES.get(parameter.name, usual)]))
        if code == 0 and result == base:
            silent.append(name)
        assert code in (0, 1, 2), (name, said)
    assert not silent


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
    assert "'? See `crowdwise --help`." in run("agregate").stderr


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


def test_every_vote_of_a_judge_is_one_of_a_model(tmp_path: Path) -> None:
    files = judge_logs.write(judge_logs.deepeval(judge_logs.VOTES), tmp_path)
    with pytest.raises(cw.CallError, match=r"models= \(--models\) does nothing for a test run of DeepEval"):
        cw.read_labels(files, models=True)


def test_an_export_is_recognised_with_options_of_a_storage(tmp_path: Path) -> None:
    path = label_studio().write(tmp_path)
    assert cw.read_labels(path, question="mood", storage={"aws_region": "x"}).n_labels
    with pytest.raises(cw.CallError, match=r"sheet= \(--sheet\) does nothing for a Label Studio export"):
        cw.read_labels(path, question="mood", sheet="x")
    with pytest.raises(cw.CallError, match=r"label_names= \(--label-names\) does nothing"):
        cw.read_labels(path, question="mood", label_names=["a", "b"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": ""}, "There is no encoding ''"),
        ({"label_names": 3}, "label_names has to be a list of texts"),
        ({"missing": [["NA"]]}, "missing is a list, and has to be a value, or some values"),
        ({"format": None}, "format is a NoneType, and has to be the name of a format"),
        ({"item": 3}, "item is a int, and has to be the name of a column, or None"),
        ({"lable": "answer"}, "There is no option 'lable' of reading. Did you mean 'label'?"),
    ],
)
def test_a_value_that_is_none_of_the_option_is_refused(options: dict[str, Any], message: str, votes: Path) -> None:
    with pytest.raises(cw.CallError, match=re.escape(message)):
        cw.read_labels(votes, **options)
