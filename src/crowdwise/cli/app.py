"""The command line program: registers all commands, and turns errors into messages and exit codes.

Modules that are slow to import are imported only inside the commands, so that `--help` answers at once.
"""

import os
import sys
from typing import Annotated, Final

import typer

from . import datasets
from .aggregate import aggregate
from .compare import compare
from .explain import explain
from .methods import methods
from .report import report
from .simulate import simulate
from .text import printable

# The exit codes that shells use for processes that were ended by SIGINT, SIGPIPE and SIGTERM.
_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141
_TERMINATED: Final = 143

app = typer.Typer(
    help="Infer the truth from what many workers said.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(datasets.app, name="datasets")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from .. import __version__

        typer.echo(f"crowdwise {__version__}")
        raise typer.Exit


for command in (aggregate, compare, report, explain, simulate, methods):
    app.command()(command)


def main() -> None:
    """Run the command line program.

    A mistake by the user ends it with a one-sentence message and an exit code: 1 for `DataError`, 2 for `CallError`.
    """
    import signal

    from ..errors import CallError, DataError

    # End by an exception, as after an interrupt, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        app()
    except DataError as problem:
        _fail(problem, 1)
    except CallError as problem:
        _fail(problem, 2)
    except MemoryError:
        _fail("There is not enough memory for this.", 1)
    except SystemExit as ending:
        # Typer and Rich treat a closed pipe as an error, but it is normal: the reader, such as `head`, needs no more.
        if isinstance(ending.__context__, BrokenPipeError):
            _discard_output()
            sys.exit(_PIPE_CLOSED)
        # Typer exits with the first code after an interrupt, and the handler above exits with the second after SIGTERM.
        if ending.code in (_INTERRUPTED, _TERMINATED):
            typer.echo("Interrupted; no file was left half-written.", err=True)
        raise


def _fail(problem: object, code: int) -> None:
    """Print an error message, and end the program with this exit code."""
    typer.echo(f"error: {printable(str(problem))}", err=True)
    sys.exit(code)


def _discard_output() -> None:
    """Send all further output to the null device: Python would otherwise report the closed pipe when it exits."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            os.dup2(null_device, stream.fileno())
