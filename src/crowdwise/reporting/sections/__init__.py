"""The sections of the report: one file each, and the table SECTIONS with a row for each.

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
    """What the report needs to know of a section.

    Attributes:
        id: What links to it name, as in #workers.
        navigation: What the list of sections at the top of the page calls it.
        title: Its heading.
        gather: Makes what it shows; None where it has nothing to show, and the section is left out.
    """

    id: str
    navigation: str
    title: str
    gather: Callable[[ReportData], Blocks | None]


# In the order of the page.
SECTIONS: Final = (
    SectionRow("glance", "At a glance", "The crowd at a glance", glance.gather),
    SectionRow("classes", "Classes", "Classes", classes.gather),
    SectionRow("workers", "Workers", "Workers", workers.gather),
    SectionRow("items", "Items", "Items", items.gather),
    SectionRow("truth", "Truth", "Against the truth", truth.gather),
    SectionRow("made", "How it was made", "How it was made", provenance.gather),
)
