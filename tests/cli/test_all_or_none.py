"""A command that writes several files writes all of them or none, whatever fails and however late."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.results.history import History
from tests.platforms.test_importing_commands import tasks
from tests.support.commands import Command

OUTPUTS = ("truth.csv", "workers.parquet", "review.csv", "day.state")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with labels and earlier outputs in it."""
    monkeypatch.chdir(tmp_path)
    cw.simulate(40, 8, 3, seed=2).rows.write_csv("labels.csv")
    for name in (*OUTPUTS, "back.json", "review.xlsx"):
        Path(name).write_text("before")
    return tmp_path


def arguments(**other: str) -> list[str]:
    """The arguments of a command that writes four files; some of them elsewhere."""
    paths = dict(zip(("-o", "--workers", "--review", "--save-state"), OUTPUTS, strict=True))
    paths |= {f"--{option.replace('_', '-')}" if option != "o" else "-o": path for option, path in other.items()}
    words = ["aggregate", "labels.csv", "-m", "one_coin"]
    return words + [word for option, path in paths.items() for word in (option, path)]


def unchanged(folder: Path) -> bool:
    """Return whether every file but the labels is as it was, and none is new."""
    names = {"labels.csv", *OUTPUTS, "back.json", "review.xlsx"}
    there = {path.name for path in folder.iterdir()}
    return there == names and all((folder / name).read_text() == "before" for name in names - {"labels.csv"})


def test_all_is_written(folder: Path, run: Command) -> None:
    ended = run(*arguments())
    assert ended.returncode == 0, ended.stderr
    assert [f"Wrote {name}" in ended.stderr for name in OUTPUTS] == [True] * 4
    assert pl.read_csv("truth.csv").height == 40
    assert pl.read_parquet("workers.parquet").height == 8
    assert len(History.read("day.state").workers) == 8


def test_strict_writes_nothing_if_the_method_does_not_converge(folder: Path, run: Command) -> None:
    ended = run(*arguments(), "--strict", "--set", "max_iterations=1")
    assert ended.returncode == 1
    assert "one_coin ran out of iterations" in ended.stderr
    assert "which --strict does not allow" in ended.stderr
    assert unchanged(folder)


@pytest.mark.parametrize("command", ["report labels.csv -o page.html", "explain labels.csv --item i01"])
def test_strict_means_the_same_in_every_command(command: str, folder: Path, run: Command) -> None:
    ended = run(*command.split(), "-m", "one_coin", "--strict", "--set", "max_iterations=1")
    assert ended.returncode == 1
    assert "which --strict does not allow" in ended.stderr
    assert unchanged(folder)


def test_a_state_that_cannot_be_written_leaves_all_as_it_was(
    folder: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("crowdwise.results.history_file.packed", full)
    ended = run(*arguments())
    assert ended.returncode == 1
    assert "day.state could not be written: [Errno 28] No space left on device" in ended.stderr
    assert unchanged(folder)


def test_a_sheet_that_excel_cannot_hold_leaves_all_as_it_was(folder: Path, run: Command) -> None:
    rows = pl.read_csv("labels.csv").with_columns(item=pl.lit("x" * 40_000) + pl.col("item"))
    rows.write_csv("labels.csv")
    ended = run(*arguments(review="review.xlsx"))
    assert ended.returncode == 1, ended.stderr
    assert "a cell of Excel has room for" in ended.stderr
    assert unchanged(folder)


def test_predictions_that_cannot_be_written_leave_all_as_it_was(
    folder: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks(folder / "labels.csv")
    words = [*arguments(o="back.json"), "--format", "label-studio"]
    monkeypatch.setattr("crowdwise.output.label_studio_predictions._tasks", lambda *_: 1 / 0)
    assert run(*words).returncode
    assert unchanged(folder)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    ended = run(*words)
    assert ended.returncode == 0, ended.stderr
    assert "back.json: 80 tasks with predictions" in ended.stderr


@pytest.mark.parametrize("option", ["o", "workers", "review", "save_state"])
def test_a_cloud_that_does_not_answer_leaves_files_as_they_were(option: str, folder: Path, run: Command) -> None:
    storage = ["aws_endpoint_url=http://127.0.0.1:9", "aws_region=x", "aws_allow_http=true", "max_retries=0"]
    storage += ["aws_access_key_id=key", "aws_secret_access_key=hush"]
    words = [word for one in storage for word in ("--storage", one)]
    ended = run(*arguments(**{option: "s3://crowd/out.parquet"}), *words)
    assert ended.returncode == 1, ended.stderr
    assert "s3://crowd/out.parquet could not be written: nobody answers there" in ended.stderr
    assert unchanged(folder)
