"""Installations and homes that cannot be written to, and compiled kernels that are damaged."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

import crowdwise as cw

from .. import small_crowd
from ..area import Area, Case
from ..rule import Verdict, judge
from ..running import in_child

_PACKAGE: Final = Path(cw.__file__).parent
_NOBODY: Final = 65534


def attack(case: Case) -> Verdict:
    """Run a copy of the package whose compiled kernels are damaged, missing or not ours to write."""
    random = case.random
    case.folder.chmod(0o755)
    copy = case.folder / "installed"
    shutil.copytree(_PACKAGE, copy / "crowdwise", symlinks=True)
    small_crowd.write(case)
    damage = random.choice(("none", "none", "truncated", "empty", "flipped", "swapped", "folder"))
    _damage(case, copy, damage)
    read_only = damage == "none" or case.chance(0.3)
    options: dict[str, Any] = {}
    environment = {"PYTHONPATH": os.fspath(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    if read_only:
        options = _make_read_only(case, copy)
        if case.chance(0.5):
            environment |= {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent/.cache"}
    command = random.choice((("aggregate", "labels.csv", *small_crowd.OPTIONS), ("methods",), ("aggregate", "no.csv")))
    # Everything may have to be compiled anew.
    run = in_child(case, *command, environment=environment, most_seconds=300, **options)
    asked = small_crowd.outputs(case) if "truth.csv" in command else set()
    verdict = judge(run, asked, most_seconds=300)
    if asked and verdict == "refused":
        raise run.fail("refused what it had to answer")
    if asked:
        small_crowd.check(case, run)
    return verdict


def _make_read_only(case: Case, copy: Path) -> dict[str, Any]:
    """Let nobody write to the installation and the home; who may do everything becomes somebody who may not."""
    for place, folders, files in os.walk(copy):
        for name in (*folders, *files):
            path = Path(place, name)
            path.chmod(0o555 if path.is_dir() else 0o444)
    copy.chmod(0o555)
    case.home.chmod(0o555)
    if os.geteuid() != 0:
        return {}
    for folder in (case.here, case.temporary):
        os.chown(folder, _NOBODY, _NOBODY)
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}


def _damage(case: Case, copy: Path, kind: str) -> None:
    """Damage some of the compiled kernels."""
    random = case.random
    compiled = sorted([*copy.rglob("*.nbi"), *copy.rglob("*.nbc")])
    if kind == "none" or not compiled:
        for path in compiled if case.chance(0.3) else []:
            path.unlink()
        return
    chosen = random.sample(compiled, max(1, len(compiled) // random.choice((1, 3, 10))))
    other = random.choice(compiled).read_bytes()
    for path in chosen:
        content = path.read_bytes()
        place = random.randrange(len(content))
        if kind == "folder":
            path.unlink()
            path.mkdir()
            continue
        path.write_bytes(
            {
                "truncated": content[:place],
                "empty": b"",
                "flipped": content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :],
                "swapped": other,
            }[kind]
        )


AREA = Area("caches", "read-only installations and homes, damaged compiled kernels", attack, tested=3, weight=2)
