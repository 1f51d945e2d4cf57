"""`ReadOptions`: everything a user may say about how labels are read; the keyword arguments of `read_labels`."""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import Parameter, signature
from typing import Any, Final, Literal, TypedDict, TypeVar, get_args

import numpy as np
import polars as pl

from ..errors import CallError, did_you_mean, is_utf_8, require_kind, shown

# What to do where one worker gave one item several different labels.
Duplicates = Literal["error", "first", "last", "latest", "all", "samples", "set", "drop"]
Function = TypeVar("Function", bound=Callable[..., Any])
Multi = Literal["refuse", "set", "each"]
Votes = Literal["soft", "hard"]
# Where labels may be put: "auto" means memory if they fit there, else disk.
_ENGINES: Final = ("memory", "disk", "auto", "spark")
# Options that only some platforms have a use for, besides item and worker.
FOR_SOME_PLATFORMS: Final = ("verdict", "verdict_field", "id", "items", "pairs")
# Options that only tables have, and those that only exports of platforms have; `worker_from` is for both.
FOR_TABLES: Final = ("query", "table", "sheet", "wide", "transposed", "label_names")
FOR_EXPORTS: Final = ("question", "models", "status", *FOR_SOME_PLATFORMS)
# The options of the command line that are not called as in Python.
_SPELLED: Final = {
    "item": "--item-column",
    "worker": "--worker-column",
    "label": "--label-column",
    "time": "--time-column",
    "probability": "--probability-column",
    "weight": "--weight-column",
    "id": "--id-pattern",
    "items": "--item-pattern",
    "pairs": "--column-pairs",
}


class LabelKeywords(TypedDict, total=False):
    """The types of the fields of `ReadOptions` that say what a label is, as keyword arguments."""

    duplicates: Duplicates | None
    missing: Any
    strict: bool
    strip: bool
    fold_case: bool
    log: bool
    classes: Sequence[Any] | str | os.PathLike[str] | None


class SetKeywords(LabelKeywords, total=False):
    """The types of the fields of `ReadOptions` besides columns, multi, numeric and engine, as keyword arguments."""

    format: str
    wide: bool | str | Sequence[str] | None
    transposed: bool
    label_names: Sequence[str] | str | os.PathLike[str] | None
    query: str | None
    table: str | None
    sheet: str | None
    storage: Mapping[str, Any] | None
    encoding: str | None
    question: str | None
    models: bool
    separator: str | None
    status: Sequence[str] | str
    worker_from: Literal["file", "folder"] | None
    verdict: str | None
    verdict_field: str | None
    id: str | None
    items: str | None
    pairs: str | None
    memory: str | int | None
    workdir: str | os.PathLike[str] | None
    master: str | None


class RowKeywords(SetKeywords, total=False):
    """The types of the fields of `ReadOptions` besides columns, numeric and engine, as keyword arguments."""

    multi: Multi


class ColumnKeywords(TypedDict, total=False):
    """The types of the fields of `ReadOptions` that name columns, as keyword arguments."""

    item: str | None
    worker: str | None
    label: str | None
    time: str | None
    probability: str | None
    weight: str | None
    votes: Votes


class ReadKeywords(RowKeywords, ColumnKeywords, total=False):
    """The types of the fields of `ReadOptions` besides numeric and engine, as keyword arguments."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What a user says about how labels are read. `read_labels` describes every field.

    `classes` and `label_names` are lists here, also where the user gave a file. `missing` has each value as the user
    gave it, and as `strip` and `fold_case` change it.
    """

    item: str | None = None
    worker: str | None = None
    label: str | None = None
    time: str | None = None
    probability: str | None = None
    weight: str | None = None
    log: bool = False
    votes: Votes = "soft"
    duplicates: Duplicates | None = None
    missing: Sequence[Any] = ()
    strict: bool = False
    strip: bool = False
    fold_case: bool = False
    classes: Sequence[Any] | None = None
    numeric: bool = False
    format: str = "auto"
    wide: bool | str | Sequence[str] | None = None
    transposed: bool = False
    label_names: Sequence[str] | None = None
    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict)
    encoding: str | None = None
    question: str | None = None
    models: bool = False
    multi: Multi = "refuse"
    separator: str | None = None
    status: Sequence[str] = ()
    worker_from: Literal["file", "folder"] | None = None
    verdict: str | None = None
    verdict_field: str | None = None
    id: str | None = None
    items: str | None = None
    pairs: str | None = None
    engine: str = "memory"
    memory: str | int | None = None
    workdir: str | os.PathLike[str] | None = None
    master: str | None = None

    @classmethod
    def of(cls, **given: Any) -> "ReadOptions":
        """Return the options of these names. Raises `CallError` if there is no such option, or no such value of it."""
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                raise CallError(f"There is no option {name!r} of reading.{did_you_mean(name, known)}")
        return cls(**given)

    def __post_init__(self) -> None:
        texts = ("query", "table", "sheet", "separator", "question", "verdict", "verdict_field", "id", "items", "pairs")
        for name in ("item", "worker", "label", "time", "probability", "weight"):
            require_kind(name, getattr(self, name), str | None, "the name of a column, or None")
        for name in texts:
            require_kind(name, getattr(self, name), str | None, "text, or None")
        require_kind("format", self.format, str, "the name of a format, such as table")
        for name in ("strict", "strip", "fold_case", "transposed", "models", "log"):
            require_kind(name, getattr(self, name), bool | np.bool_, "True or False")
        policies = get_args(Duplicates)
        if self.duplicates is not None and self.duplicates not in policies:
            raise CallError(f"duplicates={self.duplicates!r} is not one of {', '.join(map(repr, policies))}.")
        if self.time is not None and self.duplicates != "latest":
            raise CallError('time= (--time-column) does nothing without duplicates="latest" (--duplicates latest).')
        if self.votes not in get_args(Votes):
            raise CallError(f"votes={self.votes!r} is not one of {', '.join(map(repr, get_args(Votes)))}.")
        named = [name for name in ("probability", "weight", "log") if getattr(self, name)]
        if named and (self.votes == "hard" or self.numeric):
            what = "numbers have no probabilities" if self.numeric else 'votes="hard" (--votes hard) ignores it'
            raise CallError(f"{named[0]}= ({option_of(named[0])}) does nothing: {what}.")
        if named and (self.duplicates in ("first", "last", "latest", "set") or self.multi == "each"):
            other = 'multi="each"' if self.multi == "each" else f"duplicates={self.duplicates!r}"
            raise CallError(
                f"{named[0]}= ({option_of(named[0])}) does not go with {other}: one vote has one distribution."
            )
        if self.numeric and self.duplicates == "set":
            raise CallError(
                'duplicates="set" is for classes; for numbers use "first", "last", "latest", "all", "samples" or '
                '"drop".'
            )
        self._set("missing", _missing(self.missing, self.strip, self.fold_case))
        self._check_classes()
        self._check_source()
        if self.multi not in get_args(Multi):
            raise CallError(f"multi={self.multi!r} is not one of {', '.join(get_args(Multi))}.")
        self._check_sets()
        if self.worker_from not in (None, "file", "folder"):
            raise CallError(f"worker_from={self.worker_from!r} is neither file nor folder.")
        require_kind("status", self.status, Sequence, "a word, or some words")
        words = (self.status,) if isinstance(self.status, str) else tuple(self.status)
        for word in words:
            require_kind("status", word, str, "a word, or some words")
        self._set("status", tuple(word.lower() for word in words))
        if not isinstance(self.engine, str) or self.engine not in _ENGINES:
            raise CallError(f"engine={self.engine!r} is not one of {', '.join(map(repr, _ENGINES))}.")

    def _check_classes(self) -> None:
        if self.numeric and self.classes is not None:
            raise CallError("classes= (--classes) is for classes, and these labels are numbers.")
        if self.classes is not None:
            if isinstance(self.classes, str) or not isinstance(self.classes, Sequence | np.ndarray | pl.Series):
                raise CallError("classes has to be a list of all classes that a label may name, such as ['yes', 'no'].")
            classes = tuple(self.classes)
            if not classes or len(set(classes)) < len(classes) or any(one is None or one == "" for one in classes):
                raise CallError(
                    "classes (--classes) has to name each class once, and at least one, none of them empty."
                )
            self._set("classes", classes)
        if self.label_names is not None:
            names = self.label_names
            if not isinstance(names, Iterable) or isinstance(names, str) or not all(isinstance(n, str) for n in names):
                raise CallError("label_names has to be a list of texts, one for each class.")
            if len(set(self.label_names)) < len(self.label_names):
                raise CallError("label_names has a name twice; each class needs one of its own.")

    def _check_sets(self) -> None:
        if self.separator is not None and (self.multi == "refuse" or not self.separator):
            raise CallError(
                "separator= (--separator) is what stands between the classes of a cell, such as ';': say "
                'multi="each" (--multi each) beside it.'
            )
        if self.multi != "each":
            return
        if self.numeric:
            raise CallError('multi="each" (--multi each) is for classes, and these labels are numbers.')
        if self.duplicates not in (None, "set"):
            raise CallError(
                f'duplicates={self.duplicates!r} (--duplicates) does nothing with multi="each" (--multi each): all '
                "that a worker names for an item is one set."
            )
        if self.engine == "spark":
            raise CallError(
                "Several classes at once are worked on in memory or on disk: leave out engine='spark' (--engine)."
            )

    def _check_source(self) -> None:
        if self.storage is None:
            self._set("storage", {})
        require_kind("storage", self.storage, Mapping, "a mapping from names to values")
        if self.query is not None and self.table is not None:
            raise CallError("Give either a query or a table (--query or --table), not both.")
        require_kind("encoding", self.encoding, str | None, "the name of an encoding, or None")
        try:
            "".encode("utf-8" if self.encoding is None else self.encoding)
        except (LookupError, ValueError) as problem:
            raise CallError(
                f"There is no encoding {shown(self.encoding)}; usual ones are utf-16, cp1252 and latin-1."
            ) from problem

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def policy(self) -> Duplicates:
        """What to do where one worker gave one item several labels; but see `Rows.policy`."""
        return self.duplicates or "error"

    @property
    def roles(self) -> dict[str, str | None]:
        """The columns to read, by role, with the name that the user gives to each; None to recognise it."""
        named = {"item": self.item, "worker": self.worker, "label": self.label}
        return named | ({"time": self.time} if self.policy == "latest" else {})

    def given(self, names: Iterable[str]) -> list[str]:
        """Return which of these options the user gave."""
        return [name for name in names if getattr(self, name) != getattr(_DEFAULTS, name)]


def _missing(given: Any, strip: bool, fold_case: bool) -> tuple[Any, ...]:
    """Return the values that mean "no label", as they are given and as they are after labels were tidied."""
    # One text is one value, not the letters of it.
    values = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    tidied = []
    for value in values:
        require_kind("missing", value, Hashable, "a value, or some values, such as -1 or 'NA'")
        if isinstance(value, str):
            if not is_utf_8(value):
                raise CallError(f"missing has {value!r}, which is not text in UTF-8.")
            stripped = value.strip() if strip else value
            tidied.append(stripped.lower() if fold_case else stripped)
    return tuple(dict.fromkeys([*values, *tidied]))


_DEFAULTS: Final = ReadOptions()


def option_of(name: str) -> str:
    """Return how an option of reading is typed on the command line.

    >>> option_of("item"), option_of("fold_case")
    ('--item-column', '--fold-case')
    """
    return _SPELLED.get(name, f"--{name.replace('_', '-')}")


def shows_options(function: Function) -> Function:
    """Let `help` and notebooks show every option of a function with `**options: Unpack[...]`, and its default."""
    own = signature(function)
    *named, rest = own.parameters.values()
    (keywords,) = get_args(rest.annotation)
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=keywords.__annotations__[name])
        for name, default in vars(_DEFAULTS).items()
        if name in keywords.__annotations__ and name not in own.parameters
    ]
    function.__signature__ = own.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
    return function
