"""`Rows`: one label a row, of any input, read whole or in batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import polars as pl

from ..crowd.ids import common_type, kind
from ..crowd.read_options import Duplicates, ReadOptions
from ..crowd.soft_votes import SOFT_ROLES
from ..errors import CallError, DataError
from .cloud import CLOUD_TABLE
from .columns import NO_NAMES, seconds_column
from .formats import format_of
from .input import IN_MEMORY, Input, reading, worker_name
from .paths import readable, stamp
from .shapes import long_form
from .table import Table
from .unpacking import Content, UnsoundError

# The column for each role, None to recognise it; or what returns that for the names of all columns.
Roles: TypeAlias = Mapping[str, str | None] | Callable[[Sequence[str]], Mapping[str, str | None]]


@dataclass(frozen=True)
class Rows:
    """The rows of an input, ready to be read.

    Attributes:
        lazy: The rows, with columns named by role (item, worker, label, time or truth).
        found: The name of each of these columns in the input.
        name: The name of the input in messages.
        read_as: The name of its format in messages.
        is_text: Whether the format has no types, so that numbers are read as text.
        content: The path of the file, or its bytes; None if it is no file, as a table in memory or a database.
        table: The input as a table.
        stamp: What the file was like before it was read; see `paths.stamp`.
        remarks: Sentences for the user about how the input was understood.
        answers: For exports: how many answers there are, those that are no votes among them; else None.
        left_out: For exports: what is not used, in words, and how many of each.
        policy: What to do with several labels of one worker on one item, if the kind of input decides it; None
            if the options do.
        seconds: The columns worker and seconds, a row for each label, if an export says how long workers took.
    """

    lazy: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    read_as: str
    is_text: bool
    content: Content | None
    table: Table
    stamp: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()
    answers: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    policy: Duplicates | None = None
    seconds: pl.LazyFrame | None = None

    def collect(self) -> pl.DataFrame:
        """Read all rows. Raises `DataError` if they cannot be read or there are none."""
        with reading(self.name, self.read_as):
            table = self.lazy.collect()
        (checked,) = self._checked(iter([table]))
        return checked

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """Read batches of about `rows` rows, in the order of the input. Raises as `collect` does."""
        with reading(self.name, self.read_as):
            yield from self._checked(self.lazy.collect_batches(chunk_size=rows, maintain_order=True))

    def _checked(self, tables: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield the tables that have rows. Raises `DataError` if none has, or if the file changed."""
        empty = True
        for table in tables:
            if table.height:
                empty = False
                yield table
        with readable(self.name):
            same = self.content is None or stamp(self.content) == self.stamp
        if not same:
            raise DataError(f"{self.name} was changed while it was read; read it again when nobody writes to it.")
        if empty:
            raise DataError(f"{self.name} has no rows.")

    def size(self) -> tuple[int, int]:
        """Return about how many rows there are, and how many bytes they have, unpacked."""
        with reading(self.name, self.read_as):
            return self.table.rows(), self.table.size

    def seconds_of_workers(self) -> pl.LazyFrame | None:
        """Return the columns worker and seconds, if the input says how long workers took; else None.

        Raises:
            UnsoundError: There is such a column, but it cannot be read.
        """
        if self.seconds is not None:
            return self.seconds
        column, worker = seconds_column(self.table.names), self.found.get("worker")
        if column is None or worker not in self.table.names or column in self.found.values():
            return None
        return self.table.pick({"worker": worker, "seconds": column}).cast(pl.String)


def open_rows(entry: Input, roles: Roles, options: ReadOptions, named_by: Mapping[str, str] = NO_NAMES) -> Rows:
    """Open a table of any shape, and find its columns for these roles.

    `roles` has the name of the column for each role, None to recognise it; or returns that for the names of all
    columns. `columns.recognise` describes `named_by`.

    Raises:
        DataError: The input cannot be read, or lacks a column.
    """
    if options.worker_from is not None and not callable(roles) and "worker" in roles:
        return _with_worker_of_name(entry, roles, options)
    with readable(entry.name):
        before = stamp(entry.content) if entry.is_file else ()
        known = CLOUD_TABLE if CLOUD_TABLE.recognises(entry) else format_of(entry)
    read_as = known.read_as or known.name
    with reading(entry.name, read_as):
        table = known.open(entry, options)
        asked = roles(table.names) if callable(roles) else roles
        lazy, found, remarks = long_form(table, asked, options, entry.name, named_by)
        if known.check is not None:
            columns = set(found.values())
            damage = known.check(entry.content, columns if columns <= set(table.names) else table.names)
            if damage:
                raise UnsoundError(damage)
    content = entry.content if entry.is_file else None
    remarks = (*table.remarks, *remarks)
    return Rows(lazy, found, entry.name, read_as, known.is_text, content, table, before, remarks)


def _with_worker_of_name(entry: Input, roles: Mapping[str, str | None], options: ReadOptions) -> Rows:
    """Return a table whose worker is in the name of the file, or of its folder."""
    place = options.worker_from
    if options.worker is not None:
        raise CallError(
            "worker= (--worker-column) and worker_from= (--worker-from) both name the worker; give one of them."
        )
    if not entry.is_file or place is None:
        raise CallError("worker_from= (--worker-from) is for files, whose names say who the worker is.")
    worker = worker_name(entry.path, place, entry.name)
    others = {role: column for role, column in roles.items() if role != "worker"}
    rows = open_rows(entry, others, options)
    lazy = rows.lazy.with_columns(pl.lit(worker).alias("worker")).select(*roles)
    return replace(rows, lazy=lazy, found={**rows.found, "worker": f"name of the {place}"})


def with_all_roles(rows: Sequence[Rows]) -> list[Rows]:
    """Give all inputs the columns of probabilities and weights that one of them has; they are empty in the others."""
    wanted = [role for role in SOFT_ROLES if any(role in one.found for one in rows)]
    found = []
    for one in rows:
        absent = [role for role in wanted if role not in one.found]
        lazy = one.lazy.with_columns(pl.lit(None, pl.Null).alias(role) for role in absent) if absent else one.lazy
        named = {role: one.found[role] for role in one.found if role not in SOFT_ROLES}
        named |= {role: one.found.get(role, "no column") for role in wanted}
        found.append(replace(one, lazy=lazy.select(*named), found=named) if wanted else one)
    return found


def same_types(rows: Sequence[Rows]) -> list[Rows]:
    """Convert the columns of several inputs to common types, so that they can be read as one table.

    Raises:
        DataError: A column has types in two inputs that cannot be mixed, such as text and numbers.
    """
    if len(rows) == 1:
        return list(rows)
    any_text = any(one.is_text for one in rows)
    schemas = [one.lazy.collect_schema() for one in rows]
    common: dict[str, pl.DataType] = {}
    for role in schemas[0]:
        kinds = [(kind(schema[role], any_text), one) for schema, one in zip(schemas, rows, strict=True)]
        known = [(words, one) for words, one in kinds if words != "Null"]  # a file without any value suits every type
        for words, one in known:
            if words != known[0][0]:
                raise DataError(
                    f"The {role} is of mixed types: {known[0][0]} in {known[0][1].name}, {words} in {one.name}. "
                    "Give it one type in all files."
                )
        common[role] = common_type([schema[role] for schema in schemas], any_text)
    return [replace(one, lazy=one.lazy.cast(pl.Schema(common))) for one in rows]


def rows_of_frame(
    frame: pl.LazyFrame, found: Mapping[str, str], name: str, size: tuple[int, int], **more: object
) -> Rows:
    """Return rows whose columns are named by role already, such as the votes of an export; see `Rows.size`."""
    table = Table(list(found), lambda roles: frame.select(*roles), lambda: size[0], size[1])
    return Rows(frame, found, name, IN_MEMORY, False, None, table, **more)  # type: ignore[arg-type]
