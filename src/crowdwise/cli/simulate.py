"""`crowdwise simulate`: write a simulated crowd whose truth and workers are known."""

from pathlib import Path
from typing import Annotated

import typer

from . import options


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
    from ..data.simulation import simulate as simulate_crowd
    from ..data.writing import write
    from ..errors import CallError
    from .terminal import Terminal

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
    terminal = Terminal(quiet)
    for name, table in tables.items():
        terminal.remark(f"Wrote {output / f'{name}.{extension}'} ({table.height:,} rows)")
