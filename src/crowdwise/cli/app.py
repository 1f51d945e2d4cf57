"""The command line: every command is a few lines over the library.

Nothing heavy is imported here, so that `--help` answers at once; commands import what they use.
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

# What a shell says of a process that SIGINT, SIGPIPE or SIGTERM ended.
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
    """Run the command line; a mistake of the user's is one sentence and an exit code."""
    import signal

    from ..errors import CallError, DataError

    # As after an interrupt: temporary files are removed on the way out.
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
        # Typer and Rich call a closed pipe a failure; but whoever closed it had seen enough.
        if isinstance(ending.__context__, BrokenPipeError):
            _leave_pipes()
            sys.exit(_PIPE_CLOSED)
        # Typer makes this of an interrupt, as the line above does of a request to end.
        if ending.code in (_INTERRUPTED, _TERMINATED):
            typer.echo("Interrupted; no file was left half-written.", err=True)
        raise


def _fail(problem: object, code: int) -> None:
    typer.echo(f"error: {printable(str(problem))}", err=True)
    sys.exit(code)


def _leave_pipes() -> None:
    """Send what is still to be written to nowhere: Python would complain of it on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())
