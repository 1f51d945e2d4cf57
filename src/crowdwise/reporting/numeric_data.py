"""`NumericReportData`: the data that the sections of the report about numeric labels are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from ..analysis.numeric_evaluation import NumericErrors, match_values, numeric_errors
from ..crowd.labels import Numbers
from ..methods import NUMERIC_METHODS
from ..results.numeric_result import NumericResult
from .report_data import OfMethod


@dataclass(frozen=True, eq=False)
class NumericReportData(OfMethod):
    """The data that the sections of the report about numeric labels are made from.

    Attributes:
        result: The result of a numeric method.
        labels: The labels that it is from.
        truth: The true values of some items (columns item and truth); None if none are known.
        command: The command or the Python call that makes the report again.
        texts: What items say, by their ids; {} if that is not known.
    """

    result: NumericResult
    labels: Numbers
    truth: pl.DataFrame | None
    command: str
    texts: Mapping[Any, str] = field(default_factory=dict)

    @property
    def has_errors(self) -> bool:
        """Whether anything is known of the errors of workers: whether an item has two labels."""
        return self.labels.n_labels > self.labels.n_items

    @cached_property
    def known(self) -> pl.DataFrame | None:
        """The rows of the items whose true value is known, with a column `truth`; None if none are."""
        return None if self.truth is None else match_values(self.result, self.truth)

    @cached_property
    def measured(self) -> dict[str, NumericErrors]:
        """The errors of the method, and of mean and median, by the key of the method; {} if no truth is known."""
        if self.truth is None:
            return {}
        results: dict[str, NumericResult] = {str(self.method.key): self.result}
        for key in ("mean", "median"):
            if key != self.method.key:
                results[key] = NUMERIC_METHODS[key]().fit(self.labels, warn=False)
        return {name: numeric_errors(result, self.truth) for name, result in results.items()}
