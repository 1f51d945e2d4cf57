"""Every file format on the way in: labels and truths. What comes after knows only polars tables."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import polars as pl

from ..errors import CallError, DataError, require_extra
from . import columns
from .cleaning import Rules
from .disk.labels import LabelsOnDisk, fits
from .disk.partitioning import Phases
from .disk.workspace import Workspace
from .encoding import Duplicates, check_policy
from .frames import as_table
from .labels import Labels
from .sources import Source, expand, name_of, same_types, scan


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
    r"""Read what workers said from files.

    Args:
        source: A path, a folder, a glob pattern, "-" for standard input, an open binary file, or several of those:
            together they are one crowd. CSV and TSV (the delimiter is found out), Parquet, JSON lines and Arrow IPC;
            text may be compressed by gzip or zstd.
        item: The column of items; None to recognise it. For this and the rest see `Labels.from_frame`.
        worker: The column of workers.
        label: The column of labels.
        duplicates: What to do where one worker gave one item several different labels.
        missing: Values that mean "no label" besides null, NaN and empty text.
        strict: Refuse the data instead of repairing them.
        engine: "memory" for `Labels`; "disk" for `LabelsOnDisk`, which may be larger than memory; "auto" for memory
            if they fit (what has no path, such as standard input, fits); "spark" for labels that a Spark cluster
            reads, which needs the extra `spark` and Java 17.
        memory: What may be taken, such as "4GB"; None for what is free.
        workdir: Where "disk" works; None for the system's place for large temporary files. What is put there is
            removed when the labels are closed or forgotten.
        master: The master of the Spark cluster; this machine if None.
        method: What is to be fitted, if that is known: one that cannot run there is refused before anything is read.
        phases: Called with the name of a phase and the share of it that is done, where labels are on disk.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "votes.tsv"
    >>> _ = path.write_text("Task\tAnnotator\tAnswer\n007\tann\tyes\n007\tbob\tno\n")
    >>> read_labels(path).names.items.to_list()
    ['007']
    """
    given = {"item": item, "worker": worker, "label": label}
    if engine not in ("memory", "disk", "auto", "spark"):
        raise CallError(f"engine={engine!r} is not one of 'memory', 'disk', 'auto', 'spark'.")
    check_policy(duplicates)
    rules = Rules(duplicates, missing, strict)
    if engine == "spark":
        return _read_in_cluster(source, given, rules, master, method)
    sources = expand(source)
    place = _on_disk(workdir, method) if engine == "disk" else None
    copies = [None if place is None else place.path / f"input-{number}" for number in range(len(sources))]
    scans = same_types([scan(one, given, copy) for one, copy in zip(sources, copies, strict=True)])
    if engine == "auto" and all(isinstance(one.content, str) for one in scans) and not fits(scans, memory):
        place = _on_disk(workdir, method)
    found = {role: " or ".join(dict.fromkeys(one.found[role] for one in scans)) for role in given}
    if place is not None:
        return LabelsOnDisk.read(scans, found, rules, memory, place, phases)
    table = pl.concat([one.collect() for one in scans])
    return Labels.from_columns(table, found, rules, integers_in_text=any(one.is_text for one in scans))


def _on_disk(workdir: str | os.PathLike[str] | None, method: Any) -> Workspace:
    """Where to work on disk, for a method that can."""
    if method is not None:
        method.require_place("disk")
    return Workspace(workdir)


def _read_in_cluster(
    source: Source | Sequence[Source],
    given: Mapping[str, str | None],
    rules: Rules,
    master: str | None,
    method: Any,
) -> Any:
    """Labels that a Spark cluster reads, wherever it can reach them, for a method that can run there."""
    require_extra("spark", "engine='spark'")
    if method is not None:
        method.require_place("spark")
    from .spark import LabelsOnSpark  # needs the extra

    given_paths = source if isinstance(source, Sequence) and not isinstance(source, str) else [source]
    paths = [os.fspath(path) for path in given_paths if isinstance(path, str | os.PathLike) and path != "-"]
    if len(paths) < len(given_paths):
        raise CallError("A cluster reads files by their paths or addresses, and no standard input or open files.")
    return LabelsOnSpark.read(paths, given, rules, master)


def read_truth(source: Any, *, item: str | None = None, truth: str | None = None) -> pl.DataFrame:
    """Read the known truths of items.

    Args:
        source: A path as in `read_labels`, any Arrow-capable table, or a mapping from item to class.
        item: The column of items; None to recognise it.
        truth: The column of truths; None to recognise it (truth, gold, label, answer, response, value).

    Returns:
        Columns `item` and `truth`, one row per item.

    >>> read_truth({"i1": "cat", "i2": "dog"}).rows()
    [('i1', 'cat'), ('i2', 'dog')]
    """
    given = {"item": item, "truth": truth}
    if isinstance(source, Mapping):
        table = pl.DataFrame({"item": list(source.keys()), "truth": list(source.values())})
        name = "The mapping"
    elif isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        table = scan(expand(source)[0], given).collect()
        name = name_of(source)
    else:
        frame = as_table(source)
        found = columns.recognise(frame.columns, given, "The table of truths")
        table = frame.select(pl.col(found[role]).alias(role) for role in given)
        name = "The table of truths"
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
