"""Run many cases on several processes, and count what came of them."""

import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from .area import Area, command, run_case
from .rule import MOST_WAITING, Failure, TooLongFailure

# A case that has not ended by itself after so many seconds is ended with its process.
_HANGS: Final = 2 * MOST_WAITING + 60
_UNEXPECTED: Final = "the attack itself failed"


@dataclass
class Count:
    """What came of the cases of one area: how many were right, refused and failed, and the seconds they took."""

    right: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        """How many cases there were."""
        return self.right + self.refused + self.failed


@dataclass
class Tally:
    """What came of an attack.

    Attributes:
        counts: What came of the cases of every area.
        failures: The area, the seed and the reason of every failure.
        seconds: How long the attack took.
    """

    areas: Sequence[Area]
    counts: dict[str, Count] = field(default_factory=dict)
    failures: list[tuple[str, int, str]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.counts = {area.name: Count() for area in self.areas}

    def add(self, area: str, seed: int, outcome: str, seconds: float) -> None:
        """Count one case. `outcome` is "right", "refused", or why it failed."""
        count = self.counts[area]
        count.seconds += seconds
        if outcome in ("right", "refused"):
            setattr(count, outcome, getattr(count, outcome) + 1)
            return
        count.failed += 1
        self.failures.append((area, seed, outcome))

    def rows(self) -> list[tuple[str, ...]]:
        """The table: a row for each area, and their sum."""
        shown = [(area.name, area.tries, self.counts[area.name]) for area in self.areas]
        total = Count(*(sum(getattr(one, name) for one in self.counts.values()) for name in vars(Count())))
        return [
            (name, tries, *(f"{number:,}" for number in (one.cases, one.right, one.refused, one.failed)))
            for name, tries, one in [*shown, ("all", "", total)]
        ]

    def table(self) -> str:
        """The table as text for the terminal."""
        rows = [("area", "what is tried", "cases", "right", "refused", "failures"), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = []
        for row in rows:
            text = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
            numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join([*text, *numbers]))
        return "\n".join([*lines, f"{self.seconds:,.0f} seconds"])


def run_many(areas: Sequence[Area], cases: int, first_seed: int, processes: int) -> Tally:
    """Run cases of these areas, as many as asked for, and print every failure with the command that repeats it."""
    tally = Tally(areas)
    began = time.monotonic()
    tasks = _tasks(areas, cases, first_seed)
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    workers = [Worker(folder) for _ in range(processes)]
    left = cases
    try:
        while left:
            for worker in workers:
                if worker.task is None and (task := next(tasks, None)) is not None:
                    worker.give(task)
            busy = [worker for worker in workers if worker.task is not None]
            wait([worker.pipe for worker in busy], timeout=1.0)
            for worker in busy:
                done = worker.outcome()
                if done is None:
                    continue
                left -= 1
                tally.add(*done)
                _show(tally, done, cases - left, cases)
    finally:
        for worker in workers:
            worker.end()
        shutil.rmtree(folder, ignore_errors=True)
    tally.seconds = time.monotonic() - began
    sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "")
    return tally


def shares(areas: Sequence[Area], cases: int) -> dict[str, int]:
    """How many cases of each area make up so many: by weight, and at least one while there are enough."""
    weights = sum(area.weight for area in areas)
    counts = {area.name: min(1, cases // len(areas)) for area in areas}
    spare = cases - sum(counts.values())
    for area in areas:
        counts[area.name] += spare * area.weight // weights
    for name in list(counts)[: cases - sum(counts.values())]:
        counts[name] += 1
    return counts


def _tasks(areas: Sequence[Area], cases: int, first_seed: int) -> Iterator[tuple[str, int]]:
    """The area and seed of every case, so that all areas come up from the beginning."""
    counts = shares(areas, cases)
    ordered = sorted((number / count, name, number) for name, count in counts.items() for number in range(count))
    return ((name, first_seed + number) for _, name, number in ordered)


def _show(tally: Tally, done: tuple[str, int, str, float], number: int, cases: int) -> None:
    """Print a failure, and how far the attack is where somebody looks on."""
    area, seed, outcome, _ = done
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    if outcome not in ("right", "refused"):
        sys.stderr.write(f"{clear}FAILED {area} {seed}: {outcome}\n    {command(area, seed)}\n")
    if clear:
        sys.stderr.write(f"{clear}{number:,} of {cases:,} cases, {len(tally.failures):,} failures, now {area}")
    elif number % max(cases // 20, 1) == 0:
        sys.stderr.write(f"{number:,} of {cases:,} cases, {len(tally.failures):,} failures\n")
    sys.stderr.flush()


class Worker:
    """A process that runs one case after the other; it is made anew when a case hangs or crashes it.

    Args:
        folder: Where the folders of the cases are made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.task: tuple[str, int] | None = None
        self._began = 0.0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._folder))
        self._process.start()
        theirs.close()

    def give(self, task: tuple[str, int]) -> None:
        """Let the process run a case."""
        self.task, self._began = task, time.monotonic()
        self.pipe.send(task)

    def outcome(self) -> tuple[str, int, str, float] | None:
        """What came of the case: its area, its seed, the outcome and the seconds; None if it still runs."""
        if self.task is None:
            return None
        seconds = time.monotonic() - self._began
        if self.pipe.poll():
            try:
                outcome, goes_on = self.pipe.recv()
                if not goes_on:
                    self._process.join()
                    self._start()
            except EOFError:
                self._process.join()
                outcome = f"ended the process with code {self._process.exitcode}"
                self._start()
        elif seconds > _HANGS:
            outcome = f"had not ended after {seconds:.0f} s"
            self._process.kill()
            self._process.join()
            self._start()
        else:
            return None
        done = (*self.task, str(outcome), seconds)
        self.task = None
        return done

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def _work(tasks: "Connection[Any, Any]", folder: Path) -> None:
    """Run cases as they come, and send back what came of each."""
    goes_on = True
    while goes_on:
        area, seed = tasks.recv()
        try:
            outcome: str = run_case(area, seed, parent=folder)
        except TooLongFailure as failure:
            outcome, goes_on = str(failure), False
        except Failure as failure:
            outcome = str(failure)
        except Exception:
            outcome = f"{_UNEXPECTED}\n{traceback.format_exc()}"
        tasks.send((outcome, goes_on))
