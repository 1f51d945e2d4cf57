"""Labelbox: its export as JSON lines, a line for each data row, with the labels of everybody."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import as_items, as_list, as_object, field_of, first_text, number_or_none, path_of, text_or_none
from .platform import CHOICE, Answer, Finding, Platform, Tally


def _recognises(file: Input) -> bool:
    return isinstance(file.first.get("data_row"), dict) and "projects" in file.first


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    projects = {project for file in files for line in file.objects() for project in _projects(file, line, "a line")}
    for file in files:
        for number, line in enumerate(file.objects(), 1):
            where = f"line {number:,}"
            row = as_object(file, line.get("data_row"), f"'data_row' of {where}")
            key = options.item or ("global_key" if row.get("global_key") else "id")
            item = field_of(file, row, key, f"'data_row' of {where}")
            labels = 0
            for name, project in _projects(file, line, where).items():
                # Questions of several projects may have the same name, and not mean the same.
                before = [name] if len(projects) > 1 else []
                project = as_object(file, project, f"a project of {where}")
                for label in as_list(file, project.get("labels"), f"labels of {where}"):
                    labels += 1
                    yield from _label(file, as_object(file, label, f"a label of {where}"), item, before, where)
            if not labels:
                yield Tally("data rows have no label")


def _projects(file: Input, line: Mapping[str, Any], where: str) -> dict[str, Any]:
    return as_object(file, line.get("projects") or {}, f"'projects' of {where}")


def _label(file: Input, label: Mapping[str, Any], item: Any, before: list[str], where: str) -> Iterator[Finding]:
    """Yield the answers of one worker on one data row."""
    details = as_object(file, label.get("label_details") or {}, f"'label_details' of {where}")
    performance = as_object(file, label.get("performance_details") or {}, f"'performance_details' of {where}")
    annotations = as_object(file, label.get("annotations") or {}, f"'annotations' of {where}")
    about: dict[str, Any] = {
        "worker": first_text(details, "created_by"),
        "status": "skipped" if performance.get("skipped") is True else "",
        "seconds": number_or_none(performance.get("seconds_to_create")),
        "time": text_or_none(details.get("created_at")),
    }
    found = list(_classifications(file, annotations.get("classifications"), item, before, about, where))
    objects = as_list(file, annotations.get("objects"), f"objects of {where}")
    found += [Answer(item, question=path_of([*before, "objects"]), choices=(), type="objects", **about)] * len(objects)
    if not found:
        what = "skipped labels" if about["status"] else "labels without any answer"
        yield Tally(f"{what} not used", is_answer=True)
    yield from found


def _classifications(
    file: Input, listed: Any, item: Any, before: list[str], about: Mapping[str, Any], where: str
) -> Iterator[Answer]:
    """Yield an answer for each classification, and for those within the class that was chosen."""
    for one in as_list(file, listed, f"classifications of {where}"):
        classification = as_object(file, one, f"a classification of {where}")
        path = [*before, first_text(classification, "name", "value") or "classification"]
        question = path_of(path)
        if "radio_answer" not in classification and "checklist_answers" not in classification:
            yield Answer(item, question=question, choices=(), type="free text", **about)
            continue
        several = "checklist_answers" in classification
        answers = classification.get("checklist_answers") if several else [classification.get("radio_answer")]
        chosen = [
            as_object(file, one, f"an answer of {where}")
            for one in as_list(file, answers, f"answers of {where}")
            if one is not None
        ]
        names = as_items(file, [one.get("name", one.get("value")) for one in chosen], f"an answer of {where}")
        yield Answer(item, question=question, choices=names, several=several, type=CHOICE, **about)
        for one in chosen:
            yield from _classifications(file, one.get("classifications"), item, path, about, where)


LABELBOX: Final = Platform("labelbox", "a Labelbox export", _recognises, _read, uses=("item",))
