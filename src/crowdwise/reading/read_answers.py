"""`questions` and `read_answers`: what an export of a platform asks, and every answer as a table."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, Unpack

import polars as pl

from ..addresses import scheme_of
from ..crowd.read_options import FOR_EXPORTS, ReadKeywords, ReadOptions, option_of
from ..errors import CallError, DataError
from ..platforms.gathering import Gathered
from ..platforms.questions import long_table, questions_frame
from ..sources.input import Input
from ..sources.paths import Source, is_stream
from .read_labels import read_options
from .registry import open_inputs, platform_of, read_export

# What is used where all answers of an export are read.
_USED: Final = ("format", "encoding", "storage", "item", "worker", "worker_from", "multi", *FOR_EXPORTS)


def questions(source: Source | Sequence[Source], **options: Unpack[ReadKeywords]) -> pl.DataFrame:
    """Return the questions that an export of an annotation platform holds.

    Args:
        source: The files, as in `read_labels`.
        options: What `read_labels` takes for exports: format, encoding, storage, item, worker, worker_from, ...

    Returns:
        A row for each question: its name, the type of its answers, and how many items, workers, models, answers and
        classes there are; whether several classes may be chosen; how many items have a known truth; and how many
        answers are no votes.

    Raises:
        DataError: The files are no export that is known.
    """
    return questions_frame(gathered_in(source, read_options(**options)))


def read_answers(source: Source | Sequence[Source], **options: Unpack[ReadKeywords]) -> pl.DataFrame:
    """Return every answer to every question in an export of an annotation platform, as one table.

    Args:
        source: The files, as in `read_labels`.
        options: What `read_labels` takes for exports: format, encoding, storage, item, worker, worker_from, ...

    Returns:
        The columns question, item, worker, label, kind (human or model), status (empty for votes), gold, seconds and
        time.

    Raises:
        DataError: The files are no export that is known.
    """
    return long_table(gathered_in(source, read_options(**options)))


def files_of_export(source: Any, options: ReadOptions) -> list[Input]:
    """Return the files of an export, those in zips among them; none if they are a table."""
    found = platform_of(open_inputs(source, options), options.format)
    return [] if found is None else found[1]


def is_export(source: Source, options: ReadOptions) -> bool:
    """Return whether a file is an export of a platform, and no table."""
    return (bool(scheme_of(source)) or not is_stream(source)) and bool(files_of_export(source, options))


def gathered_in(source: Source | Sequence[Source], options: ReadOptions) -> Gathered:
    """Return what is in an export. Raises `DataError` if it is a table."""
    for name in options.given(field.name for field in fields(options) if field.name not in _USED):
        raise CallError(f"{name}= ({option_of(name)}) does nothing here, where all answers are read.")
    inputs = open_inputs(source, options)
    found = platform_of(inputs, options.format)
    if found is None:
        raise DataError(f"{inputs[0].name} is no export of a platform that is known: it is a table, or something else.")
    for name in options.given(("question", "models", "multi", "status")):
        if name not in found[0].uses:
            raise CallError(
                f"{name}= ({option_of(name)}) does nothing here, where all answers to all questions are read."
            )
    return read_export(*found, options)
