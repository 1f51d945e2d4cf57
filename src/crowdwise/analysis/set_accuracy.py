"""`set_accuracy`: how close inferred sets of classes are to the true ones."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from ..crowd.ids import codes_of
from ..errors import CallError, DataError, quoted, shown
from ..reading.truth_sets import read_truth_sets, true_cells
from .set_result import SetResult


@dataclass(frozen=True)
class SetAccuracy:
    """How close inferred sets of classes are to the true ones; all are 1 where they are equal.

    Attributes:
        items: How many items were compared.
        micro_f1: F1 of all pairs of an item and a class: 2 hits / (classes inferred + classes that hold).
        precision, recall: The share of inferred classes that hold, and of classes that hold that are inferred; NaN if
            there is none.
        macro_f1: The mean over the classes of the F1 of each; of those that hold somewhere, or are inferred.
        jaccard: The mean over the items of the classes in both sets, divided by those in either; 1 if both are empty.
        exact: The share of items whose sets are equal.
    """

    items: int
    micro_f1: float
    precision: float
    recall: float
    macro_f1: float
    jaccard: float
    exact: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name; those that are not known are None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def set_accuracy(result: SetResult, truth: Any, **options: Any) -> SetAccuracy:
    """Compare the inferred sets with the true ones, of the items that have both.

    Classes that hold and that nobody named count as missed.

    Args:
        result: What `aggregate` returns for several classes at once.
        truth: The true sets: a path, a table, or a mapping from item to a list of classes; see `read_truth_sets`.
        options: How to read them, such as separator, item and truth (the columns).

    Raises:
        DataError: The truth has no item in common with the labels.

    >>> import crowdwise as cw
    >>> votes = pl.DataFrame({"item": [1, 1, 2], "worker": ["a", "b", "a"], "labels": [["x", "y"], ["x"], ["y"]]})
    >>> result = cw.aggregate(votes, multi="each", method="mv", warn=False)
    >>> found = cw.set_accuracy(result, {1: ["x"], 2: ["y", "z"]})
    >>> found.exact, round(found.micro_f1, 2), found.jaccard
    (0.5, 0.8, 0.75)
    """
    if not isinstance(result, SetResult):
        raise CallError(f'set_accuracy takes sets of classes (multi="each"), and this is {shown(result)}.')
    table, sets = read_truth_sets(truth, **options), result.sets
    row_of = codes_of(sets.items, table["item"])
    if (row_of < 0).all():
        raise DataError(
            f"The truth shares no item with the labels: it has {quoted(table['item'][0])}, for example, the labels "
            f"have {quoted(sets.items[0])}."
        )
    compared = np.flatnonzero(row_of >= 0)
    # Classes that nobody named have codes behind those of the others.
    named = table["truth"].explode().drop_nulls().unique(maintain_order=True)
    strange = named.filter(pl.Series(codes_of(named, sets.classes) < 0)).cast(pl.String)
    classes = pl.concat([sets.classes.cast(pl.String), strange.alias(sets.classes.name)])
    n_classes = np.int64(len(classes))
    true = np.unique(true_cells(table.with_columns(pl.col("truth").cast(pl.List(pl.String))), classes))
    true = true[np.isin(true // n_classes, row_of[compared])]
    rows = row_of[sets.item_of]
    kept = result.chosen & (rows >= 0)
    inferred = np.unique(rows[kept] * n_classes + sets.class_of[kept])
    both = np.intersect1d(true, inferred, assume_unique=True)

    hits, held, found = (np.bincount(cells % n_classes, minlength=len(classes)) for cells in (both, true, inferred))
    of_class = (held + found) > 0
    by_row = (np.bincount(cells // n_classes, minlength=table.height) for cells in (both, true, inferred))
    hit, hold, said = (one[row_of[compared]] for one in by_row)
    union = hold + said - hit
    return SetAccuracy(
        items=len(compared),
        micro_f1=_ratio(2 * len(both), len(true) + len(inferred)),
        precision=_ratio(len(both), len(inferred)),
        recall=_ratio(len(both), len(true)),
        macro_f1=float((2 * hits[of_class] / (held + found)[of_class]).mean()) if of_class.any() else np.nan,
        jaccard=float(np.where(union > 0, hit / np.maximum(union, 1), 1.0).mean()),
        exact=float((union == hit).mean()),
    )


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan
