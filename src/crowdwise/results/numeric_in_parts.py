"""`NumericResultInParts`: the result of a numeric method on labels that are in parts, on disk or in a cluster."""

from typing import Any

import polars as pl

from ..data.crowd import Crowd
from ..data.labels import Labels
from ..numerics import Array
from .numeric_result import NumericResult, part_of_numbers
from .numeric_tables import NumericTables
from .result import Ending


class NumericResultInParts(NumericTables):
    """The base of numeric results whose items are in parts; it has the same tables as a `NumericResult`.

    Args:
        method: The method with all its parameters.
        labels: The labels.
        ending: How the iterations ended.

    Attributes:
        method: The method with all its parameters.
        names: The names of workers, in order of first appearance. The names of the items are in the parts.
        workers: What the method learned.
        errors: How every worker errs.
        convergence: How the iterations ended.
        n_items: The number of items.
    """

    def __init__(self, method: Any, labels: Crowd, ending: Ending) -> None:
        self.method: Any = method
        self.names = labels.names
        self.n_items = labels.n_items
        self.workers = ending.workers.arranged(labels.numbering)
        self.numbered_errors = method.worker_errors(ending)
        self.errors = self.numbered_errors.arranged(labels.numbering)
        self.convergence = ending.convergence

    def part(self, labels: Labels, items: pl.Series, scores: Array) -> NumericResult:
        """Return the result of the items of one part, given their labels, names and scores."""
        return part_of_numbers(self.method, labels, items, scores, self.numbered_errors, self.workers, self.convergence)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_items:,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )
