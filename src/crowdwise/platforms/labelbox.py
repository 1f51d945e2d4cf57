"""Labelbox: its export as JSON lines, a line for each data row, with the labels of everybody."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import Location, entries, first_text, number_or_none, path_of, text_or_none
from .platform import Answer, Finding, Platform, Tally


def _recognises(file: Input) -> bool:
    return isinstance(file.first.get("data_row"), dict) and "projects" in file.first


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    # Questions of several projects may have the same name, and not mean the same: then they are named after their
    # project too. All lines say how many there are, so the files are read twice.
    has_several = len({name for at, line in entries(files, "line") for name in _projects(at, line)}) > 1
    for at, line in entries(files, "line"):
        row = at.object(line.get("data_row"), "'data_row'")
        key = options.item or ("global_key" if row.get("global_key") else "id")
        item = at.inside("'data_row'").field(row, key)
        labels = 0
        for name, project in _projects(at, line).items():
            for label in at.objects(at.object(project, "a project").get("labels"), "labels", "a label"):
                labels += 1
                yield from _label(at, label, item, [name] if has_several else [])
        if not labels:
            yield Tally("data rows have no label")


def _projects(at: Location, line: Mapping[str, Any]) -> dict[str, Any]:
    return at.object(line.get("projects") or {}, "'projects'")


def _label(at: Location, label: Mapping[str, Any], item: Any, path: list[str]) -> Iterator[Finding]:
    """Yield the answers of one worker on one data row; `path` is the beginning of the names of questions."""
    keys = ("label_details", "performance_details", "annotations")
    details, performance, annotations = (at.object(label.get(key) or {}, repr(key)) for key in keys)
    about: dict[str, Any] = {
        "worker": first_text(details, "created_by"),
        "status": "skipped" if performance.get("skipped") is True else "",
        "seconds": number_or_none(performance.get("seconds_to_create")),
        "time": text_or_none(details.get("created_at")),
    }
    found = list(_classifications(at, annotations.get("classifications"), item, path, about))
    objects = at.array(annotations.get("objects"), "objects")
    found += [Answer(item, question=path_of([*path, "objects"]), choices=(), type="objects", **about)] * len(objects)
    if not found:
        what = "skipped labels" if about["status"] else "labels without any answer"
        yield Tally(f"{what} not used", is_answer=True)
    yield from found


def _classifications(
    at: Location, listed: Any, item: Any, path: list[str], about: Mapping[str, Any]
) -> Iterator[Answer]:
    """Yield an answer for each classification, and for those within the class that was chosen."""
    for one in at.objects(listed, "classifications", "a classification"):
        here = [*path, first_text(one, "name", "value") or "classification"]
        if "radio_answer" not in one and "checklist_answers" not in one:
            yield Answer(item, question=path_of(here), choices=(), type="free text", **about)
            continue
        several = "checklist_answers" in one
        answers = at.array(one.get("checklist_answers"), "answers") if several else [one.get("radio_answer")]
        chosen = [at.object(answer, "an answer") for answer in answers if answer is not None]
        names = at.classes([answer.get("name", answer.get("value")) for answer in chosen], "an answer")
        yield Answer(item, question=path_of(here), choices=names, several=several, **about)
        for answer in chosen:
            yield from _classifications(at, answer.get("classifications"), item, here, about)


def _contents(files: Sequence[Input], options: ReadOptions) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for at, line in entries(files, "line"):
        row = at.object(line.get("data_row"), "'data_row'")
        key = options.item or ("global_key" if row.get("global_key") else "id")
        yield at.inside("'data_row'").field(row, key), {"row_data": row.get("row_data")}


LABELBOX: Final = Platform("labelbox", "a Labelbox export", _recognises, _read, uses=("item",), contents=_contents)
