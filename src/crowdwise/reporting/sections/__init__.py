"""The sections of the report: one file for each, and the table SECTIONS that lists them.

To add a section, write a file with a function `gather(data: ReportData)` that returns blocks, and add a row here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..blocks import Blocks
from . import classes, costs, dependence, glance, items, judges, ordinal, provenance, reviewed, summary, truth, workers


@dataclass(frozen=True)
class SectionRow:
    """A row of the table of sections.

    Attributes:
        id: The name of the section in links, such as "workers" in #workers.
        navigation: The name of the section in the list of sections at the top of the page.
        title: The heading.
        gather: A function of the data of the report that makes the blocks of the section; it returns None if the
            section has nothing to show.
    """

    id: str
    navigation: str
    title: str
    gather: Callable[[Any], Blocks | None]


# All sections, in the order of the page.
SECTIONS: Final = (
    SectionRow("summary", "In short", "In short", summary.gather),
    SectionRow("glance", "At a glance", "The crowd at a glance", glance.gather),
    SectionRow("reviewed", "Reviewed", "Reviewed", reviewed.gather),
    SectionRow("classes", "Classes", "Classes", classes.gather),
    SectionRow("workers", "Workers", "Workers", workers.gather),
    SectionRow("dependence", "Dependence", "Workers who are not independent", dependence.gather),
    SectionRow("judges", "Judges", "The panel and its judges", judges.gather),
    SectionRow("items", "Items", "Items", items.gather),
    SectionRow("costs", "Costs", "Decisions of least expected cost", costs.gather),
    SectionRow("order", "Order", "Labels of least expected distance", ordinal.gather),
    SectionRow("truth", "Truth", "Against the truth", truth.gather),
    SectionRow("made", "How it was made", "How it was made", provenance.gather),
)
