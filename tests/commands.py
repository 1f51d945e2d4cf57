"""Run commands of the command line in this process, which takes a fraction of the time of one of its own."""

import sys
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import pytest

from crowdwise.cli import app


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command: TypeAlias = Callable[..., Ended]


def run_in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command in this process, with its arguments."""

    def command(*arguments: object) -> Ended:
        monkeypatch.setattr(app, "prepare_streams", lambda: None)  # pytest has prepared them
        monkeypatch.setattr(sys, "argv", ["crowdwise", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            app.run()
        return Ended(int(ending.value.code or 0), *capsys.readouterr())

    return command
