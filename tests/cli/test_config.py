"""`crowdwise init`, and the file that it writes, which every command in the folder reads."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from crowdwise.cli import init
from crowdwise.sources.languages import means

from ..support.commands import Command
from ..support.exports import label_studio

TABLE = "Aufgabe;wer;Kategorie\n1;ann;yes\n1;bob;Yes\n2;ann;NA\n2;bob;no\n3;ann;yes\n3;bob;nö\n3;bob;no\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_described_once_and_every_command_reads_that(folder: Path, run: Command) -> None:
    Path("export.csv").write_bytes(TABLE.encode("cp1252"))
    made = run("init", "export.csv", "--worker-column", "wer")
    assert made.returncode == 0, made.stderr
    assert tomllib.loads(Path("crowdwise.toml").read_text(encoding="utf-8")) == {
        "files": ["export.csv"],
        "item-column": "Aufgabe",
        "worker-column": "wer",
        "label-column": "Kategorie",
        "duplicates": "last",
        "missing": ["NA"],
        "fold-case": True,
        "encoding": "cp1252",
    }
    for command in ("aggregate -m mv", "explain --item 1 -m mv", "blocks", "compare --methods mv", "plan --target 0.9"):
        done = run(*command.split())
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("crowdwise.toml") == 1
        assert 'worker-column = "wer"' in done.stderr
    told = json.loads(run("aggregate", "-m", "mv", "--json").stdout)
    assert told["crowd"]["labels"] == 5
    assert told["columns"] == {"item": "Aufgabe", "worker": "wer", "label": "Kategorie"}


def test_options_win_over_the_file_and_it_can_be_ignored(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("labels.csv").write_text("item,worker,label,other\n1,ann,yes,u\n1,bob,no,v\n2,ann,yes,u\n")
    Path("crowdwise.toml").write_text('files = ["labels.csv"]\nlabel-column = "other"\n')

    def column(*more: str) -> str:
        return str(json.loads(run("aggregate", *more, "-m", "mv", "--json").stdout)["columns"]["label"])

    assert column() == "other"
    assert column("--label-column", "label") == "label"
    assert column("labels.csv", "--no-config") == "label"
    monkeypatch.setenv("CROWDWISE_NO_CONFIG", "1")
    assert column("labels.csv") == "label"


def test_what_is_wrong_with_the_file_is_said_at_once(run: Command) -> None:
    Path("crowdwise.toml").write_text('filse = ["a.csv"]\nstrip = 3\nduplicates = "lots"\nencoding = "utf-8"\n')
    done = run("aggregate", "labels.csv")
    assert done.returncode == 1
    assert done.stderr == (
        "error: crowdwise.toml: there is no option 'filse'; did you mean 'files'; 'strip' has to be true or false; "
        "'duplicates' has to be one of error, first, last, latest, all, samples, set, drop. Correct it, write it anew "
        "with `crowdwise init FILE --force`, or say --no-config.\n"
    )
    assert run("aggregate", "--help").returncode == 0


@pytest.mark.parametrize("content", [b"files = [", b"\xff\xfe", b"a = 1\na = 2\n", b"\0"])
def test_a_damaged_file_is_one_sentence(content: bytes, run: Command) -> None:
    Path("crowdwise.toml").write_bytes(content)
    done = run("aggregate", "labels.csv", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"].startswith("crowdwise.toml: it ")


def test_an_error_about_a_value_of_the_file_names_the_file(run: Command) -> None:
    Path("labels.csv").write_text("item,worker,label\n1,ann,yes\n")
    Path("crowdwise.toml").write_text('sheet = "two"\n')
    done = run("aggregate", "labels.csv")
    assert done.returncode == 2
    assert "(--sheet: from crowdwise.toml, which --no-config ignores.)" in done.stderr


def test_init_replaces_nothing_unless_told(run: Command) -> None:
    Path("labels.csv").write_text("item,worker,label\n1,ann,yes\n1,bob,no\n")
    assert run("init", "labels.csv").returncode == 0
    assert "item-column" not in Path("crowdwise.toml").read_text()
    before = Path("crowdwise.toml").read_bytes()
    refused = run("init", "labels.csv", "--strip")
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert Path("crowdwise.toml").read_bytes() == before
    assert run("init", "labels.csv", "--strip", "--force").returncode == 0
    refused = run("init", "labels.csv", "--gold", "none.csv", "--force")
    assert (refused.returncode, "There is no file none.csv." in refused.stderr) == (1, True)
    assert "strip = true" in Path("crowdwise.toml").read_text()


def test_numbers_gold_and_exports_are_recognised(folder: Path, run: Command) -> None:
    rows = [f"{item},{worker},{item + len(worker) / 7:.5f}" for item in range(40) for worker in ("a", "bb", "ccc")]
    Path("heights.csv").write_text("\n".join(["item,worker,label", *rows]))
    assert run("init", "heights.csv").returncode == 0
    assert tomllib.loads(Path("crowdwise.toml").read_text())["numeric"] is True
    assert run("aggregate").returncode == 0
    export = label_studio().write(folder)
    refused = run("init", export.name, "--force")
    assert "Choose one by --question" in refused.stderr
    Path("gold.csv").write_text("item,truth\n1,x\n")
    made = run("init", export.name, "--force", "--question", "mood")
    assert made.returncode == 0, made.stderr
    found = tomllib.loads(Path("crowdwise.toml").read_text())
    assert (found["format"], found["question"], found["gold"]) == ("label-studio", "mood", "gold.csv")


def test_all_columns_that_are_not_clear_are_named_at_once(run: Command) -> None:
    Path("labels.csv").write_text("a,b,c\n1,ann,yes\n")
    for command in ("init", "aggregate"):
        said = run(command, "labels.csv").stderr
        assert "no column that looks like the item, the worker or the label; its columns are 'a', 'b', 'c'" in said
        assert "Name each with --item-column, --worker-column, --label-column." in said


def test_a_terminal_is_asked_what_is_not_clear() -> None:
    Path("labels.csv").write_text("a,b,c\n1,ann,yes\n1,bob,No\n2,bob,no\n2,bob,yes\n")

    asked: list[str] = []

    class Scripted(init._Asking):
        def choice(self, question: str, choices: Sequence[str]) -> str:
            asked.append(question)
            return {"item": "a", "worker": "b", "label": "c"}.get(question.split()[-1].rstrip("?"), "first")

        def agrees(self, question: str) -> bool:
            asked.append(question)
            return False

    labels, found = init._understood(["labels.csv"], {"files": ["labels.csv"]}, Scripted(True))
    assert {role: found[role] for role in ("item", "worker", "label")} == {"item": "a", "worker": "b", "label": "c"}
    assert found["duplicates"] == "first"
    assert "fold_case" not in found
    assert len(asked) == 5
    assert labels.n_items == 2


@pytest.mark.parametrize(
    "header",
    [
        "Aufgabe,Bearbeiter,Kategorie",
        "tâche,annotateur,étiquette",
        "TAREA,Anotador,Etiqueta",
        "Compito,Annotatore,Etichetta",
        "tarefa,avaliador,rótulo",
        "taak,beoordelaar,antwoord",
        "zadanie,anotator,odpowiedź",
        "uppgift,annoterare,svar",
        "задание,разметчик,метка",
        "Aufgaben-ID,Bearbeiter Nr.,Kategorie",
        "DokumentID,PrüferNr,Einstufung",
        "élément,relecteur,avis",
        "documento,revisore,valutazione",
        "Aufgabe,Bearbeiter,Wert",
    ],
)
def test_columns_in_other_languages_are_recognised(header: str, run: Command) -> None:
    Path("labels.csv").write_text(f"{header}\n1,ann,yes\n1,bob,no\n2,ann,yes\n", encoding="utf-8")
    done = run("aggregate", "labels.csv", "-m", "mv", "--json")
    assert done.returncode == 0, done.stdout
    assert list(json.loads(done.stdout)["columns"].values()) == header.split(",")


def test_two_columns_that_may_be_meant_are_refused(run: Command) -> None:
    Path("labels.csv").write_text("item,Bearbeiter,annotateur,label\n1,ann,x,yes\n")
    assert "'Bearbeiter' and 'annotateur', each of which may be the worker" in run("aggregate", "labels.csv").stderr
    assert means("KATEGORIE ", "label")
    assert not means("Kategorie der Aufgabe", "label")


def test_columns_in_the_file_are_no_values_of_other_options(run: Command) -> None:
    # `next` has --for-worker and `explain` has --item, which are values.
    Path("labels.csv").write_text("foo,bar,baz\n1,ann,yes\n1,bob,no\n2,ann,yes\n3,bob,no\n")
    assert run("init", "labels.csv", "--item", "foo", "--worker", "bar", "--label", "baz").returncode == 0
    for command in ("next --budget 1 -m mv", "explain --item 3 -m mv"):
        done = run(*command.split())
        assert done.returncode == 0, done.stderr
        assert 'item-column = "foo", worker-column = "bar", label-column = "baz"' in done.stderr
    assert "Missing option '--item'" in run("explain").stderr


@pytest.mark.parametrize(
    ("encoding", "rows"),
    [
        ("cp1252", "tâche;annotateur;étiquette\n1;ann;créée\n1;bob;¿qué?\n2;ann;5 m³\n"),
        ("cp1250", "zadanie;anotator;etykieta\n1;ann;łąka\n1;bob;dom\n2;ann;łąka\n"),
        ("cp1251", "задание;разметчик;метка\n1;ann;кот\n1;bob;дом\n2;ann;кот\n"),
        ("utf-16", "Aufgabe;Bearbeiter;Kategorie\n1;ann;groß\n1;bob;klein\n2;ann;groß\n"),
    ],
)
def test_the_encoding_of_text_is_guessed(encoding: str, rows: str, run: Command) -> None:
    Path("labels.csv").write_bytes(rows.encode(encoding))
    made = run("init", "labels.csv")
    assert made.returncode == 0, made.stderr
    assert tomllib.loads(Path("crowdwise.toml").read_text(encoding="utf-8"))["encoding"] == encoding
    told = json.loads(run("aggregate", "-m", "mv", "--json").stdout)
    assert {row["label"] for row in told["labels"]} <= {line.split(";")[2] for line in rows.splitlines()}


@pytest.mark.parametrize("text", ["item,worker,label\r1,a,x\r1,b,y\r", "Export\n\nitem,worker,label\n1,a,x\n"])
def test_what_is_no_table_is_refused_in_a_sentence(text: str, run: Command) -> None:
    Path("labels.csv").write_bytes(text.encode())
    refused = run("init", "labels.csv")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: labels.csv does not read as CSV: line ")


def test_all_rows_that_lack_something_are_said_at_once(run: Command) -> None:
    Path("labels.csv").write_text("item,worker,label\n1,ann,yes\n,bob,no\n2,,yes\n,ann,yes\n")
    for command in ("init", "aggregate"):
        said = run(command, "labels.csv").stderr
        assert "2 of 4 rows have no item; first: row 2" in said
        assert "1 of 4 rows have no worker; first: row 3" in said
        assert said.count("Fill in columns 'item' and 'worker' or leave those rows out.") == 1


def test_a_workbook_by_another_name_is_called_one(run: Command) -> None:
    pl.DataFrame({"item": [1], "worker": ["ann"], "label": ["yes"]}).write_excel("labels.xlsx")
    Path("labels.xlsx").rename("labels.csv")
    assert "labels.csv is a workbook of Excel: give it a name that ends in .xlsx." in run("init", "labels.csv").stderr


def test_numbers_with_decimal_commas_are_refused_with_what_to_do(run: Command) -> None:
    Path("labels.csv").write_text("Aufgabe;Bearbeiter;Wert\n1;a;3,5\n1;b;4,5\n2;a;1,25\n2;b;1,5\n")
    refused = run("aggregate", "labels.csv", "--numeric")
    assert refused.returncode == 1
    assert "first: '3,5' (item '1', worker 'a'). Write numbers like 12, -0.5 or 1e3, with a point and no comma" in (
        refused.stderr
    )
