"""Files replaced all or none: new content goes to temporary files, which are renamed when all are complete.

The process that writes a temporary file keeps it locked. One that nobody has locked was left by a process that was
killed, and the next process that writes to the same target removes it. `tempfile` knows nothing of that, and makes
files that only their owner may read.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from ..errors import CallError, DataError, require_no_address
from ..system import first_line, lock

# Windows renames no file that is open, so temporary files are not locked there, and none is taken for left behind.
_LOCKS: Final = os.name != "nt"
# How much of the name of a target is in that of its temporary file, in bytes; names may have 255 in most file systems.
_NAME_BYTES: Final = 100


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those around it, as far as they are missing; if the `with` block fails, they are removed again.

    Raises:
        CallError: The folder cannot be made.
    """
    require_no_address(folder, "The folder")
    made: list[Path] = []
    try:
        try:
            missing = [path for path in (folder, *folder.parents) if not path.exists()]
            for path in reversed(missing):
                path.mkdir()
                made.append(path)
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", problem)
            raise CallError(f"The folder {folder} cannot be made: {reason}.") from problem
        yield
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):  # others may have put something into it
                path.rmdir()
        raise


@contextmanager
def temporary_files(targets: Sequence[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """Create empty temporary files beside the targets, for the caller to write to.

    At the end they are renamed to the targets: all of them, or none if one cannot be. If anything fails before that,
    they are removed, and no target is changed. Raises `DataError` if they cannot be created or renamed.
    """
    files = [Path(os.path.realpath(target)) for target in targets]  # a link stays, and the file behind it is written
    with ExitStack() as stack:
        temporaries = [stack.enter_context(_temporary_beside(file)) for file in files]
        yield temporaries
        _replace(files, temporaries)


@contextmanager
def _temporary_beside(file: Path) -> Iterator[Path]:
    """Create an empty temporary file beside another, locked; at the end it is removed if it still has its name."""
    _remove_left_behind(file)
    try:
        temporary, descriptor = _create_beside(file)
    except OSError as problem:
        raise DataError(f"{file} could not be written: {first_line(problem)}.") from problem
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)


def _create_beside(file: Path) -> tuple[Path, int | None]:
    """Create an empty file, and return its path and the descriptor that locks it; None where files are not locked."""
    while True:
        temporary = _new_name(file)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if not _LOCKS or not lock(descriptor, wait=True):
            os.close(descriptor)
            return temporary, None
        # Another process may have removed the file before it was locked.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), temporary.stat()):
                return temporary, descriptor
        os.close(descriptor)


def _prefix(file: Path) -> str:
    return f".{file.name.encode(errors='ignore')[:_NAME_BYTES].decode(errors='ignore')}."


def _new_name(file: Path) -> Path:
    """Return a path beside a file that nobody else has or can foresee."""
    return file.parent / f"{_prefix(file)}{secrets.token_hex(8)}.part"


def _remove_left_behind(file: Path) -> None:
    """Remove the temporary files of this user for a target that no running process has locked."""
    ours = re.compile(re.escape(_prefix(file)) + r"[0-9a-f]{16}\.part")
    beside: list[Path] = []
    with suppress(OSError):  # a folder that may be written to, but not be listed
        beside = [path for path in file.parent.iterdir() if ours.fullmatch(path.name)]
    for path in beside if _LOCKS else ():
        with suppress(OSError), ExitStack() as stack:  # it may be another user's, or removed by another process
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            stack.callback(os.close, descriptor)
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and lock(descriptor, wait=False):
                path.unlink()


def _replace(files: Sequence[Path], temporaries: Sequence[Path]) -> None:
    """Rename temporary files to the files they are for, which keep their permissions; all of them, or none."""
    several = len(files) > 1
    with ExitStack() as second_names, ExitStack() as undo:
        for file, temporary in zip(files, temporaries, strict=True):
            try:
                old = second_names.enter_context(_second_name(file)) if several and file.exists() else None
                if file.exists():
                    temporary.chmod(stat.S_IMODE(file.stat().st_mode))
                temporary.replace(file)
            except OSError as problem:
                raise DataError(f"{file} could not be written: {first_line(problem)}.") from problem
            if several:
                undo.callback(_put_back, file, old)
        undo.pop_all()


def _put_back(file: Path, old: Path | None) -> None:
    """Let a file be as it was before it was replaced: what has the name `old`, or no file."""
    with suppress(OSError):
        if old is None:
            file.unlink()
        else:
            old.replace(file)


@contextmanager
def _second_name(file: Path) -> Iterator[Path]:
    """Give a file a second name beside it, under which it is kept while it is replaced. It is locked meanwhile."""
    name = _new_name(file)
    try:
        os.link(file, name)
    except OSError:  # a file system that has no links
        shutil.copy2(file, name)
    with ExitStack() as stack:
        stack.callback(name.unlink, missing_ok=True)
        if _LOCKS:
            descriptor = os.open(name, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            lock(descriptor, wait=False)
        yield name
