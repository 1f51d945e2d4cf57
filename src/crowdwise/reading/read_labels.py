"""`read_labels` and `read_numbers`: labels from files, databases, clouds and tables in memory."""

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack, overload

import polars as pl

from ..caution import raise_once
from ..crowd.class_sets import labels_of_sets
from ..crowd.cleaning import tidied
from ..crowd.encoding import require_codes
from ..crowd.ids import is_frame
from ..crowd.labels import Labels, Numbers
from ..crowd.protocol import is_crowd
from ..crowd.read_options import FOR_EXPORTS, FOR_TABLES, ReadKeywords, ReadOptions, option_of, shows_options
from ..crowd.reading_report import pace_of
from ..crowd.soft_votes import SOFT_ROLES
from ..errors import CallError, DataError, require_extra
from ..parallel import require_threads
from ..partitions.disk_partitioning import Phases
from ..partitions.on_disk import LabelsOnDisk, fits
from ..partitions.spilling import Spill
from ..partitions.workspace import Workspace
from ..platforms.gathering import Keep
from ..platforms.questions import vote_rows
from ..progress import tell
from ..sources.class_names import read_label_names
from ..sources.columns import ROW_NUMBERS
from ..sources.input import Input
from ..sources.paths import Copy
from ..sources.rows import Rows, open_rows, same_types, with_all_roles
from ..sources.unpacking import UnsoundError
from ..system import available_memory, parse_size
from .registry import AUTO, TABLE, check_format, open_inputs, platform_of, read_export

_LOG = logging.getLogger("crowdwise")


@overload
def read_labels(
    source: Any,
    *,
    numeric: bool = ...,
    engine: Literal["memory"] = ...,
    method: Any = ...,
    phases: Phases = ...,
    warn: bool = ...,
    **options: Unpack[ReadKeywords],
) -> Labels: ...


@overload
def read_labels(
    source: Any,
    *,
    numeric: bool = ...,
    engine: str,
    method: Any = ...,
    phases: Phases = ...,
    warn: bool = ...,
    **options: Unpack[ReadKeywords],
) -> Any: ...


@shows_options
def read_labels(
    source: Any,
    *,
    numeric: bool = False,
    engine: str = "memory",
    method: Any = None,
    phases: Phases = tell,
    warn: bool = True,
    **options: Unpack[ReadKeywords],
) -> Any:
    r"""Read labels from files, databases, cloud storages and tables in memory.

    Args:
        source: A path, a folder, a glob pattern, "-" for standard input, an open binary file, or a sequence of these,
            which are read as one crowd. The formats are CSV and TSV (the delimiter is recognised), Parquet, JSON lines,
            JSON arrays, Arrow IPC, Excel, matrices (NumPy files and text), and files of SQLite and DuckDB. Text may be
            compressed with gzip or zstd. An address of Postgres or of a cloud storage, such as postgresql://host/db or
            s3://bucket/*.parquet. Or a table in memory: of polars, pandas (with its index), pyarrow, or anything else
            with the Arrow C stream interface. Exports of annotation platforms, and logs of language models that judge,
            are recognised by their content (docs/how-to/platforms.md).
        item: The column of items; None to recognise it (item, task, question, object, example).
        worker: The column of workers; None to recognise it (worker, annotator, rater, user, performer).
        label: The column of labels; None to recognise it (label, answer, response, value, vote).
        time: For "latest", the column of times; None to recognise it (time, timestamp, created_at, date, ...).
        probability: The column of how probable the worker calls its label, while the other classes share the rest; the
            rows of one worker and item may also be one distribution, which adds up to 1. Or the columns of one class
            each: a pattern such as "p_*". None to recognise a column called probability, prob, confidence or score, if
            its values look like it; `report.understood` says so.
        weight: The column of how often a vote counts: from 0 to 1, or a count. None to recognise a column called
            weight, if its values look like it; else every vote counts once.
        log: Whether probabilities are logarithms.
        votes: "soft", or "hard" to ignore the probabilities and weights that are recognised, or in logs of judges.
        duplicates: What to do where one worker gave one item several different labels: raise an "error", keep the
            label of the "first" or the "last" row, keep the "latest" by a column of times, count "all" different
            labels as votes, make them one vote for a "set" of classes, or "drop" them. Rows that repeat an earlier
            row exactly are dropped. With "samples", nothing is dropped: every label is a vote, as if several
            workers had given them, named ann, ann#2, ann#3 and so on. None means "error"; but in logs of language
            models that judge, it means "samples".
        missing: Values that mean "no label", besides null, NaN and empty text; for example -1 or "NA".
        strict: Refuse rows that are otherwise dropped silently: exact repeats, and rows without a label. Rows that are
            dropped because of `duplicates` or `missing` are not refused.
        strip: Leave out spaces around labels.
        fold_case: Take labels that differ only in the case of letters as one class, such as "Yes" and "yes"; it is
            written in its commonest spelling.
        classes: All classes that a label may name, whether or not one does, or a file with one a line; another label is
            an error. If classes are declared, labels are not refused for looking like numbers, free text or lists.
        format: What the files are: "auto" to recognise it, "table" for a table with a label in every row, or the
            name of a platform, such as "label-studio".
        question: The question of an export whose answers are the labels; None if it has only one. `questions` lists
            them.
        numeric: Whether labels are numbers; see `read_numbers`.
        wide: Whether the table has a column for each worker: True for all columns but the item's, or a pattern such as
            "r*", or their names; False if not. None to recognise it by the values in them.
        transposed: Whether the rows of a matrix, or the keys of an object of objects, are workers and not items.
        label_names: The names of the classes 0, 1, 2, ..., if labels are these numbers; or a file with one a line.
        query: For a database: the query whose rows are the labels.
        table: For a database: the table to read; None for the only one.
        sheet: For a workbook of Excel: the sheet to read; None for the first.
        storage: Options of a cloud storage, by name, such as aws_region.
        encoding: How text is stored, such as "utf-16" or "cp1252"; None for UTF-8. Such text is read into memory.
        models: Whether answers of models are votes on a platform for people.
        multi: What to do where a worker may name several classes for an item: "refuse" it, take the classes of an
            answer of an export as one vote for a "set", or ask whether "each" class holds: then items are questions,
            one for every pair of an item and a class that somebody named. Sets are rows of one worker and item, lists,
            cells with a separator, or exports.
        separator: What stands between the classes of a cell, such as ";". An empty cell then is an empty set.
        status: Answers that the platform marks by one of these words are votes too.
        worker_from: Where the worker's name is, if not in the rows: the name of the "file" or of its "folder".
        verdict: A regular expression with one group that finds the label in a text, for logs of language models.
        verdict_field: The key of the label in an answer that is JSON, for logs of language models.
        id: A regular expression with the groups `item` and `worker`, which takes an id apart.
        items: A regular expression with one group that finds the item in the name of a column, for surveys.
        pairs: Which columns belong together where a row has several items, as in "Input.text{n}=Answer.q{n}".
        engine: "memory" returns `Labels`. "disk" returns `LabelsOnDisk`, which may be larger than memory. "auto" uses
            memory if the labels fit, else the disk; input without a path, such as standard input, is assumed to fit.
            "spark" lets a Spark cluster read the labels, which needs the extra `spark` and Java 17.
        memory: How much memory may be used, such as "4GB"; None for what is free.
        workdir: The folder for the files of "disk"; None for the system's folder for large temporary files. They are
            removed when the labels are closed or no longer used.
        master: The master of the Spark cluster; None for this machine.
        method: The method that will be fitted, if known. If it cannot run on the engine, this is refused before
            anything is read.
        phases: Called with the name of a phase and the share of it that is done, while "disk" works.
        warn: Whether to raise what looks like a slip in labels in memory as warnings.

    Returns:
        The labels, of the type that `engine` says. Their `cautions` say what was dropped or looks like a slip.

    Raises:
        CallError: An argument is not allowed.
        DataError: The files cannot be read or used; the message says why and what to do.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "votes.tsv"
    >>> _ = path.write_text("Task\tAnnotator\tAnswer\n007\tann\tyes\n007\tbob\tno\n")
    >>> read_labels(path).names.items.to_list()
    ['007']
    """
    return read_with(read_options(numeric=numeric, engine=engine, **options), source, method, phases, warn)


def read_with(
    options: ReadOptions,
    source: Any,
    method: Any = None,
    phases: Phases = tell,
    warn: bool = True,
) -> Any:
    """Read labels as `read_labels` does, with options that are checked already."""
    require_threads()
    if options.engine == "spark":
        return _read_in_cluster(source, options, method)
    if options.engine == "memory":
        labels = _read_rows(_tidied_rows(source, options), options, None, phases)
    else:
        labels = _read_with_disk(source, options, method, phases)
    if _LOG.isEnabledFor(logging.INFO):
        for sentence in (f"Read {labels}", *labels.report.understood, *labels.report.repairs):
            _LOG.info(sentence)
    if warn and not isinstance(labels, LabelsOnDisk) and labels.slips:
        raise_once(labels.slips)
    return labels


def read_numbers(source: Any, *, engine: str = "memory", **options: Any) -> Any:
    r"""Read labels that are numbers.

    Args:
        source: As in `read_labels`.
        engine: As in `read_labels`.
        options: All other arguments of `read_labels`.

    Returns:
        `Numbers` for the engine "memory", and for the others what `read_labels` returns, with numbers as labels.

    Raises:
        CallError: An argument is not allowed.
        DataError: The files cannot be read, or hold labels that are not finite numbers; the message has the first one.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,worker,label\n1,ann,0.5\n1,bob,2\n")
    >>> read_numbers(path).labels.tolist()
    [0.5, 2.0]
    """
    return read_labels(source, numeric=True, engine=engine, **options)


def as_crowd(given: Any, *, numeric: bool = False) -> Any:
    """Return labels as they are, and those of a table in memory; anything else is returned as it is.

    >>> as_crowd(pl.DataFrame({"item": [1, 1], "worker": ["ann", "bob"], "label": ["x", "y"]}))
    Labels(2 labels of 1 items by 2 workers in 2 classes)
    """
    return read_labels(given, numeric=numeric, warn=False) if is_frame(given) and not is_crowd(given) else given


def read_options(**given: Any) -> ReadOptions:
    """Return the options of reading, with the names that files of `classes` and `label_names` hold.

    Raises:
        CallError: There is no such option, or no such value of it.
        DataError: Such a file cannot be read.
    """
    for name in ("classes", "label_names"):
        if isinstance(given.get(name), str | os.PathLike):
            given[name] = read_label_names(given[name])
    options = ReadOptions.of(**given)
    check_format(options.format)
    only_tables = options.label is not None or options.wide not in (None, False) or options.transposed
    return replace(options, format=TABLE) if options.format == AUTO and only_tables else options


def _tidied_rows(
    source: Any, options: ReadOptions, copy: Copy | None = None, keep: Keep = lambda table: table
) -> list[Rows]:
    """Return the rows of a source with tidied labels; `copy` copies streams to files, see `rows_in` for `keep`."""
    rows = rows_in(open_inputs(source, options, copy), options, keep)
    return [replace(one, lazy=tidied(one.lazy, options)) for one in rows]


def _read_with_disk(source: Any, options: ReadOptions, method: Any, phases: Phases) -> Any:
    """Return labels on disk; for the engine "auto", in memory if they fit."""
    on_disk = options.engine == "disk"
    memory = available_memory() if options.memory is None else parse_size(options.memory)
    # If answers of an export take half of the memory, their labels do not fit: these take as much again when read.
    spill = Spill(0 if on_disk else memory // 2, partial(_workspace, options, method))
    try:
        if on_disk:
            spill.open()
        rows = _tidied_rows(source, options, spill.copy if on_disk else None, spill.keep)
        if not on_disk and not any(isinstance(one.content, bytes) for one in rows):
            on_disk = not fits(rows, options.memory)
            if on_disk and options.multi == "each":
                raise CallError(
                    "Several classes at once are worked on in memory, and these labels may not fit. Say "
                    'engine="disk" (--engine disk) for a yes or no for every item and class, or "memory" to try.'
                )
        labels = _read_rows(rows, options, spill.open() if on_disk else None, phases)
        spill.remove_kept() if on_disk else spill.close()
    except BaseException:
        spill.close()
        raise
    return labels


def rows_in(inputs: Sequence[Input], options: ReadOptions, keep: Keep) -> list[Rows]:
    """Return the rows of some inputs, with columns of the same types. An export has all its votes in one `Rows`.

    `keep` keeps the answers of an export, in memory or on disk.

    Raises:
        CallError: An option was given that does nothing for these inputs.
        DataError: They cannot be read.
    """
    export = platform_of(inputs, options.format)
    if export is not None:
        platform, files = export
        if options.label is not None:
            raise CallError(f"label= (--label-column) does nothing for {platform.name}: question= (--question) does.")
        for name in FOR_TABLES:
            if getattr(options, name) not in (None, False):
                option = f"{name}= ({option_of(name)})"
                raise CallError(f"{option} does nothing for {platform.name}: it is for tables.")
        return [vote_rows(read_export(platform, files, options, keep), files, options)]
    if options.multi == "set":
        raise CallError(
            f'{inputs[0].name} is a table: multi="set" (--multi set) is for exports. Where a worker\'s classes have a '
            'row each, duplicates="set" (--duplicates set) makes one vote of them.'
        )
    given = options.given(FOR_EXPORTS)
    if given:
        names = ", ".join(f"{name}= ({option_of(name)})" for name in given)
        raise CallError(f"{inputs[0].name} is a table and no export of a platform: {names} does nothing.")
    rows = [open_rows(one, options.roles, options) for one in inputs]
    if len(rows) > 1 and any(one.found["item"] == ROW_NUMBERS for one in rows):
        raise DataError(
            "Several tables have no column of items, whose rows would be taken for the same items: add one."
        )
    return same_types(with_all_roles(rows))


def _read_rows(rows: Sequence[Rows], options: ReadOptions, place: Workspace | None, phases: Phases) -> Any:
    """Return the labels in memory; or on disk, if there is a `place` to work in."""
    roles = [*options.roles, *(role for role in SOFT_ROLES if role in rows[0].found)]
    found = {role: " or ".join(dict.fromkeys(one.found[role] for one in rows)) for role in roles}
    understood = tuple(dict.fromkeys(sentence for one in rows for sentence in one.remarks))
    first = rows[0]
    if first.policy is not None:
        options = replace(options, duplicates=first.policy)
    labels: Any
    pace: pl.DataFrame | None = None
    of_pace: tuple[str, ...] = ()
    if place is not None:
        labels = LabelsOnDisk.read(rows, found, options, place, phases)
    else:
        kind = Numbers if options.numeric else Labels
        tables, is_text = [one.collect() for one in rows], any(one.is_text for one in rows)
        require_codes(sum(table.height for table in tables), "rows")
        if options.multi == "each":
            labels = labels_of_sets(pl.concat(tables), found, options, is_text)
        else:
            labels = kind.from_columns(pl.concat(tables), found, options, integers_in_text=is_text)
        pace, of_pace = _pace_of(rows)
    understood += (*labels.report.understood, *of_pace)
    report = replace(labels.report, pace=pace, understood=understood, left_out=dict(first.left_out))
    return labels.with_report(report if first.answers is None else replace(report, rows=first.answers))


def _pace_of(rows: Sequence[Rows]) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Return how fast each worker is, where the inputs say it; and a sentence if what they say cannot be read."""
    try:
        seconds = [lazy for lazy in (one.seconds_of_workers() for one in rows) if lazy is not None]
        return (pace_of(pl.concat(seconds)) if seconds else None), ()
    except UnsoundError as problem:
        return None, (f"How fast workers are is not known: {problem}.",)
    except pl.exceptions.PolarsError:  # such a column of lists says nothing about seconds
        return None, ()


def _require_method(method: Any, place: str) -> None:
    """Raise `CallError` if this is no method, or cannot run there. This package must not import that of methods."""
    if method is None:
        return
    if not hasattr(method, "limits"):
        raise CallError(f"method is a {type(method).__name__}, and has to be a method such as BWA(), or None.")
    method.require(place=place)


def _workspace(options: ReadOptions, method: Any) -> Workspace:
    _require_method(method, "disk")
    return Workspace(options.workdir)


def _read_in_cluster(source: Any, options: ReadOptions, method: Any) -> Any:
    """Return labels that a Spark cluster reads from any path or address that it can reach."""
    others = options.given(("storage", "encoding", "worker_from", *FOR_TABLES, *FOR_EXPORTS))
    if options.format not in (AUTO, TABLE) or others:
        raise CallError("A cluster reads long tables from files; other sources are read by memory and disk.")
    _require_method(method, "spark")
    require_extra("spark", "engine='spark'")
    from ..partitions.on_spark import LabelsOnSpark  # imported here because it needs the extra `spark`

    sources = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    paths = [os.fspath(path) for path in sources if isinstance(path, str | os.PathLike) and path != "-"]
    if len(paths) < len(sources):
        raise CallError("A cluster reads files by their paths or addresses, and no standard input or open files.")
    return LabelsOnSpark.read(paths, options)
