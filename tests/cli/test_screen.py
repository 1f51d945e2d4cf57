"""Tests of what the terminal shows, whatever it is: unchanged names, unbroken words, interrupts and closed streams."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.cli.panics import panics_hidden
from crowdwise.cli.terminal import Terminal
from tests.support.commands import run


def votes(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["item,worker,label", *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", ["[/x]", "[b]x[/b]"])
def test_a_name_that_looks_like_markup_is_a_name(name: str, tmp_path: Path) -> None:
    file = votes(tmp_path / "m.csv", f"{name},{name},{name}", f"{name},2,b", f"y,{name},{name}")
    done = run("explain", file, "--item", name, "-m", "mv")
    assert done.returncode == 0, done.stderr
    for text in (f"Item '{name}': '{name}', ", f"score of '{name}'", f"{name} said {name}", f"core of {name} over"):
        assert text in done.stdout
    done = run("aggregate", file, "-m", "mv")
    assert done.stdout.count(name) >= 4
    done = run("aggregate", file, "--item", name)
    assert (done.returncode, name in done.stderr) == (1, True)


def test_what_would_steer_the_terminal_is_spelled_out_but_for_machines(tmp_path: Path) -> None:
    name = "\x1b[31mw\u202e0"
    file = votes(tmp_path / "m.csv", f"{name},{name},{name}", f"{name},2,b", f"y,{name},{name}")
    quality = tmp_path / "quality.csv"
    for command in (("aggregate", "--workers", quality), ("explain", "--item", name), ("aggregate", "--truth", name)):
        done = run(command[0], file, *command[1:], "-m", "mv")
        assert r"\x1b[31mw\u202e0" in done.stdout + done.stderr
        assert not re.search("[\x1b\u202e]", done.stdout + done.stderr)
    assert name in quality.read_text()


def shown(capsys: pytest.CaptureFixture[str], header: list[str] | None, *rows: tuple[object, ...]) -> list[str]:
    Terminal(quiet=False).table("Title", header, rows)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_long_names_give_way_to_numbers_and_headers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = shown(capsys, ["item", "score", "runner_up_score", "votes"], ("i" * 90, 0.5, 0.25, 1234), ("j", 1, 1, 1))
    assert lines[1].split() == ["item", "score", "runner_up_score", "votes"]
    assert lines[2].split()[1:] == ["0.5000", "0.2500", "1234"]
    assert max(map(len, lines)) == 80
    # Sentences are wrapped before names are broken, and numbers are never cut.
    lines = shown(capsys, ["who", "why", "n"], ("w" * 60, "one word after the other", None), ("v", "", 123456))
    assert lines[2].split()[0] == "w" * 60
    monkeypatch.setenv("COLUMNS", "10")
    assert "123456  123456" in shown(capsys, ["a", "b"], (123456, 123456))


def test_columns_give_way_to_names_and_that_is_said(tmp_path: Path) -> None:
    crowd = cw.simulate(40, 8, 3, seed=1)
    for name, table in (("labels.csv", crowd.rows), ("gold.csv", crowd.truth.head(20))):
        table.with_columns(pl.format("photographed_by_{}", "item").alias("item")).write_csv(tmp_path / name)
    done = run("aggregate", tmp_path / "labels.csv", "--gold", tmp_path / "gold.csv")
    lines = done.stdout.splitlines()
    (title,) = (place for place, line in enumerate(lines) if line.startswith("Inferred labels"))
    assert lines[title].endswith("-o FILE writes them all)")
    assert lines[title + 1].split() == ["item", "label", "confidence", "runner_up", "votes", "gold"]
    assert [line.split()[0] for line in lines[title + 2 : title + 12]] == [
        f"photographed_by_i{i:02}" for i in range(1, 11)
    ]
    assert max(map(len, lines[title + 1 : title + 12])) <= 80


def test_columns_give_way_to_names_of_workers_who_give_numbers(tmp_path: Path) -> None:
    rows = cw.simulate_numbers(30, 6, seed=1).rows
    rows.with_columns(pl.format("photographer_{}", "worker").alias("worker")).write_csv(tmp_path / "labels.csv")
    lines = run("aggregate", tmp_path / "labels.csv", "--numeric").stdout.splitlines()
    title = lines.index("Best and worst workers (all); columns that do not fit: wild, spread and bias")
    assert all(re.fullmatch(r"photographer_w\d", line.split()[0]) for line in lines[title + 2 : title + 5])
    assert max(map(len, lines)) <= 80


def test_compare_breaks_no_key_with_gold(tmp_path: Path) -> None:
    crowd = cw.simulate(100, 10, 3, seed=1)
    for name, table in (("labels", crowd.rows), ("truth", crowd.truth), ("gold", crowd.truth.head(20))):
        table.write_csv(tmp_path / f"{name}.csv")
    known = ("--truth", tmp_path / "truth.csv", "--gold", tmp_path / "gold.csv")
    lines = run("compare", tmp_path / "labels.csv", *known, "--methods", "mv,zero_based_skill").stdout.splitlines()
    assert lines[0].startswith("The most accurate of 2 methods is '")
    title = next(place for place, line in enumerate(lines) if line.startswith("Methods"))
    assert lines[title].endswith("; columns that do not fit: ties and brier")
    assert {line.split()[0] for line in lines[title + 2 : title + 4]} == {"mv", "zero_based_skill"}


def test_compare_breaks_no_key_and_says_below_who_refused(tmp_path: Path) -> None:
    crowd = cw.simulate(100, 10, 3, seed=1)
    crowd.rows.write_csv(tmp_path / "labels.csv")
    crowd.truth.write_csv(tmp_path / "truth.csv")
    arguments = ("--truth", tmp_path / "truth.csv", "--methods", "kos,zero_based_skill")
    done = run("compare", tmp_path / "labels.csv", *arguments)
    assert "\nzero_based_skill  " in done.stdout
    assert "kos" not in done.stdout
    refusal = "'kos': KOS takes at most 2 classes, and here are 3: use adjudicator, bwa, ds or another method."
    assert refusal in done.stderr.splitlines()


@pytest.mark.parametrize("arguments", [[], ["--json"], ["-m", "mv"]])
def test_a_closed_pipe_is_no_problem_of_the_data(arguments: list[str], tmp_path: Path) -> None:
    file = votes(tmp_path / "m.csv", "x,1,a", "x,2,b", "y,1,a")
    here, there = os.pipe()
    os.close(here)
    command = [sys.executable, "-m", "crowdwise", "aggregate", str(file), *arguments]
    done = subprocess.run(command, stdout=there, stderr=subprocess.PIPE, text=True, check=False)
    os.close(there)
    assert done.returncode == 141
    assert not re.search("rror|Traceback|Exception", done.stderr)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_an_interrupt_is_answered(number: signal.Signals, code: int, tmp_path: Path) -> None:
    file, target = tmp_path / "labels.csv", tmp_path / "truth.csv"
    cw.simulate(20_000, 100, 4, seed=1).rows.write_csv(file)
    settings = ["--set", "tolerance=1e-300", "--set", "max_iterations=100000000"]
    command = [sys.executable, "-m", "crowdwise", "aggregate", str(file), "-o", str(target), *settings]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("Read"):
            pass
        time.sleep(0.5)
        process.send_signal(number)
        assert process.stderr.read().endswith("Interrupted; no file was left half-written.\n")
    assert process.returncode == code
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_an_interrupt_while_modules_are_imported_is_answered() -> None:
    """Typer is imported first, and takes the longest of what is imported before a command starts."""
    code = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from crowdwise.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_signal_that_comes_in_a_callback_from_c_is_not_lost() -> None:
    code = """
import ctypes, os, signal, time
from crowdwise.cli.signals import end_on_signals
end_on_signals()
ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "")


@pytest.mark.parametrize("error", ["RuntimeError('no code')", "OSError('no file')", "cw.DataError('no row')"])
def test_a_signal_that_a_library_answers_by_an_error_of_its_own_is_not_lost(error: str) -> None:
    """As Numba does where it compiles, and where it makes arrays."""
    code = f"""
import os, signal, sys, time
import crowdwise as cw
from crowdwise.cli import main
from crowdwise.methods.bwa import BWA
def fit(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    except SystemExit:
        raise {error} from None
BWA.fit = fit
sys.argv[1:] = ["aggregate", "-m", "bwa", "--quiet", "-"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input="item,worker,label\nx,1,a\n", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (143, "Interrupted; no file was left half-written.\n")


def test_panics_are_not_printed_and_everything_else_is(capfd: pytest.CaptureFixture[str]) -> None:
    panic = b"\nthread 'a-0' (7) panicked at lib.rs:1:2:\nleft\n  right\n"
    stack = b"stack backtrace:\n   0: a\n             at b.rs:1\nnote: more\n"
    before = sys.stderr
    with panics_hidden():
        child = subprocess.Popen(["sh", "-c", "read wait; true"], stdin=subprocess.PIPE)  # it keeps the pipe open
        for text in (b"one\n", panic, panic + stack, b"two", b"\n\nthread 'b' is fine\n", panic, b"three"):
            os.write(2, text)
        sys.stderr.write("Python says this at once")
        sys.stderr.flush()
    assert sys.stderr is before
    os.write(2, b" four\n")
    child.communicate(b"\n")
    printed = capfd.readouterr().err.replace("Python says this at once", "")
    assert printed == "one\ntwo\n\nthread 'b' is fine\nthree four\n"


def in_shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell in which `crowdwise` is the command line."""
    line = f'crowdwise() {{ "{sys.executable}" -m crowdwise "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", line], capture_output=True, env=os.environ | environment, check=False)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        pytest.param("crowdwise methods >&-", 0, "", id="closed output"),
        pytest.param("crowdwise methods 2>&-", 0, "", id="closed errors"),
        pytest.param("crowdwise nothing 2>/dev/full", 2, "", id="full errors"),
        pytest.param("crowdwise aggregate - <&- >&- 2>&-", 1, "", id="all closed"),
        pytest.param(
            "crowdwise aggregate - <&-",
            1,
            "error: Standard input is closed: name a file, or pipe one in.\n",
            id="closed input",
        ),
        pytest.param(
            "crowdwise methods >/dev/full",
            1,
            "error: Standard output could not be written: No space left on device.\n",
            id="full output",
        ),
        pytest.param("crowdwise --help | true; exit ${PIPESTATUS[0]}", 141, "", id="closed pipe"),
    ],
)
def test_closed_and_full_streams_are_no_traceback(command: str, code: int, said: str) -> None:
    done = in_shell(command)
    assert (done.returncode, done.stderr.decode()) == (code, said)


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}], ids=["locale", "encoding"]
)
def test_a_screen_without_unicode_shows_what_it_can(environment: dict[str, str], tmp_path: Path) -> None:
    votes(tmp_path / "vöte.csv", "ü,1,á", "ü,2,b", "ü,3,á", "y,1,b")
    done = in_shell(f"cd {tmp_path} && crowdwise explain vöte.csv --item ü -m mv", **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert rb"Item '\xfc': '\xe1', not 'b'" in done.stdout
    assert b"###" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_names_of_any_length_are_cut_on_the_screen_and_in_the_page(tmp_path: Path) -> None:
    name = "x" * 1_000_000
    file = votes(tmp_path / "m.csv", f"{name},{name},{name}", f"{name},2,b", f"{name},3,{name}", f"y,{name},{name}")
    for command in (["aggregate"], ["explain", "--item", "y"], ["compare", "--methods", "mv"]):
        done = run(command[0], file, *command[1:], *(["-m", "mv"] if command[0] != "compare" else []))
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) < 50_000
        assert max(map(len, done.stderr.splitlines()), default=0) < 500
    assert run("report", file, "-m", "mv", "-o", tmp_path / "page.html", "-q").returncode == 0
    page = (tmp_path / "page.html").read_text()
    # The list to save is a table, and tables have ids as they came.
    assert name[:1000] not in re.sub(r'"data:text/csv[^"]*"', "", page)
    for wrong in (["--item", "x" * 100_000], ["--set", "x" * 100_000], ["--" + "x" * 100_000], ["-m", "x" * 100_000]):
        done = run("aggregate", file, *wrong)
        assert done.returncode in (1, 2)
        assert len(done.stderr) < 500


def test_compiling_is_announced_as_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    from numba import njit

    import crowdwise.numerics.compilation  # noqa: F401  # which tells who listens

    with Terminal(quiet=False).compiling():
        njit(lambda x: x + 1)(1)
    assert "once for each method and kind of crowd" in capsys.readouterr().err
