"""Label Studio's small exports, JSON-MIN, CSV and TSV: a row for each annotation, in which questions are not marked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from ..sources.formats import rows_of
from ..sources.input import Input
from .fields import Location, entries, is_scalar, number_or_none, text_or_none
from .label_studio import as_paths, worker_of
from .platform import CHOICE, Answer, Finding, Platform, Tally

_SIGNS: Final = {"annotation_id", "annotator", "lead_time"}
# Columns that are no questions, besides the data of tasks.
_FIXED: Final = {"id", *_SIGNS, "created_at", "updated_at", "agreement", "history"}
_ITEM: Final = "id"
_EMPTY: Final = hash("")


def _recognises(file: Input) -> bool:
    return set(file.columns) >= _SIGNS


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    questions = _questions(files, options)
    for at, row in entries(files, "row", rows_of):
        worker = worker_of(row.get("annotator"))
        item = at.field(row, options.item or _ITEM)
        if worker is None and text_or_none(row.get("annotation_id")) is None:
            yield Tally("tasks have no annotation")
            continue
        seconds = number_or_none(row.get("lead_time"))
        time = text_or_none(row.get("updated_at") or row.get("created_at"))
        for question in questions:
            type_, choices = _answer(at, row.get(question), repr(question))
            yield Answer(item, worker, question, choices, type=type_, seconds=seconds, time=time)


def _questions(files: Sequence[Input], options: ReadOptions) -> list[str]:
    """Return the columns that hold answers: the one that the user names, or those that differ within some task.

    The files are read twice, because all rows say which columns these are.

    Raises:
        CallError: There is no such column.
    """
    first: dict[Any, dict[str, int]] = {}
    found: dict[str, None] = {}
    others: dict[str, None] = {}
    for _, row in entries(files, "row", rows_of):
        values = {name: hash(str(value or "")) for name, value in row.items() if _may_be_question(name)}
        others.update(dict.fromkeys(values))
        item = row.get(_ITEM)
        known = first.setdefault(item, values) if is_scalar(item) else values
        names = {**known, **values}  # what an annotator left out is not there
        found.update(dict.fromkeys(name for name in names if known.get(name, _EMPTY) != values.get(name, _EMPTY)))
    listed = ", ".join(map(repr, others)) or "none"
    if options.question is not None:
        if options.question not in others:
            raise CallError(f"{files[0].name} has no question {options.question!r}; it may be one of {listed}.")
        return [options.question]
    if not found:
        raise CallError(
            f"{files[0].name} does not mark which columns are answers, and in none do two annotations of a task "
            f"differ. Choose one by --question NAME (question= in Python): {listed}. Or export JSON, not JSON-MIN."
        )
    return list(found)


def _may_be_question(name: str) -> bool:
    return name not in _FIXED and not name.endswith("_transcript") and not name.startswith("_data_")


def _answer(at: Location, value: Any, what: str) -> tuple[str, tuple[Any, ...]]:
    """Return the type of an answer, and the classes that it names."""
    if isinstance(value, str) and value[:1] in ("[", "{"):  # in CSV, what is no text is JSON
        value = at.parsed(value, what)
    if value is None or value == "" or value == []:
        return CHOICE, ()
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        (value, *more) = value
        if more:
            return "parts of an item", ()
    if not isinstance(value, Mapping):
        return CHOICE, at.classes(value if isinstance(value, list) else [value], what)
    if "rating" in value:
        return CHOICE, at.classes([value["rating"]], what)
    for kind in ("choices", "taxonomy"):
        if kind in value and not {"start", "x"} & set(value):
            return CHOICE, at.classes(as_paths(at, value[kind], what), what)
    return ("free text" if "text" in value and "start" not in value else "parts of an item"), ()


LABEL_STUDIO_MIN: Final = Platform(
    "label-studio-min",
    "a small Label Studio export (JSON-MIN, CSV or TSV)",
    _recognises,
    _read,
    uses=("item", "question"),
)
