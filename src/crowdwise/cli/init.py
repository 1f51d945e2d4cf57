"""`crowdwise init`: look at labels, and write what commands need to know about them to `crowdwise.toml`."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from . import options
from .groups import COLUMNS, EXPORTS, TABLES, Brief

if TYPE_CHECKING:
    from ..crowd.protocol import Crowd

# What each option in the file is for.
_COMMENTS: Final = {
    "files": "Read if a command names no file.",
    "item": "The column of items.",
    "worker": "The column of workers.",
    "label": "The column of labels.",
    "format": "The platform that wrote the files.",
    "question": "The question whose answers are the labels; `crowdwise questions` lists all.",
    "encoding": "How the text is stored.",
    "duplicates": "Workers gave some items several labels. Others: first, last, latest, all, set, drop, error.",
    "numeric": "Labels are numbers: each item gets a value and an interval.",
    "strip": "Spaces around labels are left out.",
    "fold_case": "Labels that differ only in case are one class.",
    "missing": "These values mean no label.",
    "gold": "True labels of some items, to learn from.",
    "costs": "What errors cost.",
}
# What shows the encoding of text, in so many bytes: words of Cyrillic letters in cp1251; and inside of words, Polish
# letters of cp1250 that are signs in cp1252.
_LOOKED_AT: Final = 1 << 20
_CYRILLIC: Final = re.compile(rb"[\xc0-\xff]{4}")
_POLISH: Final = re.compile(rb"[a-z][\xb9\xb3\xbf][a-z]|(?<![a-zA-Z])\xb3[a-z\xb9]")
# Options that open a table.
_OPENING: Final = ("encoding", "sheet", "query", "table")
# Files with these names in this folder are taken for what they are called.
_BESIDE: Final = ("gold", "costs")
_EXTENSIONS: Final = (".csv", ".tsv", ".parquet", ".xlsx", ".jsonl")
# More classes than this are not listed; more than that are not names that somebody typed.
_MOST_CLASSES: Final = 20
_MOST_TIDIED: Final = 10_000


def init(
    reading: Annotated[options.Reading, Brief(COLUMNS, TABLES, EXPORTS)],
    gold: options.Gold = None,
    costs: options.Costs = None,
    numeric: options.Numeric = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the crowdwise.toml that is there.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Describe your labels once: write crowdwise.toml, which every command in this folder reads.

    Columns, encoding, spelling and duplicates are found in the files; in a terminal, you are asked what is not clear.
    """
    from ..crowd.reading_report import several
    from ..errors import CallError
    from ..output.writing import write
    from ..sources.paths import expand
    from .config import NAME, as_toml, keys
    from .terminal import Terminal

    if Path(NAME).exists() and not force:
        raise CallError(f"There is a {NAME} already: edit it, or write it anew with --force.")
    expand([beside for beside in (gold, costs) if beside is not None] or reading.files)  # refuses missing files
    terminal = Terminal(quiet)
    typed = {name: key for key, (name, _) in keys().items()}
    given: dict[str, Any] = {name: value for name, value in reading._asdict().items() if name in typed}
    given = {name: value for name, value in given.items() if value != reading._field_defaults.get(name)}
    given |= {name: value for name, value in (("gold", gold), ("costs", costs), ("numeric", numeric)) if value}
    labels, found = _understood(reading.files, given, _Asking(sys.stdin.isatty() and not quiet))
    entries = {typed[name]: (found[name], _COMMENTS.get(name, "")) for name in typed if name in found}
    text = as_toml(entries, "What crowdwise knows about the labels in this folder, by `crowdwise init`.")
    text += _commented_classes(labels, found)
    write({Path(NAME): lambda path: path.write_text(text, encoding="utf-8")})
    crowd = f"{several(labels.n_labels, 'label', 'labels')} by {several(labels.n_workers, 'worker', 'workers')}"
    terminal.remark(f"Found {crowd} for {several(labels.n_items, 'item', 'items')}. Wrote {NAME}:")
    for key, (value, comment) in entries.items():
        terminal.remark(f"  {key} = {value!r}{f'  ({comment[0].lower()}{comment[1:-1]})' if comment else ''}")
    terminal.remark("Next: crowdwise aggregate")


class _Asking:
    """Asks in a terminal; elsewhere, the first choice is taken."""

    def __init__(self, may_ask: bool) -> None:
        self.may_ask = may_ask

    def choice(self, question: str, choices: Sequence[str]) -> str:
        """Return one of the choices."""
        if not self.may_ask:
            return choices[0]
        while (
            answer := typer.prompt(f"{question} ({', '.join(choices)})", default=choices[0], err=True)
        ) not in choices:
            typer.echo(f"{answer} is none of these.", err=True)
        return str(answer)

    def agrees(self, question: str) -> bool:
        """Return whether the user agrees."""
        return not self.may_ask or typer.confirm(question, default=True, err=True)


def _understood(files: list[str], given: Mapping[str, Any], asking: _Asking) -> tuple["Crowd", dict[str, Any]]:
    """Return the labels, and by name the options that they are read with: those that are given, and what is found."""
    from ..errors import DataError

    found = dict(given)
    if "encoding" not in found and (encoding := _encoding(files)) is not None:
        found["encoding"] = encoding
    found |= _platform(files, found, asking)
    rule = {} if {"format", "duplicates"} & set(found) else {"duplicates": "last"}
    found |= _columns(files, found, asking)
    try:
        labels = _read(files, found | rule)
    except DataError as refusal:
        if found.get("numeric"):
            raise
        try:
            labels = _read(files, found | rule | {"numeric": True})
        except DataError:
            raise refusal from None
        found["numeric"] = True
    if rule and labels.report.conflicts:
        question = f"Workers gave {labels.report.conflicts:,} items several labels. Which counts?"
        found["duplicates"] = asking.choice(question, ["last", "first", "drop"])
    if not found.get("numeric"):
        found |= _cleaning(labels, found, asking)
        if len(found) > len(given):
            labels = _read(files, found | rule)
    for name in _BESIDE:
        beside = [path for ext in _EXTENSIONS if (path := Path(f"{name}{ext}")).is_file() and str(path) not in files]
        if name not in found and beside and not found.get("numeric") and asking.agrees(f"Use {beside[0]} as {name}?"):
            found[name] = str(beside[0])
    return labels, found


def _read(files: list[str], found: Mapping[str, Any]) -> "Crowd":
    from ..reading.read_labels import read_with

    fields = {name: value for name, value in found.items() if name in options.Reading._fields and name != "files"}
    reading = options.Reading(files, **fields)
    labels: Crowd = read_with(reading.options(numeric=bool(found.get("numeric"))), files, warn=False)
    return labels


def _encoding(files: Sequence[str]) -> str | None:
    """Return how text is stored that is not UTF-8; None if all is, or if it is no text in a file of this machine."""
    from ..sources.formats import is_binary
    from ..sources.input import Input
    from ..sources.unpacking import is_utf_8_text

    for file in files:
        path = Path(file)
        if not path.is_file() or is_binary(Input(file, file, path)) or is_utf_8_text(file):
            continue
        with path.open("rb") as opened:
            head = opened.read(_LOOKED_AT)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
        if b"\0" in head:
            return None
        if _CYRILLIC.search(head):
            return "cp1251"
        return "cp1250" if _POLISH.search(head) else "cp1252"
    return None


def _platform(files: list[str], found: Mapping[str, Any], asking: _Asking) -> dict[str, Any]:
    """Return the platform that wrote the files, and which of several questions is meant; {} for tables."""
    from ..errors import CallError
    from ..platforms.questions import questions_frame
    from ..reading.read_answers import gathered_in
    from ..reading.registry import open_inputs, platform_of

    settings = options.Reading(files, encoding=found.get("encoding"), format=found.get("format", "auto"))
    platform = platform_of(open_inputs(files, settings.options()), settings.format)
    if platform is None:
        return {}
    if "question" in found:
        return {"format": platform[0].key}
    names = questions_frame(gathered_in(files, settings.options()))["question"].to_list()
    if len(names) > 1 and not asking.may_ask:
        raise CallError(
            f"There are {len(names)} questions: {', '.join(map(repr, names[:10]))}. Choose one by --question."
        )
    chosen = {"question": asking.choice("Which question?", names)} if len(names) > 1 else {}
    return {"format": platform[0].key} | chosen


def _columns(files: list[str], found: Mapping[str, Any], asking: _Asking) -> dict[str, str]:
    """Return the columns that have other names than item, worker and label. In a terminal, asks for unclear ones."""
    from ..errors import DataError
    from ..reading.registry import open_inputs
    from ..sources.columns import recognise
    from ..sources.formats import format_of
    from ..sources.unpacking import UnsoundError

    if {"format", "wide", "wide_columns", "worker_from", "transposed"} & set(found):
        return {}
    settings = options.Reading(files, **{name: found[name] for name in _OPENING if name in found}).options()
    try:
        names = format_of(entry := open_inputs(files, settings)[0]).open(entry, settings).names
    except UnsoundError:  # reading it says what is wrong
        return {}
    columns: dict[str, str] = {}
    for role in ("item", "worker", "label"):
        try:
            columns |= recognise(names, {role: found.get(role)}, entry.name)
        except DataError:
            if asking.may_ask:
                columns[role] = asking.choice(f"Which column has the {role}?", names)
    return {role: name for role, name in columns.items() if name != role}


def _cleaning(labels: "Crowd", found: Mapping[str, Any], asking: _Asking) -> dict[str, Any]:
    """Return how names of classes are tidied that are the same but for spaces and case, or that mean no label."""
    import polars as pl

    from ..crowd.label_cautions import NO_LABEL

    names = labels.names.classes
    if names.dtype != pl.String or len(names) > _MOST_TIDIED:
        return {}
    tidied: dict[str, Any] = {}
    bare = names.str.strip_chars()
    if "strip" not in found and bare.n_unique() < len(names) and asking.agrees("Leave out spaces around labels?"):
        tidied["strip"] = True
    folded = bare.str.to_lowercase()
    if folded.n_unique() < bare.n_unique() and asking.agrees("Take labels that differ only in case as one class?"):
        tidied["fold_case"] = True
    absent = names.filter(folded.is_in(NO_LABEL)).to_list()
    if "missing" not in found and 0 < len(absent) < len(names) and asking.agrees(f"Do {absent} mean no label?"):
        tidied["missing"] = absent
    return tidied


def _commented_classes(labels: "Crowd", found: Mapping[str, Any]) -> str:
    """Return a comment with the classes, which the user may declare; nothing if there are many, or numbers."""
    from .config import as_toml

    if "classes" in found or found.get("numeric") or len(labels.names.classes) > _MOST_CLASSES:
        return ""
    classes = {"classes": ([str(one) for one in labels.names.classes], "")}
    line = as_toml(classes, "").strip().splitlines()[-1]
    return f"\n# Remove the # before the next line to refuse all other labels.\n# {line}\n"
