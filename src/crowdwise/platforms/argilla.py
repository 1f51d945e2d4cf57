"""Argilla: its records as JSON, flat or nested, as Parquet, or as the folder that `to_disk` writes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from ..crowd.read_options import ReadOptions
from ..sources.formats import rows_of
from ..sources.input import Input
from ..sources.unpacking import for_polars
from .fields import Location, entries, first_text, is_scalar, text_or_none
from .platform import CHOICE, Answer, Finding, Platform, Remark, Tally

_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_SUGGESTION, _AGENT = ".suggestion", ".suggestion.agent"
# The types of questions in the settings whose answers are no classes.
_WORDS: Final = {"text": "free text", "span": "spans", "ranking": "a ranking"}
_NO_STATUS: Final = (
    "This file does not say which answers are drafts or were discarded, so all are taken; "
    "`dataset.records.to_list(flatten=True)` keeps that."
)


def _recognises(file: Input) -> bool:
    if {"fields", "responses", "suggestions"} <= set(file.first):
        return True
    return any(name.endswith(_USERS) for name in file.columns) and bool(_names(file.columns))


def _names(columns: Sequence[str]) -> list[str]:
    there = set(columns)
    return [name.removesuffix(_USERS) for name in columns if name.endswith(_USERS) and name[:-6] in there]


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for file in files:
        types = _types(file)
        names = _class_names(file) if file.is_parquet else {}
        for at, record in entries([file], "record", _records):
            item = at.field(record, options.item or "id")
            responses = 0
            for found in (_nested if "responses" in record else _flat)(at, record):
                if not isinstance(found, _Response):
                    yield found
                    continue
                responses += not found.model
                value = found.value
                if found.model and isinstance(value, int) and found.question in names:
                    value = _name(at, names[found.question], value)
                yield _answer(at, item, found, value, types)
            if not responses:
                yield Tally("records have no response")


class _Response(NamedTuple):
    """One response or suggestion, before its value is looked at."""

    question: str
    worker: str | None
    value: Any
    status: str = ""
    model: bool = False


def _records(file: Input) -> Iterator[dict[str, Any]]:
    """Yield the records; those of `to_dict`, an object of lists, too."""
    if isinstance(file.root, dict) and isinstance(file.root.get("id"), list):
        columns = Location(file, "the file").object(file.whole())
        lists = {name: Location(file, name).array(values) or None for name, values in columns.items()}
        count = max((len(values) for values in lists.values() if values), default=0)
        for name, values in lists.items():
            if values is not None and len(values) != count:
                raise file.unlike(f"{name!r} has {len(values):,} values, and another field {count:,}")
        for number in range(count):
            yield {name: None if values is None else values[number] for name, values in lists.items()}
        return
    yield from rows_of(file, lambda name: name == "id" or _RESPONSES in name or _SUGGESTION in name or "." not in name)


def _flat(at: Location, record: Mapping[str, Any]) -> Iterator[_Response | Finding]:
    """Yield what is in a record whose responses are lists, one beside the other."""
    for question in [name.removesuffix(_RESPONSES) for name in record if name.endswith(_RESPONSES)]:
        columns = [question + suffix for suffix in (_RESPONSES, _USERS, _STATUS)]
        values, users, statuses = (at.array(record.get(name), name) for name in columns)
        if len(users) != len(values) or len(statuses) not in (0, len(values)):
            raise at.inside(repr(question)).unlike(
                f"has {len(values):,} responses, {len(users):,} users and {len(statuses):,} statuses"
            )
        for value, user, status in zip(values, users, statuses or repeat(None, len(values)), strict=True):
            yield _Response(question, text_or_none(user), value, _status(status))
    for name in record:
        if name.endswith(_SUGGESTION) and record[name] is not None:
            question = name.removesuffix(_SUGGESTION)
            agent = text_or_none(record.get(question + _AGENT)) or "suggestion"
            yield _Response(question, agent, record[name], model=True)


def _nested(at: Location, record: Mapping[str, Any]) -> Iterator[_Response | Finding]:
    """Yield what is in a record whose responses are objects."""
    for question, responses in at.object(record["responses"] or {}, "responses").items():
        for response in at.objects(responses, f"responses to {question!r}", f"a response to {question!r}"):
            if "status" not in response:
                yield Remark(_NO_STATUS)
            worker = first_text(response, "user_id")
            yield _Response(question, worker, response.get("value"), _status(response.get("status")))
    for question, one in at.object(record.get("suggestions") or {}, "suggestions").items():
        if one is not None:
            suggestion = at.object(one, f"a suggestion to {question!r}")
            agent = first_text(suggestion, "agent") or "suggestion"
            yield _Response(question, agent, suggestion.get("value"), model=True)


def _status(status: Any) -> str:
    """Return why a response is no vote; empty if it was submitted."""
    found = text_or_none(status) or ""
    return "" if found == "submitted" else found


def _answer(at: Location, item: Any, found: _Response, value: Any, types: Mapping[str, str]) -> Answer:
    type_ = _WORDS.get(types.get(found.question, ""), CHOICE)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if type_ == CHOICE and any(isinstance(one, dict) for one in values):
        type_ = "a ranking" if any(isinstance(one, dict) and "rank" in one for one in values) else "spans"
    choices = at.classes(values, f"the value of {found.question!r}") if type_ == CHOICE else ()
    several = isinstance(value, list) or types.get(found.question) == "multi_label_selection"
    return Answer(item, found.worker, found.question, choices, found.status, found.model, several=several, type=type_)


def _types(file: Input) -> dict[str, str]:
    """Return the type of each question, from the settings that `to_disk` writes beside the records; empty without."""
    if not isinstance(file.content, str):
        return {}
    path = Path(file.content).parent / ".argilla" / "settings.json"
    try:
        questions = json.loads(path.read_text(encoding="utf-8"))["questions"]
        return {str(one["name"]): str(one["settings"]["type"]) for one in questions}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}


def _class_names(file: Input) -> dict[str, list[Any]]:
    """Return the names of the classes that numbers stand for in each question's suggestions, as Parquet knows them."""
    try:
        notes = pl.read_parquet_metadata(for_polars(file.content)).get("huggingface", "{}")
        features = json.loads(notes)["info"]["features"]
        found = {name.removesuffix(_SUGGESTION): _names_in(feature) for name, feature in features.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
        return {}
    return {question: names for question, names in found.items() if names}


def _names_in(feature: Any) -> list[Any]:
    """Return the names of classes in the description of a column; those of the entries, if it is one of lists."""
    if isinstance(feature, dict):
        return list(feature.get("names") or ()) or _names_in(feature.get("feature"))
    return _names_in(feature[0]) if isinstance(feature, list) and feature else []


def _name(at: Location, names: Sequence[Any], number: int) -> Any:
    if not 0 <= number < len(names) or not is_scalar(names[number]):
        raise at.inside("a suggestion").unlike(f"is class {number}, which has no name")
    return names[number]


def _contents(files: Sequence[Input], options: ReadOptions) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for file in files:
        for at, record in entries([file], "record", _records):
            shown = record.get("fields", {name: value for name, value in record.items() if "." not in name})
            yield at.field(record, options.item or "id"), at.object(shown or {}, "'fields'")


ARGILLA: Final = Platform("argilla", "an Argilla export", _recognises, _read, uses=("item",), contents=_contents)
