"""How it was made: the method with all its parameters, where it comes from, and how to make it again."""

import inspect
import re
import sys
from dataclasses import dataclass, fields
from typing import Any

from ... import __version__
from ...data.labels import Labels


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its value, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Provenance:
    """The sixth section."""

    method: str
    idea: str
    reference: str
    parameters: list[Parameter]
    command: str
    columns: str
    version: str


def provenance(method: Any, labels: Labels, command: str) -> Provenance:
    """Gather it."""
    idea, reference = _told(method)
    meanings = _meanings(method)
    return Provenance(
        method=type(method).__name__,
        idea=idea,
        reference=reference,
        parameters=[
            Parameter(field.name, str(getattr(method, field.name)), meanings.get(field.name, ""))
            for field in fields(method)
        ],
        command=command,
        columns=", ".join(f"{role}: {column}" for role, column in labels.report.columns.items()),
        version=__version__,
    )


def _told(method: Any) -> tuple[str, str]:
    """The method in a sentence, and its reference: the first line and the end of what its module says of itself."""
    told = inspect.cleandoc(str(sys.modules[type(method).__module__].__doc__))
    end = " ".join(told.rpartition("$$")[2].split())
    # What comes before the sentence with the title explains the formula.
    before, quote, title = end.partition('"')
    return told.splitlines()[0], before.rpartition(". ")[2] + quote + title


def _meanings(method: Any) -> dict[str, str]:
    """What each parameter means, from the one place where that is written."""
    told = inspect.getdoc(type(method)) or ""
    block = re.search(r"^Args:\n((?:    .*\n?|\n)*)", told, re.MULTILINE)
    found = re.findall(r"^    (\w+): (.*(?:\n {6,}.*)*)", block.group(1), re.MULTILINE) if block else []
    return {name: " ".join(meaning.replace("`", "").split()) for name, meaning in found}
