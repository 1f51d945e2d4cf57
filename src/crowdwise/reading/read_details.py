"""`read_details`: every vote as it was given, with other columns of the input, such as the time."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from ..crowd.cleaning import tidied
from ..crowd.ids import is_present
from ..crowd.read_options import ReadOptions
from ..errors import DataError
from ..sources.paths import is_stream
from ..sources.rows import open_rows, same_types
from .read_labels import rows_in
from .registry import open_inputs, platform_of


def read_details(source: Any, options: ReadOptions, more: Mapping[str, str | None]) -> pl.DataFrame:
    """Return the columns item, worker, label and those of `more`, a row for each vote that has a label.

    Nothing is done about repeats and conflicts; that is what `read_labels` is for.

    Args:
        source: As in `read_labels`, but no stream, which can be read only once.
        options: How it is read.
        more: The names of other columns by role: time, None to recognise it; or another role, with a name.

    Raises:
        DataError: The input cannot be read, or has no such column.
    """
    for one in source if isinstance(source, list | tuple) else [source]:
        if hasattr(one, "read") or (isinstance(one, str | os.PathLike) and is_stream(one)):
            raise DataError("A stream can be read only once, and this reads it twice: write it to a file first.")
    inputs = open_inputs(source, options)
    if platform_of(inputs, options.format) is None:
        roles = {"item": options.item, "worker": options.worker, "label": options.label, **more}
        rows = same_types([open_rows(one, roles, options) for one in inputs])
        for one in rows:
            for role in (name for name in more if name not in one.found):
                raise DataError(
                    f"{one.name} has no row for each label, so that no column can say the {role} of labels."
                )
    else:
        for role in (name for name in more if name != "time"):
            raise DataError(f"{inputs[0].name} is an export, which has no column of what was seen {role}.")
        rows = rows_in(inputs, replace(options, duplicates="latest", time=more["time"]), lambda table: table)
    table = pl.concat([replace(one, lazy=tidied(one.lazy, options)).collect() for one in rows])
    return table.filter(is_present(table["label"], options.missing))
