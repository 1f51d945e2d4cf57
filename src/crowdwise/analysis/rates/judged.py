"""`read_judged` and `read_gold`: what judges said of the items of every system, and the truth of some of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import Caution
from ...crowd.cleaning import tidied
from ...crowd.ids import codes_of, has_value, text
from ...crowd.labels import Labels
from ...crowd.protocol import is_crowd
from ...crowd.read_options import ReadOptions
from ...crowd.reading_report import several
from ...errors import CallError, DataError, quoted
from ...numerics import Array
from ...reading.read_labels import read_with
from ...reading.read_truth import RANDOM, Truths, read_truths
from ...reading.registry import AUTO, open_inputs, platform_of
from ...sources.rows import open_rows, same_types

# Systems may answer the same prompts, so an item is named by both; with the first of these that is in no such name.
_BETWEEN: Final = (": ", " / ", " \u001f ")
_SYSTEM: Final = "system"
# What a column of systems is often called.
_SYSTEMS: Final = ("system", "model", "model_name", "candidate", "variant")


@dataclass(frozen=True, eq=False)
class Judged:
    """What judges said.

    Attributes:
        labels: The labels; an item is an answer of one system.
        systems: The names of the systems; one without a name if there is no column of systems.
        system: (items), the code of the system of each item.
        prompt: (items), the name of each item in the user's table; systems may have some in common.
        column: The column of systems; None if there is none.
        between: What stands between the system and the prompt in the name of an item.
    """

    labels: Labels
    systems: pl.Series
    system: Array
    prompt: pl.Series
    column: str | None = None
    between: str = ""

    def remarks(self) -> tuple[str, ...]:
        """Return how the labels were understood."""
        report = self.labels.report
        columns = {**report.columns, **({} if self.column is None else {_SYSTEM: self.column})}
        recognised = ", ".join(f"{role} = {column!r}" for role, column in columns.items())
        return (*report.understood, f"Read {report.rows:,} rows: {recognised}.")


@dataclass(frozen=True, eq=False)
class Gold:
    """The truth of some items.

    Attributes:
        item: (gold), the code of the item.
        truth: (gold), its class.
        remarks: How the gold was understood.
        cautions: What to know about it.
        marked: Whether a column says that the items were drawn at random.
    """

    item: Array
    truth: pl.Series
    remarks: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()
    marked: bool = False


def read_judged(source: Any, options: ReadOptions, system: str | None) -> Judged:
    """Return what judges said, in memory.

    Raises:
        CallError: Options do not go together.
        DataError: The labels cannot be used.
    """
    if system is not None:
        return _read_by_system(source, options, system)
    try:
        labels = source if is_crowd(source) else read_with(options, source, warn=False)
    except DataError as problem:
        raise DataError(f"{problem}{_names_systems(str(problem), source, options)}") from problem
    if not isinstance(labels, Labels) or labels.numeric:
        raise CallError("rate takes labels that are classes, in memory: read them with read_labels.")
    return Judged(labels, pl.Series([None], dtype=pl.String), np.zeros(labels.n_items, np.int64), labels.names.items)


def _names_systems(problem: str, source: Any, options: ReadOptions) -> str:
    """Return what to do if a judge has several labels of an item because the item is answered by several systems."""
    if "--duplicates" not in problem:
        return ""
    names = open_rows(open_inputs(source, options)[0], options.roles, options).table.names
    column = next((name for name in names if name.lower() in _SYSTEMS), None)
    return (
        "" if column is None else f" If rows are of several systems, say system={column!r} (--system-column {column})."
    )


def _read_by_system(source: Any, options: ReadOptions, system: str) -> Judged:
    if isinstance(source, Labels):
        raise CallError("system= (--system-column) is a column of a table: give the table or its path, not Labels.")
    if options.wide not in (None, False) or options.transposed:
        raise CallError("system= (--system-column) needs a table with a row for each label, not a wide one.")
    inputs = open_inputs(source, options)
    if platform_of(inputs, options.format) is not None:
        raise CallError(f"{inputs[0].name} is an export, which has no column of systems: rate a table with a row each.")
    opened = [open_rows(one, {**options.roles, _SYSTEM: system}, options) for one in inputs]
    for one in opened:
        if one.found.get(_SYSTEM) != system:
            raise DataError(f"{one.name} has no row for each label, so that column {system!r} cannot name systems.")
    table = pl.concat([one.collect() for one in same_types(opened)])
    unnamed = table.with_row_index("row", 1).filter(~has_value(table[_SYSTEM]))
    if unnamed.height:
        raise DataError(f"{opened[0].name}, row {unnamed['row'][0]:,}: column {system!r} is empty. Fill it in.")
    keys, between = _keys(table)
    names = dict(zip(("key", _SYSTEM, "prompt"), (keys, table[_SYSTEM], table["item"]), strict=True))
    found = {role: name for role, name in opened[0].found.items() if role != _SYSTEM}
    renamed = table.with_columns(keys.alias("item")).drop(_SYSTEM)
    clean = tidied(renamed.lazy(), options).collect()
    labels = Labels.from_columns(clean, found, options, integers_in_text=any(one.is_text for one in opened))
    of_item = pl.DataFrame(names).unique(subset="key")
    rows = of_item[codes_of(labels.names.items, of_item["key"])]
    systems = rows[_SYSTEM].unique().sort()
    return Judged(labels, systems, codes_of(rows[_SYSTEM], systems), rows["prompt"], system, between)


def _keys(table: pl.DataFrame) -> tuple[pl.Series, str]:
    """Return a name for every row that tells its system and its item, and what stands between them."""
    pairs = table.select(_SYSTEM, "item").n_unique()
    for between in _BETWEEN:
        keys = _keys_of(table, between)
        if keys.n_unique() == pairs:
            return keys, between
    raise DataError(f"Systems and items have names that cannot be told apart, such as {quoted(keys[0])}: rename them.")


def _keys_of(table: pl.DataFrame, between: str) -> pl.Series:
    system, item = (text(pl.col(name), table.schema[name]) for name in (_SYSTEM, "item"))
    return table.select((system + between + item).alias("item")).to_series()


def read_gold(judged: Judged, gold: Any, keywords: Mapping[str, Any], *, elsewhere: bool = False) -> Gold:
    """Return the truth of items that were drawn at random; chosen ones are left out, which is said.

    `keywords` are arguments of `read_truth`. With `elsewhere`, gold is of other items than those that are rated, and
    may be chosen.

    Raises:
        DataError: There is none, or it does not say which system's answer it is about.
    """
    keyed = None if judged.column is None else _with_keys(judged, gold, keywords)
    read = read_truths(gold, **keywords) if keyed is None else read_truths(keyed)
    codes = _items_of(judged, read.table["item"], by_key=keyed is not None)
    kept, remarks = codes >= 0, []
    if not kept.all():
        first = quoted(read.table["item"].filter(pl.Series(~kept))[0])
        if not kept.any():
            raise DataError(
                f"The gold shares no item with the labels: it has {first}, for example, the labels have "
                f"{quoted(judged.labels.names.items[0])}."
            )
        remarks.append(
            f"{(~kept).sum():,} of {len(codes):,} gold items have no label and are left out; first: {first}."
        )
    marked = "source" in read.table.columns
    if marked and not elsewhere:
        random = (read.table["source"] == RANDOM).to_numpy()
        chosen = int((kept & ~random).sum())
        if not (kept & random).any():
            raise DataError(
                f"Gold was chosen and not drawn at random ({several(chosen, 'item', 'items')}, by column source), and "
                "only random items say how many pass. `crowdwise next labels.csv --ask expert --random 50` draws 50."
            )
        if chosen:
            were = several(chosen, "gold item was chosen and is", "gold items were chosen and are")
            remarks.append(f"{were} left out (column source): only items drawn at random measure.")
        kept &= random
    truth = _spelled(judged, read.table["truth"].filter(pl.Series(kept)))
    return Gold(codes[kept], truth, tuple(remarks), read.cautions, marked)


def _spelled(judged: Judged, truth: pl.Series) -> pl.Series:
    """Return true classes as the labels spell them, so that 1.0 is 1; those that no label names stay."""
    names = judged.labels.names
    codes = names.class_codes(truth)
    own = pl.Series(codes).replace(-1, None)
    said = text(pl.col("class"), names.classes.dtype), text(pl.col("truth"), truth.dtype)
    table = pl.DataFrame({"class": names.classes.gather(own), "truth": truth})
    return table.select(pl.coalesce(*said)).to_series()


def _with_keys(judged: Judged, gold: Any, keywords: Mapping[str, Any]) -> pl.DataFrame | None:
    """Return gold whose items are named as those of the labels; None if it has no column of systems."""
    is_series = hasattr(gold, "dropna") and not hasattr(gold, "columns")
    if is_series or isinstance(gold, Mapping | Truths):
        return None
    options = ReadOptions(storage=keywords.get("storage") or {}, encoding=keywords.get("encoding"))
    inputs = open_inputs(gold, options)
    if platform_of(inputs, AUTO) is not None:
        return None
    tables = []
    for entry in inputs:
        named = partial(_named, judged, keywords, entry.name)
        opened = open_rows(entry, named, options)
        if _SYSTEM not in opened.found:
            return None
        tables.append(opened.collect())
    table = pl.concat(tables, how="diagonal_relaxed")
    return table.with_columns(_keys_of(table, judged.between)).drop(_SYSTEM)


def _named(judged: Judged, keywords: Mapping[str, Any], where: str, names: Sequence[str]) -> dict[str, str | None]:
    """Return the columns of gold by role, with those of systems and of where items are from if they are there."""
    roles: dict[str, str | None] = {role: keywords.get(role) for role in ("item", "truth")}
    own = judged.labels.report.columns["item"]
    if roles["item"] is None and own in names:
        roles["item"] = own
    if judged.column in names:
        roles[_SYSTEM] = judged.column
    if "source" in names:
        roles["source"] = "source"
    return roles


def _items_of(judged: Judged, items: pl.Series, *, by_key: bool) -> Array:
    """Return the code of every item of gold, or -1.

    Raises:
        DataError: Several systems have an item, and gold does not say which one it is about.
    """
    if by_key or judged.column is None:
        return codes_of(items, judged.labels.names.items)
    twice = judged.prompt.filter(judged.prompt.is_duplicated() & pl.Series(codes_of(judged.prompt, items) >= 0))
    if len(twice):
        raise DataError(
            f"Several systems have item {quoted(twice[0])}, and the gold does not say whose answer was looked at: give "
            f"it a column {judged.column!r} too."
        )
    return codes_of(items, judged.prompt)
