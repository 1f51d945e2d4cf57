"""`History`: what a method counted in earlier labels, by worker; it is stored in a file and starts the next fit.

Counts of disjoint sets of items add up. So what an earlier batch of labels taught about the workers is a table of
counts, and nothing else is needed to go on from there: workers who are known from yesterday are known today.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from ..data.addresses import require_no_address
from ..data.frames import first_line
from ..data.ids import codes_of, comparable
from ..data.replacing import temporary_files
from ..errors import CallError, DataError
from ..kernels import Array

# The name of the array that has how right every worker was; see `Quality.evidence`.
EVIDENCE: Final = "evidence"
# The version of the form of the file.
_VERSION: Final = 3
# Before the checksum of a file, which has zeros in its place while it is computed.
_MARK: Final = b"crowdwise state, SHA-256 "
_NO_DIGEST: Final = b"0" * 64
_COUNTS: Final = pl.List(
    pl.Struct({"name": pl.String, "per_worker": pl.Boolean, "shape": pl.List(pl.Int64), "values": pl.List(pl.Float64)})
)


@dataclass(frozen=True, eq=False)
class History:
    """What a method counted in labels.

    Attributes:
        method: The method with all its parameters, as its `repr` says.
        classes: The names of the classes.
        workers: The names of the workers, in their own data type.
        per_worker: Arrays whose first axis is the workers, by name.
        shared: Arrays about all workers together, by name.
    """

    method: str
    classes: pl.Series
    workers: pl.Series
    per_worker: Mapping[str, Array]
    shared: Mapping[str, Array]

    def __repr__(self) -> str:
        return f"History({len(self.workers):,} workers in {len(self.classes):,} classes by {self.method})"

    def decayed(self, decay: float) -> "History":
        """Return a copy in which everything counts less.

        Args:
            decay: What all counts are multiplied by, above 0 and at most 1.
        """
        scaled = [{name: decay * values for name, values in part.items()} for part in (self.per_worker, self.shared)]
        return replace(self, per_worker=scaled[0], shared=scaled[1])

    def of_workers(self, workers: pl.Series) -> dict[str, Array]:
        """Return all arrays, those per worker for these workers; one who is not known has counted nothing."""
        places = self._places(workers)
        arrays = dict(self.shared)
        for name, values in self.per_worker.items():
            arrays[name] = np.zeros((len(workers), *values.shape[1:]))
            arrays[name][places >= 0] = values[places[places >= 0]]
        return arrays

    def without(self, workers: pl.Series) -> "History":
        """Return what is known about all workers but these; nothing about workers together."""
        others = np.setdiff1d(np.arange(len(self.workers)), self._places(workers))
        kept = {name: values[others] for name, values in self.per_worker.items()}
        return replace(self, workers=self.workers.gather(others), per_worker=kept, shared={})

    def plus(self, other: "History") -> "History":
        """Return the sum of both, which must be by the same method and of the same classes."""
        self.require_method(other.method)
        if self.classes.to_list() != other.classes.to_list():
            raise DataError(
                f"The states have different classes: {_listed(self.classes)}, and {_listed(other.classes)}."
            )
        new = other.without(self.workers).workers
        workers = _joined(self.workers, new) if len(new) else self.workers
        both = self.of_workers(workers), other.of_workers(workers)
        none = np.zeros(())
        total = {name: both[0].get(name, none) + both[1].get(name, none) for name in {**both[0], **both[1]}}
        return replace(
            self,
            workers=workers,
            per_worker={name: total[name] for name in {**self.per_worker, **other.per_worker}},
            shared={name: total[name] for name in {**self.shared, **other.shared}},
        )

    def require_method(self, method: str) -> None:
        """Raise `DataError` if these counts are another method's, or with other parameters."""
        if method != self.method:
            raise DataError(f"The state is of {self.method}, and cannot be used with {method}.")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, which is replaced when it is complete."""
        require_no_address(path, "The file of a state")
        target = Path(path)
        with temporary_files([target]) as (temporary,):
            try:
                temporary.write_bytes(self._packed())
            except OSError as problem:
                raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "History":
        """Read counts from a file.

        Raises:
            DataError: The file is no state, is damaged, or of a later version.
        """
        require_no_address(path, "A state")
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError as problem:
            raise DataError(f"There is no state {path}.") from problem
        except IsADirectoryError as problem:
            raise DataError(f"The state {path} is a folder.") from problem
        except (OSError, ValueError) as problem:
            raise DataError(f"The state {path} cannot be read: {first_line(problem)}.") from problem
        try:
            _check(content)
            # Not from the file itself: polars would map it into memory, and somebody may write to it.
            row = pl.read_ipc(BytesIO(content))
            return cls._unpacked(row, path)
        except DataError:
            raise
        except Exception as problem:  # a damaged file can make any error
            raise DataError(
                f"{path} is no state that `crowdwise aggregate --save-state` wrote, or it is damaged."
            ) from problem

    def _packed(self) -> bytes:
        """Return the bytes of an Arrow file of one row."""
        counts = [
            {"name": name, "per_worker": per_worker, "shape": list(values.shape), "values": values.ravel().tolist()}
            for per_worker, part in ((True, self.per_worker), (False, self.shared))
            for name, values in part.items()
        ]
        row = pl.DataFrame(
            {
                "crowdwise_state": [_VERSION],
                "method": [self.method],
                "checksum": [_MARK.decode() + _NO_DIGEST.decode()],
                "classes": self.classes.implode(),
                "workers": self.workers.implode(),
                "counts": pl.Series([counts], dtype=_COUNTS),
            }
        )
        buffer = BytesIO()
        row.write_ipc(buffer, compression="uncompressed")  # so that the checksum is in it as it is written
        content = buffer.getvalue()
        return content.replace(_MARK + _NO_DIGEST, _MARK + _digest(content), 1)

    @classmethod
    def _unpacked(cls, row: pl.DataFrame, path: Any) -> "History":
        """Return what `_packed` packed."""
        if row.height != 1 or "crowdwise_state" not in row.columns:
            raise ValueError("no state")
        version = row["crowdwise_state"][0]
        if version != _VERSION:
            raise DataError(f"The state {path} is of version {version!r}; this crowdwise reads version {_VERSION}.")
        parts: tuple[dict[str, Array], dict[str, Array]] = {}, {}
        for one in row["counts"].to_list()[0]:
            values = np.array(one["values"], np.float64).reshape(one["shape"])
            if not np.isfinite(values).all() or (one["per_worker"] and len(values) != len(row["workers"][0])):
                raise ValueError("damaged counts")
            parts[0 if one["per_worker"] else 1][one["name"]] = values
        classes, workers = row["classes"][0].alias("label"), row["workers"][0].alias("worker")
        return cls(row["method"][0], classes, workers, *parts)

    def _places(self, workers: pl.Series) -> Array:
        return codes_of(workers, self.workers)


def _digest(content: bytes) -> bytes:
    """Return the checksum of a file in which zeros stand where the checksum is to be."""
    return hashlib.sha256(content).hexdigest().encode()


def _check(content: bytes) -> None:
    """Raise `ValueError` if a file is not as it was written: polars may end the process by a damaged one."""
    head, mark, tail = content.partition(_MARK)
    digest, rest = tail[: len(_NO_DIGEST)], tail[len(_NO_DIGEST) :]
    if not mark or digest != _digest(head + mark + _NO_DIGEST + rest):
        raise ValueError("damaged")


@dataclass(frozen=True, eq=False)
class Counted:
    """What a method counted in a fit; it becomes a `History` when somebody asks for it.

    Attributes:
        classes: The names of the classes.
        workers: The names of the workers, in the order of their numbers.
        per_worker: See `History`.
        shared: See `History`.
        before: What was known at the start: of these workers, how right they were (see `Quality.evidence`); None if
            nothing was known.
        absent: What was known of workers who gave none of these labels; None if nothing was known.
    """

    classes: pl.Series
    workers: pl.Series
    per_worker: Mapping[str, Array]
    shared: Mapping[str, Array]
    before: Array | None
    absent: History | None

    def history(self, method: str, workers: pl.Series, evidence: Array | None) -> History:
        """Return all that was counted, also before these labels.

        Args:
            method: The method, as its `repr` says.
            workers: The names of the workers in the order of `evidence`.
            evidence: (2, 3, workers), how right they were; see `Quality.evidence`.
        """
        arrays = dict(self.per_worker)
        if evidence is not None:
            arrays[EVIDENCE] = np.moveaxis(evidence, -1, 0)[codes_of(self.workers, workers)]
        found = History(method, self.classes, self.workers, arrays, self.shared)
        return found if self.absent is None else found.plus(replace(self.absent, method=method))


def merge(histories: Sequence[History]) -> History:
    """Return the sum of several histories, which must be by the same method and of the same classes."""
    if not histories:
        raise CallError("There is no state to merge.")
    total = histories[0]
    for one in histories[1:]:
        total = total.plus(one)
    return total


def _joined(one: pl.Series, other: pl.Series) -> pl.Series:
    """Return both lists of names in one; as text if they are of different types, such as 7 and "w7"."""
    try:
        return pl.concat([one, other.cast(one.dtype)])
    except pl.exceptions.PolarsError:
        return pl.concat(comparable(one, other))


def _listed(classes: pl.Series) -> str:
    """Return the first classes, for a message."""
    shown_first = ", ".join(map(repr, classes.head(5).to_list()))
    return shown_first + (f" and {len(classes) - 5:,} more" if len(classes) > 5 else "")
