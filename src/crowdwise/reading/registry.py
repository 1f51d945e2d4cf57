"""`READERS`: the one ordered list of readers, and which of them reads an input, by its beginning."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, did_you_mean
from ..platforms import PLATFORMS, REFUSED
from ..platforms.gathering import Gathered, Keep, gather
from ..platforms.platform import Answer, Finding, Platform
from ..sources.cloud import CLOUD_TABLE
from ..sources.formats import EXCEL, FORMATS, FRAME, Format, is_binary
from ..sources.input import Input, NotAsExpectedError, worker_name
from ..sources.paths import Copy, inputs_of
from ..sources.unpacking import UnsoundError, in_utf_8

Reader: TypeAlias = Platform | Format

_DATABASES: Final = tuple(one for one in FORMATS if one.schemes)
# The first that recognises an input reads it. Workbooks of Excel are zips, as exports of some platforms are. The last
# one, CSV, takes any text.
READERS: Final[tuple[Reader, ...]] = tuple(
    dict.fromkeys((FRAME, *_DATABASES, CLOUD_TABLE, EXCEL, *PLATFORMS, *REFUSED, *FORMATS))
)
# What users can name as the format, besides platforms.
AUTO: Final = "auto"
TABLE: Final = "table"


def check_format(name: str) -> None:
    """Raise `CallError` if there is no such format."""
    known = [AUTO, TABLE, *(one.key for one in PLATFORMS)]
    if name not in known:
        raise CallError(f"There is no format {name!r}; the formats are {', '.join(known)}.{did_you_mean(name, known)}")


def open_inputs(source: Any, options: ReadOptions, copy: Copy | None = None) -> list[Input]:
    """Return the inputs that a source stands for, with text in UTF-8; see `inputs_of`."""
    return [decoded(one, options.encoding) for one in inputs_of(source, options, copy)]


def decoded(one: Input, encoding: str | None) -> Input:
    """Return an input with its text in UTF-8, of which the user says how it is stored.

    A binary file stays as it is: that it has no encoding is said where it is opened.
    """
    if encoding is None or not one.is_file or is_binary(one):
        return one
    try:
        return replace(one, content=in_utf_8(one.content, encoding))
    except UnsoundError as problem:
        raise DataError(f"{one.name} does not read as text: {problem}.") from problem


def reader_of(one: Input, wanted: str) -> Reader | None:
    """Return the reader of an input.

    Args:
        one: The input.
        wanted: "auto" for the first that recognises it, "table" for the first that is no platform, or the key of a
            platform.

    Returns:
        The reader; None for a zip that none recognises by itself.
    """
    named = [reader for reader in PLATFORMS if reader.key == wanted]
    if named:
        return named[0]
    asked = (reader for reader in READERS if wanted == AUTO or isinstance(reader, Format))
    for reader in asked:
        if (reader is not READERS[-1] or wanted == TABLE or not one.is_zip) and reader.recognises(one):
            return reader
    return None


def platform_of(inputs: Sequence[Input], wanted: str) -> tuple[Platform, list[Input]] | None:
    """Return the platform that wrote these inputs, and its files, those in zips among them; None if they are tables.

    Raises:
        DataError: Some of the files are exports of a platform, and others are not.
    """
    first, files = inputs[0], list(inputs)
    reader = reader_of(first, wanted)
    if reader is None:  # a zip of which no platform knows more than what is in its files
        inside = next(first.peek(), None)
        if inside is None:
            raise DataError(f"{first.name} is an empty zip.")
        reader = reader_of(inside, AUTO)
        if not isinstance(reader, Platform):
            raise DataError(
                f"{first.name} is a zip of files that no known platform writes: unpack it, and name the tables."
            )
        files = [inner for one in files for inner in (one.unpack() if one.is_zip else [one])]
    if not isinstance(reader, Platform):
        return None
    for one in files if wanted == AUTO else []:
        if not reader.recognises(one):
            raise DataError(f"{files[0].name} is {reader.name}, but {one.name} is none: read them one after the other.")
    return reader, files


def read_export(
    platform: Platform, files: Sequence[Input], options: ReadOptions, keep: Keep = lambda table: table
) -> Gathered:
    """Return what is in an export. `keep` keeps its answers, in memory or on disk.

    Raises:
        CallError: An option was given that the platform has no use for.
        DataError: A file is not as the platform writes it.
    """
    for name in options.given(("item", "worker", "verdict", "verdict_field", "id", "items", "pairs")):
        if name not in platform.uses:
            raise CallError(f"{name}= (--{name.replace('_', '-')}) does nothing for {platform.name}.")
    if options.models and platform.judges:
        raise CallError(f"models= (--models) does nothing for {platform.name}, where every vote is a model's.")
    try:
        return gather(platform, _findings(platform, files, options), files[0].name, keep)
    except NotAsExpectedError as problem:
        raise DataError(
            f"This looks like {platform.name}, but {str(problem).rstrip('.')}. Export it once more."
        ) from problem


def _findings(platform: Platform, files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    """Yield what is in an export; if the user says so, workers are named by their files or folders."""
    if options.worker_from is None or "worker_from" in platform.uses:
        yield from platform.read(files, options)
        return
    for file in files:
        worker = worker_name(file.path, options.worker_from, file.name)
        for one in platform.read([file], options):
            yield one._replace(worker=worker) if isinstance(one, Answer) and not one.model else one
