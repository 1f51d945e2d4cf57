"""The command line: every command is a few lines over the library.

Nothing heavy is imported here, so that `--help` answers at once; commands import what they use.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from . import aggregating, dataset_commands, options, viewing
from .printable import printable

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
app.add_typer(dataset_commands.app, name="datasets")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        from . import __version__

        typer.echo(f"crowdwise {__version__}")
        raise typer.Exit


app.command()(aggregating.aggregate)


@app.command()
def compare(
    files: options.Files,
    truth: options.Truth = None,
    methods: Annotated[str | None, typer.Option(help="Which methods, separated by commas; all if left out.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Draw a page here; ends in .html.")] = None,
    item: options.Item = None,
    worker: options.Worker = None,
    label: options.Label = None,
    duplicates: options.Duplicates = "error",
    missing: options.Missing = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Run methods side by side: accuracy with split ties, seconds, iterations."""
    from .choice import choose
    from .comparison import compare as compare_methods
    from .methods import METHODS
    from .reporting import check_page, comparison_page
    from .screen import Screen

    if output is not None:
        options.check_targets([output], files, truth)
        check_page(output)
    keys = [key.strip() for key in methods.split(",")] if methods else list(METHODS)
    chosen = {key: choose(key) for key in keys}
    screen = Screen(quiet)
    with screen.compiling():
        labels = options.read(screen, options.Source(files, item, worker, label, duplicates, missing, strict))
        known = options.read_known(truth)
        with screen.steps(len(chosen)) as begin:
            rows = compare_methods(labels, chosen, known, begin)
    if output is not None:
        comparison_page(labels, rows, output, options.command_line())
        screen.remark(f"Wrote {output}")
    if as_json:
        typer.echo(json.dumps(rows))
        return
    # How a method ended is a sentence if it is no matter of course; a column of those would leave no room for the rest.
    header = [name for name in rows[0] if name != "ending"]
    screen.table(repr(labels), header, [[row[name] for name in header] for row in rows])
    screen.notes([f"{row['method']}: {row['ending']}" for row in rows if row["ending"] != "converged"])


app.command()(viewing.report)
app.command()(viewing.explain)


@app.command()
def simulate(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to; made if missing.")],
    items: Annotated[int, typer.Option(help="How many items.")] = 1000,
    workers: Annotated[int, typer.Option(help="How many workers.")] = 50,
    classes: Annotated[int, typer.Option(help="How many classes.")] = 2,
    labels_per_item: Annotated[float, typer.Option(help="Labels per item, on average.")] = 5.0,
    accuracy: Annotated[float, typer.Option(help="The mean accuracy of the workers.")] = 0.7,
    concentration: Annotated[float, typer.Option(help="The larger, the more alike the workers.")] = 10.0,
    workload: Annotated[float, typer.Option(help="0: all work the same; 1: a few do most of it.")] = 0.5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same crowd.")] = 0,
    extension: Annotated[str, typer.Option("--format", help="csv, parquet, jsonl, ...")] = "csv",
    quiet: options.Quiet = False,
) -> None:
    """Simulate a crowd: labels, truth and workers."""
    from .errors import CallError
    from .screen import Screen
    from .simulation import simulate as simulate_crowd
    from .writing import write

    crowd = simulate_crowd(
        items,
        workers,
        classes,
        labels_per_item=labels_per_item,
        accuracy=accuracy,
        concentration=concentration,
        workload=workload,
        seed=seed,
    )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CallError(f"The folder {output} cannot be made: {problem.strerror}.") from problem
    tables = {"labels": crowd.rows, "truth": crowd.truth, "workers": crowd.workers}
    write({output / f"{name}.{extension}": table for name, table in tables.items()})
    screen = Screen(quiet)
    for name, table in tables.items():
        screen.remark(f"Wrote {output / f'{name}.{extension}'} ({table.height:,} rows)")


@app.command()
def methods(as_json: options.Json = False) -> None:
    """List the methods there are, one line each."""
    from .methods import METHODS

    rows = [(key, _sentence(method)) for key, method in METHODS.items()]
    if as_json:
        typer.echo(json.dumps(dict(rows)))
        return
    for key, sentence in rows:
        typer.echo(f"{key:<18}{sentence}")


def main() -> None:
    """Run the command line; a mistake of the user's is one sentence and an exit code."""
    import signal

    from .errors import CallError, DataError

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


def _sentence(method: Any) -> str:
    """The first sentence of the module that defines a method."""
    return str(sys.modules[method.__module__].__doc__).splitlines()[0]


if __name__ == "__main__":
    main()
