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
    from ..data.replacing import made_folder
    from ..data.simulation import simulate as simulate_crowd
    from ..data.writing import check_outputs, write
    from .terminal import Terminal

    paths = [output / f"{name}.{extension}" for name in ("labels", "truth", "workers")]
    with made_folder(output):
        check_outputs(paths)
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
        tables = dict(zip(paths, (crowd.rows, crowd.truth, crowd.workers), strict=True))
        write(tables)
    terminal = Terminal(quiet)
    for path, table in tables.items():
        terminal.remark(f"Wrote {path} ({table.height:,} rows)")
