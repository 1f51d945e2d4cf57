"""Tests of the command line in a process of its own: its arguments, its output and its files."""

import ast
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from tests.support.commands import run


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crowd")
    done = run("simulate", "--items", 500, "--workers", 30, "--classes", 3, "--seed", 1, "-o", folder / "new")
    assert done.returncode == 0, done.stderr
    return folder / "new"


def test_simulate_writes_labels_truth_and_workers(crowd: Path) -> None:
    assert sorted(path.name for path in crowd.iterdir()) == ["labels.csv", "truth.csv", "workers.csv"]
    assert pl.read_csv(crowd / "labels.csv").equals(cw.simulate(500, 30, 3, seed=1).rows)


def test_aggregate_shows_tables(crowd: Path) -> None:
    done = run("aggregate", crowd / "labels.csv", "--truth", crowd / "truth.csv")
    assert done.returncode == 0, done.stderr
    for text in (
        "500",
        "2,500 (5.00 per item)",
        "accuracy of mv",
        "accuracy of adjudicator",
        "; --workers-output FILE writes them all)",
        "Least sure items",
    ):
        assert text in done.stdout
    assert "Read 2,500 rows: item = 'item', worker = 'worker', label = 'label'." in done.stderr


def test_aggregate_writes_what_python_computes(crowd: Path, tmp_path: Path) -> None:
    truth, workers = tmp_path / "truth.parquet", tmp_path / "workers.csv"
    done = run("aggregate", crowd / "labels.csv", "-o", truth, "--workers", workers, "--scores", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    result = cw.aggregate(crowd / "labels.csv")
    assert pl.read_parquet(truth).equals(result.to_frame(scores=True))
    assert pl.read_parquet(truth).columns == [
        *("item", "label", "confidence", "score", "runner_up", "runner_up_score", "votes", "difficulty"),
        *("score_c1", "score_c2", "score_c3"),
    ]
    columns = ["worker", "labels", "quality", "quality_low", "quality_high", "agreement", "reasons"]
    assert pl.read_csv(workers).columns == columns


def test_aggregate_takes_columns_methods_parameters_and_standard_input(crowd: Path, tmp_path: Path) -> None:
    renamed = pl.read_csv(crowd / "labels.csv").rename({"item": "q", "worker": "who", "label": "said"})
    named = ("--item", "q", "--worker", "who", "--label", "said")
    done = run(
        *("aggregate", "-", *named, "-mbwa", "--set", "prior_strength=30", "--set", "prior_correction=false"),
        *("-o", tmp_path / "truth.csv", "-q"),
        stdin=renamed.write_csv().encode(),
    )
    assert done.returncode == 0, done.stderr
    method = cw.BWA(prior_strength=30, prior_correction=False)
    expected = method.fit(cw.read_labels(crowd / "labels.csv")).to_frame()
    assert pl.read_csv(tmp_path / "truth.csv").equals(expected.cast({"votes": pl.Int64}))


def test_json_is_one_object(crowd: Path, tmp_path: Path) -> None:
    told = json.loads(run("aggregate", crowd / "labels.csv", "--json").stdout)
    assert (told["crowd"]["items"], told["crowd"]["workers"], told["converged"]) == (500, 30, True)
    assert len(told["labels"]) == 500
    assert len(told["workers"]) == 30
    told = json.loads(run("aggregate", crowd / "labels.csv", "--json", "-o", tmp_path / "t.csv").stdout)
    assert told["written"] == [str(tmp_path / "t.csv")]
    assert "truth" not in told


def _refused(rows: list[dict[str, object]]) -> int:
    """How many pairs of methods there are in which one refused the labels."""
    ran = sum(row["seconds"] is not None for row in rows)
    return len(rows) * (len(rows) - 1) // 2 - ran * (ran - 1) // 2


def test_methods_are_compared_with_each_other_without_a_truth(crowd: Path) -> None:
    labels = cw.read_labels(crowd / "labels.csv")
    found = cw.compare(labels, ["mv", "bwa", "ds"])
    answers = {key: cw.METHODS[key]().fit(labels).labels for key in ("mv", "bwa", "ds")}
    counts = {(row["method"], row["other"]): row["items"] for row in found.disagreements().iter_rows(named=True)}
    assert counts[("mv", "ds")] == (answers["mv"] != answers["ds"]).sum() > 0
    disputed = found.disputed()
    assert set(disputed.columns) == {"item", "answers", "mv", "bwa", "ds"}
    assert disputed.height == ((answers["mv"] != answers["ds"]) | (answers["mv"] != answers["bwa"])).sum()
    said = run("compare", crowd / "labels.csv", "--methods", "mv,bwa,ds").stdout
    assert "Answers on which two methods differ" in said
    assert "Items on which methods differ most" in said


def test_compare_and_methods(crowd: Path) -> None:
    told = json.loads(run("compare", crowd / "labels.csv", "--truth", crowd / "truth.csv", "--json").stdout)
    rows = told["methods"]
    assert len(told["disagreements"]) == len(cw.METHODS) * (len(cw.METHODS) - 1) / 2 - _refused(rows)
    assert [row["method"] for row in rows] == list(cw.METHODS)
    expected = cw.accuracy(cw.BWA().fit(cw.read_labels(crowd / "labels.csv")), crowd / "truth.csv")
    assert {row["method"]: row["accuracy"] for row in rows}["bwa"] == expected
    picked = run("compare", crowd / "labels.csv", "--methods", "mv")
    assert "mv" in picked.stdout
    assert "bwa" not in picked.stdout
    assert all(key in run("methods").stdout for key in cw.METHODS)


def test_report_writes_a_page_that_says_how_to_make_it_again(crowd: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    done = run("report", crowd / "labels.csv", "-o", target, "-m", "lfc", "--truth", crowd / "truth.csv")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"Wrote {re.escape(str(target))} \(\d\.\d MB\)", done.stderr)
    text = target.read_text(encoding="utf-8")
    assert f"crowdwise report {crowd / 'labels.csv'} -o {target} -m lfc --truth {crowd / 'truth.csv'}" in text
    done = run("compare", crowd / "labels.csv", "--methods", "mv,bwa", "-o", tmp_path / "compare.html")
    assert done.returncode == 0, done.stderr
    assert "Methods compared" in (tmp_path / "compare.html").read_text(encoding="utf-8")


def test_explain_says_what_python_says(crowd: Path) -> None:
    labels = cw.read_labels(crowd / "labels.csv")
    why = cw.explain(cw.aggregate(labels), labels, "i123")
    done = run("explain", crowd / "labels.csv", "--item", "i123")
    assert done.returncode == 0, done.stderr
    for text in (
        f"Item 'i123': '{why.label}', not '{why.runner_up}'",
        f"{why.score:.4f}",
        why.remedy,
        *why.steps()["text"],
    ):
        assert text in done.stdout
    told = json.loads(run("explain", crowd / "labels.csv", "--item", "i123", "--json").stdout)
    added = told["prior"] + sum(vote["contribution"] for vote in told["votes"]) + told["limit"]
    assert added == pytest.approx(told["difference"])
    assert told["flip"]["label"] == (why.flip and why.flip.label)


def test_running_out_of_iterations_is_said(crowd: Path) -> None:
    done = run("aggregate", crowd / "labels.csv", "--set", "max_iterations=2")
    assert done.returncode == 0
    assert "Adjudicator ran out of iterations after 2 iterations" in done.stderr
    assert "another reading" not in done.stderr  # readings that have not settled cannot be compared


def test_repairs_are_printed_and_strict_forbids_them(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,worker,label\n1,a,x\n1,a,x\n1,b,y\n1,b,x\n2,a,\n3,a,x\n")
    done = run("aggregate", path, "--duplicates", "last", "-q")
    assert done.returncode == 0
    done = run("aggregate", path, "--duplicates", "last")
    assert "1 row that repeats an earlier one exactly was dropped." in done.stderr
    assert "1 (item, worker) pair had more than one label: the last row was kept." in done.stderr
    done = run("aggregate", path, "--duplicates", "last", "--strict")
    assert done.returncode == 1
    assert done.stderr.startswith("error: 1 of 6 rows have no label, and --strict forbids")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["aggregate", "nowhere.csv"], 1, "There is no file nowhere.csv"),
        (["aggregate", "{labels}", "--item", "itm"], 1, "Did you mean 'item'?"),
        (["aggregate", "{labels}", "--truth", "{other}"], 1, "shares no item"),
        (["aggregate", "{labels}", "-m", "bwaa"], 2, "there are adjudicator, bwa, "),
        (
            ["aggregate", "{labels}", "-mbwa", "--set", "a=1"],
            2,
            "bwa takes name=value with one of these names: prior",
        ),
        (
            ["aggregate", "{labels}", "-mbwa", "--set", "restarts=x"],
            2,
            "--set restarts=x is not a whole number from 0 on",
        ),
        (["aggregate", "{labels}", "--duplicates", "no"], 2, "'--duplicates': 'no' is not one of 'error', 'first'"),
        (["aggregate", "{labels}", "-o", "truth.xyz"], 2, "does not say a format to write"),
        (["aggregate", "{labels}", "-o", "no/such/folder/truth.csv"], 2, "There is no folder"),
        (["aggregate", "{labels}", "-o", "{labels}"], 2, "is an input; write to another file"),
        (["aggregate", "{labels}", "--truth", "{other}", "-o", "{other}"], 2, "is an input; write to another file"),
        (["aggregate", "{labels}", "-o", "t.csv", "--workers", "t.csv"], 2, "cannot hold both"),
        (
            ["aggregate", "{labels}", "-mbwa", "--set", "prior_strength=inf"],
            2,
            "prior_strength=inf is not a number above 0",
        ),
        (["aggregate", "{labels}", "--engine", "dsk"], 2, "'dsk' is not one of 'auto', 'memory', 'disk', 'spark'"),
        (
            ["aggregate", "{labels}", "--engine", "memory", "--workdir", "."],
            2,
            "--workdir does nothing with --engine m",
        ),
        (["aggregate", "{labels}", "--engine", "memory", "--memory", "1GB"], 2, "it is for disk or auto"),
        (["aggregate", "{labels}", "--engine", "disk", "--master", "x"], 2, "--master does nothing with --engine disk"),
        (["aggregate", "{labels}", "--master", "x"], 2, "--master does nothing with --engine auto: it is for spark"),
        (["aggregate", "{labels}", "--engine", "spark", "-m", "glad"], 2, "GLAD needs all labels in memory"),
        (
            ["aggregate", "{labels}", "-m", "ibcc", "--set", "diagonal=x"],
            2,
            "diagonal=x is not a number above 0",
        ),
        (["aggregate", "{labels}", "-m", "ds", "--set", "start_from=majorty"], 2, "Did you mean 'majority'?"),
        (["aggregate", "{labels}", "-m", "DawidSkene"], 2, "Did you mean 'ds'?"),
        (
            ["aggregate", "{labels}", "-mbwa", "--set", "seed=1", "--set", "seed=2"],
            2,
            "--set seed was given more than once",
        ),
        (["aggregate", "{labels}", "-mbwa", "--set", f"seed={'9' * 50}"], 2, "It must have at most 18 digits."),
        (["aggregate", "{labels}", "--engine", "disk", "--memory", "9" * 400], 2, "is no size; write it as 4GB"),
        (["aggregate", "{labels}", "--engine", "disk", "--memory", "²GB"], 2, "--memory '²GB' is no size"),
        (["aggregate", "{labels}", "--item", b"caf\xe9"], 2, r"error: 'caf\udce9' is not text in UTF-8"),
        (["aggregate", "{labels}", "--engine", "disk", "--workdir", b"caf\xe9"], 2, r"no folder caf\udce9 to work in"),
        (["aggregate"], 2, "error: Missing argument 'FILES'. See `crowdwise aggregate --help`."),
        (["aggregate", "{labels}", "--nonsense"], 2, "No such option"),
        (["compare", "{labels}", "--methods", "mv,x"], 2, "There is no method 'x'"),
        (["compare", "{labels}", "--methods", ""], 2, "There is no method ''"),
        (["compare", "{labels}", "-o", "compare.csv"], 2, "end it in .html"),
        (["report", "{labels}", "-o", "report.pdf"], 2, "end it in .html"),
        (["report", "{labels}", "-o", "no/such/folder/report.html"], 2, "There is no folder"),
        (["report", "{labels}", "-o", "report.html", "--truth", "{other}"], 1, "shares no item"),
        (["explain", "{labels}", "--item", "i999"], 2, "There is no item 'i999'; the first one is 'i001'"),
        (["explain", "{labels}", "--item", "i001", "-m", "ptbcc"], 2, "PTBCC cannot tell what each vote contributes"),
        (["simulate", "-o", "{labels}/folder"], 2, "cannot be made"),
        (["simulate", "--seed", "-1", "-o", "x"], 2, "--seed -1 is not a whole number from 0 up to"),
        (["simulate", "--items", "9" * 20, "-o", "x"], 2, f"--n-items {'9' * 20} is not a whole number from 1 up to"),
        (["simulate", "--items", "2000000000", "-o", "x"], 1, "would take"),
        (["simulate", "--items", "0", "-o", "x"], 2, "--n-items 0 is not a whole number from 1 up to"),
    ],
)
def test_mistakes_get_a_sentence_and_an_exit_code(
    arguments: list[str | bytes], code: int, message: str, crowd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("item,truth\nnone,x\n")
    words = [os.fsdecode(word) for word in arguments]
    done = run(*(word.format(labels=crowd / "labels.csv", other="other.csv") for word in words))
    assert done.returncode == code
    assert len(done.stderr) < 500
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


def test_help_needs_neither_numba_nor_polars() -> None:
    code = "import sys; sys.argv = ['crowdwise', '--help']; from crowdwise import cli\n"
    code += "try: cli.main()\nexcept SystemExit: pass\nprint('numba' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"
    assert "aggregate" in done.stdout


def on_a_terminal(*arguments: object) -> bytes:
    """Run a command whose standard error is a terminal, and return what it writes there."""
    here, there = pty.openpty()
    command = [sys.executable, "-m", "crowdwise", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=there) as process:
        os.close(there)
        seen = b""
        while True:
            try:
                piece = os.read(here, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    assert process.returncode == 0
    return seen


def test_a_bar_is_drawn_on_a_terminal_once_the_work_takes_a_moment(tmp_path: Path) -> None:
    labels = tmp_path / "labels.parquet"
    cw.simulate(200_000, 500, 5, seed=1).rows.write_parquet(labels)
    settings = ["-mbwa", "--set", "tolerance=1e-12", "--set", "max_iterations=400", "-o", tmp_path / "truth.parquet"]
    assert re.search(rb"iteration \d+, change \d", on_a_terminal("aggregate", labels, *settings))


def test_comparing_draws_a_bar_over_the_methods_on_a_terminal_only(crowd: Path) -> None:
    arguments = ("compare", crowd / "labels.csv", "--methods", "mv,bwa")
    assert re.search(rb"bwa .*1/2.*0:00:0", on_a_terminal(*arguments))
    assert "0:00:0" not in run(*arguments).stderr


def test_python_dash_m_is_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "crowdwise", "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(rf"crowdwise {re.escape(cw.__version__)}( \(commit \w+(, changed since)?\))?\n", done.stdout)


def test_public_names_exist_and_are_the_stubs() -> None:
    stub = ast.parse(Path(cw.__file__).with_suffix(".pyi").read_text())
    declared = {name.asname for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names}
    public: Any = cw
    assert declared == set(public.__all__) == set(dir(cw))
    assert all(getattr(cw, name) is not None for name in public.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        public.nothing  # noqa: B018  # must raise
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        public.Nothing  # noqa: B018  # must raise too: it looks like a method


def test_strict_ends_with_1_if_a_method_does_not_converge(crowd: Path) -> None:
    few = ("--set", "max_iterations=1", "-m", "bwa", "--json")
    told = run("aggregate", crowd / "labels.csv", *few)
    assert (told.returncode, json.loads(told.stdout)["converged"]) == (0, False)
    strict = run("aggregate", crowd / "labels.csv", *few, "--strict")
    assert (strict.returncode, json.loads(strict.stdout)["code"]) == (1, 1)
    assert json.loads(strict.stdout)["error"].endswith("which --strict does not allow.")


def test_simulate_replaces_nothing_unless_told(tmp_path: Path) -> None:
    assert run("simulate", "--items", "20", "-o", tmp_path).returncode == 0
    refused = run("simulate", "--items", "30", "-o", tmp_path)
    assert refused.returncode == 2
    assert "labels.csv is there already; --force replaces it" in refused.stderr
    assert run("simulate", "--items", "30", "-o", tmp_path, "--force").returncode == 0
    assert pl.read_csv(tmp_path / "truth.csv").height == 30


def test_a_method_has_a_page() -> None:
    said = run("methods", "bwa").stdout
    assert "Bayesian Weighted Average" in said
    assert "prior_strength" in said
    about = json.loads(run("methods", "ds", "--json").stdout)
    assert about["key"] == "ds"
    assert {"name", "default", "allowed", "meaning"} == set(about["parameters"][0])
    assert "Did you mean 'ds'?" in run("methods", "dawid-skene").stderr


def test_truths_have_the_names_that_labels_have(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("id,judge,verdict\n1,a,yes\n1,b,yes\n2,a,no\n2,b,no\n")
    (tmp_path / "truth.csv").write_text("id,verdict\n1,yes\n2,yes\n")
    named = ("--item", "id", "--label", "verdict", "--truth", tmp_path / "truth.csv", "--json")
    told = json.loads(run("aggregate", tmp_path / "labels.csv", *named).stdout)
    assert told["accuracy"]["adjudicator"] == 0.5
    (tmp_path / "truth.csv").write_text("thing,verdict\n1,yes\n2,yes\n")
    refused = run("aggregate", tmp_path / "labels.csv", *named)
    assert "Name it with --truth-item-column." in refused.stdout
    told = json.loads(run("aggregate", tmp_path / "labels.csv", *named, "--truth-item", "thing").stdout)
    assert told["accuracy"]["adjudicator"] == 0.5


def test_truths_and_gold_are_tidied_as_labels_are(tmp_path: Path) -> None:
    """Otherwise "Yes" in a file of truths would be a third class, and every answer to it wrong."""
    rows = cw.simulate(120, 8, 2, accuracy=0.9, seed=1)
    names = {"c1": "yes", "c2": "no"}
    truth = rows.truth.with_columns(pl.col("truth").replace(names))
    cw.write({tmp_path / "votes.csv": rows.rows.with_columns(pl.col("label").replace({"c1": "Yes ", "c2": "no"}))})
    untidy = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col("truth").str.to_titlecase() + " ").otherwise("truth")
    cw.write({tmp_path / "truth.csv": truth.with_columns(truth=untidy), tmp_path / "plain.csv": truth})
    tidy = ("aggregate", tmp_path / "votes.csv", "-m", "mv", "--fold-case", "--strip", "--json")
    found, plain = (run(*tidy, "--truth", tmp_path / name) for name in ("truth.csv", "plain.csv"))
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["accuracy"] == json.loads(plain.stdout)["accuracy"]
    gold = run("aggregate", tmp_path / "votes.csv", "--fold-case", "--strip", "--gold", tmp_path / "truth.csv")
    assert gold.returncode == 0, gold.stderr
    assert "so they are classes" not in gold.stderr


def test_a_value_that_means_no_label_means_no_truth() -> None:
    found = cw.read_truth({"a": "x", "b": "N/A", "c": " n/a"}, missing=["n/a"], strip=True, fold_case=True)
    assert found.rows() == [("a", "x")]
    assert cw.read_truth({"a": 1.0, "b": -1.0, "c": float("nan")}, missing=["-1"]).rows() == [("a", 1.0)]
    assert cw.read_truth({"a": 1, "b": -1, "c": None}, missing=[-1]).rows() == [("a", 1)]
    assert cw.read_truth({"a": "x", "b": "", "": "y"}).rows() == [("a", "x")]
