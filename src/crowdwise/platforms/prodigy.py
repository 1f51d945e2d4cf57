"""Prodigy: what `prodigy db-out` writes, a line for each answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input, file_name
from .fields import Location, entries, first_text, text_or_none, value_at
from .platform import CHOICE, Answer, Finding, Platform, Remark

# What the answers to lines with options are called.
_QUESTION: Final = "choice"
# The name of a session that has none: when it began.
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")
_RESTARTS: Final = (
    "Sessions without a name are called after the time when they began, so somebody who began anew is two workers; "
    "name sessions by ?session=NAME in Prodigy's address."
)


def _recognises(file: Input) -> bool:
    return {"_task_hash", "answer"} <= set(file.first)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for at, line in entries(files, "line"):
        worker = first_text(line, "_annotator_id", "_session_id") or file_name(at.file.path) or None
        if worker is not None and _MOMENT.search(worker):
            yield Remark(_RESTARTS)
        gold = "sessions" in line or "versions" in line  # what somebody settled by the recipe `review`
        answer = text_or_none(line.get("answer"))
        if answer not in ("accept", "reject", "ignore"):
            raise at.unlike(f"has the answer {answer!r}, which is neither accept, reject nor ignore")
        question, choices, type_ = _chosen(at, line, answer)
        status = "" if answer == "accept" or (answer == "reject" and question != _QUESTION) else answer
        yield Answer(
            at.field(line, options.item or "_input_hash"),
            "review" if gold else worker,
            question,
            choices,
            status,
            gold=gold and not status,
            several=question == _QUESTION and value_at(line, "config.choice_style") == "multiple",
            type=type_,
            time=text_or_none(line.get("_timestamp")),
        )


def _chosen(at: Location, line: Mapping[str, Any], answer: str) -> tuple[str, tuple[Any, ...], str]:
    """Return the question that a line answers, the classes that were chosen, and the type of the answer."""
    if "accept" in line or "options" in line:
        return _QUESTION, at.classes(at.array(line.get("accept"), "'accept'"), "'accept'"), CHOICE
    label = text_or_none(line.get("label"))
    if label is not None:
        return label, (answer,), CHOICE
    if "spans" in line:
        return "spans", (), "spans"
    view = text_or_none(line.get("_view_id")) or "answer"
    return view, (), "free text" if view == "text_input" else "something that is no choice"


def _contents(files: Sequence[Input], options: ReadOptions) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for at, line in entries(files, "line"):
        shown: dict[str, Any] = {
            name: line[name] for name in ("text", "html", "image", "audio", "video") if name in line
        }
        yield at.field(line, options.item or "_input_hash"), shown


PRODIGY: Final = Platform("prodigy", "a Prodigy dataset", _recognises, _read, uses=("item",), contents=_contents)
