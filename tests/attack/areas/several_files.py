"""Several files, patterns and folders, with hostile file names."""

import os
from pathlib import Path
from typing import Final

from .. import crowds, delimited
from ..answering import check_majority
from ..area import Area, Case
from ..majority import Row
from ..rule import Verdict

_STEMS: Final = (
    "m[1]",
    "m1",
    "m*",
    "m?",
    "{a,b}",
    "!x",
    "~",
    "$HOME",
    "a b",
    "new\nline",
    "quo'te\"",
    "-o",
    "--help",
    "=1+1",
    "[red]",
    "\u202egnp",
    "é",
    "e\u0301",
    "💥",
    "%s",
    "back\\slash",
    "\x1b[31m",
    "x" * 200,
    os.fsdecode(b"\xff\xfe"),
    "file:",
    "http:",
    "a#b",
    "100%",
    "part.1",
    "labels.csv",
    ".hidden",
    "_private",
)


def attack(case: Case) -> Verdict:
    """Read several CSV files as one crowd, and compare with their rows one after the other."""
    random = case.random
    folder = case.here / random.choice(("in", "in[1]", "in *", "i\nn"))
    folder.mkdir()
    stems = random.sample(_STEMS, random.randint(1, 4))
    files: dict[Path, list[Row]] = {}
    may_refuse = False
    for stem in stems:
        rows = crowds.text_rows(case)
        written = delimited.encode(case, rows)
        path = folder / f"{stem}.csv"
        path.write_bytes(written.content)
        files[path] = written.rows() or []
        may_refuse |= written.may_be_refused
    _other_things(case, folder)
    kind = random.choice(("list", "folder", "pattern"))
    visible = {path: rows for path, rows in sorted(files.items()) if path.name[0] not in "._"}
    if kind == "list":
        given = list(files)
        arguments: list[object] = list(given)
        read = [row for path in given for row in files[path]]
    elif kind == "folder":
        arguments, read = [folder], [row for rows in visible.values() for row in rows]
    else:
        # A pattern leaves out hidden files, and the folder's own name must not be read as part of the pattern.
        shown = {path: rows for path, rows in sorted(files.items()) if path.name[0] != "."}
        arguments = [f"{_escaped(folder)}/*.csv"]
        read = [row for rows in shown.values() for row in rows]
    rules = crowds.rules(case, read or [("i", "w", "x")])
    return check_majority(case, [*arguments], rules, read, may_refuse=may_refuse)


def _escaped(folder: Path) -> str:
    """The folder as a pattern that only it matches."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in os.fspath(folder))


def _other_things(case: Case, folder: Path) -> None:
    """Put things into the folder that are no tables: notes, folders, hidden files."""
    if case.chance(0.3):
        (folder / "notes").write_bytes(b"no table")
        (folder / "_SUCCESS").touch()
        (folder / ".labels.csv.crc").write_bytes(b"\x00")
    if case.chance(0.2):
        (folder / "inner").mkdir()
        (folder / "inner" / "labels.csv").write_bytes(b"item,worker,label\nno,no,no\n")


AREA = Area("files", "several files, folders and patterns, hostile file names", attack, tested=150)
