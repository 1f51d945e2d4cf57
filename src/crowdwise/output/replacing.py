"""Replace files: new content goes to temporary files beside them, which are renamed when all of them are complete.

The process that writes a temporary file keeps it locked. One that nobody has locked was left by a process that was
killed, and the next process that writes to the same target removes it.
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
from typing import Any, Final

from ..addresses import scheme_of
from ..errors import CallError, DataError, require_no_address
from ..system import first_line, lock

# Windows renames no file that is open, so temporary files are not locked there, and none is taken for left behind.
_LOCKS: Final = os.name != "nt"
# How much of the name of a target is in that of its temporary file, in bytes; names may have 255 in most file systems.
_NAME_BYTES: Final = 100


def identity(path: str | os.PathLike[str]) -> Any:
    """Return a value that is the same for all names of one file: other spellings of its path, and links to it."""
    try:
        found = Path(path).stat()
    except OSError:
        found = None
    except ValueError:  # no path at all, such as text with a null character
        return os.fspath(path)
    if found is not None and found.st_ino:
        return found.st_dev, found.st_ino
    return os.path.normcase(os.path.realpath(path))


def target_path(path: str | os.PathLike[str]) -> Path:
    """Return a path to write to. Raises `CallError` if it is none."""
    if isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str):
        return Path(path)
    raise CallError(f"A {type(path).__name__} is no path to write to.")


def check_distinct(targets: Sequence[str | os.PathLike[str]]) -> None:
    """Raise `CallError` if two of the targets are the same file."""
    known: dict[Any, str] = {}
    for target in [os.fspath(path) if scheme_of(path) else os.fspath(target_path(path)) for path in targets]:
        place = target if scheme_of(target) else identity(target)
        if place in known:
            names = " and ".join(dict.fromkeys([known[place], target]))
            raise CallError(f"{names}: one file cannot hold both tables; name two files.")
        known[place] = target


def check_replaceable(target: Path) -> None:
    """Raise `CallError` if no file can be written to this path, or if the file there cannot be replaced."""
    try:
        file = _behind_links(target)
        folder = file.parent if target.is_symlink() else target.parent
        there, around = _status(file), _status(file.parent)
    except (OSError, ValueError) as problem:  # such as a name that is too long, or links that go in a circle
        raise CallError(f"{target} cannot be written to: {getattr(problem, 'strerror', problem)}.") from problem
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise CallError(f"{target} is a folder; name a file in it.")
    if around is None or not stat.S_ISDIR(around.st_mode):
        raise CallError(f"There is no folder {folder} to write {file.name} to.")
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise CallError(f"The folder {folder} may not be written to.")
    if there is None:
        return
    if not stat.S_ISREG(there.st_mode):
        raise CallError(f"{target} is a device, a pipe or a socket, which no file can replace; name a file.")
    if not os.access(file, os.W_OK):
        raise CallError(f"{target} is protected against writing; name another file, or allow to write to it.")
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    if around.st_mode & stat.S_ISVTX and user not in (0, around.st_uid, there.st_uid):
        raise CallError(f"{target} is another user's, and {folder} lets only owners replace a file; name another.")


def _behind_links(target: str | os.PathLike[str]) -> Path:
    """Return the path of the file itself. Unlike `Path.resolve`, this leaves links that go in a circle to others."""
    return Path(os.path.realpath(target))


def _status(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file or folder; None if there is none. Raises OSError if it cannot be asked."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


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
            missing = [one for one in (folder, *folder.parents) if not one.exists()]
            for one in reversed(missing):
                one.mkdir()
                made.append(one)
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", problem)
            raise CallError(f"The folder {folder} cannot be made: {reason}.") from problem
        yield
    except BaseException:
        for one in reversed(made):
            with suppress(OSError):  # others may have put something into it
                one.rmdir()
        raise


@contextmanager
def temporary_files(targets: Sequence[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """Create empty temporary files beside the targets, for the caller to write to.

    At the end they are renamed to the targets: all of them, or none if one cannot be. If anything fails before that,
    they are removed, and no target is changed. Raises `DataError` if they cannot be created or renamed.
    """
    files = [_behind_links(target) for target in targets]  # a link stays, and the file behind it is written
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
    """Create an empty file under a name that nobody else has or can foresee, and lock it.

    Returns:
        Its path, and the file descriptor that holds the lock; None where files are not locked.
    """
    while True:
        temporary = file.parent / f"{_prefix(file)}{secrets.token_hex(8)}.part"
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
    """Return how the names of temporary files for a target begin."""
    return f".{file.name.encode(errors='ignore')[:_NAME_BYTES].decode(errors='ignore')}."


def _remove_left_behind(file: Path) -> None:
    """Remove the temporary files for this target that were left by processes that were killed."""
    ours = re.compile(re.escape(_prefix(file)) + r"[0-9a-f]{16}\.part")
    beside: list[Path] = []
    with suppress(OSError):  # a folder that may be written to, but not be listed
        beside = [path for path in file.parent.iterdir() if ours.fullmatch(path.name)]
    for path in beside if _LOCKS else ():
        with suppress(OSError):  # of another user, or removed by another process
            _remove_if_unlocked(path)


def _remove_if_unlocked(temporary: Path) -> None:
    """Remove a temporary file of this user that no running process has locked."""
    descriptor = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and lock(descriptor, wait=False):
            temporary.unlink()
    finally:
        os.close(descriptor)


def _replace(files: Sequence[Path], temporaries: Sequence[Path]) -> None:
    """Rename temporary files to the files they are for, which keep their permissions; all of them, or none."""
    with ExitStack() as kept:
        before: dict[Path, Path | None] = {}
        try:
            for file, temporary in zip(files, temporaries, strict=True):
                try:
                    old = kept.enter_context(_second_name(file)) if len(files) > 1 and file.exists() else None
                    if file.exists():
                        temporary.chmod(stat.S_IMODE(file.stat().st_mode))
                    temporary.replace(file)
                except OSError as problem:
                    raise DataError(f"{file} could not be written: {first_line(problem)}.") from problem
                before[file] = old
        except BaseException:
            for file, old in before.items():
                with suppress(OSError):
                    _put_back(file, old)
            raise


def _put_back(file: Path, old: Path | None) -> None:
    """Let a file be as it was before it was replaced: what has the name `old`, or no file."""
    if old is None:
        file.unlink()
    else:
        old.replace(file)


@contextmanager
def _second_name(file: Path) -> Iterator[Path]:
    """Give a file a second name beside it, under which it is kept while it is replaced. It is locked meanwhile."""
    name = file.parent / f"{_prefix(file)}{secrets.token_hex(8)}.part"
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
