"""`read_labels`: read labels from files, databases, clouds and tables in memory."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, overload

import polars as pl

from ..caution import raise_once
from ..crowd.cleaning import Rules
from ..crowd.encoding import Duplicates, check_policy, require_codes
from ..crowd.labels import Labels
from ..crowd.numbers import Numbers
from ..crowd.opening import Opening
from ..crowd.pace import pace_of, seconds_column
from ..crowd.protocol import check_engine, is_crowd
from ..errors import CallError, DataError, require_extra
from ..parallel import require_threads
from ..partitions.disk_partitioning import Phases
from ..partitions.on_disk import LabelsOnDisk, fits
from ..partitions.workspace import Workspace
from ..platforms.importer import NO_OPTIONS, Importer, ImportOptions, import_options
from ..platforms.questions import votes_of
from ..sources.class_names import read_label_names
from ..sources.frames import is_frame
from ..sources.input import Export, worker_name
from ..sources.inputs import Input, input_name, inputs_of, recognised, scan_input
from ..sources.paths import Source
from ..sources.scans import Scan, same_types, scan_content
from ..sources.unpacking import UnsoundError
from ..sources.wide import ROW_NUMBERS
from .registry import AUTO, TABLE, check_format, read_export

_LOG = logging.getLogger("crowdwise")
_SAMPLED: Final = (
    "Judges answered several times about the same items: each answer is a vote, as with --duplicates samples; "
    "--duplicates drop, first, last or error do otherwise."
)


@overload
def read_labels(
    source: Any,
    *,
    item: str | None = ...,
    worker: str | None = ...,
    label: str | None = ...,
    time: str | None = ...,
    duplicates: Duplicates | None = ...,
    missing: Sequence[Any] = ...,
    strict: bool = ...,
    strip: bool = ...,
    fold_case: bool = ...,
    classes: Sequence[Any] | str | os.PathLike[str] | None = ...,
    format: str = ...,
    question: str | None = ...,
    numeric: bool = ...,
    wide: bool | str | Sequence[str] | None = ...,
    transposed: bool = ...,
    label_names: Sequence[str] | str | os.PathLike[str] | None = ...,
    query: str | None = ...,
    table: str | None = ...,
    sheet: str | None = ...,
    storage: Mapping[str, Any] | None = ...,
    encoding: str | None = ...,
    engine: Literal["memory"] = ...,
    **imports: Any,
) -> Labels: ...


@overload
def read_labels(
    source: Any,
    *,
    item: str | None = ...,
    worker: str | None = ...,
    label: str | None = ...,
    time: str | None = ...,
    duplicates: Duplicates | None = ...,
    missing: Sequence[Any] = ...,
    strict: bool = ...,
    strip: bool = ...,
    fold_case: bool = ...,
    classes: Sequence[Any] | str | os.PathLike[str] | None = ...,
    format: str = ...,
    question: str | None = ...,
    numeric: bool = ...,
    wide: bool | str | Sequence[str] | None = ...,
    transposed: bool = ...,
    label_names: Sequence[str] | str | os.PathLike[str] | None = ...,
    query: str | None = ...,
    table: str | None = ...,
    sheet: str | None = ...,
    storage: Mapping[str, Any] | None = ...,
    encoding: str | None = ...,
    engine: str,
    memory: str | int | None = ...,
    workdir: str | os.PathLike[str] | None = ...,
    master: str | None = ...,
    method: Any = ...,
    phases: Phases = ...,
    warn: bool = ...,
    **imports: Any,
) -> Any: ...


def read_labels(
    source: Any,
    *,
    item: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    time: str | None = None,
    duplicates: Duplicates | None = None,
    missing: Sequence[Any] = (),
    strict: bool = False,
    strip: bool = False,
    fold_case: bool = False,
    classes: Sequence[Any] | str | os.PathLike[str] | None = None,
    format: str = "auto",
    question: str | None = None,
    numeric: bool = False,
    wide: bool | str | Sequence[str] | None = None,
    transposed: bool = False,
    label_names: Sequence[str] | str | os.PathLike[str] | None = None,
    query: str | None = None,
    table: str | None = None,
    sheet: str | None = None,
    storage: Mapping[str, Any] | None = None,
    encoding: str | None = None,
    engine: str = "memory",
    memory: str | int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    method: Any = None,
    phases: Phases = lambda _phase, _share: None,
    warn: bool = True,
    **imports: Any,
) -> Any:
    r"""Read labels from files, databases, cloud storages and tables in memory.

    Args:
        source: A path, a folder, a glob pattern, "-" for standard input, an open binary file, or a sequence of these,
            which are read as one crowd. The formats are CSV and TSV (the delimiter is recognised), Parquet, JSON lines,
            JSON arrays, Arrow IPC, Excel, matrices (NumPy files and text), and files of SQLite and DuckDB. Text may be
            compressed with gzip or zstd. An address of Postgres or of a cloud storage, such as postgresql://host/db or
            s3://bucket/*.parquet. Or a table in memory, as in `Labels.from_frame`. Exports of annotation
            platforms, and logs of language models that judge, are recognised by their content (docs/importing.md).
        item: The column of items; None to recognise it, as described in `Labels.from_frame`.
        worker: The column of workers; None to recognise it.
        label: The column of labels; None to recognise it.
        time: For "latest", the column of times; None to recognise it (time, timestamp, created_at, date, ...).
        duplicates: What to do where one worker gave one item several different labels; see `Labels.from_frame`. If it
            is None, that is an error; but in logs of language models that judge, each answer is a sample ("samples").
        missing: Values that mean "no label", besides null, NaN and empty text.
        strict: Refuse rows that are otherwise dropped silently; see `Labels.from_frame`.
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
        imports: What else is asked of an export, such as `models=True` or `multi="set"`; see `ImportOptions`.

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
    require_threads()
    given: dict[str, str | None] = {"item": item, "worker": worker, "label": label}
    check_engine(engine)
    if duplicates is not None:
        check_policy(duplicates)
    if isinstance(classes, str | os.PathLike):
        classes = read_label_names(classes)
    rules = Rules(duplicates or "error", missing, strict, strip, fold_case, numeric, classes)
    if duplicates == "latest":
        given["time"] = time
    elif time is not None:
        raise CallError('time= (--time) does nothing without duplicates="latest" (--duplicates latest).')
    check_format(format)
    if format == AUTO and (label is not None or wide not in (None, False) or transposed):
        format = TABLE  # only a table has a column of labels, or one for each worker
    options = import_options(question=question, **imports)
    if isinstance(label_names, str | os.PathLike):
        label_names = read_label_names(label_names)
    how = Opening(query, table, sheet, storage or {}, wide, transposed, label_names, rules.missing, encoding)
    if engine == "spark":
        if how != Opening(missing=rules.missing) or format not in (AUTO, TABLE) or options != NO_OPTIONS:
            raise CallError("A cluster reads long tables from files; other sources are read by memory and disk.")
        return _read_in_cluster(source, given, rules, master, method)
    labels: Any
    place = _workspace(workdir, method) if engine == "disk" else None
    try:
        inputs = inputs_of(source, how, place)
        found = recognised(inputs, format)
        if found is not None:
            how.require_export(found[0].name, label)
            asked = replace(options, item=item, worker=worker)
            labels = _read_votes(*found, asked, rules, duplicates is None, place, memory, phases)
        else:
            _check_options_of_tables(options, worker, inputs[0])
            scans = _scans(inputs, given, how, options.worker_from)
            scans = [replace(one, lazy=rules.tidied(one.lazy)) for one in scans]
            if engine == "auto" and all(one.knows_size for one in scans) and not fits(scans, memory):
                place = _workspace(workdir, method)
            labels = _read_tables(scans, given, rules, place, memory, phases)
    except BaseException:
        if place is not None:
            place.close()
        raise
    _LOG.info("Read %s", labels)
    for sentence in (*labels.report.understood, *labels.report.repairs):
        _LOG.info(sentence)
    if warn and place is None:
        raise_once(labels.slips)
    return labels


def as_crowd(given: Any, *, numeric: bool = False) -> Any:
    """Return labels as they are, and those of a table in memory; anything else is returned as it is.

    >>> as_crowd(pl.DataFrame({"item": [1, 1], "worker": ["ann", "bob"], "label": ["x", "y"]}))
    Labels(2 labels of 1 items by 2 workers in 2 classes)
    """
    return read_labels(given, numeric=numeric, warn=False) if is_frame(given) and not is_crowd(given) else given


def _check_options_of_tables(options: ImportOptions, worker: str | None, first: Input) -> None:
    """Raise `CallError` if an option is given that does nothing for tables, or two that name the worker."""
    if replace(options, worker_from=None) != NO_OPTIONS:
        raise CallError(
            f"{input_name(first)} is a table, which has no questions: {_given_names(options)} does nothing."
        )
    if options.worker_from is not None and worker is not None:
        raise CallError("worker= (--worker) and worker_from= (--worker-from) both name the worker; give one of them.")


def _given_names(options: ImportOptions) -> str:
    """Return the names of the options that were given, for a message."""
    return ", ".join(one.name for one in fields(options) if getattr(options, one.name) != getattr(NO_OPTIONS, one.name))


def _scans(
    inputs: Sequence[Input], given: Mapping[str, str | None], how: Opening, worker_from: str | None
) -> list[Scan]:
    """Return all tables of some inputs, ready to be read and with columns of the same types."""
    if worker_from is None:
        scans = [scan_input(one, given, how) for one in inputs]
    else:
        scans = [_scan_without_worker(one, given, how, worker_from) for one in inputs]
    if len(scans) > 1 and any(one.found["item"] == ROW_NUMBERS for one in scans):
        raise DataError(
            "Several tables have no column of items, whose rows would be taken for the same items: add one."
        )
    return same_types(scans)


def _scan_without_worker(one: Input, given: Mapping[str, str | None], how: Opening, worker_from: str) -> Scan:
    """Return a table whose worker is in the name of the file, or of its folder."""
    if not isinstance(one, Export):
        raise CallError("worker_from= (--worker-from) is for files, whose names say who the worker is.")
    worker = worker_name(one.path, worker_from, one.name)
    there = scan_input(one, {role: column for role, column in given.items() if role != "worker"}, how)
    lazy = there.lazy.with_columns(pl.lit(worker).alias("worker")).select(*given)
    return replace(there, lazy=lazy, found={**there.found, "worker": f"name of the {worker_from}"})


def _read_tables(
    scans: Sequence[Scan],
    given: Mapping[str, str | None],
    rules: Rules,
    place: Workspace | None,
    memory: str | int | None,
    phases: Phases,
) -> Any:
    """Return the labels of some tables in memory; or on disk, if there is a `place` to work in."""
    found = {role: " or ".join(dict.fromkeys(one.found[role] for one in scans)) for role in given}
    understood = tuple(dict.fromkeys(sentence for one in scans for sentence in one.remarks))
    labels: Any
    if place is not None:
        labels = LabelsOnDisk.read(scans, found, rules, memory, place, phases)
    else:
        kind = Numbers if rules.numeric else Labels
        tables = [one.collect() for one in scans]
        require_codes(sum(table.height for table in tables), "rows")
        table = pl.concat(tables)
        labels = kind.from_columns(table, found, rules, integers_in_text=any(one.is_text for one in scans))
        pace, remarks = _pace_of_tables(scans)
        labels = labels.with_report(replace(labels.report, pace=pace))
        understood += remarks
    return labels.with_report(replace(labels.report, understood=understood))


def _pace_of_tables(scans: Sequence[Scan]) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Return how fast each worker is, where tables have a column that says it beside one of workers; else None.

    Returns also a sentence for the user if such a column cannot be read.
    """
    rows = []
    for one in scans:
        columns = one.table.names
        seconds, worker = seconds_column(columns), one.found["worker"]
        if seconds is not None and worker in columns and seconds not in one.found.values():
            rows.append((one, {"worker": worker, "seconds": seconds}))
    try:
        tables = [one.table.pick(found).cast(pl.String) for one, found in rows]
        return (pace_of(pl.concat(tables)) if tables else None), ()
    except UnsoundError as problem:
        return None, (f"How fast workers are is not known: {problem}.",)
    except pl.exceptions.PolarsError:  # such a column of lists says nothing about seconds
        return None, ()


def _read_votes(
    importer: Importer,
    exports: Sequence[Export],
    options: ImportOptions,
    rules: Rules,
    may_sample: bool,
    place: Workspace | None,
    memory: str | int | None,
    phases: Phases,
) -> Any:
    """Return the labels of an export, in memory; or on disk, if there is a `place` to work in.

    With `may_sample`, several answers of a model that judges are samples of it.
    """
    found = read_export(importer, exports, options)
    timed, declared = rules.duplicates == "latest", rules.classes is not None
    votes = votes_of(found, options, exports[0].name, timed=timed, declared=declared)
    remarks = votes.remarks
    if votes.are_sets:
        if rules.duplicates not in ("error", "set"):
            raise CallError(
                f"duplicates={rules.duplicates!r} (--duplicates) does nothing here, where every answer is a set of "
                'classes: leave it out, or say multi="each" (--multi each).'
            )
        rules = replace(rules, duplicates="set")
    elif may_sample and importer.judges and _has_samples(votes.table, exports):
        rules = replace(rules, duplicates="samples")
        remarks = (*remarks, _SAMPLED)
    table = rules.tidied(votes.table.lazy()).collect()
    labels: Any
    if place is None:
        kind = Numbers if rules.numeric else Labels
        labels = kind.from_columns(table, dict(votes.columns), rules)
    else:
        path = place.path / "votes.parquet"
        table.write_parquet(path)
        scans = [scan_content(os.fspath(path), dict.fromkeys(votes.columns), exports[0].name)]
        labels = LabelsOnDisk.read(scans, dict(votes.columns), rules, memory, place, phases)
    left_out = dict(votes.left_out)
    pace = None if place is not None else votes.pace
    return labels.with_report(
        replace(labels.report, rows=votes.answers, left_out=left_out, understood=remarks, pace=pace)
    )


def _has_samples(votes: pl.DataFrame, exports: Sequence[Export]) -> bool:
    """Return whether a judge answered several times about an item.

    If two of the files are equal, the same answers were given twice and are no samples.
    """
    if not votes.select("item", "worker").is_duplicated().any():
        return False
    contents = [Path(one.content).read_bytes() if isinstance(one.content, str) else one.content for one in exports]
    return len({sha256(content).digest() for content in contents}) == len(contents)


def _require_method(method: Any) -> None:
    """Raise `CallError` if this is no method. Methods are in a package that this one must not import."""
    if not hasattr(method, "limits"):
        raise CallError(f"method is a {type(method).__name__}, and has to be a method such as BWA(), or None.")


def _workspace(workdir: str | os.PathLike[str] | None, method: Any) -> Workspace:
    """Return a new folder to work in. Refuses a `method` that cannot run on disk."""
    if method is not None:
        _require_method(method)
        method.require(place="disk")
    return Workspace(workdir)


def _read_in_cluster(
    source: Source | Sequence[Source],
    given: Mapping[str, str | None],
    rules: Rules,
    master: str | None,
    method: Any,
) -> Any:
    """Return labels that a Spark cluster reads from any path or address that it can reach.

    Refuses a `method` that cannot run on Spark, and input without a path.
    """
    if method is not None:
        _require_method(method)
        method.require(place="spark")
    require_extra("spark", "engine='spark'")
    from ..partitions.on_spark import LabelsOnSpark  # imported here because it needs the extra `spark`

    given_paths = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    paths = [os.fspath(path) for path in given_paths if isinstance(path, str | os.PathLike) and path != "-"]
    if len(paths) < len(given_paths):
        raise CallError("A cluster reads files by their paths or addresses, and no standard input or open files.")
    return LabelsOnSpark.read(paths, given, rules, master)
