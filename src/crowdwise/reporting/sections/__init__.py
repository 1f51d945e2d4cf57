"""The sections of the report: one file for each, and the table SECTIONS that lists them.

To add a section, write a file with a function `gather(data: ReportData)` that returns blocks, and add a row here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..blocks import Blocks
from ..report_data import ReportData
from . import classes, glance, items, provenance, truth, workers


@dataclass(frozen=True)
class SectionRow:
    """A row of the table of sections.

    Attributes:
        id: The name of the section in links, such as "workers" in #workers.
        navigation: The name of the section in the list of sections at the top of the page.
        title: The heading.
        gather: A function that makes the blocks of the section; it returns None if the section has nothing to show.
    """

    id: str
    navigation: str
    title: str
    gather: Callable[[ReportData], Blocks | None]


# All sections, in the order of the page.
SECTIONS: Final = (
    SectionRow("glance", "At a glance", "The crowd at a glance", glance.gather),
    SectionRow("classes", "Classes", "Classes", classes.gather),
    SectionRow("workers", "Workers", "Workers", workers.gather),
    SectionRow("items", "Items", "Items", items.gather),
    SectionRow("truth", "Truth", "Against the truth", truth.gather),
    SectionRow("made", "How it was made", "How it was made", provenance.gather),
)
