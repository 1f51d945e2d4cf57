"""Exports of annotation platforms as they are: which questions they hold, and every answer as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..addresses import scheme_of
from ..crowd.opening import PLAIN, Opening
from ..errors import CallError, DataError
from ..platforms.gathering import Gathered
from ..platforms.importer import NO_OPTIONS, import_options
from ..platforms.questions import long_table, questions_frame
from ..sources.input import Export
from ..sources.inputs import input_name, inputs_of, recognised
from ..sources.paths import Source, is_stream
from .registry import AUTO, check_format, read_export


def questions(
    source: Source | Sequence[Source],
    *,
    format: str = "auto",
    encoding: str | None = None,
    storage: Mapping[str, Any] | None = None,
    **imports: Any,
) -> pl.DataFrame:
    """Return the questions that an export of an annotation platform holds.

    Args:
        source: The files, as in `read_labels`.
        format: As in `read_labels`.
        encoding: As in `read_labels`.
        storage: As in `read_labels`.
        imports: As in `read_labels`.

    Returns:
        A row for each question: its name, the type of its answers, and how many items, workers, models, answers and
        classes there are; whether several classes may be chosen; how many items have a known truth; and how many
        answers are no votes.

    Raises:
        DataError: The files are no export that is known.
    """
    return questions_frame(gathered_in(source, format, imports, Opening(encoding=encoding, storage=storage or {})))


def read_answers(
    source: Source | Sequence[Source],
    *,
    format: str = "auto",
    encoding: str | None = None,
    storage: Mapping[str, Any] | None = None,
    **imports: Any,
) -> pl.DataFrame:
    """Return every answer to every question in an export of an annotation platform, as one table.

    Args:
        source: The files, as in `read_labels`.
        format: As in `read_labels`.
        encoding: As in `read_labels`.
        storage: As in `read_labels`.
        imports: As in `read_labels`.

    Returns:
        The columns question, item, worker, label, kind (human or model), status (empty for votes), gold, seconds and
        time.

    Raises:
        DataError: The files are no export that is known.
    """
    return long_table(gathered_in(source, format, imports, Opening(encoding=encoding, storage=storage or {})))


def exports_in(source: Source | Sequence[Source], format: str, how: Opening = PLAIN) -> list[Export]:
    """Return the files of an export of this format, those in zips among them; none if they are a table."""
    found = recognised(inputs_of(source, how), format)
    return [] if found is None else found[1]


def is_export(source: Source, how: Opening = PLAIN) -> bool:
    """Return whether a file is an export of a platform, and no table."""
    return (bool(scheme_of(source)) or not is_stream(source)) and bool(exports_in(source, AUTO, how))


def gathered_in(
    source: Source | Sequence[Source], format: str, imports: Mapping[str, Any], how: Opening = PLAIN
) -> Gathered:
    """Return what is in an export. Raises `DataError` if it is a table."""
    check_format(format)
    options = import_options(**imports)
    inputs = inputs_of(source, how)
    found = recognised(inputs, format)
    if found is None:
        raise DataError(
            f"{input_name(inputs[0])} is no export of a platform that is known: it is a table, or something else."
        )
    for name in ("question", "models", "multi", "status"):
        if getattr(options, name) != getattr(NO_OPTIONS, name) and name not in found[0].uses:
            raise CallError(f"{name}= (--{name}) does nothing here, where all answers to all questions are read.")
    return read_export(*found, options)
