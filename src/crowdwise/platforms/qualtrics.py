"""Qualtrics, also with Prolific: the CSV file of a survey, in which rows are workers and some columns are items."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from ..sources.formats import rows_of
from ..sources.input import Input
from .fields import compiled, first_text, number_or_none, text_or_none
from .platform import Answer, Finding, Platform, Tally

_IMPORT_ID: Final = '{"ImportId":'
# Below the names of the columns: the text of the questions, and ids for Qualtrics itself.
_NO_ANSWERS: Final = 2
_FINISHED: Final = ("1", "true")
_PREVIEWS: Final = ("1", "survey preview")


def _recognises(file: Input) -> bool:
    if not file.header or _IMPORT_ID not in file.text.replace('""', '"').replace(" ", ""):
        return False
    try:
        third = next(islice(csv.reader(io.StringIO(file.text, newline="")), _NO_ANSWERS, None), [])
    except csv.Error:
        return False
    return bool(third) and third[0].replace(" ", "").startswith(_IMPORT_ID)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for file in files:
        items = _items(file, options)
        for row in islice(rows_of(file), _NO_ANSWERS, None):
            about: dict[str, Any] = {
                "worker": first_text(row, "PROLIFIC_PID", "ResponseId"),
                "status": _status(row),
                "seconds": number_or_none(row.get("Duration (in seconds)")),
                "time": text_or_none(row.get("RecordedDate")),
            }
            for column, item in items.items():
                value = row[column]
                if value is None or not value.strip():
                    yield Tally("questions that were not shown or not answered", is_answer=True)
                else:
                    yield Answer(item, question="", choices=(value,), **about)


def _items(file: Input, options: ReadOptions) -> dict[str, str]:
    """Return the item that each column is about. Raises `CallError` if the user does not say it, or no column is."""
    listed = ", ".join(map(repr, file.header))
    if options.items is None:
        raise CallError(
            f"{file.name} is a survey, whose columns are the items: say which, by a regular expression with one "
            f"group, as in --item-pattern 'Q(\\d+)' (items= in Python). Its columns are {listed}."
        )
    pattern = compiled("items", options.items, groups=1)
    found = {name: match[1] for name in file.header if (match := pattern.fullmatch(name)) and match[1]}
    if not found:
        raise CallError(f"No column of {file.name} is as --item-pattern {options.items!r} says; they are {listed}.")
    return found


def _status(row: Mapping[str, Any]) -> str:
    """Return why a response is no vote: it was only tried out, or not finished."""
    if str(row.get("Status") or "").lower() in _PREVIEWS:
        return "preview"
    return "" if str(row.get("Finished") or "1").lower() in _FINISHED else "unfinished"


QUALTRICS: Final = Platform("qualtrics", "a Qualtrics survey", _recognises, _read, uses=("items",))
