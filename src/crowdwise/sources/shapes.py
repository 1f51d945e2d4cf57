"""A table of any shape as one label a row: long tables as they are, wide ones, and ones with lists in them."""

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from ..crowd.ids import require_ids
from ..crowd.read_options import ReadOptions, option_of
from ..errors import CallError, DataError
from . import columns, wide
from .class_lists import one_class_a_row
from .class_names import UNLABELLED, names_of, with_class_names
from .columns import GamesError, OtherTableError, refuse_spans
from .nested import Long
from .soft_columns import class_columns, long_form_of_classes, soft_columns
from .table import Table
from .unpacking import UnsoundError


def long_form(
    table: Table,
    given: Mapping[str, str | None],
    options: ReadOptions,
    where: str,
    named_by: Mapping[str, str] = columns.NO_NAMES,
) -> Long:
    """Return a table with one label a row. `columns.recognise` describes the arguments.

    Raises:
        DataError: A column is missing or cannot be used.
        UnsoundError: The file cannot be read.
    """
    takes_sets = options.multi == "each" and "label" in given
    if takes_sets and given["label"] is None:
        given = {**given, "label": columns.sets_column(table.names)}
    long = _shaped(table, given, options, where, named_by)
    if "label" not in long.found:
        return long
    if takes_sets:
        long = long._replace(lazy=one_class_a_row(long.lazy, options.separator, long.found["label"]))
    if options.label_names is not None:
        return long._replace(lazy=with_class_names(long.lazy, options.label_names, options.missing))
    names = names_of(table.features, long.found["label"]) if table.features else None
    if names is None or not long.lazy.collect_schema()["label"].is_integer():
        return long
    return long._replace(lazy=with_class_names(long.lazy, names, (UNLABELLED, *options.missing)))


def _shaped(
    table: Table, given: Mapping[str, str | None], options: ReadOptions, where: str, named_by: Mapping[str, str]
) -> Long:
    """Return a table with one label a row, whose classes are as they are stored."""
    if "worker" in given and options.wide not in (None, False):
        if "time" in given:
            raise CallError('duplicates="latest" (--duplicates latest) needs a table with a row for each label.')
        if options.probability is not None or options.weight is not None:
            raise CallError(
                "probability= (--probability-column) and weight= (--weight-column) need a table with a row for each "
                "label, or with a column for each class."
            )
        for role in ("worker", "label"):
            if given.get(role) is not None:
                raise CallError(
                    f"{role}= ({option_of(role)}) does nothing in a wide table, whose columns are "
                    "the workers and whose cells are the labels: leave it out, or leave out wide (--wide)."
                )
        chosen = wide.choose(table.names, given["item"], options.wide, where)
        sample = _sample(table, chosen.workers) if options.wide is True else None
        if sample is not None:
            wide.refuse_text(sample, chosen, where)
        return _unfolded(table, chosen, where)
    may_be_soft = "worker" in given and columns.may_be_soft(table.names, options)
    rounded = options.votes == "hard" and not options.numeric and options.multi != "each"
    classes: Mapping[str, str] = {}
    if may_be_soft or (rounded and "worker" in given):
        classes = class_columns(table.names, options, columns.has_any(table.names, "label"))
    try:
        if classes:
            ids = columns.recognise(table.names, {role: given[role] for role in ("item", "worker")}, where, named_by)
            weights, remarks = soft_columns(table.names, ids, options, partial(_sample, table), where, ("weight",))
            return long_form_of_classes(table, ids | weights, classes, remarks, rounded)
        found = columns.recognise(table.names, given, where, named_by)
        soft: dict[str, str] = {}
        remarks = ()
        if may_be_soft:
            soft, remarks = soft_columns(table.names, found, options, partial(_sample, table), where)
        lazy = table.pick(found | soft)
        schema = lazy.collect_schema()
        if schema.get("judge") == pl.List(pl.String):  # FastChat writes the judge as its model and its prompt
            lazy = lazy.with_columns(pl.col("judge").list.join(" / "))
            schema = lazy.collect_schema()
        if options.multi == "each":  # a list of classes is read apart
            schema = pl.Schema(
                {role: dtype for role, dtype in schema.items() if not isinstance(dtype, pl.List | pl.Array)}
            )
        require_ids(schema, found, where)
        if "label" in given and given["label"] is None:
            refuse_spans(table.names, partial(_sample, table), where)
        return Long(lazy, found | soft, remarks)
    except GamesError:
        raise
    except (DataError, UnsoundError) as problem:
        must_be_long = "worker" not in given or "time" in given or options.wide is False
        other = None if must_be_long else _other_shape(table, given, where)
        says_why = isinstance(problem, OtherTableError | UnsoundError)
        if other is None and not says_why and _may_be_wide(table, given):
            offer = "If there is a column for each worker, say wide (--wide, or --wide-columns 'r*')."
            raise DataError(f"{problem} {offer}") from problem
        if other is None:
            raise
        return other


def _sample(table: Table, names: Sequence[str]) -> pl.DataFrame | None:
    """Return some columns of the first rows; None if they cannot be read, which is said where they are read whole."""
    try:
        return table.pick({name: name for name in names}).head(wide.SAMPLE_ROWS).collect()
    except (UnsoundError, pl.exceptions.PolarsError):
        return None


def _other_shape(table: Table, given: Mapping[str, str | None], where: str) -> Long | None:
    """Return a table that is not long with one label a row; None if its shape is not recognised either."""
    if table.nested is not None:
        long = table.nested(given, where)
        if long is not None:
            require_ids(long.lazy.collect_schema(), long.found, where)
            said = f"{where} has lists in its rows: workers are in {long.found['worker']!r}, their labels in "
            return long._replace(remarks=(f"{said}{long.found['label']!r}.", *long.remarks))
    if given["worker"] is not None or given["label"] is not None or columns.has_any(table.names, "worker", "label"):
        return None
    if len(set(table.names)) < len(table.names) or len(table.names) < 2:
        return None
    sample = _sample(table, table.names)
    workers = None if sample is None else wide.recognise(table.names, given["item"], sample, where)
    if workers is None:
        return None
    listed = ", ".join(map(repr, workers.workers[:3])) + (", ..." if len(workers.workers) > 3 else "")
    said = f"{where} is read as a wide table, with a column for each of {len(workers.workers):,} workers ({listed})."
    return _unfolded(table, workers, where)._replace(remarks=(said,))


def _unfolded(table: Table, workers: wide.WideColumns, where: str) -> Long:
    lazy = table.pick({name: name for name in workers.all})
    return Long(wide.long_form(lazy, workers, where), workers.found())


def _may_be_wide(table: Table, given: Mapping[str, str | None]) -> bool:
    """Return whether a table may have a column for each worker, although that was not recognised."""
    lacks_worker = "worker" in given and given["worker"] is None and not columns.has_any(table.names, "worker")
    return lacks_worker and len(table.names) > 2
