"""Advice in messages: every option that a message names is one of the command that prints it."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import crowdwise
from crowdwise.cli import advice
from crowdwise.cli.app import app
from crowdwise.cli.groups import flags_of
from crowdwise.cli.options import Reading, complete_methods
from crowdwise.crowd.read_options import option_of

from ..support.commands import Command

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # it is a group
OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]+[a-z]")
# The arguments that each command needs besides a file of labels.
NEEDED = {
    "aggregate": "",
    "compare": "--methods mv",
    "report": "-o report.html -m mv",
    "explain": "--item 1 -m mv",
    "blocks": "",
    "next": "--budget 2 -m mv",
    "plan": "--target 0.9 -m mv",
}
# A table that is refused, by what is wrong with it; and the option that the message has to name, with a value for it.
REFUSED = {
    "no item": ("thing,worker,label\n1,ann,yes\n1,bob,no\n2,ann,yes\n", "--item-column thing"),
    "no worker": ("item,who,label\n1,ann,yes\n1,bob,no\n2,ann,yes\n", "--worker-column who"),
    "no label": ("item,worker,said\n1,ann,yes\n1,bob,no\n2,ann,yes\n", "--label-column said"),
    "two workers": ("item,judge,coder,label\n1,ann,x,yes\n1,bob,y,no\n2,ann,x,yes\n", "--worker-column judge"),
    "duplicates": ("item,worker,label\n1,ann,yes\n1,ann,no\n1,bob,no\n2,ann,yes\n", "--duplicates last"),
    "comparisons": ("left,right,worker,label\n1,2,ann,yes\n1,3,bob,no\n", "--item-column left"),
}


def messages() -> list[str]:
    """Every text in the source, besides docstrings, that names an option."""
    found = []
    for path in Path(crowdwise.__file__).parent.rglob("*.py"):
        if path.parent.name == "cli":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                found.append(
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | parts:
                found.append(node.value)
    return [text for text in found if OPTION.search(text) and "var(--" not in text]


def options_of(command: str) -> set[str]:
    return {name for param in COMMANDS[command].params for name in param.opts}


def test_messages_name_options_by_their_full_names() -> None:
    known = {"--again"}  # of `crowdwise datasets fetch`
    known |= {option for command in COMMANDS for option in options_of(command)}
    named = {option for message in messages() for option in OPTION.findall(message)}
    assert len(named) > 30
    assert named - known == set()


def test_options_of_reading_are_called_the_same_in_messages_and_in_commands() -> None:
    flags = flags_of(Reading)
    assert {name: option_of(name) for name in flags if not name.startswith("truth")} == {
        name: flag for name, flag in flags.items() if not name.startswith("truth")
    }


@pytest.mark.parametrize("command", [name for name, one in COMMANDS.items() if not hasattr(one, "commands")])
def test_advice_is_for_the_command_that_prints_it(command: str) -> None:
    context = typer.Context(COMMANDS[command], info_name=command, parent=typer.Context(get_command(app)))
    advice.begin(context)
    try:
        for message in messages():
            said = advice.for_this_command(message)
            elsewhere = dict(re.findall(r"(--[a-z-]+)(?: [^ ]*)? \(?of `crowdwise ([a-z-]+)`\)", said))
            for option in OPTION.findall(re.sub(r"`[^`]*`", "", said)):
                assert option in options_of(elsewhere.get(option, command)), said
    finally:
        advice.begin(None)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("take copies='separate' (--set copies=separate).", "take --set copies=separate (of `crowdwise aggregate`)."),
        (
            "counted once (--set copies=once), or not",
            "counted once (--set copies=once of `crowdwise aggregate`), or not",
        ),
        ("Raise it (--set max_iterations=...).", "Raise it (--set max_iterations=... of `crowdwise aggregate`)."),
        ("--truth FILE measures it.", "--truth FILE (of `crowdwise aggregate`) measures it."),
        (
            "give the order with order=['low', 'high'] (--order low,high).",
            "with --order low,high (of `crowdwise aggregate`).",
        ),
        ("say ask='expert' (--ask expert).", "say --ask expert (of `crowdwise next`)."),
        ("--drop-against leaves them out", "--drop-against (of `crowdwise rank`) leaves them out"),
        ("`crowdwise aggregate --set copies=once` does", "`crowdwise aggregate --set copies=once` does"),
    ],
)
def test_an_option_of_another_command_keeps_its_value(message: str, said: str) -> None:
    context = typer.Context(COMMANDS["blocks"], info_name="blocks", parent=typer.Context(get_command(app)))
    advice.begin(context)
    try:
        assert said in advice.for_this_command(message)
    finally:
        advice.begin(None)


@pytest.mark.parametrize("problem", REFUSED)
@pytest.mark.parametrize("command", NEEDED)
def test_an_error_is_gone_after_its_advice_was_followed(
    command: str, problem: str, run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, option = REFUSED[problem]
    Path("labels.csv").write_text(table)
    words = [command, "labels.csv", *NEEDED[command].split()]
    refused = run(*words)
    assert refused.returncode in (1, 2)
    assert option.split()[0] in refused.stderr
    followed = run(*words, *option.split())
    assert followed.returncode == 0 or followed.stderr != refused.stderr
    assert option.split()[0] not in followed.stderr.partition("error:")[2]


def test_short_names_of_columns_are_aliases_where_they_mean_columns(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("thing,who,said\n1,ann,yes\n1,bob,no\n2,ann,yes\n3,bob,no\n")
    short = ("--item", "thing", "--worker", "who", "--label", "said", "-m", "mv", "--json")
    full = ("--item-column", "thing", "--worker-column", "who", "--label-column=said", "-m", "mv", "--json")
    assert run("aggregate", path, *short).stdout == run("aggregate", path, *full).stdout
    assert run("explain", path, *full, "--item", "2").returncode == 0
    asked = run("next", path, *full, "--budget", "1", "--for-worker", "ann")
    assert asked.returncode == 0, asked.stdout


def test_in_next_a_worker_is_no_column(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,ann,yes\n1,bob,no\n2,ann,yes\n3,bob,no\n")
    refused = run("next", path, "--budget", "1", "--worker", "ann")
    assert refused.returncode == 2
    assert "--for-worker" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("aggregate {} --gol x", "No such option: --gol. Did you mean --gold or --gold-weight?"),
        (
            "aggregate {} --methods mv",
            "It is an option of `crowdwise compare`, `crowdwise warm-up`. Did you mean --method?",
        ),
        (
            "blocks {} --truth x",
            "--truth. It is an option of `crowdwise aggregate`, `crowdwise compare`, `crowdwise report`.",
        ),
        ("next {} --budget x", "Invalid value for '--budget': this is not a whole number."),
        ("next {} --budget -4", "--budget -4 is not a whole number from 1"),
        ("plan {} --target 95", "--target 95.0 is not a number above 0 and below 1."),
        ("aggregate {} -m mv --review-output r.csv --review-top 0", "--review-top 0 is not a whole number"),
        ("aggregate {} --gold {}.gold", "Name each with --truth-item-column, --truth-label-column."),
        ("rank {}", "the first object (left) or the second object (right) of comparisons; its columns are"),
        ("rank {}", "Name each with --left-column, --right-column."),
    ],
)
def test_mistakes_are_answered_in_words_of_the_command(words: str, said: str, run: Command, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,ann,yes\n1,bob,no\n2,ann,yes\n3,bob,no\n")
    (tmp_path / "labels.csv.gold").write_text("a,b\n1,yes\n")
    refused = run(*words.replace("{}", str(path)).split())
    assert refused.returncode in (1, 2)
    assert said in refused.stderr


@pytest.mark.parametrize("command", ["plan --target 0.99 -m mv", "rate --pass yes"])
def test_commands_that_are_advised_can_be_pasted(command: str, run: Command, tmp_path: Path) -> None:
    path = tmp_path / "my votes.csv"
    rows = [f"{item},{worker},{'yes' if (item + worker) % 3 else 'no'}\n" for item in range(40) for worker in range(4)]
    path.write_text("thing,worker,label\n" + "".join(rows))
    done = run(*command.split(), str(path), "--item-column", "thing")
    assert done.returncode == 0, done.stderr
    advised = [one for one in re.findall(r"`(crowdwise [^`]*)`", done.stdout) if "--" in one]
    assert advised
    for one in advised:
        more = shlex.split(one.replace("decide.csv", shlex.quote(str(tmp_path / "decide.csv"))))[1:]
        again = run(*more)
        assert again.returncode == 0, again.stderr


def test_an_option_has_one_meaning_in_all_commands() -> None:
    # `simulate` makes crowds, and calls how many of everything as Python does.
    meanings: dict[str, set[str]] = {}
    for name, command in COMMANDS.items():
        for param in command.params if name != "simulate" else ():
            spelled = max(param.opts, key=len)
            for option in {*param.opts, *getattr(command.callback, "aliases", {}).get(param.name, ())}:
                if option.startswith("--"):
                    meanings.setdefault(option, set()).add(spelled)
    several = {option: found for option, found in meanings.items() if len(found) > 1}
    # An item is a value where one is explained; and the workers of comparisons are called judges. The others are short
    # forms that no help shows: of options for exports, and what `rank` reads.
    assert several == {
        "--item": {"--item", "--item-column"},
        "--items": {"--items", "--item-pattern"},
        "--pairs": {"--column-pairs", "--pairs-output"},
        "--scores": {"--scores", "--from-scores"},
        "--worker": {"--worker-column", "--judge-column"},
        "--worker-column": {"--worker-column", "--judge-column"},
    }


def test_keys_of_methods_are_completed() -> None:
    assert complete_methods("mv,bw") == ["mv,bwa"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_types_of_python(command: str, run: Command) -> None:
    said = run(command, "--help").stdout
    assert not re.search(r"<(bool|str|int|float|Any|list)", said)
    assert "FILES..." in said or command in ("simulate", "datasets", "methods", "state", "warm-up")


def test_help_of_other_commands_names_options_that_aggregate_explains(run: Command) -> None:
    said = " ".join(run("explain", "--help").stdout.split())
    assert said.index("--item ") < said.index("--item-column")
    assert "`crowdwise aggregate --help` explains: --time-column" in said
    assert "╭─ Cleaning" not in said
    assert "╭─ Cleaning" in run("aggregate", "--help").stdout


def test_choices_are_refused_by_listing_them(run: Command, tmp_path: Path) -> None:
    refused = run("aggregate", tmp_path / "labels.csv", "--worker-from", "sky")
    assert refused.returncode == 2
    assert "'sky' is not one of 'file', 'folder'" in refused.stderr
