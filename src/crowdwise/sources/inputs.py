"""What a source stands for: files, which may be exports of a platform, addresses, and tables in memory."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any, TypeAlias

from ..addresses import POSTGRES, scheme_of
from ..crowd.opening import PLAIN, Opening
from ..errors import DataError
from ..partitions.workspace import Workspace
from ..platforms.importer import Importer
from ..reading.registry import recognise
from . import cloud
from .formats import is_binary
from .frames import is_frame
from .input import Export
from .paths import Source, expand, name_of
from .scans import Scan, content_of, scan_address, scan_content, scan_frame
from .unpacking import Content, UnsoundError, in_utf_8

# A file, which may be an export; an address that polars or a database opens; or a table in memory.
Input: TypeAlias = Export | str | Any


def inputs_of(source: Any, how: Opening = PLAIN, place: Workspace | None = None) -> list[Input]:
    """Return what a source stands for, opened as far as is needed to recognise it.

    Args:
        source: The sources; see `read_labels`.
        how: What the user says of how they are opened.
        place: Where input without a path is copied to; None to read it into memory.
    """
    if is_frame(source):
        return [source]
    found: list[Input] = []
    for one in expand(source):
        for part in _fetched(one, how):
            if scheme_of(part):
                found.append(part)
                continue
            copy = None if place is None else partial(place.copy, name=f"input-{len(found)}")
            path = PurePath(part) if isinstance(part, str | os.PathLike) else PurePath()
            content = content_of(part, copy)
            found.append(Export(name_of(part), decoded(content, how.encoding, name_of(part)), path))
    return found


def decoded(content: Content, encoding: str | None, name: str) -> Content:
    """Return the content of a file; as bytes in UTF-8 if it is text in another encoding.

    A binary file stays as it is: that it has no encoding is said where it is opened.
    """
    if encoding is None or is_binary(content):
        return content
    try:
        return in_utf_8(content, encoding)
    except UnsoundError as problem:
        raise DataError(f"{name} does not read as text: {problem}.") from problem


def _fetched(source: Source, how: Opening) -> Iterable[Source]:
    """Return a source, or the files at an address in a cloud storage whose text has to be fetched."""
    scheme = scheme_of(source)
    if not scheme or scheme in POSTGRES:
        return [source]
    address = str(source)
    cloud.require_cloud(address)
    return [source] if cloud.is_scanned(address) else cloud.fetch(address, how.storage)


def recognised(inputs: Sequence[Input], format: str) -> tuple[Importer, list[Export]] | None:
    """Return the platform that wrote some inputs, and its files; None if they are tables, or no files."""
    exports = [one for one in inputs if isinstance(one, Export)]
    return recognise(exports, format) if len(exports) == len(inputs) else None


def input_name(one: Input) -> str:
    """Return the name of an input in messages."""
    return one.name if isinstance(one, Export) else "The table" if is_frame(one) else name_of(one)


def scan_input(one: Input, given: Mapping[str, str | None], how: Opening) -> Scan:
    """Return one table, ready to be read."""
    if isinstance(one, Export):
        return scan_content(one.content, given, one.name, how)
    return scan_frame(one, given, how) if is_frame(one) else scan_address(one, given, how)
