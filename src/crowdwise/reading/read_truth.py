"""`read_truth`: the known truths of items, from files, tables and mappings."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Unpack

import polars as pl

from ..caution import Caution, raise_once
from ..crowd.cleaning import tidied
from ..crowd.ids import as_series, has_value, is_present, require_ids, require_values
from ..crowd.read_options import ReadOptions, RowKeywords
from ..crowd.reading_report import several
from ..errors import DataError, quoted, shortened
from ..parallel import require_threads
from ..platforms.questions import truths_of
from ..sources.columns import recognise
from ..sources.input import Input
from ..sources.paths import inputs_of, name_of
from ..sources.rows import Rows, open_rows, same_types
from ..sources.unpacking import UnsoundError, is_utf_8_text
from .decision_log import COLUMNS, DECIDED, is_log, settled, standing, without_half_line
from .read_labels import read_options
from .registry import decoded, platform_of, read_export

# How the columns of a file of truths are named on the command line, where --item-column is a column of the labels.
TRUTH_OPTIONS: Final = {"item": "--truth-item-column", "truth": "--truth-label-column"}
# How the items of gold were picked, in the column `source`.
RANDOM: Final = "random"
CHOSEN: Final = "chosen"


@dataclass(frozen=True, eq=False)
class Truths:
    """Known truths that were read, and what else there is to know about them.

    Attributes:
        table: What `read_truth` returns.
        cautions: What the user should know about them, such as that reviewers differ.
        log: All rows of a log of decisions, with item and truth as they are and the rest as text; None for others.
    """

    table: pl.DataFrame
    cautions: tuple[Caution, ...] = ()
    log: pl.DataFrame | None = None


def read_truth(
    source: Any,
    *,
    item: str | None = None,
    truth: str | None = None,
    likely: Mapping[str, str | None] | None = None,
    **options: Unpack[RowKeywords],
) -> pl.DataFrame:
    """Read the known truths of items.

    Args:
        source: A path as in `read_labels`, a table with the Arrow C stream interface, a mapping from item to class, or
            a series of pandas with the items as its index. The decisions that `crowdwise review` wrote are taken as
            they are, without those undone. Items that reviewers decided differently are left out, with a warning.
        item: The column of items; None to recognise it.
        truth: The column of truths; None to recognise it (truth, gold, label, answer, response, value).
        likely: Names of the columns `item` and `truth` that are taken if the file has them: those that the labels have.
        options: What `read_labels` takes: format, encoding, storage, missing, strip, fold_case, and what is asked of an
            export, whose truths are the answers that it marks as gold or ground truth. Text in UTF-8 and binary files
            are read as they are whatever `encoding` says, so that truths may be stored in another way than labels.

    Returns:
        A table with the columns `item` and `truth`, one row per item. Rows without an item or a truth are left out. A
        column `source` whose values are "random" and "chosen" is kept: it says how the items of gold were picked
        (docs/how-to/gold.md).

    Raises:
        DataError: There is no truth, or some item has several.

    >>> read_truth({"i1": "cat", "i2": "dog"}).rows()
    [('i1', 'cat'), ('i2', 'dog')]
    """
    found = read_truths(source, item=item, truth=truth, likely=likely, **options)
    raise_once(found.cautions)
    return found.table


def read_truths(
    source: Any,
    *,
    item: str | None = None,
    truth: str | None = None,
    likely: Mapping[str, str | None] | None = None,
    **options: Unpack[RowKeywords],
) -> Truths:
    """Read what `read_truth` does, and return cautions instead of raising them; `Truths` are returned as they are."""
    if isinstance(source, Truths):
        return source
    require_threads()
    asked = read_options(**{**options, "item": item})
    cautions: list[Caution] = []
    log = None
    table, name = _in_python(source)
    if table is None:
        inputs = inputs_of_truth(source, asked)
        name = inputs[0].name if len(inputs) == 1 else name_of(source)
        export = platform_of(inputs, asked.format)
        if export is not None:
            table = truths_of(read_export(*export, asked, partial(_kept, asked)), asked, name)
        else:
            roles = partial(truth_roles, {"item": item, "truth": truth}, likely or {}, name)
            plain = replace(asked, encoding=None)  # text is in UTF-8 by now, and other files have no encoding
            rows = [open_rows(without_half_line(one), roles, plain, named_by=TRUTH_OPTIONS) for one in inputs]
            if any(map(_is_log, rows)):
                log = _read_logs(rows)
                table, cautions = _resolved(log, asked, name)
            else:
                table = _read_tables(rows)
    for column in table.select("item", "truth"):
        require_values(column, column.name)
    table = _once(_known(table, asked))
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
    return Truths(table, tuple(cautions), log)


def _read_tables(rows: Sequence[Rows]) -> pl.DataFrame:
    """Return the columns item and truth, and source if all inputs have it."""
    rows = [_with_source(one) for one in rows]
    if not all("source" in one.found for one in rows):
        rows = [replace(one, lazy=one.lazy.select("item", "truth")) for one in rows]
    return pl.concat([one.collect() for one in same_types(rows)])


def _is_log(rows: Rows) -> bool:
    """Return whether rows are those of a log of decisions; not if the user names other columns than a log has."""
    return is_log(rows.table.names) and (rows.found["item"], rows.found["truth"]) == ("item", "truth")


def _read_logs(rows: Sequence[Rows]) -> pl.DataFrame:
    """Return the rows of logs of decisions: item and truth as they are, other columns as text."""
    other = next((one.name for one in rows if not _is_log(one)), None)
    if other is not None:
        raise DataError(f"{other} is no file of decisions, and other files of truths are: give one kind at a time.")
    opened = []
    for one in rows:
        named = {name: name for name in COLUMNS if one.table.names.count(name) == 1}
        texts = [pl.col(name).cast(pl.String).fill_null("") for name in named if name not in ("item", "truth")]
        blank = [pl.lit("").alias(name) for name in COLUMNS if name not in named]
        opened.append(replace(one, lazy=one.table.pick(named).with_columns(*texts, *blank).select(COLUMNS)))
    return pl.concat([one.collect() for one in same_types(opened)])


def _resolved(log: pl.DataFrame, options: ReadOptions, name: str) -> tuple[pl.DataFrame, list[Caution]]:
    """Return the truths that a log of decisions says (item, truth, source), and what to know about them.

    Raises `DataError` if no decision stands, or if reviewers differ on all items.
    """
    decided = standing(log).filter(pl.col("action") == DECIDED)
    if decided.height == 0:
        raise DataError(
            f"{name} has no decision that stands: every entry was skipped, undone, or is that nobody can tell."
        )
    decided = _known(decided, options)
    held, differ = settled(decided)
    cautions = [_about_difference(decided, differ)] if differ else []
    if differ and not held.height:
        raise DataError(f"{name} has no truth in it. {cautions[0].sentence}")
    if (held["source"] == "").all():  # it does not say how items were picked
        return held.select("item", "truth"), cautions
    random = pl.col("source").str.strip_chars().str.to_lowercase() == RANDOM
    source = pl.when(random).then(pl.lit(RANDOM)).otherwise(pl.lit(CHOSEN)).alias("source")
    return held.select("item", "truth", source), cautions


def _about_difference(decided: pl.DataFrame, items: Sequence[Any]) -> Caution:
    """Return the caution that reviewers decided these items differently."""
    rows = decided.filter(decided["item"] == items[0]).select("truth", "reviewer").rows()
    said = " and ".join(f"{quoted(truth)} for {reviewer or 'somebody'}" for truth, reviewer in rows)
    are = "which is" if len(items) == 1 else "which are"
    return Caution(
        "gold",
        shortened(
            f"Reviewers differ on {several(len(items), 'item', 'items')}, {are} left out of what is known; first: item "
            f"{quoted(items[0])} is {said}."
        ),
        "Let them agree: the last decision of each reviewer counts.",
        items=tuple(items),
    )


def _kept(options: ReadOptions, answers: pl.DataFrame) -> pl.DataFrame:
    """Return the answers that say what is true: where each class is a question, all say which classes there are."""
    return answers if options.multi == "each" else answers.filter("gold")


def _in_python(source: Any) -> tuple[pl.DataFrame | None, str]:
    """Return the truths of a mapping, or of a series of pandas with the items as its index; None for other sources."""
    if isinstance(source, Mapping):
        items, truths, name = list(source.keys()), list(source.values()), "The mapping"
    elif hasattr(source, "index") and hasattr(source, "dropna") and not hasattr(source, "columns"):
        known = source.dropna()
        items, truths, name = known.index.to_list(), known.to_list(), "The series"
    else:
        return None, ""
    return pl.DataFrame([as_series("item", items), as_series("truth", truths)]), name


def inputs_of_truth(source: Any, options: ReadOptions) -> list[Input]:
    """Return the inputs, with text in UTF-8; what is in UTF-8 already stays as it is, whatever `encoding` says."""
    inputs = inputs_of(source, replace(options, encoding=None))
    if options.encoding is not None:
        inputs = [
            one if one.is_file and is_utf_8_text(one.content) else decoded(one, options.encoding) for one in inputs
        ]
    return [replace(one, name="The table of truths") if one.frame is not None else one for one in inputs]


def truth_roles(
    given: Mapping[str, str | None], likely: Mapping[str, str | None], where: str, names: Sequence[str]
) -> dict[str, str | None]:
    """Return the columns to read of a table with these names.

    An item's column that has the name it has in the labels is taken at once; a truth's only if no other name fits.
    """
    roles = dict(given)
    if is_log(names) and not any(roles.values()):
        return {"item": "item", "truth": "truth"}
    if roles["item"] is None and likely.get("item") in names:
        roles["item"] = likely["item"]
    if roles["truth"] is None and likely.get("truth") in names:
        try:
            recognise(names, roles, where)
        except DataError:
            roles["truth"] = likely["truth"]
    return roles


def _with_source(rows: Rows) -> Rows:
    """Return the rows with the column `source`, which may say how items were picked, if there is one."""
    found = [name for name in rows.table.names if name.strip().lower() == "source" and name not in rows.found.values()]
    if len(found) != 1:
        return rows
    named = {**rows.found, "source": found[0]}
    with suppress(DataError, UnsoundError):  # a column that only has the same name
        lazy = rows.table.pick(named)
        require_ids(lazy.collect_schema(), named, rows.name)
        return replace(rows, lazy=lazy, found=named)
    return rows


def _known(table: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """Return the rows with an item and a truth, tidied as labels are."""
    known = tidied(table.lazy().rename({"truth": "label"}), options).collect().rename({"label": "truth"})
    if options.fold_case and known["truth"].dtype == pl.String:
        known = known.with_columns(pl.col("truth").str.to_lowercase())
    return known.filter(has_value(known["item"]) & is_present(known["truth"], options.missing))


def _once(known: pl.DataFrame) -> pl.DataFrame:
    """Return each pair of item and truth once; an item that was drawn at random stays so if it is also chosen."""
    sources = known["source"].cast(pl.String, strict=False).drop_nulls() if "source" in known.columns else None
    if sources is None or not sources.is_in([RANDOM, CHOSEN]).all():
        return known.select("item", "truth").unique(maintain_order=True)
    drawn = (pl.col("source").fill_null(RANDOM) == RANDOM).any()
    source = pl.when(drawn).then(pl.lit(RANDOM)).otherwise(pl.lit(CHOSEN)).alias("source")
    return known.group_by("item", "truth", maintain_order=True).agg(source)
