"""Run commands of the command line: in this process, which takes a fraction of the time, or in one of its own."""

import gc
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

from tests.attack.running import handlers_restored, run_main, streams


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command: TypeAlias = Callable[..., Ended]


def run(*arguments: object, stdin: bytes = b"") -> Ended:
    """Run a command in this process, with standard streams that are files."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(patch.object(sys, "argv", ["crowdwise", *map(str, arguments)]))
        stack.enter_context(patch.object(sys, "unraisablehook", sys.unraisablehook))
        stack.enter_context(handlers_restored())
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        # Warnings are shown as Python does where nobody asks for more; tests turn them into errors.
        stack.enter_context(warnings.catch_warnings())
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        files = stack.enter_context(streams(folder, stdin))
        code = run_main()
        output, said = (path.read_text(encoding="utf-8") for path in files)
    return Ended(code, output, said)


def run_apart(*arguments: object) -> Ended:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "crowdwise", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)
