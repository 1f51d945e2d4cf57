"""`crowdwise convert`: write every answer of an export as one table."""

from typing import Annotated

import typer

from . import options


def convert(
    reading: options.Reading,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the table.")],
    bom: options.Bom = False,
    quiet: options.Quiet = False,
) -> None:
    """Write every answer to every question of an export as a table, with a row for each."""
    from ..data.exports import read_answers
    from ..data.targets import check_targets
    from ..data.writing import write
    from .terminal import Terminal

    check_targets([output], reading.files, bom=bom)
    terminal = Terminal(quiet)
    table = read_answers(reading.files, format=reading.format, item=reading.item, **reading.imports())
    write({output: table}, bom=bom)
    terminal.remark(f"Wrote {output}: {table.height:,} answers to {table['question'].n_unique():,} questions.")
