"""`READERS`: the one ordered list of readers, and which of them reads an input, by its beginning."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ..crowd.read_options import FOR_SOME_PLATFORMS, ReadOptions, option_of
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
    known = [AUTO, TABLE, *(platform.key for platform in PLATFORMS)]
    if name not in known:
        raise CallError(f"There is no format {name!r}; the formats are {', '.join(known)}.{did_you_mean(name, known)}")


def open_inputs(source: Any, options: ReadOptions, copy: Copy | None = None) -> list[Input]:
    """Return the inputs that a source stands for, with text in UTF-8; see `inputs_of`."""
    return [decoded(entry, options.encoding) for entry in inputs_of(source, options, copy)]


def decoded(entry: Input, encoding: str | None) -> Input:
    """Return an input with its text, which is stored in this encoding, in UTF-8.

    A binary file stays as it is: that it has no encoding is said where it is opened.
    """
    if encoding is None or not entry.is_file or is_binary(entry):
        return entry
    try:
        return replace(entry, content=in_utf_8(entry.content, encoding))
    except UnsoundError as problem:
        raise DataError(f"{entry.name} does not read as text: {problem}.") from problem


def _reader_of(entry: Input, wanted: str) -> Reader | None:
    """Return the reader of an input; None for a zip that none recognises by itself.

    `wanted` is "auto" for the first that recognises it, "table" for the first that is no platform, or a platform's key.
    """
    named = [reader for reader in PLATFORMS if reader.key == wanted]
    if named:
        return named[0]
    for reader in READERS:  # the last one takes any text, and would say that a zip is none
        if isinstance(reader, Platform) and wanted == TABLE:
            continue
        if (reader is not READERS[-1] or wanted == TABLE or not entry.is_zip) and reader.recognises(entry):
            return reader
    return None


def platform_of(inputs: Sequence[Input], wanted: str) -> tuple[Platform, list[Input]] | None:
    """Return the platform that wrote these inputs, and its files, those in zips among them; None if they are tables.

    Raises:
        DataError: Some of the files are exports of a platform, and others are not.
    """
    first, files = inputs[0], list(inputs)
    reader = _reader_of(first, wanted)
    if reader is None:  # a zip of which no platform knows more than what is in its files
        inside = next(first.peek(), None)
        if inside is None:
            raise DataError(f"{first.name} is an empty zip.")
        reader = _reader_of(inside, AUTO)
        if not isinstance(reader, Platform):
            if "xl/workbook.xml" in first.members:
                raise DataError(f"{first.name} is a workbook of Excel: give it a name that ends in .xlsx.")
            raise DataError(
                f"{first.name} is a zip of files that no known platform writes: unpack it, and name the tables."
            )
        files = [inner for file in files for inner in (file.unpack() if file.is_zip else [file])]
    if not isinstance(reader, Platform):
        return None
    for file in files if wanted == AUTO else []:
        if not reader.recognises(file):
            raise DataError(f"{files[0].name} is {reader.name}, but {file.name} is not: read them separately.")
    return reader, files


def read_export(
    platform: Platform, files: Sequence[Input], options: ReadOptions, keep: Keep = lambda table: table
) -> Gathered:
    """Return what is in an export. `keep` keeps its answers, in memory or on disk.

    Raises:
        CallError: An option was given that the platform has no use for.
        DataError: A file is not as the platform writes it.
    """
    for name in options.given(("item", "worker", *FOR_SOME_PLATFORMS)):
        if name not in platform.uses:
            raise CallError(f"{name}= ({option_of(name)}) does nothing for {platform.name}.")
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
        for finding in platform.read([file], options):
            yield finding._replace(worker=worker) if isinstance(finding, Answer) and not finding.model else finding
