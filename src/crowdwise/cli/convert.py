"""`crowdwise convert`: write every answer of an export as one table."""

from typing import Annotated

import typer

from . import options


def convert(
    reading: options.ExportReading,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the table.")],
    bom: options.Bom = False,
    quiet: options.Quiet = False,
) -> None:
    """Write all answers of an export as one table."""
    from ..crowd.reading_report import several
    from ..output.targets import check_targets
    from ..output.writing import write
    from ..platforms.questions import long_table
    from ..reading.read_answers import gathered_in
    from .terminal import Terminal

    check_targets([output], reading.files, bom=bom)
    terminal = Terminal(quiet)
    table = long_table(gathered_in(reading.files, reading.options()))
    write({output: table}, reading.storage_options(), bom=bom)
    answers = several(table.height, "answer", "answers")
    questions = several(table["question"].n_unique(), "question", "questions")
    terminal.remark(f"Wrote {output}: {answers} to {questions}.")
