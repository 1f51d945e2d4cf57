"""Find out which platform wrote an export, by its content; and whether files are exports at all, or tables."""

from collections.abc import Iterator, Sequence
from typing import Final

from ..errors import CallError, DataError, did_you_mean
from ..platforms import IMPORTERS, REFUSED
from ..platforms.answers import Answer, Found
from ..platforms.gathering import Gathered, gather
from ..platforms.importer import Importer, ImportOptions
from ..sources.input import Export, NotAsExpectedError, worker_name

# The formats that users can name besides those of platforms.
AUTO: Final = "auto"
TABLE: Final = "table"
# The extensions of workbooks of Excel, and a file in each of them: they are zips too.
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_WORKBOOK: Final = "[Content_Types].xml"


def check_format(name: str) -> None:
    """Raise `CallError` if there is no such format."""
    known = [AUTO, TABLE, *(one.key for one in IMPORTERS)]
    if name not in known:
        raise CallError(f"There is no format {name!r}; the formats are {', '.join(known)}.{did_you_mean(name, known)}")


def recognise(exports: Sequence[Export], wanted: str) -> tuple[Importer, list[Export]] | None:
    """Return the platform that wrote these files, and its files, those in zips among them; None if they are tables.

    Args:
        exports: The files.
        wanted: The key of the platform, "auto" to recognise it, or "table".

    Raises:
        DataError: Some of the files are exports of a platform, and others are not.
    """
    first = exports[0]
    if wanted == TABLE or _is_workbook(first):
        return None
    files = list(exports)
    importer = _named(wanted) or _importer_of(first)
    if importer is None and first.is_zip:
        # A zip of which no platform knows more than what is in its files.
        inside = next(first.peek(), None)
        if inside is None:
            raise DataError(f"{first.name} is an empty zip.")
        importer = _importer_of(inside)
        if importer is None:
            raise DataError(
                f"{first.name} is a zip of files that no known platform writes: unpack it, and name the tables."
            )
        files = [inner for one in files for inner in (one.unpack() if one.is_zip else [one])]
    if importer is None:
        return None
    for one in files if wanted == AUTO else []:
        if not importer.recognises(one):
            raise DataError(
                f"{files[0].name} is {importer.name}, but {one.name} is none: read them one after the other."
            )
    return importer, files


def _is_workbook(export: Export) -> bool:
    """Return whether a file is a workbook of Excel; a damaged one is so by its name."""
    return export.path.suffix.lower() in _WORKBOOKS or _WORKBOOK in export.members


def _named(key: str) -> Importer | None:
    """Return the platform with a key; None for "auto"."""
    return next((one for one in IMPORTERS if one.key == key), None)


def _importer_of(export: Export) -> Importer | None:
    """Return the platform that wrote a file; None if none is known to."""
    return next((one for one in (*IMPORTERS, *REFUSED) if one.recognises(export)), None)


def read_export(importer: Importer, exports: Sequence[Export], options: ImportOptions) -> Gathered:
    """Return what is in an export.

    Raises:
        CallError: An option was given that the platform has no use for.
        DataError: A file is not as the platform writes it.
    """
    for name in ("item", "worker", "verdict", "verdict_field", "id", "items", "pairs"):
        if getattr(options, name) is not None and name not in importer.uses:
            raise CallError(f"{name}= (--{name.replace('_', '-')}) does nothing for {importer.name}.")
    if options.models and importer.judges:
        raise CallError(f"models= (--models) does nothing for {importer.name}, where every vote is a model's.")
    try:
        return gather(importer, _found(importer, exports, options), exports[0].name)
    except NotAsExpectedError as problem:
        raise DataError(
            f"This looks like {importer.name}, but {str(problem).rstrip('.')}. Export it once more."
        ) from problem


def _found(importer: Importer, exports: Sequence[Export], options: ImportOptions) -> Iterator[Found]:
    """Yield what is in an export; if the user says so, workers are named by their files or folders."""
    if options.worker_from is None or "worker_from" in importer.uses:
        yield from importer.read(exports, options)
        return
    for export in exports:
        worker = worker_name(export.path, options.worker_from, export.name)
        for one in importer.read([export], options):
            yield one._replace(worker=worker) if isinstance(one, Answer) and not one.model else one
