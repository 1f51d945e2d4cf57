"""What a person sees in the terminal: tables on standard output, progress on standard error."""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

import polars as pl
from numba.core import event
from rich.cells import cell_len
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from ..analysis.explanation import Explanation
from .column_widths import Needs, share
from .text import printable

# Work that takes less than this needs no bar.
_MOMENT: Final = 0.5
# The width of a waterfall, in characters.
_BAR: Final = 40
# Between two columns, in characters.
_GAP: Final = 2


class Terminal:
    """Tables go to standard output; remarks and progress to standard error, unless quiet."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    def remark(self, text: str) -> None:
        """Say something beside the results."""
        if not self._quiet:
            self._err.print(Text(printable(text)))

    def table(self, title: str, header: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> None:
        """Show a table; numbers stand to the right."""
        if self._quiet or not rows:
            return
        # Everything is given to Rich as Text: a name that looks like its markup is a name.
        table = Table(box=None, pad_edge=False)
        table.show_header, table.header_style = header is not None, "dim"
        names = [Text(printable(name)) for name in header or [""] * len(rows[0])]
        cells = [
            [value if isinstance(value, Text) else Text(printable(_shown(value))) for value in row] for row in rows
        ]
        # The first row need not have a value everywhere.
        samples = [next((value for value in column if value is not None), None) for column in zip(*rows, strict=True)]
        needs = [_needs(*column) for column in zip(names, samples, zip(*cells, strict=True), strict=True)]
        room = self._out.width - _GAP * (len(needs) - 1)
        widths = share(needs, room)
        # Where even the least is too much, lines go on beyond the edge: Rich would cut digits off.
        table.width = sum(widths) + _GAP * (len(needs) - 1) if sum(widths) > room else None
        for name, sample, width in zip(names, samples, widths, strict=True):
            # Text folds where the screen ends; cut off, a name or a checksum would be of no use.
            justify: Literal["left", "right"] = "right" if isinstance(sample, int | float) else "left"
            table.add_column(name, justify=justify, overflow="fold", width=width)
        for row in cells:
            table.add_row(*row)
        # The title is no part of the table, which may be narrower than a name in it.
        self._out.print(Text(printable(title), "bold"))
        self._out.print(table, crop=False)
        self._out.print()

    def notes(self, sentences: Sequence[str]) -> None:
        """Say below a table what is too long for it."""
        if self._quiet or not sentences:
            return
        for sentence in sentences:
            self._out.print(Text(printable(sentence)))
        self._out.print()

    def head(self, title: str, frame: pl.LazyFrame, count: int, height: int) -> None:
        """Show the first rows of a table, and say how many more there are."""
        shown = f"the first {count} of {height:,}; -o FILE writes them all" if height > count else "all"
        rows = frame.head(count).collect()
        self.table(f"{title} ({shown})", rows.columns, rows.rows())

    def explanation(self, why: Explanation) -> None:
        """Show why an item has its label, as a waterfall of its votes."""
        if self._quiet:
            return
        ends = "" if why.interval is None else f" (95 % interval {why.interval[0]:.4f} to {why.interval[1]:.4f})"
        outcome = "tied with" if why.tied else "not"
        scores = [
            (f"score of {why.label}", f"{why.score:.4f}{ends}"),
            (f"score of {why.runner_up}", f"{why.runner_up_score:.4f}"),
        ]
        self.table(f"Item {why.item}: {why.label}, {outcome} {why.runner_up}", None, scores)
        steps = why.steps()
        header = ["", "adds", why.axis]
        rows = [
            (row["step"], Text(row["text"], justify="right"), _bar(row, steps)) for row in steps.iter_rows(named=True)
        ]
        self.table("What each vote added", header, rows)
        self._out.print(Text(printable(f"{why.remedy} The workers' parameters are held fixed.")))

    @contextmanager
    def progress(self, tolerance: float) -> Iterator[Any]:
        """A callback for a method's iterations that draws a bar once the work takes more than a moment.

        The bar is full when the change has fallen to the tolerance, on a logarithmic scale.
        """
        if self._quiet or not self._err.is_terminal:
            yield None
            return
        started = time.monotonic()
        bar = self._bar(_text("fields[state]"))
        task = bar.add_task("fitting", total=1.0, state="")
        first: list[float] = []

        def show(iteration: int, change: float) -> None:
            first.append(change)
            if time.monotonic() - started < _MOMENT:
                return
            bar.start()
            way = math.log(max(first[0], tolerance * 2) / tolerance)
            done = 1 - math.log(max(change, tolerance) / tolerance) / way
            bar.update(task, completed=max(done, 0.0), state=f"iteration {iteration}, change {change:.2g}")

        try:
            yield show
        finally:
            bar.stop()

    def phases(self) -> Callable[[str, float], None]:
        """A callback for phases of work on disk, which draws a bar for each that takes more than a moment."""
        bar: Progress | None = None
        now, began = "", 0.0

        def show(phase: str, share: float) -> None:
            nonlocal bar, now, began
            if phase != now:
                now, began = phase, time.monotonic()
            if bar is None and share < 1.0 and time.monotonic() - began > _MOMENT:
                bar = self._bar()
                bar.add_task(phase, total=1.0)
                bar.start()
            if bar is not None:
                bar.update(bar.task_ids[0], completed=share)
                if share >= 1.0:
                    bar.stop()
                    bar = None

        return show if not self._quiet and self._err.is_terminal else lambda _phase, _share: None

    def _bar(self, *columns: TextColumn) -> Progress:
        """A bar with the time it has taken and the time it may still take."""
        shown = (_text("description"), BarColumn(), *columns, TimeElapsedColumn(), TimeRemainingColumn())
        return Progress(*shown, console=self._err, transient=True)

    @contextmanager
    def steps(self, count: int) -> Iterator[Callable[[str], None]]:
        """A callback for the name of each step that begins, which draws a bar over the steps."""
        columns = (_text("description"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        hidden = self._quiet or not self._err.is_terminal
        with Progress(*columns, console=self._err, transient=True, disable=hidden) as bar:
            task = bar.add_task("", total=count, completed=-1)
            yield lambda name: bar.update(task, advance=1, description=name)

    @contextmanager
    def downloading(self) -> Iterator[Any]:
        """A callback for downloads that draws a bar a file."""
        if self._quiet or not self._err.is_terminal:
            yield None
            return
        columns = (_text("description"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        with Progress(*columns, console=self._err, transient=True) as bar:
            tasks: dict[str, Any] = {}

            def show(file: str, came: int, total: int) -> None:
                if file not in tasks:
                    tasks[file] = bar.add_task(file)
                bar.update(tasks[file], completed=came, total=total or None)

            yield show

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Say so once if kernels have to be compiled: once for each method and kind of crowd, then they are cached."""
        terminal = self

        class Listener(event.Listener):
            said = False

            def on_start(self, _: Any) -> None:
                if not self.said:
                    terminal.remark("Compiling; this takes some seconds, once for each method and kind of crowd.")
                Listener.said = True

            def on_end(self, _: Any) -> None:
                pass

        with event.install_listener("numba:compile", Listener()):
            yield


def _text(what: str) -> TextColumn:
    """A column beside a bar, as text: what looks like Rich's markup is a name."""
    return TextColumn(f"{{task.{what}}}", markup=False)


def _needs(name: Text, sample: Any, cells: Sequence[Text]) -> Needs:
    """What a column needs: numbers and bars stand whole, text can wrap and in the end fold."""
    whole = max(cell_len(text.plain) for text in cells)
    if isinstance(sample, int | float | Text):
        least = max(whole, _longest_word(name))
        return Needs(max(whole, cell_len(name.plain)), least, least)
    least = max(_longest_word(name), 1)
    words = max(least, *(_longest_word(text) for text in cells))
    return Needs(max(whole, cell_len(name.plain)), words, least)


def _longest_word(text: Text) -> int:
    return max(map(cell_len, text.plain.split()), default=0)


def _bar(row: dict[str, Any], steps: pl.DataFrame) -> Text:
    """A step of a waterfall, from where it starts to where it ends."""
    ends = pl.concat([steps["start"], steps["end"]])
    low, width = float(ends.min() or 0), float(ends.max() or 0) - float(ends.min() or 0)  # type: ignore[arg-type]  # floats
    first, last = sorted(round((row[name] - low) / (width or 1) * _BAR) for name in ("start", "end"))
    style = "bold" if row["kind"] == "lead" else "dark_orange" if row["end"] < row["start"] else "dodger_blue1"
    return Text(" " * first) + Text("█" * (last - first) or "▏", style)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)
