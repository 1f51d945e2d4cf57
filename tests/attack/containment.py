"""No case may write outside its own folder: the attack often runs as root, and crowdwise may have a fault."""

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from .area import Case

# The options whose value crowdwise writes to.
_WRITING: Final = frozenset({"-o", "--output", "--workers", "--workdir"})
# The variables that name folders which crowdwise, or what it is made of, writes to.
_FOLDERS: Final = ("HOME", "XDG_CACHE_HOME", "TMPDIR", "NUMBA_CACHE_DIR")


class UnsafeCaseError(Exception):
    """A case names a place outside its folder to write to, so that it is not run. This is a fault of the attack."""


def require_contained(case: Case, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
    """Raise `UnsafeCaseError` unless all that is written to, directly or behind a link, is inside the case's folder."""
    for variable in _FOLDERS:
        if variable in variables and not contained(case, variables[variable]):
            raise UnsafeCaseError(f"{variable} is {variables[variable]!r}, outside {case.folder}")
    for option, value in pairwise(arguments):
        if option in _WRITING and not contained(case, value):
            raise UnsafeCaseError(f"{option} {value!r} is outside {case.folder}")
    for place, folders, files in os.walk(case.folder):
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118  # names that are no text too
            if os.path.islink(path):  # noqa: PTH114
                behind = os.path.join(place, os.readlink(path))  # noqa: PTH115, PTH118
                if not contained(case, behind):
                    raise UnsafeCaseError(f"{path} leads to {behind}")


def contained(case: Case, path: str) -> bool:
    """Whether a path, as crowdwise would read it in the case, is inside the case's folder."""
    whole = os.path.normpath(os.path.join(case.here, path))  # noqa: PTH118
    return whole.startswith(f"{case.folder}{os.sep}")
