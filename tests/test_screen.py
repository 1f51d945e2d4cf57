"""Tests of what the terminal shows: unchanged names, unbroken words, interrupts and closed pipes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import crowdwise as cw
from crowdwise.cli.terminal import Terminal

from .test_cli import run


def votes(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["item,worker,label", *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", ["[/x]", "[b]x[/b]"])
def test_a_name_that_looks_like_markup_is_a_name(name: str, tmp_path: Path) -> None:
    file = votes(tmp_path / "m.csv", f"{name},{name},{name}", f"{name},2,b", f"y,{name},{name}")
    done = run("explain", file, "--item", name, "-m", "mv")
    assert done.returncode == 0, done.stderr
    for text in (f"Item {name}: {name}, ", f"score of {name}", f"{name} said {name}", f"core of {name} over"):
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


def test_compare_breaks_no_key_and_says_below_who_refused(tmp_path: Path) -> None:
    crowd = cw.simulate(100, 10, 3, seed=1)
    crowd.rows.write_csv(tmp_path / "labels.csv")
    crowd.truth.write_csv(tmp_path / "truth.csv")
    arguments = ("--truth", tmp_path / "truth.csv", "--methods", "kos,zero_based_skill")
    lines = run("compare", tmp_path / "labels.csv", *arguments).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["kos", "zero_based_skill"]
    assert "kos: KOS takes at most 2 classes, and here are 3: use bwa, ds or another method." in lines


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
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


def test_compiling_is_announced_as_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    from numba import njit

    with Terminal(quiet=False).compiling():
        njit(lambda x: x + 1)(1)
    assert "once for each method and kind of crowd" in capsys.readouterr().err
