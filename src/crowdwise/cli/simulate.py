"""`crowdwise simulate`: write a simulated crowd whose truth and workers are known."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options
from .groups import FOR_CLASSES, Alias, Needs


def simulate(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write to; made if missing.")
    ],
    items: Annotated[int, typer.Option("--n-items", help="How many items."), Alias("--items")] = 1000,
    workers: Annotated[int, typer.Option("--n-workers", help="How many workers."), Alias("--workers")] = 50,
    classes: Annotated[int, typer.Option("--n-classes", help="How many classes."), Alias("--classes"), FOR_CLASSES] = 2,
    labels_per_item: Annotated[float, typer.Option(help="Labels per item, on average.")] = 5.0,
    accuracy: Annotated[float, typer.Option(help="The mean accuracy of the workers."), FOR_CLASSES] = 0.7,
    concentration: Annotated[
        float, typer.Option(help="How alike the workers are; the larger, the more alike."), FOR_CLASSES
    ] = 10.0,
    traps: Annotated[
        float, typer.Option(help="The share of items that mislead workers to the same error."), FOR_CLASSES
    ] = 0.0,
    numeric: Annotated[bool, typer.Option("--numeric", help="Labels are numbers.")] = False,
    deviation: Annotated[
        float, typer.Option(help="With --numeric: the standard deviation of the true values."), Needs("numeric")
    ] = 10.0,
    spread: Annotated[
        float,
        typer.Option(help="With --numeric: the standard deviation of a typical worker's errors."),
        Needs("numeric"),
    ] = 5.0,
    bias: Annotated[
        float, typer.Option(help="With --numeric: the standard deviation of the workers' biases."), Needs("numeric")
    ] = 2.0,
    wild: Annotated[
        float, typer.Option(help="With --numeric: the share of outliers among the labels."), Needs("numeric")
    ] = 0.0,
    workload: Annotated[
        float, typer.Option(help="How unequal the shares of work are: 0 all equal, 1 a few do most of it.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same crowd.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    extension: Annotated[
        str,
        typer.Option("--extension", metavar="FORMAT", help="What to write: csv, parquet, jsonl, ..."),
        Alias("--format"),
    ] = "csv",
    quiet: options.Quiet = False,
) -> None:
    """Simulate a crowd: write labels, truth and workers."""
    from ..crowd.simulation import SimulatedCrowd, SimulatedNumbers, simulate_numbers
    from ..crowd.simulation import simulate as simulate_crowd
    from ..errors import CallError
    from ..output.replacing import made_folder
    from ..output.targets import check_outputs
    from ..output.writing import write
    from .terminal import Terminal

    paths = [output / f"{name}.{extension}" for name in ("labels", "truth", "workers")]
    there = next((path for path in paths if path.exists()), None)
    if there is not None and not force:
        raise CallError(f"{there} is there already; --force replaces it, or name another folder.")
    with made_folder(output):
        check_outputs(paths)
        shared: Any = {"labels_per_item": labels_per_item, "workload": workload, "seed": seed}
        crowd: SimulatedCrowd | SimulatedNumbers
        if numeric:
            crowd = simulate_numbers(items, workers, deviation=deviation, spread=spread, bias=bias, wild=wild, **shared)
        else:
            about: Any = {"accuracy": accuracy, "concentration": concentration, "traps": traps}
            crowd = simulate_crowd(items, workers, classes, **about, **shared)
        tables = dict(zip(paths, (crowd.rows, crowd.truth, crowd.workers), strict=True))
        write(tables)
    terminal = Terminal(quiet)
    for path, table in tables.items():
        terminal.remark(f"Wrote {path} ({table.height:,} rows)")
    labels, truth = (shlex.quote(str(path)) for path in paths[:2])
    kind = " --numeric" if numeric else ""
    terminal.remark(f"Next: `crowdwise aggregate {labels}{kind} --truth {truth}`")
