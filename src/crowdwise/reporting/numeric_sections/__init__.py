"""The sections of the report about numeric labels, and the table NUMERIC_SECTIONS that lists them.

To add a section, write a file with a function `gather(data: NumericReportData)` that returns blocks, and add a row.
"""

from typing import Final

from ..sections import SectionRow, provenance
from . import glance, items, summary, truth, values, workers

# All sections, in the order of the page.
NUMERIC_SECTIONS: Final = (
    SectionRow("summary", "In short", "In short", summary.gather),
    SectionRow("glance", "At a glance", "The crowd at a glance", glance.gather),
    SectionRow("values", "Values", "Values", values.gather),
    SectionRow("workers", "Workers", "Workers", workers.gather),
    SectionRow("items", "Items", "Items", items.gather),
    SectionRow("truth", "Truth", "Against the truth", truth.gather),
    SectionRow("made", "How it was made", "How it was made", provenance.gather),
)
