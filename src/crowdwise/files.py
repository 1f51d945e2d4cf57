"""Every file format on the way in: labels and truths. What comes after knows only polars tables."""

import glob
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import polars as pl

from . import columns
from .encode import Duplicates
from .errors import CallError, DataError
from .formats import split_extension
from .labels import Labels
from .tables import as_table, first_line

Source: TypeAlias = str | os.PathLike[str] | IO[bytes]

# How an Arrow IPC stream begins, where a file begins with ARROW1.
_STREAM: Final = b"\xff\xff\xff\xff"
_DELIMITERS: Final = ",\t;|"


def read_labels(
    source: Source | Sequence[Source],
    *,
    item: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    duplicates: Duplicates = "error",
    missing: Sequence[Any] = (),
    strict: bool = False,
) -> Labels:
    r"""Read what workers said from files.

    Args:
        source: A path, a glob pattern, "-" for standard input, an open binary file, or several of those: together
            they are one crowd. CSV and TSV (the delimiter is found out), Parquet, JSON lines and Arrow IPC; text
            may be compressed by gzip or zstd.
        item: The column of items; None to recognise it. For this and the rest see `Labels.from_frame`.
        worker: The column of workers.
        label: The column of labels.
        duplicates: What to do where one worker gave one item several different labels.
        missing: Values that mean "no label" besides null, NaN and empty text.
        strict: Refuse the data instead of repairing them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "votes.tsv"
    >>> _ = path.write_text("Task\tAnnotator\tAnswer\n007\tann\tyes\n007\tbob\tno\n")
    >>> read_labels(path).names.items.to_list()
    ['007']
    """
    given = {"item": item, "worker": worker, "label": label}
    sources = _expand(source)
    tables = [_read(one, given) for one in sources]
    found = {role: " or ".join(dict.fromkeys(names[role] for _, names, _ in tables)) for role in given}
    text_only = [is_text for _, _, is_text in tables]
    table = _stack([table for table, _, _ in tables], [_name(one) for one in sources], any(text_only))
    return Labels.from_columns(
        table, found, duplicates=duplicates, missing=missing, strict=strict, integers_in_text=any(text_only)
    )


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
        table, _, _ = _read(_expand(source)[0], given)
        name = _name(source)
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


def _expand(source: Source | Sequence[Source]) -> list[Source]:
    """The files that are meant: patterns are expanded, and every path must exist."""
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "read"):
            return [cast(IO[bytes], source)]
        expanded = [path for one in source for path in _expand(one)]
        if not expanded:
            raise CallError("No file was given.")
        return expanded
    path = Path(source)
    if os.fspath(source) == "-":
        return ["-"]
    if path.is_file():
        if not os.access(path, os.R_OK):
            raise DataError(f"{path} may not be read: permission denied.")
        return [os.fspath(source)]
    if path.is_dir():
        raise DataError(f"{path} is a folder; name the files in it, for example '{path / '*.csv'}'.")
    # Path.glob needs a folder to start from; a pattern as typed does not say where that folder ends.
    matches = sorted(glob.glob(os.fspath(source)))  # noqa: PTH207
    if not matches:
        raise DataError(f"There is no file {source}.")
    return list(matches)


def _name(source: Any) -> str:
    if hasattr(source, "read") or isinstance(source, bytes):
        return "The input"
    return "Standard input" if source == "-" else os.fspath(source)


def _read(source: Source, given: Mapping[str, str | None]) -> tuple[pl.DataFrame, dict[str, str], bool]:
    """The columns of one file under our names, what they were called there, and whether all of it was text."""
    name = _name(source)
    content: Any = os.fspath(source) if isinstance(source, str | os.PathLike) else source.read()
    if content == "-":
        content = sys.stdin.buffer.read()
    if (Path(content).stat().st_size if isinstance(content, str) else len(content)) == 0:
        raise DataError(f"{name} is empty.")
    kind = _kind(content)
    try:
        lazy = _scan(content, kind)
        found = columns.recognise(lazy.collect_schema().names(), given, name)
        table = lazy.select(pl.col(found[role]).alias(role) for role in given).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{name} does not read as {kind}: {first_line(problem)}.") from problem
    if kind == "CSV":
        table = table.filter(~pl.all_horizontal(pl.all().is_null()))  # empty lines
    if kind == "JSON lines":
        _refuse_mixed(content, table, found, name)
    if table.height == 0:
        raise DataError(f"{name} has no rows.")
    return table, found, kind == "CSV"


def _kind(content: str | bytes) -> str:
    """The format, by the extension if it says one, else by the first bytes."""
    if isinstance(content, str):
        kind, _ = split_extension(Path(content))
        if kind is not None:
            return "CSV" if kind == "TSV" else kind
    head = _head(content)
    if head.startswith(b"PAR1"):
        return "Parquet"
    if head.startswith((b"ARROW1", _STREAM)):
        return "Arrow IPC"
    start = _first_line_of(content).lstrip()
    if start.startswith("["):
        raise DataError(f"{_name(content)} is a JSON array; write one object a line instead (JSON lines).")
    return "JSON lines" if start.startswith("{") else "CSV"


def _head(content: str | bytes) -> bytes:
    """The first bytes."""
    if isinstance(content, bytes):
        return content[:8]
    with Path(content).open("rb") as file:
        return file.read(8)


def _scan(content: str | bytes, kind: str) -> pl.LazyFrame:
    source: Any = content if isinstance(content, str) else io.BytesIO(content)
    if kind == "Parquet":
        return pl.scan_parquet(source, glob=False)
    if kind == "Arrow IPC":
        if _head(content).startswith(_STREAM):
            return pl.read_ipc_stream(source).lazy()
        return pl.scan_ipc(source, glob=False)
    if kind == "JSON lines":
        return pl.scan_ndjson(source, infer_schema_length=None)
    # Everything stays text: a number that polars guesses would lose the zeros in 007.
    header = _first_line_of(content)
    delimiter = max(_DELIMITERS, key=header.count)
    return pl.scan_csv(source, separator=delimiter, infer_schema=False, glob=False)


def _first_line_of(content: str | bytes) -> str:
    """The first line of a text, compressed or not."""
    source: Any = content if isinstance(content, str) else io.BytesIO(content)
    try:
        lines = pl.scan_lines(source).head(1).collect().to_series()
    except (pl.exceptions.PolarsError, OSError) as problem:
        name = content if isinstance(content, str) else "Standard input"
        raise DataError(
            f"{name} is neither text in UTF-8 nor a table that we know: {first_line(problem)}."
        ) from problem
    return str(lines[0]) if len(lines) else ""


def _refuse_mixed(content: str | bytes, table: pl.DataFrame, found: Mapping[str, str], name: str) -> None:
    """Refuse a JSON field that is text in one line and something else in another: polars makes both text."""
    source: Any = content if isinstance(content, str) else io.BytesIO(content)
    for role, column in found.items():
        if table[role].dtype != pl.String or not table[role].str.contains(r"^(-?\d|true$|false$|\{|\[)").any():
            continue
        # Only lines where the field does not seem to start with a quote are worth parsing.
        bare = rf'"{column}"\s*:\s*[^"\sn]'
        lines = pl.scan_lines(source).with_row_index("row", 1).filter(pl.nth(1).str.contains(bare)).collect()
        for row, line in lines.iter_rows():
            value = json.loads(line).get(column)
            if value is not None and not isinstance(value, str):
                raise DataError(
                    f"{name} has mixed types in {column!r}: line {row} has {value!r}, which is no text, and other "
                    "lines have text. Give the field one type."
                )


def _stack(tables: list[pl.DataFrame], names: list[str], any_text: bool) -> pl.DataFrame:
    """Several files as one table; a column must be of one type in all of them."""
    if len(tables) == 1:
        return tables[0]
    for role in tables[0].columns:
        kinds = [_type(table[role].dtype, any_text) for table in tables]
        for kind, name in zip(kinds, names, strict=True):
            if kind != kinds[0]:
                raise DataError(
                    f"The {role} is of mixed types: {kinds[0]} in {names[0]}, {kind} in {name}. "
                    "Give it one type in all files."
                )
    if any_text:
        tables = [table.cast(pl.String) for table in tables]
    return pl.concat(tables, how="vertical_relaxed")


def _type(dtype: pl.DataType, any_text: bool) -> str:
    """What a type is called where it must be the same; a CSV file has text where others have integers."""
    if dtype.is_integer():
        return "text" if any_text else "whole numbers"
    return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else str(dtype)
