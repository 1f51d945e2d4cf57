"""Targets of every kind: old files, links, folders, permissions, an input by another name, two targets in one."""

import os
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..answers import compare
from ..area import Area, Case
from ..majority import Row, Rules, majority
from ..rule import Verdict, judge
from ..running import in_process

_ROWS: Final[list[Row]] = [("1", "a", "x"), ("1", "b", "y"), ("1", "c", "x"), ("2", "a", "y"), ("2", "b", "y")]
_OLD: Final = "old content\n"


def _nothing(_: Path) -> None:
    """There is nothing yet."""


def _old(target: Path) -> None:
    target.write_text(_OLD)


def _private(target: Path) -> None:
    target.write_text(_OLD)
    target.chmod(0o600)


def _read_only(target: Path) -> None:
    target.write_text(_OLD)
    target.chmod(0o444)


def _link(target: Path) -> None:
    behind = target.with_name(f"behind-{target.name}")
    behind.write_text(_OLD)
    target.symlink_to(behind.name)


def _hard_link(target: Path) -> None:
    behind = target.with_name(f"behind-{target.name}")
    behind.write_text(_OLD)
    target.hardlink_to(behind)


def _dangling(target: Path) -> None:
    target.symlink_to(f"new-{target.name}")


def _dangling_far(target: Path) -> None:
    target.symlink_to("no/such/folder/file.csv")


def _loop(target: Path) -> None:
    target.symlink_to(target.name)


def _folder(target: Path) -> None:
    target.mkdir()


def _link_to_folder(target: Path) -> None:
    target.with_suffix(".d").mkdir()
    target.symlink_to(target.with_suffix(".d").name)


def _fifo(target: Path) -> None:
    os.mkfifo(target)


def _input(target: Path) -> None:
    target.symlink_to("labels.csv")


def _input_hard(target: Path) -> None:
    target.hardlink_to(target.with_name("labels.csv"))


def _device(target: Path) -> None:
    """A device that is always full, of this case alone; where that may not be made, a named pipe."""
    try:
        os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except OSError:
        os.mkfifo(target)


# Kinds of targets, and whether crowdwise must write them; of the others it may refuse some.
_KINDS: Final[dict[Callable[[Path], None], bool]] = {
    _nothing: True,
    _old: True,
    _private: True,
    _link: True,
    _read_only: False,
    _hard_link: False,
    _dangling: False,
    _dangling_far: False,
    _loop: False,
    _folder: False,
    _link_to_folder: False,
    _fifo: False,
    _input: False,
    _input_hard: False,
    _device: False,
}


def attack(case: Case) -> Verdict:
    """Write to two targets, and look at what became of them and of everything else."""
    random = case.random
    rows = [("item", "worker", "label"), *_ROWS]
    (case.here / "labels.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    kinds = random.choices(list(_KINDS), weights=[5 if must else 1 for must in _KINDS.values()], k=2)
    targets = [case.here / "one.csv", case.here / "two.csv"]
    for kind, target in zip(kinds, targets, strict=True):
        kind(target)
    pinned = targets[1] if kinds[1] is _old and case.chance(0.3) and _pin(targets[1]) else None
    modes = [_mode(target) for target in targets]
    sources = random.choice((["labels.csv"], ["./labels.csv"], [f"{case.here}/../here/labels.csv"]))
    try:
        run = in_process(case, "aggregate", *sources, "-q", "-m", "mv", "-o", "one.csv", "--workers", "two.csv")
    finally:
        if pinned is not None:
            subprocess.run(["umount", pinned], check=False)
    behind = {target.resolve() for target, kind in zip(targets, kinds, strict=True) if kind in (_link, _dangling)}
    if pinned is not None and run.code == 1 and f"Written before that: {targets[0].resolve()}." in run.told:
        # Nobody could know before; then it is said, and the first target is whole.
        run = replace(
            run, changes={path: how for path, how in run.changes.items() if path != str(targets[0].resolve())}
        )
    verdict = judge(run, {str(path) for path in (*targets, *behind)})
    if verdict == "refused":
        if all(_KINDS[kind] for kind in kinds) and pinned is None:
            raise run.fail("refused targets that it had to write")
        return verdict
    for kind, target in zip(kinds, targets, strict=True):
        if kind in (_device, _fifo) and target.is_file():
            raise run.fail("replaced a device or a pipe by a file")
    if all(_KINDS[kind] for kind in kinds):
        compare(majority(_ROWS, Rules(), is_text=True), *targets)
        if any(mode and mode != _mode(target) for target, mode in zip(targets, modes, strict=True)):
            raise run.fail("permissions of a target changed")
        if any(kind is _link and not target.is_symlink() for kind, target in zip(kinds, targets, strict=True)):
            raise run.fail("a link was replaced by a file")
    return verdict


def _mode(target: Path) -> int:
    """The permissions of a target; 0 if there is none."""
    return stat.S_IMODE(target.stat().st_mode) if target.is_file() else 0


def _pin(target: Path) -> bool:
    """Make a file that nobody can replace, by mounting it onto itself; whether that is allowed here."""
    done = subprocess.run(["mount", "--bind", target, target], check=False, capture_output=True)
    return done.returncode == 0


AREA = Area("outputs", "old files, links, permissions, inputs, targets that cannot be replaced", attack, tested=200)
