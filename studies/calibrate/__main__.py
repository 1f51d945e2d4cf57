"""Fits the constants of all methods, writes them and docs/studies/confidence.md: `python -m studies.calibrate`."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .constants_file import PATH, constants_file
from .contestants import contestants
from .coverage_section import DOCS
from .crowds import crowds
from .fitting import fit
from .measuring import measure
from .page import write_page

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(stderr=True, highlight=False, soft_wrap=True)


@app.command()
def calibrate(
    data: Annotated[
        Path | None, typer.Option(help="A folder of datasets, instead of the one that CROWDWISE_DATA names.")
    ] = None,
    work: Annotated[Path, typer.Option(help="Keep scores here, so that a later run need not make them again.")] = Path(
        ".calibrated"
    ),
    fresh: Annotated[bool, typer.Option("--fresh", help="Make all scores again, after a change of methods.")] = False,
) -> None:
    """Fit the constants of all methods to all crowds, and write the constants and the page."""
    folder = data or Path(os.environ.get("CROWDWISE_DATA", ""))
    found = crowds(folder)
    if not found:
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    methods = contestants()
    measured = measure(methods, found, work, console.print, fresh=fresh)
    fitted = {}
    for name, scores in measured.items():
        fitted[name] = fit(name, scores)
        console.print(f"{name}: {fitted[name].constant}")
    PATH.write_text(constants_file(fitted), encoding="utf-8")
    write_page(fitted)
    console.print(f"Wrote {PATH} and {DOCS / 'confidence.md'}")


if __name__ == "__main__":
    app()
