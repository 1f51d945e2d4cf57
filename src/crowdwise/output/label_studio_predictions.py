"""Inferred labels as predictions that Label Studio imports, each with the task that it is about."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..crowd.read_options import ReadOptions
from ..platforms.fields import entries, text_or_none
from ..platforms.label_studio import CHOICES, LABEL_STUDIO, chosen, is_annotation, tasks
from ..reading.read_answers import files_of_export
from ..sources.input import Input
from ..sources.paths import Source
from ..sources.typed_columns import as_text
from .writing import write


class Written(NamedTuple):
    """How many tasks were written, and how many of them have no prediction because nobody voted on them."""

    tasks: int
    without: int


def write_predictions(
    source: Source | Sequence[Source],
    result: Any,
    path: str | os.PathLike[str],
    *,
    question: str,
    item: str | None = None,
    version: str = "crowdwise",
) -> Written:
    """Write the tasks of an export with the inferred labels as predictions; the file is replaced whole, or not at all.

    Args:
        source: The files of the export, as in `read_labels`.
        result: The result for its labels, or decisions made from one.
        path: Where to write.
        question: The question that was inferred.
        item: The field that names the item; None for the id of the task.
        version: The name of the model that predicts.

    Raises:
        DataError: The export cannot be read, or the file not be written.
    """
    made: list[Written] = []
    file = predictions_file(source, result, question=question, version=version, options=ReadOptions(item=item))
    write({os.fspath(path): lambda temporary: made.append(file(temporary))})
    return made[0]


def predictions_file(
    source: Source | Sequence[Source],
    result: Any,
    *,
    question: str,
    version: str,
    options: ReadOptions,
) -> Callable[[Path], Written]:
    """Return the function that writes the tasks with their predictions to a path; see `write_predictions`."""
    files = files_of_export(source, replace(options, format=LABEL_STUDIO.key))
    results = _results(files, question)
    predictions: dict[str, dict[str, Any]] = {}
    # Items of different types are kept as text, and so are labels.
    for item, label, confidence in result.to_frame().select("item", "label", "confidence").iter_rows():
        named = results.get(as_text(label))  # None if it is no class of the export, such as to abstain
        made = {"model_version": version, "score": confidence, "result": [] if named is None else [named]}
        predictions[as_text(item)] = made

    def write_to(path: Path) -> Written:
        written = without = 0
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for item, task in _tasks(files, options.item):
                made = [one] if (one := predictions.get(as_text(item))) is not None else []
                shown = {"id": task.get("id"), "data": task.get("data"), "predictions": made}
                file.write((",\n" if written else "[\n") + json.dumps(shown, ensure_ascii=True, allow_nan=False))
                written += 1
                without += not made
            file.write("\n]\n")
        return Written(written, without)

    return write_to


def _results(files: Sequence[Input], question: str) -> dict[str, dict[str, Any]]:
    """Return for each class a result that names it alone, as Label Studio wrote it or would write it."""
    found: dict[str, dict[str, Any]] = {}
    for at, entry in entries(files, "task"):
        for result in _choices(entry):
            kind = str(result.get("type"))
            if kind not in CHOICES or (text_or_none(result.get("from_name")) or kind) != question:
                continue
            for value in _single(result.get("value", {}).get(CHOICES[kind])):
                (label,) = chosen(at, {CHOICES[kind]: value}, kind)
                named = {"from_name": question, "to_name": result.get("to_name"), "type": kind}
                found.setdefault(as_text(label), {**named, "value": {CHOICES[kind]: value}})
    return found


def _choices(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the results of all annotations and predictions of a task; they were looked at before."""
    keys = ("annotations", "completions", "drafts", "predictions")
    made = [entry] if is_annotation(entry) else [one for key in keys for one in entry.get(key) or []]
    return [result for one in made if isinstance(one, dict) for result in one.get("result") or []]


def _single(values: Any) -> list[Any]:
    """Return what each class of a value would be as a value by itself."""
    return [[one] for one in values] if isinstance(values, list) else [] if values is None else [values]


def _tasks(files: Sequence[Input], field: str | None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each task once, with its item."""
    seen: set[Any] = set()
    for _, entry, item in tasks(files, field):
        task = entry["task"] if is_annotation(entry) else entry
        if task.get("id") not in seen:
            seen.add(task.get("id"))
            yield item, task
