"""`read_costs` and `align`: what each decision costs where each class is true, from a file, a table or a mapping.

A decision is one of the classes or, if the costs have rows for it, `abstain`: to give no label.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
import polars as pl

from ..crowd.ids import as_series, codes_of
from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, did_you_mean, shown
from ..numerics import Array
from ..sources.paths import inputs_of
from ..sources.rows import open_rows, same_types

# The name of the decision to give no label, in costs and in results.
ABSTAIN: Final = "abstain"
# The largest cost; sums of larger ones could leave the range of numbers.
_LARGEST: Final = 1e12
_COLUMNS: Final[Mapping[str, str | None]] = {"truth": "truth", "label": "label", "cost": "cost"}


class CostTable(NamedTuple):
    """Costs as they were given, before it is known which classes there are.

    Attributes:
        rows: The columns truth, label and cost, in the order of the file.
        name: The name of the file or table in messages.
    """

    rows: pl.DataFrame
    name: str


@dataclass(frozen=True, eq=False)
class Costs:
    """What each decision costs where each class is true.

    Attributes:
        matrix: (classes, decisions), in the order of the classes of a result.
        decisions: The names of the decisions: the classes, and `abstain` behind them if it is allowed. Then all of
            them are text, because a column has one type.
    """

    matrix: Array
    decisions: pl.Series

    @property
    def can_abstain(self) -> bool:
        """Whether `abstain` is a decision."""
        return len(self.decisions) > len(self.matrix)


def read_costs(source: Any, storage: Mapping[str, Any] | None = None) -> CostTable:
    """Read costs, and refuse those that are no numbers from 0 on.

    Args:
        source: A path as in `read_labels`, a table with the Arrow C stream interface, or a mapping from pairs (truth,
            label) to costs. A table has the columns truth, label and cost.
        storage: Options of a cloud storage, as in `read_labels`.

    Raises:
        CallError: This is nothing that costs can be read from.
        DataError: The file cannot be read, lacks a column, or has a cost that is no number from 0 on.

    >>> read_costs({("ill", "well"): 10, ("well", "ill"): 1}).rows.rows()
    [('ill', 'well', 10.0), ('well', 'ill', 1.0)]
    """
    if isinstance(source, CostTable):
        return source
    if isinstance(source, Mapping):
        rows, name = _from_mapping(source), "The mapping of costs"
    else:
        options = ReadOptions(storage=storage or {})
        inputs = inputs_of(source, options)
        name = "The table of costs" if inputs[0].frame is not None else inputs[0].name
        tables = same_types([open_rows(replace(one, name=name), _COLUMNS, options) for one in inputs])
        rows = pl.concat([one.collect() for one in tables])
    texts = [column for column, dtype in rows.schema.items() if dtype == pl.String]
    rows = rows.with_columns(pl.col(column).replace("", None) for column in texts)
    return CostTable(rows.with_columns(_numbers(rows, name)), name)


def _from_mapping(costs: Mapping[Any, Any]) -> pl.DataFrame:
    """Return the rows of a mapping from pairs (truth, label) to costs."""
    for pair in costs:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise CallError(f"A mapping of costs has pairs (truth, label) as keys, and {shown(pair)} is none.")
    truths, labels = [truth for truth, _ in costs], [label for _, label in costs]
    if ABSTAIN in labels:  # beside numbers, it would be of another type
        classes = iter(as_series("label", [label for label in labels if label != ABSTAIN]).cast(pl.String))
        labels = [ABSTAIN if label == ABSTAIN else next(classes) for label in labels]
    columns = (("truth", truths), ("label", labels), ("cost", [_as_float(one) for one in costs.values()]))
    return pl.DataFrame([as_series(name, values) for name, values in columns])


def _as_float(cost: Any) -> Any:
    """Return a cost as a float, as there may be whole numbers among others; what is no number is returned as it is."""
    try:
        return float(cost)
    except (TypeError, ValueError, OverflowError):
        return cost


def _numbers(rows: pl.DataFrame, name: str) -> pl.Series:
    """Return the column of costs as numbers. Raises `DataError` if one is no number from 0 to the largest allowed."""
    given = rows["cost"]
    if not (given.dtype.is_numeric() or given.dtype in (pl.String, pl.Null)):
        raise DataError(f"{name} holds {given.dtype.base_type()} in column 'cost'; costs are numbers.")
    costs = given.cast(pl.Float64, strict=False)
    wrong = (~costs.is_between(0, _LARGEST)).fill_null(True).arg_true()  # of NaN, neither is true
    if len(wrong):
        truth, label, cost = rows.row(wrong[0])
        found = "is missing" if cost is None else f"is {shown(cost)}"
        raise DataError(
            f"{name}: the cost of label {shown(label)} where {shown(truth)} is true {found}; a cost is a number from 0 "
            f"to {_LARGEST:g}."
        )
    return costs


def align(table: CostTable, classes: pl.Series) -> Costs:
    """Return the costs in the order of these classes.

    A right label costs nothing unless a row says otherwise. All other pairs of classes need a row. If the label
    `abstain` has a row, it needs one for every class, or a single one without a truth, which is for all. If a class
    has this name, it is that class.

    Raises:
        DataError: A row names another class, two rows differ, or a pair has no row.

    >>> table = read_costs({("ill", "well"): 10, ("well", "ill"): 1, (None, "abstain"): 0.5})
    >>> align(table, pl.Series(["ill", "well"])).matrix.tolist()
    [[0.0, 10.0, 0.5], [1.0, 0.0, 0.5]]
    """
    names = classes.cast(pl.String)
    count = len(classes)
    truths, labels = codes_of(table.rows["truth"], classes), codes_of(table.rows["label"], classes)
    abstains = (table.rows["label"].cast(pl.String) == ABSTAIN).fill_null(False).to_numpy() & (labels < 0)
    labels = np.where(abstains, count, labels)
    matrix = np.full((count, count + 1), np.nan)
    for row, truth, label in zip(table.rows.iter_rows(), truths.tolist(), labels.tolist(), strict=True):
        _require_known(row, truth, label, classes, table.name)
        cells = slice(None) if truth < 0 else slice(truth, truth + 1)
        before = matrix[cells, label]
        differing = before[~(np.isnan(before) | (before == row[2]))]
        if len(differing):
            raise DataError(
                f"{table.name} has two costs of label {shown(row[1])} where {_what(row[0])} is true: "
                f"{differing[0]:g} and {row[2]:g}; keep one."
            )
        matrix[cells, label] = row[2]
    own = np.arange(count)
    matrix[own, own] = np.nan_to_num(matrix[own, own], nan=0.0)
    if not abstains.any():
        matrix = matrix[:, :count]
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        truth, label = missing[0].tolist()
        decision = shown(ABSTAIN if label == count else classes[label])
        more = ", or one without a truth, which is for every class" if label == count else ""
        raise DataError(
            f"{table.name} has no cost of label {decision} where {shown(classes[truth])} is true; add a row for it"
            f"{more}."
        )
    decisions = names.append(pl.Series([ABSTAIN])) if abstains.any() else classes
    return Costs(matrix, decisions.alias("label"))


def _require_known(row: tuple[Any, Any, float], truth: int, label: int, classes: pl.Series, name: str) -> None:
    """Raise `DataError` if a row has a truth or a label that is none of the classes, or none at all.

    Args:
        row: The row: truth, label and cost.
        truth: The code of the truth, or -1.
        label: The code of the label, or -1; `abstain` has the one behind the last class.
        classes: The classes.
        name: The name of the table.
    """
    abstains = label == len(classes)
    if row[1] is None:
        raise DataError(f"{name} has a row without a label; each row has a truth, a label and a cost.")
    if label < 0:
        _refuse_class(row[1], classes, name)
    if row[0] is None and not abstains:
        raise DataError(
            f"{name} has no truth in a row of label {shown(row[1])}; only the label {ABSTAIN!r} may have none."
        )
    if row[0] is not None and truth < 0:
        if str(row[0]) == ABSTAIN:
            raise DataError(f"{name} has {ABSTAIN!r} as a truth; it is a decision, and no class of these labels.")
        _refuse_class(row[0], classes, name)


def _refuse_class(found: Any, classes: pl.Series, name: str) -> NoReturn:
    hint = did_you_mean(str(found), classes.cast(pl.String).to_list())
    raise DataError(
        f"{name} names the class {shown(found)}, which no label names; the labels have {shown(classes[0])}, for "
        f"example.{hint}"
    )


def _what(truth: Any) -> str:
    return "any class" if truth is None else shown(truth)
