"""`read_truth_sets`: the true sets of classes of items, where several classes hold at once."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ..crowd.class_sets import NO, YES
from ..crowd.ids import as_series, codes_of, has_value
from ..crowd.labels import Labels
from ..errors import DataError, quoted
from ..platforms.questions import truth_sets_of
from ..sources.class_lists import one_class_a_row
from ..sources.columns import sets_column
from ..sources.paths import name_of
from ..sources.rows import open_rows, same_types
from .read_labels import read_options
from .read_truth import TRUTH_OPTIONS, Truths, inputs_of_truth, read_truths, truth_roles
from .registry import platform_of, read_export

_ROLES: Final = ("item", "truth")


def read_truth_sets(
    source: Any,
    *,
    item: str | None = None,
    truth: str | None = None,
    likely: Mapping[str, str | None] | None = None,
    **options: Any,
) -> pl.DataFrame:
    """Read which classes hold for items.

    Args:
        source: As in `read_truth`; the classes of an item are in several rows, in a list, or in a cell with a
            separator, and a mapping is from an item to a list. An empty list is known to be empty.
        item: The column of items; None to recognise it.
        truth: The column of classes; None to recognise it.
        likely: As in `read_truth`.
        options: As in `read_truth`, and `separator`.

    Returns:
        The columns item and truth, a list; a row for each item, in the order of first appearance.

    Raises:
        DataError: No set is known.

    >>> read_truth_sets({"i1": ["cat", "dog"], "i2": []}).rows()
    [('i1', ['cat', 'dog']), ('i2', [])]
    """
    asked = read_options(**{**options, "item": item, "multi": "each"})
    if isinstance(source, Mapping):
        name, values = "The mapping", [[one] if isinstance(one, str) else list(one) for one in source.values()]
        table = pl.DataFrame([as_series("item", list(source)), pl.Series("truth", values)])
        rows = one_class_a_row(table.lazy().rename({"truth": "label"}), None, "truth").collect()
        return _sets(rows, name)
    inputs = inputs_of_truth(source, asked)
    name = inputs[0].name if len(inputs) == 1 else name_of(source)
    export = platform_of(inputs, asked.format)
    if export is not None:
        found = truth_sets_of(read_export(*export, asked), asked, name)
        return _sets(one_class_a_row(found.rename({"truth": "label"}), None, "truth").collect(), name)
    roles = partial(_roles, {"item": item, "truth": truth}, likely or {}, name)
    tables = [open_rows(one, roles, asked, named_by=TRUTH_OPTIONS) for one in inputs]
    collected = pl.concat([one.collect() for one in same_types(tables)]).rename({"truth": "label"})
    rows = one_class_a_row(collected.lazy(), asked.separator, tables[0].found["truth"]).collect()
    return _sets(rows.filter(pl.col("none") | ~pl.col("label").is_in(list(asked.missing))), name)


def _roles(
    given: Mapping[str, str | None], likely: Mapping[str, str | None], where: str, names: list[str]
) -> Mapping[str, str | None]:
    """Return the columns of items and classes; that of classes may be called as several are."""
    if given["truth"] is None:
        given = {**given, "truth": sets_column(names)}
    return truth_roles(given, likely, where, names)


def _sets(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return rows with a class each as sets; rows with neither a class nor an empty set are left out."""
    known = rows.filter(has_value(rows["item"]) & (pl.col("none") | has_value(rows["label"])))
    if known.height == 0:
        raise DataError(f"{name} has no truth in it.")
    return known.group_by("item", maintain_order=True).agg(
        pl.col("label").drop_nulls().unique(maintain_order=True).alias("truth")
    )


def read_gold_sets(source: Any, **options: Any) -> Truths:
    """Read known sets as `read_truth_sets` does; answers to questions, as decisions of a review are, stay as they are.

    Such answers are yes and no, about items such as "7: cat".
    """
    if isinstance(source, Truths):
        return source
    with suppress(DataError):  # an item with several classes
        found = read_truths(source, **{name: value for name, value in options.items() if name != "separator"})
        answers, items = (found.table[role].cast(pl.String) for role in ("truth", "item"))
        if answers.is_in([NO, YES]).all() and items.str.contains(": ", literal=True).all():
            return found
    return Truths(read_truth_sets(source, **options))


def gold_of_sets(gold: Any, labels: Labels, **options: Any) -> Truths:
    """Return the known answers to the questions of a crowd whose workers name several classes at once.

    `gold` has the sets of items, as `read_truth_sets` takes them; or answers to the questions themselves, as decisions
    of a review are. Raises `DataError` if no item is known.
    """
    assert labels.sets is not None, "labels of several classes"
    asked, sets = read_gold_sets(gold, **options), labels.sets
    table = asked.table
    if not isinstance(table["truth"].dtype, pl.List):
        return asked
    rows = codes_of(sets.items, table["item"])[sets.item_of]
    if (rows < 0).all():
        raise DataError(
            f"The gold shares no item with the labels: it has {quoted(table['item'][0])}, for example, the labels have "
            f"{quoted(sets.items[0])}."
        )
    known = np.flatnonzero(rows >= 0)
    cells = true_cells(table, sets.classes)
    holds = np.isin(rows[known] * np.int64(len(sets.classes)) + sets.class_of[known], cells)
    said = pl.Series("truth", np.where(holds, YES, NO))
    return Truths(pl.DataFrame([labels.names.items.gather(known), said]))


def true_cells(table: pl.DataFrame, classes: pl.Series) -> np.ndarray[Any, Any]:
    """Return row * classes + class for every class that holds; classes that have no code are left out."""
    rows = table.with_row_index("row").explode("truth").drop_nulls("truth")
    codes = codes_of(rows["truth"], classes)
    return (rows["row"].cast(pl.Int64).to_numpy() * len(classes) + codes)[codes >= 0]
