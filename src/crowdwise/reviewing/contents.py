"""`Contents`: what the expert sees of an item: the values of some columns, as text, pictures, sound and video."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

import polars as pl

from ..errors import quoted

# What a file is shown as, by the extension of its name.
_KINDS: Final = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".svg"), "image"),
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".oga", ".flac", ".m4a", ".opus"), "audio"),
    **dict.fromkeys((".mp4", ".webm", ".mov", ".m4v", ".ogv"), "video"),
}
# So many characters of a text are sent with the item; the rest is sent when the expert asks for it.
_FIRST_CHARACTERS: Final = 20_000
# A longer value is no path and no address.
_LONGEST_PATH: Final = 4096
# Pictures within a value, such as data:image/png;base64,..., may have so many characters.
_LONGEST_PICTURE: Final = 8_000_000


@dataclass(frozen=True, eq=False)
class Contents:
    """What is known of the items besides their labels.

    Attributes:
        columns: A column of text for each field, with a value (or null) for each item, in the order of their codes.
        folder: The folder that pictures, sound and video are taken from; None for none.
        remote: Whether the page may load them from addresses on other machines.
        remarks: Sentences for the user.
    """

    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    folder: Path | None = None
    remote: bool = False
    remarks: tuple[str, ...] = ()

    def fields(self, code: int) -> list[dict[str, Any]]:
        """Return what the page shows of an item; fields without a value are left out."""
        return [
            {"name": name, **self._shown(code, number, column[code])}
            for number, (name, column) in enumerate(self.columns.items())
            if column[code]
        ]

    def text(self, code: int, number: int) -> str | None:
        """Return the whole text of a field; None if there is none."""
        columns = list(self.columns.values())
        return columns[number][code] if number < len(columns) and code < len(columns[number]) else None

    def file(self, code: int, number: int) -> Path | None:
        """Return the file that a field names, if it is in the folder; None if not, whatever the name is."""
        value = self.text(code, number)
        return None if value is None or self.folder is None else _inside(self.folder, value)

    def _shown(self, code: int, number: int, value: str) -> dict[str, Any]:
        """Return how a value is shown: its kind, and what the browser needs for it."""
        if value.startswith("data:image/") and len(value) <= _LONGEST_PICTURE:
            return {"kind": "image", "value": "", "address": value}
        kind = _kind_of(value)
        address = _is_address(value)
        if kind is not None and address and self.remote:
            return {"kind": kind, "value": value, "address": value}
        if address:
            return {"kind": "link", "value": value}
        if kind is not None and self.folder is not None:
            if self.file(code, number) is not None:
                return {"kind": kind, "value": value, "address": f"/media/{code}/{number}"}
            problem = f"There is no file {quoted(value)} in the folder {quoted(str(self.folder))}."
            return {"kind": "missing", "value": value, "problem": problem}
        return {
            "kind": "text",
            "value": value[:_FIRST_CHARACTERS],
            "length": len(value),
            "whole": len(value) <= _FIRST_CHARACTERS,
            "address": f"/api/text/{code}/{number}",
        }


def _is_address(value: str) -> bool:
    return len(value) <= _LONGEST_PATH and value.startswith(("http://", "https://")) and " " not in value.strip()


def _kind_of(value: str) -> str | None:
    """Return what a file of this name or address is shown as; None if it is none that can be shown.

    >>> _kind_of("cats/1.JPG"), _kind_of("https://host/a.mp3?size=1"), _kind_of("Is this a.b?")
    ('image', 'audio', None)
    """
    if len(value) > _LONGEST_PATH or "\n" in value:
        return None
    try:
        path = urlsplit(value).path if _is_address(value) else value
    except ValueError:
        return None
    return _KINDS.get(PurePosixPath(path.strip()).suffix.lower())


def _inside(folder: Path, name: str) -> Path | None:
    """Return a file of a folder by its relative name; None if there is none, or if it is anywhere else."""
    if "\0" in name:
        return None
    try:
        root = folder.resolve(strict=True)
        path = (root / name.strip()).resolve(strict=True)
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
