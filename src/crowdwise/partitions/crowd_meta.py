"""`CrowdMeta`: what a part knows of the whole crowd; and what labels on disk and in Spark have in common."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Self

import numpy as np
import polars as pl

from ..caution import Caution
from ..crowd.knowledge import NOTHING_KNOWN, PriorKnowledge
from ..crowd.label_cautions import cautions_of
from ..crowd.labels import Labels
from ..crowd.names import Names
from ..crowd.numbering import Numbering, hash_ranks
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import ReadingReport
from ..crowd.samples import Samples
from ..crowd.soft_votes import plain, with_more_classes
from ..crowd.sorting import LabelArrays, SortCounts, SortedRows, sort_part
from ..numerics import Array

# A part has no report of its own: the report is about the whole crowd.
_NO_REPORT: Final = ReadingReport(0)


def numbering_and_sorting(
    names: Names, ranks: Array | None, samples: Samples | None, options: ReadOptions
) -> tuple[Numbering, Callable[[pl.DataFrame], SortedRows]]:
    """Return the numbers of workers while a method works, and what sorts the rows of a part by them."""
    numbering = Numbering.of_workers(hash_ranks(names.workers))
    policy = options.policy
    numbers = numbering.worker_numbers
    sort = partial(sort_part, ranks=ranks, worker_numbers=numbers, duplicates=policy, samples=samples)
    return numbering, partial(sort, n_classes=len(names.classes))


@dataclass(frozen=True, eq=False)
class CrowdMeta:
    """What a part knows of the whole crowd; Spark broadcasts it to the executors.

    Attributes:
        names: The names of the workers, in order of first appearance, and of the classes; each part stores the names
            of its own items.
        numbering: The numbers of the workers; the parts store workers by their numbers.
        dtype: The data type of stored labels.
        n_items: The number of items of all parts.
        n_labels: The number of labels of all parts.
        set_valued: Whether some vote names several classes.
        soft: Whether some vote has a probability or a weight.
        class_codes: The class that each stored label stands for; None if labels are stored as what they stand for.
        gold: The items whose class is known: a table with the columns item, and code for the class; None if none is.
        known: Other knowledge that was given, such as a history.
    """

    names: Names
    numbering: Numbering
    dtype: Any
    n_items: int
    n_labels: int
    set_valued: bool
    soft: bool = False
    class_codes: Array | None = None
    gold: pl.DataFrame | None = None
    known: PriorKnowledge = NOTHING_KNOWN

    @classmethod
    def of(
        cls, names: Names, numbering: Numbering, ranks: Array | None, counts: SortCounts, options: ReadOptions
    ) -> "CrowdMeta":
        """Return what is known when all rows are sorted; `ranks` is None if labels are numbers."""
        dtype = np.dtype(np.float64) if ranks is None else ranks.dtype
        set_valued = options.policy == "set" and counts.conflicts > 0
        return cls(names, numbering, dtype, counts.items, counts.labels, set_valued, counts.soft > 0)

    @cached_property
    def numbered_names(self) -> Names:
        """The names, with workers in the order of their numbers."""
        return self.names.numbered(self.numbering)

    def with_classes(self, classes: pl.Series) -> "CrowdMeta":
        """Return the same with these classes; see `Crowd.with_classes`."""
        codes = self.names.codes_in(classes).astype(np.min_scalar_type(len(classes) - 1))
        codes = codes if self.class_codes is None else codes[self.class_codes]
        return replace(self, names=replace(self.names, classes=classes), class_codes=codes)

    def with_known(self, gold: pl.DataFrame | None, known: PriorKnowledge) -> "CrowdMeta":
        """Return the same with what is known beforehand; see `Crowd.with_known`."""
        return replace(self, gold=gold, known=known)

    def part(self, stored: LabelArrays, gold: Array | None = None) -> Labels:
        """Return the labels of a part, without the names of its items.

        Args:
            stored: The arrays, as they are stored.
            gold: (items), the known class of every item, -1 where it is not known; None if no class is known.
        """
        starts, workers, labels, continued, stored_soft = stored
        if self.set_valued and continued is None:
            continued = np.zeros(len(labels), np.bool_)
        soft = self._soft(labels, stored_soft)
        labels = labels if self.class_codes is None else self.class_codes[labels]
        return Labels(
            starts,
            workers,
            labels,
            self.numbered_names,
            _NO_REPORT,
            continued,
            gold=gold,
            known=self.known,
            crowd_labels=self.n_labels,
            soft=soft,
        )

    def _soft(self, labels: Array, stored: Array | None) -> Array | None:
        """Return what the votes of a part say and weigh; None if those of all parts are plain."""
        if not self.soft or stored is None:
            return plain(labels, self.n_classes) if self.soft else None
        soft = stored.reshape(len(labels), -1)
        return soft if self.class_codes is None else with_more_classes(soft, self.class_codes, self.n_classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.names.classes)

    def empty_part(self) -> Labels:
        """Return a part without items. It counts as a small crowd, so that nothing is compiled for it."""
        arrays = LabelArrays(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, self.dtype), None)
        gold = None if self.gold is None else np.zeros(0, np.int64)
        return replace(self.part(arrays, gold), crowd_labels=None)


class LabelsInParts:
    """What labels on disk and labels in a Spark cluster have in common; see `Crowd`.

    Attributes:
        meta: What all parts know of the crowd.
        report: What was read, and which rows were dropped or changed.
    """

    def __init__(self, meta: CrowdMeta, report: ReadingReport) -> None:
        self.meta = meta
        self.report = report

    @property
    def names(self) -> Names:
        """The names of workers and classes. The names of items are stored in their part."""
        return self.meta.names

    @property
    def numbering(self) -> Numbering:
        """The numbers that workers have while a method works."""
        return self.meta.numbering

    @property
    def n_items(self) -> int:
        """The number of items that have a label."""
        return self.meta.n_items

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.meta.n_labels

    @property
    def n_workers(self) -> int:
        """The number of workers."""
        return len(self.meta.names.workers)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.meta.names.classes)

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes."""
        return self.meta.set_valued

    @property
    def soft_valued(self) -> bool:
        """Whether some vote has a probability or a weight."""
        return self.meta.soft

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers instead of classes."""
        return bool(self.meta.dtype == np.float64)

    @property
    def known(self) -> PriorKnowledge:
        """What is known beforehand, besides the classes of items."""
        return self.meta.known

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about these labels; names that look alike are looked for in memory only."""
        return cautions_of(self.report, self.names.classes)

    def with_classes(self, classes: pl.Series) -> Self:
        """Return the same labels with these classes, which are all that the labels name and perhaps more."""
        return self._with(self.meta.with_classes(classes))

    def with_known(self, gold: pl.DataFrame | None, known: PriorKnowledge) -> Self:
        """Return the same labels with what is known beforehand; see `Crowd.with_known`."""
        return self._with(self.meta.with_known(gold, known))

    def with_report(self, report: ReadingReport) -> Self:
        """Return the same labels with another report of what was read."""
        other = copy(self)
        other.report = report
        return other

    def _with(self, meta: CrowdMeta) -> Self:
        """Return labels that share the stored parts with these."""
        other = copy(self)
        other.meta = meta
        return other
