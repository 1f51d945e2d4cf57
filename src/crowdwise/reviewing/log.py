"""`DecisionFile`: the file of decisions, to which every decision is appended before the page goes on.

A row is written by one call and synchronised with the disk before it is acknowledged, so that killing the process loses
nothing. The last column is one of a few words: a row that ends otherwise was cut off while it was written, and was
never acknowledged.
"""

import csv
import io
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import polars as pl

from ..errors import CallError, DataError, shown
from ..reading.decision_log import ACTIONS, COLUMNS, read_log
from ..system import first_line, lock

_HEADER: Final = ",".join(COLUMNS) + "\n"


class Entry(NamedTuple):
    """A row of the file; reading/decision_log.py says what the columns mean."""

    item: str
    truth: str
    reviewer: str
    time: str
    seconds: str
    visible: str
    source: str
    sure: str
    guideline: str
    comment: str
    action: str


def now() -> str:
    """Return the time as it is written in the file: in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class DecisionFile:
    """A file of decisions that this process alone writes to, until it is closed.

    Attributes:
        path: The file.
        entries: All rows, in the order of the file.
        remarks: What was repaired when it was opened, as sentences.

    Raises:
        CallError: It cannot be opened, or another process writes to it.
        DataError: It is no file of decisions.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.remarks: list[str] = []
        self._is_new = False
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as problem:
            raise CallError(f"{path} cannot be written to: {problem.strerror}.") from problem
        try:
            if not lock(self._descriptor, wait=False):
                raise CallError(
                    f"{path} is open in another `crowdwise review`: go on there, or name another file (--decisions)."
                )
            self._load()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; others may write to it then. A new file without any row is removed."""
        empty = self._is_new and not self.entries
        if os.name == "nt":  # Windows removes no file that is open; elsewhere it is removed while it is locked
            os.close(self._descriptor)
        if empty:
            with suppress(OSError):
                self.path.unlink()
        if os.name != "nt":
            os.close(self._descriptor)

    def append(self, entry: Entry) -> None:
        """Write a row; it is on the disk when this returns. If it fails, the file is as it was: `DataError`."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(_on_one_line(value) for value in entry)
        self._write(text.getvalue().encode())
        self.entries.append(entry)

    def table(self) -> pl.DataFrame:
        """Return all rows as a table of text."""
        return table_of(self.entries)

    def _write(self, data: bytes) -> None:
        """Append bytes, all or none of them."""
        size = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, data)
            if written < len(data):
                raise OSError("only a part of it was written")
            os.fsync(self._descriptor)
        except OSError as problem:
            os.ftruncate(self._descriptor, size)
            raise DataError(f"The decision could not be saved to {self.path}: {first_line(problem)}.") from problem

    def _load(self) -> None:
        """Read the rows, and repair the end of the last one."""
        if os.fstat(self._descriptor).st_size == 0:
            self._is_new = True
            self._write(_HEADER.encode())
            _sync_folder(self.path.parent)
            return
        content = self.path.read_bytes()
        if content.partition(b"\n")[0].strip() != _HEADER.strip().encode():
            raise DataError(
                f"{self.path} is no file of decisions: its first line is not {shown(_HEADER.strip())}. Name another "
                "file (--decisions)."
            )
        kept = _complete(content)
        if kept is not None:
            os.ftruncate(self._descriptor, len(kept))
            self.remarks.append(
                f"The last row of {self.path} was incomplete, and so never acknowledged: it was removed."
            )
        if not (content if kept is None else kept).endswith(b"\n"):
            self._write(b"\n")
        if (content if kept is None else kept).strip() == _HEADER.strip().encode():
            return
        self.entries = [Entry(*row) for row in read_log(self.path).select(COLUMNS).iter_rows()]


def table_of(entries: Sequence[Entry]) -> pl.DataFrame:
    """Return rows as a table of text."""
    return pl.DataFrame(entries, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


def _on_one_line(value: str) -> str:
    """Return a value without the characters that no file can hold; only ids may have line breaks."""
    return value.replace("\0", "").encode("utf-8", "replace").decode()


def _complete(content: bytes) -> bytes | None:
    r"""Return the content without its last row if that one was cut off; None if nothing is to be cut.

    >>> _complete(b"item,action\ni1,decided\ni2,dec")
    b'item,action\ni1,decided\n'
    >>> _complete(b"item,action\ni1,decided") is None
    True
    """
    if content.endswith(b"\n"):
        return None
    end = content.rfind(b"\n") + 1
    if end and content[end:].rstrip(b"\r").rsplit(b",", 1)[-1].decode("utf-8", "replace") not in ACTIONS:
        return content[:end]
    return None


def _sync_folder(folder: Path) -> None:
    """Make sure that a new file is in its folder, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    with suppress(OSError):
        os.fsync(descriptor)
    os.close(descriptor)


def default_path(source: Any) -> Path:
    """Return where the decisions about labels go: beside their file, labels.csv -> labels.decisions.csv.

    >>> default_path("data/labels.csv.gz").name, default_path(None).name
    ('labels.decisions.csv', 'labels.decisions.csv')
    """
    path = Path(source) if isinstance(source, str | os.PathLike) and str(source) != "-" else Path("labels.csv")
    stem = path.name.split(".")[0] or "labels"
    return path.with_name(f"{stem}.decisions.csv")
