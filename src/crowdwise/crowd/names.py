"""`Names`: the names that the codes of items, workers and classes stand for."""

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from ..numerics import Array
from .ids import codes_of
from .numbering import Numbering, inverse
from .samples import Samples

_NO_ITEMS: Final = pl.Series("item", [], pl.Int64)


@dataclass(frozen=True, eq=False)
class Names:
    """The names of items, workers and classes, each in the data type of the user's table; code 3 is at position 3.

    Attributes:
        items: The names of the items; empty on disk or in a cluster, where each part stores those of its own items.
        workers: The names of the workers.
        classes: The names of the classes.
        sample_of: (workers), the code of the worker that each one is a sample of, which is its own code for the first
            sample; None if no worker has several. See `samples`.
        folded: Whether the case of letters does not matter in the names of classes.
    """

    items: pl.Series
    workers: pl.Series
    classes: pl.Series
    sample_of: Array | None = None
    folded: bool = False

    @classmethod
    def read(
        cls, workers: pl.Series, classes: pl.Series, samples: Samples | None, folded: bool, items: pl.Series = _NO_ITEMS
    ) -> "Names":
        """Return the names that were read; if workers have samples, these take the place of the workers."""
        workers, sample_of = (workers, None) if samples is None else (samples.names, samples.sample_of)
        return cls(items.alias("item"), workers.alias("worker"), classes.alias("label"), sample_of, folded)

    def numbered(self, numbering: Numbering) -> "Names":
        """Return the names of items and workers in the order of their numbers."""
        items = self.items.gather(inverse(numbering.item_numbers))
        places = numbering.worker_numbers
        order = inverse(places)
        sample_of = None if self.sample_of is None else places[self.sample_of[order]]
        return replace(self, items=items, workers=self.workers.gather(order), sample_of=sample_of)

    def class_codes(self, values: pl.Series) -> Array:
        """Return the code of the class that each value names, or -1."""
        return codes_of(values, self.classes, self.folded)

    def spelled(self, values: pl.Series) -> pl.Series:
        """Return values with the spelling of the classes, if the case of letters does not matter."""
        return _spelled(values, self.classes) if self.folded else values

    def spelled_in(self, classes: pl.Series) -> pl.Series:
        """Return the classes with the spelling of other classes, if the case of letters does not matter."""
        return _spelled(self.classes, classes) if self.folded else self.classes

    def codes_in(self, classes: pl.Series) -> Array:
        """Return the position of every class among other classes, or -1."""
        return codes_of(self.classes, classes, self.folded)

    @property
    def sampled_workers(self) -> pl.Series | None:
        """(workers), the name of the worker that each one is a sample of; null for a worker who has no samples.

        It is None if no worker has several samples.
        """
        if self.sample_of is None:
            return None
        table = pl.DataFrame({"of": self.sample_of})
        several = table.select(pl.len().over("of") > 1).to_series()
        return pl.select(pl.when(several).then(self.workers.gather(self.sample_of))).to_series().alias("sample_of")


def _spelled(values: pl.Series, names: pl.Series) -> pl.Series:
    """Return each value as the name that differs from it only in the case of letters; unchanged if there is none."""
    if values.dtype != pl.String or names.dtype != pl.String:
        return values
    codes = pl.Series(codes_of(values, names, fold_case=True))
    return pl.select(pl.when(codes >= 0).then(names.gather(codes.clip(0))).otherwise(values)).to_series()
