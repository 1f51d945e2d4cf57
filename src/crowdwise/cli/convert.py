"""`crowdwise convert`: write every answer of an export as one table."""

from typing import Annotated

import typer

from . import options


def convert(
    reading: options.ExportReading,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the table.")],
    bom: options.Bom = False,
    quiet: options.Quiet = False,
) -> None:
    """Write every answer to every question of an export as a table, with a row for each."""
    from ..data.exports import gathered_in
    from ..data.importers.votes import long_table
    from ..data.reading_report import several
    from ..data.targets import check_targets
    from ..data.writing import write
    from .terminal import Terminal

    check_targets([output], reading.files, bom=bom)
    terminal = Terminal(quiet)
    table = long_table(gathered_in(reading.files, reading.format, *reading.exports()))
    write({output: table}, reading.storage_options(), bom=bom)
    answers = several(table.height, "answer", "answers")
    questions = several(table["question"].n_unique(), "question", "questions")
    terminal.remark(f"Wrote {output}: {answers} to {questions}.")
