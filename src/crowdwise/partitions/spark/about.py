"""`About`: what executors need to know about the whole crowd to work on one part."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ...crowd.knowledge import NOTHING_KNOWN, Known
from ...crowd.names import Names
from ...crowd.numbering import Numbering
from ...numerics import Array


class About:
    """What executors need to know about the whole crowd to work on one part.

    Args:
        names: The names of the workers, in order of first appearance, and of the classes; items have theirs in parts.
        worker_places: The number of every worker; the parts have workers by their numbers.
        dtype: The data type of labels.
        folder: The name of the folder in which executors keep the parts of this crowd; see `kept`.
        set_valued: Whether some vote names several classes.

    Attributes:
        recoded: The class that each stored label stands for; None if labels are stored as what they stand for.
        gold: The columns item and code; None if no class is known. See `Crowd.with_known`.
        known: What else is known beforehand.
        n_labels: The number of labels of all parts.
    """

    recoded: Array | None = None
    gold: pl.DataFrame | None = None
    known: Known = NOTHING_KNOWN
    n_labels: int = 0

    def __init__(
        self,
        names: Names,
        worker_places: Array,
        dtype: Any,
        folder: str,
        set_valued: bool = False,
    ) -> None:
        self.names = names
        self.numbering = Numbering.of_workers(worker_places)
        self.numbered_names = self.names.numbered(self.numbering)
        self.dtype = dtype
        self.folder = folder
        self.set_valued = set_valued

    def with_classes(self, classes: pl.Series) -> "About":
        """Return the same with these classes; see `Labels.with_classes`."""
        other = copy(self)
        codes = self.names.codes_in(classes).astype(np.min_scalar_type(len(classes) - 1))
        other.recoded = codes if self.recoded is None else codes[self.recoded]
        other.names = replace(self.names, classes=classes)
        other.numbered_names = other.names.numbered(self.numbering)
        return other

    def with_known(self, gold: pl.DataFrame | None, known: Known) -> "About":
        """Return the same with what is known beforehand; see `Crowd.with_known`."""
        other = copy(self)
        other.gold, other.known = gold, known
        return other
