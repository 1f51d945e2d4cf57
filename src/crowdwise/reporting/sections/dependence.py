"""The section "Dependence": workers who agree with each other too often to be independent."""

from typing import Final

from ...analysis.condensing import left_out
from ..blocks import Block, Paragraph, Table
from ..cells import number, text
from ..report_data import ReportData

# The largest number of rows in the table of blocks.
_MAX_ROWS: Final = 100


def gather(data: ReportData) -> list[Block] | None:
    """Make the table of blocks of workers, and say who follows whom; None if there is nothing, or nobody compared."""
    found = data.findings.dependence
    if found is None or not (found.blocks or found.followers):
        return None
    rows = [
        [
            number(block.number),
            text(block.names),
            number(block.members.height),
            number(block.agreement, ".1%"),
            number(block.expected, ".1%"),
            number(block.effective, ".1f"),
            text("copies" if block.are_copies else ""),
        ]
        for block in found.blocks[:_MAX_ROWS]
    ]
    columns = ["#Block", "Workers", "#Size", "#Agree", "#Independent would", "#Count for", "Remark"]
    left = left_out(len(rows), len(found.blocks), "The largest blocks:")
    note = (
        "Agree: how often members say the same about an item that they share. Independent would: how often independent "
        "workers of the same quality would. Count for: how many independent workers they are worth. Copies say the "
        "same nearly always."
    )
    table = [Table("blocks of workers", columns, rows, left), Paragraph(note, "note")] if rows else []
    return [
        Paragraph(found.summary, "intro"),
        *table,
        *(Paragraph(caution) for caution in found.cautions),
    ]
