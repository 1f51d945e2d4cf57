"""Installations and homes that cannot be written to, and compiled kernels that are damaged."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import crowdwise as cw

from .. import small_crowd
from ..area import Area, Case
from ..rule import MOST_WAITING, Verdict, judge
from ..running import in_child

_PACKAGE: Final = Path(cw.__file__).parent


def attack(case: Case) -> Verdict:
    """Run a copy of the package whose compiled kernels are damaged, missing or not ours to write."""
    random = case.random
    copy = case.folder / "installed"
    shutil.copytree(_PACKAGE, copy / "crowdwise", symlinks=True)
    small_crowd.write(case)
    damage = random.choice(("none", "none", "truncated", "empty", "flipped", "swapped", "folder"))
    _damage(case, copy, damage)
    read_only = [copy, case.home] if damage == "none" or case.chance(0.3) else []
    environment = {"PYTHONPATH": os.fspath(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    if read_only and case.chance(0.5):
        environment |= {"HOME": os.fspath(case.home / "no"), "XDG_CACHE_HOME": os.fspath(case.home / "no" / "no")}
    command = random.choice((("aggregate", "labels.csv", *small_crowd.OPTIONS), ("methods",), ("aggregate", "no.csv")))
    with not_to_be_written(read_only):  # everything may have to be compiled anew, which takes long
        run = in_child(case, *command, environment=environment)
    asked = small_crowd.outputs(case) if "truth.csv" in command else set()
    # Where nothing else can be written to, compiled kernels are kept in the folder for temporary files.
    kept = {path for path in run.changes if path.startswith(f"{case.temporary}/crowdwise-kernels-")}
    run = replace(run, changes={path: how for path, how in run.changes.items() if path not in kept})
    verdict = judge(run, asked, most_seconds=MOST_WAITING)
    if asked and verdict == "refused":
        raise run.fail("refused what it had to answer")
    if asked:
        small_crowd.check(case, run)
    return verdict


@contextmanager
def not_to_be_written(folders: list[Path]) -> Iterator[None]:
    """Let folders be read-only: by mounting them so, which also holds for root, else by their permissions."""
    mounted = []
    for folder in folders:
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o555)
        bind = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
        if bind.returncode == 0:
            mounted.append(folder)
            subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True, capture_output=True)
    try:
        yield
    finally:
        for folder in mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)
        for folder in folders:
            for place, _, _ in os.walk(folder):
                Path(place).chmod(0o755)


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
