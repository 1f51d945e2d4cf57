"""`read_truth`: read the known truths of items, from files, tables and mappings."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import polars as pl

from ..crowd.cleaning import Rules
from ..crowd.ids import as_series, has_value, is_present, require_values
from ..crowd.opening import Opening
from ..crowd.reading_report import several
from ..errors import DataError, quoted
from ..parallel import require_threads
from ..platforms.importer import import_options
from ..platforms.questions import truths_of
from ..sources.formats import format_of, is_other_text
from ..sources.frames import as_table, pick
from ..sources.input import Export
from ..sources.inputs import Input, decoded, inputs_of, recognised, scan_input
from ..sources.paths import name_of
from ..sources.scans import Scan, same_types
from .registry import check_format, read_export

# How the columns of a file of truths are named on the command line, where --item is a column of the labels.
_TRUTH_OPTIONS: Final = {"item": "--truth-item", "truth": "--truth-label"}
# How the items of gold were picked, in the column `source`.
RANDOM: Final = "random"
CHOSEN: Final = "chosen"


def read_truth(
    source: Any,
    *,
    item: str | None = None,
    truth: str | None = None,
    format: str = "auto",
    question: str | None = None,
    likely: Mapping[str, str | None] | None = None,
    encoding: str | None = None,
    storage: Mapping[str, Any] | None = None,
    missing: Sequence[Any] = (),
    strip: bool = False,
    fold_case: bool = False,
    **imports: Any,
) -> pl.DataFrame:
    """Read the known truths of items.

    Args:
        source: A path as in `read_labels`, a table with the Arrow C stream interface, a mapping from item to class, or
            a series of pandas with the items as its index.
        item: The column of items; None to recognise it.
        truth: The column of truths; None to recognise it (truth, gold, label, answer, response, value).
        format: As in `read_labels`; the truths of an export are the answers that it marks as gold or ground truth.
        question: The question of an export; None if only one has truths.
        encoding: How text is stored that is not in UTF-8, such as "cp1252". Text in UTF-8 and binary files are read as
            they are, so that the truth may be stored in another way than the labels.
        storage: Options of a cloud storage, as in `read_labels`.
        missing: Values that mean "no truth", as in `read_labels`.
        strip: Leave out spaces around truths, if that is done with the labels.
        fold_case: Make the letters of truths small, if that is done with the labels.
        likely: Names of the columns `item` and `truth` that are taken if the file has them: those that the labels have.
        imports: What else is asked of an export, as in `read_labels`; nothing of it is asked of a table.

    Returns:
        A table with the columns `item` and `truth`, one row per item. Rows without an item or a truth are left out. A
        column `source` whose values are "random" and "chosen" is kept: it says how the items of gold were picked
        (docs/gold.md).

    Raises:
        DataError: There is no truth, or some item has several.

    >>> read_truth({"i1": "cat", "i2": "dog"}).rows()
    [('i1', 'cat'), ('i2', 'dog')]
    """
    require_threads()
    given = {"item": item, "truth": truth}
    if isinstance(source, Mapping):
        table = pl.DataFrame([as_series("item", list(source.keys())), as_series("truth", list(source.values()))])
        name = "The mapping"
    elif hasattr(source, "index") and hasattr(source, "dropna") and not hasattr(source, "columns"):
        known = source.dropna()  # a series of pandas, with the items as its index
        table = pl.DataFrame([as_series("item", known.index.to_list()), as_series("truth", known.to_list())])
        name = "The series"
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        check_format(format)
        name = name_of(source)
        how = Opening(named_by=_TRUTH_OPTIONS, storage=storage or {})
        inputs = [_readable(one, encoding) for one in inputs_of(source, how)]
        found = recognised(inputs, format)
        if found is not None:
            options = import_options(question=question, item=item, **imports)
            table = truths_of(read_export(*found, options), options, name)
        else:
            scans = [_scan_truth(one, given, likely or {}, how) for one in inputs]
            if not all("source" in one.found for one in scans):
                scans = [replace(one, lazy=one.lazy.select("item", "truth")) for one in scans]
            table = pl.concat([one.collect() for one in same_types(scans)])
    else:
        name = "The table of truths"
        lazy = source if isinstance(source, pl.LazyFrame) else as_table(source).lazy()
        table, roles = pick(lazy, given, name)
        picked = _source_column(lazy.collect_schema().names(), roles)
        if picked and lazy.collect_schema()[picked["source"]] == pl.String:
            table = lazy.select(*(pl.col(column).alias(role) for role, column in (roles | picked).items())).collect()
    for column in table.select("item", "truth"):
        require_values(column, column.name)
    table = _once(_known(table, Rules(missing=missing, strip=strip, fold_case=fold_case)))
    twice = table.filter(table["item"].is_duplicated())
    if twice.height:
        first = twice["item"][0]
        said = twice.filter(twice["item"] == first)["truth"].to_list()
        raise DataError(
            f"{name} has more than one truth for {several(twice['item'].n_unique(), 'item', 'items')}; first: item "
            f"{quoted(first)} is "
            f"{' and '.join(map(quoted, said))}."
        )
    if table.height == 0:
        raise DataError(f"{name} has no truth in it.")
    return table


def _known(table: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the rows with an item and a truth, where truths are tidied and left out as labels are."""
    tidied = rules.tidied(table.lazy().rename({"truth": "label"})).collect().rename({"label": "truth"})
    if rules.fold_case and tidied["truth"].dtype == pl.String:
        tidied = tidied.with_columns(pl.col("truth").str.to_lowercase())
    return tidied.filter(has_value(tidied["item"]) & is_present(tidied["truth"], rules.missing))


def _once(known: pl.DataFrame) -> pl.DataFrame:
    """Return each pair of item and truth once; an item that was drawn at random stays so if it is also chosen."""
    sources = known["source"].cast(pl.String, strict=False).drop_nulls() if "source" in known.columns else None
    if sources is None or not sources.is_in([RANDOM, CHOSEN]).all():
        return known.select("item", "truth").unique(maintain_order=True)
    drawn = (pl.col("source").fill_null(RANDOM) == RANDOM).any()
    source = pl.when(drawn).then(pl.lit(RANDOM)).otherwise(pl.lit(CHOSEN)).alias("source")
    return known.group_by("item", "truth", maintain_order=True).agg(source)


def _source_column(names: Sequence[str], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the column that may say how items were picked, by the role `source`; {} if there is none."""
    found = [name for name in names if name.strip().lower() == "source" and name not in roles.values()]
    return {"source": found[0]} if len(found) == 1 else {}


def _readable(one: Input, encoding: str | None) -> Input:
    """Return an input with its text in UTF-8, of which the user says how it is stored if it is not."""
    how = Opening(encoding=encoding)  # which checks that there is such an encoding
    if encoding is None or not isinstance(one, Export) or not is_other_text(one.content):
        return one
    return replace(one, content=decoded(one.content, how.encoding, one.name))


def _scan_truth(one: Input, given: Mapping[str, str | None], likely: Mapping[str, str | None], how: Opening) -> Scan:
    """Open a file of truths.

    An item's column that has the name it has in the labels is taken at once; a truth's only if no other name fits.
    """
    named = dict(given)
    header: list[str] = []
    if any(likely.values()) and isinstance(one, Export):
        header = format_of(one.content, one.name).open(one.content, how).names
    if named["item"] is None and likely.get("item") in header:
        named["item"] = likely["item"]
    try:
        scan = scan_input(one, named, how)
    except DataError:
        if named["truth"] is not None or likely.get("truth") not in header:
            raise
        named["truth"] = likely["truth"]
        scan = scan_input(one, named, how)
    source = _source_column(scan.table.names, scan.found)
    with suppress(DataError):  # a column that only has the same name
        return scan_input(one, {**named, **source}, how) if source else scan
    return scan
