"""doccano: a zip with a file for each member of the project, named after the member."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import DataError
from ..sources.formats import rows_of
from ..sources.input import Input, file_name
from .fields import Location, entries, text_or_none
from .platform import Answer, Finding, Platform, Tally

_EXTENSIONS: Final = (".jsonl", ".json", ".csv", ".txt")
# Where the labels are: those of texts and images, and those of intents.
_LABELS: Final = ("label", "cats")
# What the labels of other projects are.
_OTHERS: Final = {"entities": "spans", "bbox": "boxes", "segmentation": "outlines"}
_FAST_TEXT: Final = "__label__"
# The name of the file in projects whose members work on the same labels.
_SHARED: Final = "all"
_SHARED_SENTENCE: Final = (
    "holds the labels of a collaborative project, which doccano exports without saying who gave them; if a field of "
    "its rows does, name it by --worker-column"
)


def _recognises(file: Input) -> bool:
    members = [PurePath(name) for name in file.members]
    if not members or any(len(one.parts) > 1 or one.suffix.lower() not in _EXTENSIONS for one in members):
        return False
    for inner in file.peek():
        if inner.text.startswith(_FAST_TEXT):
            return True
        columns = set(inner.columns)
        if columns:
            return bool("id" in columns and {"text", "filename"} & columns and {*_LABELS, *_OTHERS} & columns)
    return False


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for given in files:
        for file in given.unpack() if given.is_zip else [given]:
            if file.text.startswith(_FAST_TEXT):
                raise DataError(
                    f"{file.name} is in the format of fastText, which has no ids: export JSONL from doccano instead."
                )
            worker = file_name(file.path) or None
            if worker == _SHARED and options.worker is None and options.worker_from is None:
                raise DataError(f"{file.name} {_SHARED_SENTENCE}.")
            if file.text.strip() in ("", "[]"):
                yield Tally("members labelled nothing")
                continue
            yield from _file(file, worker, options)


def _file(file: Input, worker: str | None, options: ReadOptions) -> Iterator[Finding]:
    for at, row in entries([file], "row", rows_of):
        item = at.field(row, options.item or "id")
        who = worker if options.worker is None else text_or_none(row.get(options.worker))
        other = next((words for key, words in _OTHERS.items() if row.get(key)), None)
        if other is not None:
            yield Answer(item, who, "label", (), type=other)
            continue
        key = next((key for key in _LABELS if key in row), None)
        if key is None:
            raise at.unlike("has no 'label'")
        labels = _labels(at, row[key])
        if not labels:
            yield Tally("examples that a member did not label", is_answer=True)
        elif any(isinstance(one, list | dict) for one in labels):
            yield Answer(item, who, key, (), type="spans")
        else:
            yield Answer(item, who, key, at.classes(labels, "the label"))


def _labels(at: Location, value: Any) -> list[Any]:
    """Return the labels of a row: in CSV they are joined by a number sign."""
    if at.file.header:
        return [] if not value else value.split("#")
    return [value] if isinstance(value, str) and value else at.array(value or None, "the label")


def _contents(files: Sequence[Input], options: ReadOptions) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for given in files:
        for file in given.unpack() if given.is_zip else [given]:
            if file.text.strip() not in ("", "[]"):
                for at, row in entries([file], "row", rows_of):
                    shown: dict[str, Any] = {name: row[name] for name in ("text", "filename") if name in row}
                    yield at.field(row, options.item or "id"), shown


DOCCANO: Final = Platform(
    "doccano", "a doccano export", _recognises, _read, uses=("item", "worker"), contents=_contents
)
