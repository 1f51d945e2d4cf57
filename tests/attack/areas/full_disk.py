"""Disks that fill up: under an output, under the work folder, under temporary files."""

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import crowdwise as cw

from ..area import Area, Case
from ..rule import Verdict, judge
from ..running import in_process


def attack(case: Case) -> Verdict:
    """Write to a disk of a few kilobytes, or with a limit on the size of files."""
    random = case.random
    labels = case.here / random.choice(("labels.csv", "labels.parquet"))
    cw.write({labels: cw.simulate(random.choice((50, 500, 3000)), 10, 3, seed=case.seed).rows})
    small = case.here / "small"
    small.mkdir()
    size = random.choice((0, 4, 8, 16, 40, 100, 400)) * 1024
    target = small / random.choice(("truth.csv", "truth.parquet", "truth.jsonl.gz", "truth.arrow"))
    where = random.choice(("output", "page", "workdir", "input"))
    arguments = {
        "output": ["aggregate", labels, "-m", "mv", "-o", target, "--workers", case.here / "workers.csv"],
        "page": ["report", labels, "-m", "mv", "-o", small / "page.html"],
        "workdir": ["aggregate", labels, "-m", "mv", "--engine", "disk", "--workdir", small, "-o", case.here / "t.csv"],
        "input": ["aggregate", "-", "-m", "mv", "--engine", "disk", "--workdir", small, "-o", case.here / "t.csv"],
    }[where]
    outputs = {str(target), str(case.here / "workers.csv"), str(small / "page.html"), str(case.here / "t.csv")}
    with _small_disk(small, size):
        run = in_process(case, *arguments, "--quiet", stdin=labels.read_bytes() if where == "input" else b"")
        return judge(run, outputs)


@contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[None]:
    """Let a folder be a disk of so many bytes; where mounting is not allowed, let no file be larger than that."""
    options = ["-t", "tmpfs", "-o", f"size={max(size, 4096)}"]
    if subprocess.run(["mount", *options, "none", folder], check=False, capture_output=True).returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


AREA = Area("disk", "full disks under outputs, pages, work folders", attack, tested=24, weight=30)
