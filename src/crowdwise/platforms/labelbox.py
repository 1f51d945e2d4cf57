"""Labelbox: its export as JSON lines, a line for each data row, with the labels of everybody."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .answers import CHOICE, Answer, Counted, Found, path_of
from .fields import as_items, as_list, as_object, field_of, first_text, number_or_none, text_or_none
from .platform import Platform


def _recognises(export: Input) -> bool:
    return isinstance(export.first.get("data_row"), dict) and "projects" in export.first


def _read(exports: Sequence[Input], options: ReadOptions) -> Iterator[Found]:
    projects = {
        project for export in exports for line in export.objects() for project in _projects(export, line, "a line")
    }
    for export in exports:
        for number, line in enumerate(export.objects(), 1):
            where = f"line {number:,}"
            row = as_object(export, line.get("data_row"), f"'data_row' of {where}")
            key = options.item or ("global_key" if row.get("global_key") else "id")
            item = field_of(export, row, key, f"'data_row' of {where}")
            labels = 0
            for name, project in _projects(export, line, where).items():
                # Questions of several projects may have the same name, and not mean the same.
                before = [name] if len(projects) > 1 else []
                project = as_object(export, project, f"a project of {where}")
                for label in as_list(export, project.get("labels"), f"labels of {where}"):
                    labels += 1
                    yield from _label(export, as_object(export, label, f"a label of {where}"), item, before, where)
            if not labels:
                yield Counted("data rows have no label")


def _projects(export: Input, line: Mapping[str, Any], where: str) -> dict[str, Any]:
    return as_object(export, line.get("projects") or {}, f"'projects' of {where}")


def _label(export: Input, label: Mapping[str, Any], item: Any, before: list[str], where: str) -> Iterator[Found]:
    """Yield the answers of one worker on one data row."""
    details = as_object(export, label.get("label_details") or {}, f"'label_details' of {where}")
    performance = as_object(export, label.get("performance_details") or {}, f"'performance_details' of {where}")
    annotations = as_object(export, label.get("annotations") or {}, f"'annotations' of {where}")
    about: dict[str, Any] = {
        "worker": first_text(details, "created_by"),
        "status": "skipped" if performance.get("skipped") is True else "",
        "seconds": number_or_none(performance.get("seconds_to_create")),
        "time": text_or_none(details.get("created_at")),
    }
    found = list(_classifications(export, annotations.get("classifications"), item, before, about, where))
    objects = as_list(export, annotations.get("objects"), f"objects of {where}")
    found += [Answer(item, question=path_of([*before, "objects"]), choices=(), type="objects", **about)] * len(objects)
    if not found:
        what = "skipped labels" if about["status"] else "labels without any answer"
        yield Counted(f"{what} not used", is_answer=True)
    yield from found


def _classifications(
    export: Input, listed: Any, item: Any, before: list[str], about: Mapping[str, Any], where: str
) -> Iterator[Answer]:
    """Yield an answer for each classification, and for those within the class that was chosen."""
    for one in as_list(export, listed, f"classifications of {where}"):
        classification = as_object(export, one, f"a classification of {where}")
        path = [*before, first_text(classification, "name", "value") or "classification"]
        question = path_of(path)
        if "radio_answer" not in classification and "checklist_answers" not in classification:
            yield Answer(item, question=question, choices=(), type="free text", **about)
            continue
        several = "checklist_answers" in classification
        answers = classification.get("checklist_answers") if several else [classification.get("radio_answer")]
        chosen = [
            as_object(export, one, f"an answer of {where}")
            for one in as_list(export, answers, f"answers of {where}")
            if one is not None
        ]
        names = as_items(export, [one.get("name", one.get("value")) for one in chosen], f"an answer of {where}")
        yield Answer(item, question=question, choices=names, several=several, type=CHOICE, **about)
        for one in chosen:
            yield from _classifications(export, one.get("classifications"), item, path, about, where)


LABELBOX: Final = Platform("labelbox", "a Labelbox export", _recognises, _read, uses=("item",))
