"""`read_labels` and `read_truth`: read labels and known truths from files."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, overload

import polars as pl

from ..errors import CallError, DataError, require_extra
from .cleaning import Rules
from .crowd import check_engine
from .disk.labels import LabelsOnDisk, fits
from .disk.partitioning import Phases
from .disk.workspace import Workspace
from .encoding import Duplicates, check_policy, require_codes
from .frames import as_series, pick
from .ids import require_values
from .labels import Labels
from .panics import panics_hidden
from .paths import Source, expand, name_of
from .sources import same_types, scan


@overload
def read_labels(
    source: Source | Sequence[Source],
    *,
    item: str | None = ...,
    worker: str | None = ...,
    label: str | None = ...,
    duplicates: Duplicates = ...,
    missing: Sequence[Any] = ...,
    strict: bool = ...,
    engine: Literal["memory"] = ...,
) -> Labels: ...


@overload
def read_labels(
    source: Source | Sequence[Source],
    *,
    item: str | None = ...,
    worker: str | None = ...,
    label: str | None = ...,
    duplicates: Duplicates = ...,
    missing: Sequence[Any] = ...,
    strict: bool = ...,
    engine: str,
    memory: str | int | None = ...,
    workdir: str | os.PathLike[str] | None = ...,
    master: str | None = ...,
    method: Any = ...,
    phases: Phases = ...,
) -> Any: ...


def read_labels(
    source: Source | Sequence[Source],
    *,
    item: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    duplicates: Duplicates = "error",
    missing: Sequence[Any] = (),
    strict: bool = False,
    engine: str = "memory",
    memory: str | int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    master: str | None = None,
    method: Any = None,
    phases: Phases = lambda _phase, _share: None,
) -> Any:
    r"""Read labels from files.

    Args:
        source: A path, a folder, a glob pattern, "-" for standard input, an open binary file, or a sequence of these,
            which are read as one crowd. The formats are CSV and TSV (the delimiter is recognised), Parquet, JSON lines
            and Arrow IPC. Text may be compressed with gzip or zstd.
        item: The column of items; None to recognise it, as described in `Labels.from_frame`.
        worker: The column of workers; None to recognise it.
        label: The column of labels; None to recognise it.
        duplicates: What to do where one worker gave one item several different labels; see `Labels.from_frame`.
        missing: Values that mean "no label", besides null, NaN and empty text.
        strict: Refuse rows that are otherwise dropped silently; see `Labels.from_frame`.
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

    Returns:
        The labels, of the type that `engine` says.

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
    given = {"item": item, "worker": worker, "label": label}
    check_engine(engine)
    check_policy(duplicates)
    rules = Rules(duplicates, missing, strict)
    if engine == "spark":
        return _read_in_cluster(source, given, rules, master, method)
    with panics_hidden():
        return _read_here(expand(source), given, rules, engine, memory, workdir, method, phases)


def _read_here(
    sources: Sequence[Source],
    given: Mapping[str, str | None],
    rules: Rules,
    engine: str,
    memory: str | int | None,
    workdir: str | os.PathLike[str] | None,
    method: Any,
    phases: Phases,
) -> Any:
    """Return the labels of some files in the memory or on the disk of this machine; see `read_labels`."""
    place = _workspace(workdir, method) if engine == "disk" else None
    copies = [None if place is None else partial(place.copy, name=f"input-{number}") for number in range(len(sources))]
    scans = same_types([scan(one, given, copy) for one, copy in zip(sources, copies, strict=True)])
    if engine == "auto" and all(isinstance(one.content, str) for one in scans) and not fits(scans, memory):
        place = _workspace(workdir, method)
    found = {role: " or ".join(dict.fromkeys(one.found[role] for one in scans)) for role in given}
    if place is not None:
        return LabelsOnDisk.read(scans, found, rules, memory, place, phases)
    tables = [one.collect() for one in scans]
    require_codes(sum(table.height for table in tables), "rows")
    table = pl.concat(tables)
    return Labels.from_columns(table, found, rules, integers_in_text=any(one.is_text for one in scans))


def _require_method(method: Any) -> None:
    """Raise `CallError` if this is no method. Methods are in a package that this one must not import."""
    if not hasattr(method, "require_place"):
        raise CallError(f"method is a {type(method).__name__}, and has to be a method such as BWA(), or None.")


def _workspace(workdir: str | os.PathLike[str] | None, method: Any) -> Workspace:
    """Return a new folder to work in. Refuses a `method` that cannot run on disk."""
    if method is not None:
        _require_method(method)
        method.require_place("disk")
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
        method.require_place("spark")
    require_extra("spark", "engine='spark'")
    from .spark import LabelsOnSpark  # imported here because it needs the extra `spark`

    given_paths = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    paths = [os.fspath(path) for path in given_paths if isinstance(path, str | os.PathLike) and path != "-"]
    if len(paths) < len(given_paths):
        raise CallError("A cluster reads files by their paths or addresses, and no standard input or open files.")
    return LabelsOnSpark.read(paths, given, rules, master)


def read_truth(source: Any, *, item: str | None = None, truth: str | None = None) -> pl.DataFrame:
    """Read the known truths of items.

    Args:
        source: A path as in `read_labels`, a table with the Arrow C stream interface, or a mapping from item to class.
        item: The column of items; None to recognise it.
        truth: The column of truths; None to recognise it (truth, gold, label, answer, response, value).

    Returns:
        A table with the columns `item` and `truth`, one row per item. Rows without an item or a truth are left out.

    Raises:
        DataError: There is no truth, or some item has several.

    >>> read_truth({"i1": "cat", "i2": "dog"}).rows()
    [('i1', 'cat'), ('i2', 'dog')]
    """
    given = {"item": item, "truth": truth}
    if isinstance(source, Mapping):
        table = pl.DataFrame([as_series("item", list(source.keys())), as_series("truth", list(source.values()))])
        name = "The mapping"
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        with panics_hidden():
            table = pl.concat([one.collect() for one in same_types([scan(one, given) for one in expand(source)])])
        name = name_of(source)
    else:
        table, _ = pick(source, given, "The table of truths")
        name = "The table of truths"
    for column in table:
        require_values(column, column.name)
    table = table.drop_nulls().unique(maintain_order=True)
    twice = table.filter(table["item"].is_duplicated())
    if twice.height:
        first = twice["item"][0]
        said = twice.filter(twice["item"] == first)["truth"].to_list()
        raise DataError(
            f"{name} has more than one truth for {twice['item'].n_unique():,} items; first: item {first!r} is "
            f"{' and '.join(map(repr, said))}."
        )
    if table.height == 0:
        raise DataError(f"{name} has no truth in it.")
    return table
