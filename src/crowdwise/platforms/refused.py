"""Platforms whose exports are recognised, but hold no votes: each is refused in a sentence that says what to do."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from ..errors import DataError
from ..sources.input import Export
from .answers import Found
from .importer import Importer, ImportOptions

_BY_FILE: Final = "a table of each worker goes through --worker-from file"


def _refuse(reason: str, exports: Sequence[Export], _: ImportOptions) -> Iterator[Found]:
    raise DataError(f"{exports[0].name} {reason}.")


def _is_cvat(export: Export) -> bool:
    text = export.text[:4096]
    return (text.startswith(("<?xml", "<annotations")) and "<annotations>" in text) or any(
        name.endswith("annotations.xml") for name in export.members
    )


def _is_inception(export: Export) -> bool:
    return any(name.startswith("exportedproject") and name.endswith(".json") for name in export.members)


def _is_scale(export: Export) -> bool:
    return {"task_id", "callback_url", "params"} <= set(export.first)


REFUSED: Final = (
    Importer(
        "cvat",
        "a CVAT export",
        _is_cvat,
        partial(
            _refuse,
            "is a CVAT export, which does not say who gave a label. Export the jobs of each worker by themselves, and "
            f"make tables of them: {_BY_FILE}",
        ),
    ),
    Importer(
        "inception",
        "an INCEpTION project",
        _is_inception,
        partial(_refuse, "is an INCEpTION project, which holds spans of text, and no classes of items to vote on"),
    ),
    Importer(
        "scale",
        "a Scale export",
        _is_scale,
        partial(
            _refuse,
            "looks like tasks of Scale, whose export has one answer for each task and not those of all workers: ask "
            f"Scale for these; {_BY_FILE}",
        ),
    ),
)
