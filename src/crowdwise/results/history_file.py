"""The file of a `History`: one Arrow file of one row, with a checksum. Everything in it is checked when it is read.

Versions of the file, all of which can be read:

    2  the adjudicator's pulls are on one axis
    3  they are on two axes, the second of which is filled up to whole registers
    4  the version of crowdwise, which axes are classes, the sketch of items, what gold taught about confidence, who
       copies whom

A file of a later version is refused in a sentence that names the version of crowdwise that wrote it.
"""

import os
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from ..addresses import CLOUD, scheme_of
from ..crowd.ids import codes_of
from ..errors import DataError
from ..numerics import Array
from ..sources.cloud import fetched_bytes, unwrapped
from .history import CONFIDENCE, LABEL_COUNTS, History, no_copies, no_items
from .history_versions import array_now, method_now
from .sealed import CROWDWISE, local_bytes, sealed, unsealed

_VERSION: Final = 4
_KIND: Final = "state"
_COUNTS: Final = pl.List(
    pl.Struct(
        {
            "name": pl.String,
            "per_worker": pl.Boolean,
            "class_axes": pl.List(pl.Int64),
            "shape": pl.List(pl.Int64),
            "values": pl.List(pl.Float64),
        }
    )
)
_PAIR: Final = {"follower": pl.Int64, "leader": pl.Int64, "agreed": pl.Float64, "shared": pl.Float64}
_COPIES: Final = pl.List(pl.Struct(_PAIR))
# Sums of fractions may be below zero by rounding.
_ROUNDING: Final = 1e-6
# The first bytes of a Parquet file, as which a state is in a cloud storage.
_IN_PARQUET: Final = b"PAR1"


def file_of(history: History) -> Callable[[Path], object]:
    """Return the function that writes the file of a history to a path."""
    return lambda path: path.write_bytes(packed(history))


def read(path: str | os.PathLike[str], storage: Mapping[str, Any] | None = None) -> History:
    """Read a history; see `History.read`."""
    content = fetched_bytes(str(path), storage or {}) if scheme_of(path) in CLOUD else local_bytes(path, _KIND)
    try:
        if content.startswith(_IN_PARQUET):  # a copy of a file in a cloud storage
            content = unwrapped(pl.read_parquet(BytesIO(content)), str(path))
        return _unpacked(unsealed(content, _KIND))
    except DataError as problem:
        raise DataError(f"The state {path} cannot be used: {problem}") from problem
    except Exception as problem:  # a damaged file can make any error
        raise DataError(
            f"{path} is no state that `crowdwise aggregate --save-state` wrote, or it is damaged."
        ) from problem


def packed(history: History) -> bytes:
    """Return the bytes of the file."""
    counts = [
        {
            "name": name,
            "per_worker": per_worker,
            "class_axes": list(history.class_axes.get(name, ())),
            "shape": list(values.shape),
            "values": values.ravel().tolist(),
        }
        for per_worker, part in ((True, history.per_worker), (False, history.shared))
        for name, values in part.items()
    ]
    copies = history.copies.with_columns(  # workers by their places
        pl.Series(role, codes_of(history.copies[role], history.workers)) for role in ("follower", "leader")
    )
    row = pl.DataFrame(
        {
            "crowdwise_state": [_VERSION],
            "crowdwise": [CROWDWISE],
            "method": [history.method],
            "classes": history.classes.implode(),
            "workers": history.workers.implode(),
            "counts": pl.Series([counts], dtype=_COUNTS),
            "items": pl.Series(history.items, dtype=pl.UInt64).implode(),
            "copies": pl.Series([copies.to_dicts()], dtype=_COPIES),
        }
    )
    return sealed(row, _KIND)


def _copies(row: pl.DataFrame, workers: pl.Series) -> pl.DataFrame:
    """Return who copies whom, with the names of the workers."""
    table = pl.DataFrame(row["copies"].to_list()[0], schema=_PAIR)
    for role in ("follower", "leader"):
        if not table[role].is_between(0, len(workers) - 1).all():
            raise DataError(f"a {role} is no worker of it.")
        table = table.with_columns(workers.gather(table[role]).alias(role))
    counts = table.select("agreed", "shared").to_numpy()
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts[:, 0] <= counts[:, 1] + _ROUNDING).all()):
        raise DataError("who copies whom has counts that cannot be.")
    if (table["follower"] == table["leader"]).any():
        raise DataError("a worker copies itself.")
    return table


def _unpacked(row: pl.DataFrame) -> History:
    """Return what `packed` packed, also in an earlier version."""
    if "crowdwise_state" not in row.columns:
        raise ValueError("no state")
    version = row["crowdwise_state"][0]
    if not isinstance(version, int) or not 2 <= version <= _VERSION:
        writer = f"crowdwise {row['crowdwise'][0]}" if "crowdwise" in row.columns else "another crowdwise"
        raise DataError(
            f"{writer} wrote it in version {version!r} of the file, and crowdwise {CROWDWISE} reads the versions 2 "
            f"to {_VERSION}. Use that crowdwise, or aggregate the labels again."
        )
    classes, workers = row["classes"][0].alias("label"), row["workers"][0].alias("worker")
    _check_names(classes, "class")
    _check_names(workers, "worker")
    parts: tuple[dict[str, Array], dict[str, Array]] = {}, {}
    axes: dict[str, tuple[int, ...]] = {}
    for one in row["counts"].to_list()[0]:
        name, values = str(one["name"]), np.array(one["values"], np.float64).reshape(one["shape"])
        if name in parts[0] or name in parts[1]:
            raise DataError(f"it has {name!r} twice.")
        if version < 4:
            values, axes[name] = array_now(name, values, len(classes))
        else:
            axes[name] = tuple(one["class_axes"])
        _check_counts(name, values, one["per_worker"], axes[name], len(classes), len(workers))
        parts[0 if one["per_worker"] else 1][name] = values
    if not parts[0]:
        raise DataError("it has no counts of workers.")
    method = str(row["method"][0])
    items = no_items() if version < 4 else np.array(row["items"][0], np.uint64)
    if (items[1:] <= items[:-1]).any():
        raise DataError("its sketch of items is not in ascending order.")
    copies = no_copies() if version < 4 else _copies(row, workers)
    return History(method_now(method) if version < 4 else method, classes, workers, *parts, axes, items, copies)


def _check_names(names: pl.Series, kind: str) -> None:
    """Raise `DataError` unless every name is there once."""
    if len(names) == 0:
        raise DataError(f"it has no {kind}.")
    if names.null_count():
        raise DataError(f"a {kind} has no name.")
    if names.n_unique() < len(names):
        raise DataError(f"it has the {kind} {names.filter(names.is_duplicated())[0]!r} twice.")


def _check_counts(
    name: str, values: Array, per_worker: bool, axes: tuple[int, ...], n_classes: int, n_workers: int
) -> None:
    """Raise `DataError` if an array cannot be what it says."""
    if per_worker and (values.ndim == 0 or len(values) != n_workers):
        raise DataError(f"{name!r} has the shape {values.shape}, and there are {n_workers:,} workers.")
    if any(not 0 <= axis < values.ndim or values.shape[axis] != n_classes for axis in axes):
        raise DataError(f"{name!r} has the shape {values.shape}, and there are {n_classes:,} classes.")
    if name == LABEL_COUNTS and values.shape[1:] != (2, 3):
        raise DataError(f"{name!r} has the shape {values.shape}, and not (workers, 2, 3).")
    if not np.isfinite(values).all():
        raise DataError(f"{name!r} has a number that is not finite.")
    if name != CONFIDENCE and values.size and values.min() < -_ROUNDING:
        raise DataError(f"{name!r} has {values.min():g}, and counts are not negative.")
