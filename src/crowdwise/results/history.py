"""`History`: what a method counted in earlier labels, by worker; it is stored in a file and starts the next fit.

Counts of disjoint sets of items add up. So what an earlier batch of labels taught about the workers is a table of
counts: the next fit adds them to its own.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np
import polars as pl

from ..crowd.ids import codes_of, comparable
from ..crowd.item_sketch import share_in_common, union
from ..errors import CallError, DataError
from ..numerics import Array
from ..output.writing import write

# What files call the array of how right every worker was; see `Quality.label_counts`.
LABEL_COUNTS: Final = "evidence"
# The name of the array that has what gold taught about confidence; see `Recalibration.taught`.
CONFIDENCE: Final = "confidence"


def no_items() -> Array:
    """Return the sketch of no items."""
    return np.zeros(0, np.uint64)


def no_copies() -> pl.DataFrame:
    """Return the table of nobody who copies anybody."""
    names = dict.fromkeys(("follower", "leader"), pl.String)
    return pl.DataFrame(schema={**names, "agreed": pl.Float64, "shared": pl.Float64})


@dataclass(frozen=True, eq=False)
class History:
    """What a method counted in labels, to continue from with other labels.

    Attributes:
        method: The method with the parameters that are not the default, as `described` says.
        classes: The names of the classes.
        workers: The names of the workers, in their own data type.
        per_worker: Arrays whose first axis is the workers, by name.
        shared: Arrays about all workers together, by name.
        class_axes: For every array that has any, which of its axes are the classes.
        items: A sketch of the ids of the items; see crowd/item_sketch.py. Empty if it is not known.
        copies: Who copied whom: the columns follower, leader, agreed (how often they said the same) and shared (about
            how many items).
    """

    method: str
    classes: pl.Series
    workers: pl.Series
    per_worker: Mapping[str, Array]
    shared: Mapping[str, Array]
    class_axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    items: Array = field(default_factory=no_items)
    copies: pl.DataFrame = field(default_factory=no_copies)

    def __repr__(self) -> str:
        return f"History({len(self.workers):,} workers in {len(self.classes):,} classes by {self.method})"

    def decayed(self, decay: float) -> "History":
        """Return a copy in which all counts are multiplied by `decay`, above 0 and at most 1."""
        scaled = [{name: decay * values for name, values in part.items()} for part in (self.per_worker, self.shared)]
        copies = self.copies.with_columns(pl.col("agreed", "shared") * decay)
        return replace(self, per_worker=scaled[0], shared=scaled[1], copies=copies)

    def of_workers(self, workers: pl.Series) -> dict[str, Array]:
        """Return all arrays, those per worker for these workers; one who is not known has counted nothing."""
        places = self._places(workers)
        arrays = dict(self.shared)
        for name, values in self.per_worker.items():
            arrays[name] = np.zeros((len(workers), *values.shape[1:]))
            arrays[name][places >= 0] = values[places[places >= 0]]
        return arrays

    def followers_among(self, workers: pl.Series) -> Array:
        """Return who copied whom among these workers, as `PriorKnowledge.followers`; the most common items first."""
        codes = [codes_of(self.copies[role], workers) for role in ("follower", "leader")]
        found = np.column_stack([*codes, self.copies.select("agreed", "shared").to_numpy()])
        found = found[(found[:, 0] >= 0) & (found[:, 1] >= 0)]
        return np.asarray(found[np.lexsort((found[:, 1], found[:, 0], -found[:, 3]))])

    def without(self, workers: pl.Series) -> "History":
        """Return what is known about all workers but these, about the items, and who copies whom."""
        others = np.setdiff1d(np.arange(len(self.workers)), self._places(workers))
        kept = {name: values[others] for name, values in self.per_worker.items()}
        return replace(self, workers=self.workers.gather(others), per_worker=kept, shared={})

    def with_classes(self, classes: pl.Series) -> "History":
        """Return the same counts with these classes, which are all of its own and perhaps more, in any order."""
        if self.classes.to_list() == classes.to_list():
            return self
        per_worker, shared = (self.widened(part, classes) for part in (self.per_worker, self.shared))
        return replace(self, classes=classes.alias("label"), per_worker=per_worker, shared=shared)

    def widened(self, arrays: Mapping[str, Array], classes: pl.Series) -> dict[str, Array]:
        """Return arrays of these names with other classes; those that are new have zeros. See `with_classes`."""
        places = codes_of(self.classes, classes)
        widened = dict(arrays)
        for name, values in arrays.items():
            for axis in self.class_axes.get(name, ()):
                shape = list(values.shape)
                shape[axis] = len(classes)
                widened[name] = np.zeros(shape)
                widened[name][(slice(None),) * axis + (places,)] = values
                values = widened[name]
        return widened

    def all_classes(self, named: pl.Series) -> pl.Series:
        """Return the classes of these counts if no others are named; else all, in the order of their values."""
        new = named.filter(codes_of(named, self.classes) < 0)
        return joined(self.classes, new).sort().alias("label") if len(new) else self.classes

    def plus(self, other: "History") -> "History":
        """Return the sum of both, which must be by the same method."""
        self.require_method(other.method)
        classes = self.all_classes(other.classes)
        one, two = self.with_classes(classes), other.with_classes(classes)
        new = two.without(one.workers).workers
        workers = joined(one.workers, new) if len(new) else one.workers
        both = one.of_workers(workers), two.of_workers(workers)
        total = {}
        for name in {**both[0], **both[1]}:
            parts = [arrays[name] for arrays in both if name in arrays]
            require_shape(name, parts[0], parts[-1].shape)
            total[name] = sum(parts[1:], parts[0])
        return replace(
            one,
            workers=workers,
            per_worker={name: total[name] for name in {**one.per_worker, **two.per_worker}},
            shared={name: total[name] for name in {**one.shared, **two.shared}},
            class_axes={**one.class_axes, **two.class_axes},
            items=union([one.items, two.items]),
            copies=_sum_of_copies(one.copies, two.copies, workers),
        )

    def require_method(self, method: str) -> None:
        """Raise `DataError` if these counts are another method's, or with other parameters; see `described`."""
        if method != self.method:
            raise DataError(f"The state is of {self.method}, and cannot be used with {method}.")

    def write(self, path: str | os.PathLike[str], storage: Mapping[str, Any] | None = None) -> None:
        """Write the counts to a file, which is replaced when it is complete, or to an address in a cloud storage.

        `storage` has the options of the cloud storage, as in `read_labels`.
        """
        from .history_file import file_of  # which imports this module

        write({os.fspath(path): file_of(self)}, storage)

    @classmethod
    def read(cls, path: str | os.PathLike[str], storage: Mapping[str, Any] | None = None) -> "History":
        """Read counts from a file, or from an address in a cloud storage; `storage` is as in `read_labels`.

        Raises:
            DataError: The file is no state, is damaged, or of a version that cannot be read.
        """
        from .history_file import read  # which imports this module

        return read(path, storage)

    def _places(self, workers: pl.Series) -> Array:
        return codes_of(workers, self.workers)


@dataclass(frozen=True, eq=False)
class Counted:
    """What a method counted in a fit; it becomes a `History` when somebody asks for it.

    Attributes:
        classes, workers, per_worker, shared, class_axes: See `History`; workers are in the order of their numbers.
        before: What was known at the start: of these workers, how right they were (see `Quality.label_counts`); None if
            nothing was known.
        other_workers: What was known of workers who gave none of these labels, and of earlier items; None if nothing.
    """

    classes: pl.Series
    workers: pl.Series
    per_worker: Mapping[str, Array]
    shared: Mapping[str, Array]
    class_axes: Mapping[str, tuple[int, ...]]
    before: Array | None
    other_workers: History | None

    def history(self, result: Any, items: Array) -> History:
        """Return all that was counted, also before these labels, given the result and a sketch of the ids of items."""
        arrays, shared = dict(self.per_worker), dict(self.shared)
        workers, followers = result.names.workers, result.workers.followers
        if result.quality.label_counts is not None:
            arrays[LABEL_COUNTS] = np.moveaxis(result.quality.label_counts, -1, 0)[codes_of(self.workers, workers)]
        if result.recalibration is not None:  # what gold taught about confidence, also earlier gold
            shared[CONFIDENCE] = result.recalibration.taught
        copies = pl.DataFrame(
            {
                "follower": workers.gather(followers[:, 0].astype(np.int64)),
                "leader": workers.gather(followers[:, 1].astype(np.int64)),
                "agreed": followers[:, 2],
                "shared": followers[:, 3],
            }
        )
        method = described(result.method)
        found = History(method, self.classes, self.workers, arrays, shared, self.class_axes, items, copies)
        return found if self.other_workers is None else found.plus(replace(self.other_workers, method=method))


def _sum_of_copies(one: pl.DataFrame, other: pl.DataFrame, workers: pl.Series) -> pl.DataFrame:
    """Return both tables of who copies whom in one; workers are named as in `workers`."""
    names = [
        table.with_columns(
            workers.gather(codes_of(table[role], workers)).alias(role) for role in ("follower", "leader")
        )
        for table in (one, other)
        if table.height
    ]
    if not names:
        return one
    return pl.concat(names).group_by("follower", "leader").agg(pl.col("agreed", "shared").sum()).sort(pl.all())


def described(method: Any) -> str:
    """Return the name of a method with those of its parameters that are not the default.

    States are compared by it, so that they stay usable when a new version of crowdwise has another default.

    >>> import crowdwise as cw
    >>> described(cw.DawidSkene()), described(cw.DawidSkene(max_iterations=7))
    ('DawidSkene()', 'DawidSkene(max_iterations=7)')
    """
    changed = [one.name for one in fields(method) if one.init and getattr(method, one.name) != one.default]
    return f"{type(method).__name__}({', '.join(f'{name}={getattr(method, name)!r}' for name in changed)})"


def merge(histories: Sequence[History]) -> History:
    """Return the sum of several histories, which must be by the same method."""
    if not histories:
        raise CallError("There is no state to merge.")
    total = histories[0]
    for one in histories[1:]:
        total = total.plus(one)
    return total


def shared_items(histories: Sequence[History]) -> str:
    """Return a sentence if several histories have the same items, which would count twice in their sum; else ""."""
    seen = histories[0].items
    for number, one in enumerate(histories[1:], 2):
        share = share_in_common(one.items, seen)
        if share:
            return (
                f"{share_in_words(share)} of the items of state {number} are in a state before it too: what workers "
                "said about them counts twice in the sum."
            )
        seen = union([seen, one.items])
    return ""


def share_in_words(share: float) -> str:
    """Return a share as a percentage, never as 0 % if it is more."""
    if share == 1:
        return "All"
    return "Less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def joined(one: pl.Series, other: pl.Series) -> pl.Series:
    """Return both lists of names in one; as text if they are of different types, such as 7 and "w7"."""
    with suppress(pl.exceptions.PolarsError):
        cast = other.cast(one.dtype)
        if (codes_of(other, cast) >= 0).all():  # not 7.5, which would become 7
            return pl.concat([one, cast])
    return pl.concat(comparable(one, other))


def require_shape(name: str, values: Array, shape: tuple[int, ...]) -> None:
    """Raise `DataError` if what was counted in earlier labels cannot be added to an array of this shape."""
    if values.shape != shape:
        raise DataError(
            f"What the state has of {name!r} has the shape {values.shape}, where {shape} is needed: it cannot be added."
        )
