"""Platforms whose exports are recognised, but hold no votes: each is refused in a sentence that says what to do."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from ..crowd.read_options import ReadOptions
from ..errors import DataError
from ..sources.input import Input
from .platform import Finding, Platform

_BY_FILE: Final = "a table of each worker goes through --worker-from file"


def _is_cvat(file: Input) -> bool:
    text = file.text[:4096]
    return (text.startswith(("<?xml", "<annotations")) and "<annotations>" in text) or any(
        name.endswith("annotations.xml") for name in file.members
    )


def _is_inception(file: Input) -> bool:
    return any(name.startswith("exportedproject") and name.endswith(".json") for name in file.members)


def _is_scale(file: Input) -> bool:
    return {"task_id", "callback_url", "params"} <= set(file.first)


# The key, the name, what recognises it, and the end of the sentence that refuses it.
_TABLE: Final[tuple[tuple[str, str, Callable[[Input], bool], str], ...]] = (
    (
        "cvat",
        "a CVAT export",
        _is_cvat,
        "is a CVAT export, which does not say who gave a label. Export the jobs of each worker by themselves, and make "
        f"tables of them: {_BY_FILE}",
    ),
    (
        "inception",
        "an INCEpTION project",
        _is_inception,
        "is an INCEpTION project, which holds spans of text, and no classes of items to vote on",
    ),
    (
        "scale",
        "a Scale export",
        _is_scale,
        "looks like tasks of Scale, whose export has one answer for each task and not those of all workers: ask Scale "
        f"for these; {_BY_FILE}",
    ),
)


def _refuse(reason: str, files: Sequence[Input], _: ReadOptions) -> Iterator[Finding]:
    raise DataError(f"{files[0].name} {reason}.")


REFUSED: Final = tuple(
    Platform(key, name, recognises, partial(_refuse, reason)) for key, name, recognises, reason in _TABLE
)
