"""`Terminal`: prints tables to standard output, and remarks and progress bars to standard error."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

import polars as pl
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
from ..caution import Caution, listed
from ..errors import quoted
from ..numerics.announcing import announced_to
from ..progress import Nearness, told_to
from .advice import at_the_end
from .column_widths import Needs, left_out, share
from .text import printable, safe

# Progress bars are shown only for work that takes longer than this, in seconds.
_MOMENT: Final = 0.5
# The width of the waterfall chart, in characters.
_CHART_WIDTH: Final = 40
# The space between two columns, in characters.
_COLUMN_GAP: Final = 2
# The most characters of a caution, which may name eight workers and ten items.
_LONGEST_CAUTION: Final = 2000


class Terminal:
    """Prints tables to standard output, and remarks and progress bars to standard error.

    Args:
        quiet: Whether to print nothing.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._cautions: dict[str, None] = {}
        self._out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    def remark(self, text: str) -> None:
        """Print a remark to standard error."""
        if not self._quiet:
            self._err.print(Text(safe(text)))

    def caution(self, caution: Caution) -> None:
        """Print a caution to standard error when the command ends, once; the names in it are few and short already."""
        if self._quiet:
            return
        if not self._cautions:
            at_the_end(self._print_cautions)
        self._cautions[safe(str(caution), _LONGEST_CAUTION)] = None

    def _print_cautions(self) -> None:
        """Print the cautions that were collected."""
        for sentence in self._cautions:
            self._err.print(Text(sentence, "yellow"))
        self._cautions.clear()

    def table(
        self, title: str, header: Sequence[str] | None, rows: Sequence[Sequence[Any]], spare: Sequence[str] = ()
    ) -> None:
        """Print a table. Numbers are aligned to the right.

        Args:
            title: The line above the table.
            header: The names of the columns; None to print none.
            rows: The rows. Without any, nothing is printed, not even the title.
            spare: The columns that are left out where names would be broken otherwise; the first of them goes first.
        """
        if self._quiet or not rows:
            return
        # Rich would interpret strings as markup. As Text, a name such as [bold] is printed as it is.
        table = Table(box=None, pad_edge=False)
        table.show_header, table.header_style = header is not None, "dim"
        names = [Text(printable(name)) for name in header or [""] * len(rows[0])]
        cells = [
            [value if isinstance(value, Text) else Text(printable(_shown(value))) for value in row] for row in rows
        ]
        # The type of a column is that of its first value that is not None.
        samples = [next((value for value in column if value is not None), None) for column in zip(*rows, strict=True)]
        needs = [_needs(*column) for column in zip(names, samples, zip(*cells, strict=True), strict=True)]
        if spare and header is not None:
            missing = left_out(dict(zip(header, needs, strict=True)), spare, self._out.width, _COLUMN_GAP)
            if missing:
                kept = [place for place, name in enumerate(header) if name not in missing]
                title = f"{title}; columns that do not fit: {listed(missing)}"
                self.table(title, [header[place] for place in kept], [[row[place] for place in kept] for row in rows])
                return
        room = self._out.width - _COLUMN_GAP * (len(needs) - 1)
        widths = share(needs, room)
        # If even the least widths do not fit, lines extend beyond the screen. Otherwise Rich would cut off digits.
        table.width = sum(widths) + _COLUMN_GAP * (len(needs) - 1) if sum(widths) > room else None
        for name, sample, width in zip(names, samples, widths, strict=True):
            # Long text is folded, because a name or a checksum that is cut off would be useless.
            justify: Literal["left", "right"] = "right" if isinstance(sample, int | float) else "left"
            table.add_column(name, justify=justify, overflow="fold", width=width)
        for row in cells:
            table.add_row(*row)
        # The title is printed separately, because the table may be too narrow for it.
        self._out.print(Text(safe(title), "bold"))
        if self._out.is_terminal:
            self._out.print(table, crop=False)
        else:  # without the spaces after the last column
            with self._out.capture() as printed:
                self._out.print(table, crop=False)
            lines = (line.rstrip() for line in printed.get().splitlines())
            self._out.print(Text("\n".join(lines)), crop=False)
        self._out.print()

    def notes(self, sentences: Sequence[str]) -> None:
        """Print sentences below a table that are too long for its columns."""
        if self._quiet or not sentences:
            return
        for one in sentences:
            self._out.print(Text(safe(one)))
        self._out.print()

    def head(
        self,
        title: str,
        frame: pl.LazyFrame,
        count: int,
        height: int,
        spare: Sequence[str] = (),
        rest: str = "-o FILE writes them all",
    ) -> None:
        """Print the first rows of a table, and how many rows it has.

        Args:
            title: The line above the table.
            frame: The table.
            count: The number of rows to print.
            height: The number of rows that the table has.
            spare: The columns that may be left out; see `table`.
            rest: How to get the rows that are not printed.
        """
        shown = f"the first {count} of {height:,}; {rest}" if height > count else "all"
        rows = frame.head(count).collect()
        self.table(f"{title} ({shown})", rows.columns, rows.rows(), spare)

    def explanation(self, why: Explanation) -> None:
        """Print why an item has its label, as a waterfall chart of what each vote added."""
        if self._quiet:
            return
        ends = "" if why.interval is None else f" (95 % interval {why.interval[0]:.4f} to {why.interval[1]:.4f})"
        outcome = "tied with" if why.tied else "not"
        label, runner_up = quoted(why.label), quoted(why.runner_up)
        scores = [
            (f"score of {label}", f"{why.score:.4f}{ends}"),
            (f"score of {runner_up}", f"{why.runner_up_score:.4f}"),
        ]
        self.table(f"Item {quoted(why.item)}: {label}, {outcome} {runner_up}", None, scores)
        assumed = "" if why.flip is None else " This takes the quality of each worker as it is."
        self.notes([f"{why.remedy}{assumed}"])
        steps = why.steps()
        header = ["", "adds", why.axis]
        rows = [
            (
                row["step"],
                Text(row["text"], justify="right"),
                _waterfall_bar(row, steps, "#|" if self._out.options.ascii_only else "█▏"),
            )
            for row in steps.iter_rows(named=True)
        ]
        self.table("What each vote added", header, rows)

    @contextmanager
    def progress(self, tolerance: float) -> Iterator[Any]:
        """Give a callback for a method's iterations, which draws a progress bar if they take longer than half a second.

        The callback takes the number of the iteration and its change. The bar is full when the change has fallen to
        `tolerance`; its scale is logarithmic. Instead of a callback, None is given if no bar can be shown.
        """
        if self._quiet or not self._err.is_terminal:
            yield None
            return
        started = time.monotonic()
        bar = self._progress_bar(_text("fields[state]"))
        task = bar.add_task("fitting", total=1.0, state="")
        near = Nearness(tolerance)

        def show(iteration: int, change: float) -> None:
            done = near(change)
            if time.monotonic() - started < _MOMENT:
                return
            bar.start()
            bar.update(task, completed=done, state=f"iteration {iteration}, change {change:.2g}")

        try:
            yield show
        finally:
            bar.stop()

    def phases(self) -> Callable[[str, float], None]:
        """Return a callback for phases of long work, which draws a bar for phases longer than half a second.

        The callback takes the name of the phase and the share of it that is done.
        """
        bar: Progress | None = None
        current, began = "", 0.0

        def show(phase: str, share: float) -> None:
            nonlocal bar, current, began
            if phase != current:
                current, began = phase, time.monotonic()
            if bar is None and share < 1.0 and time.monotonic() - began > _MOMENT:
                bar = self._progress_bar()
                bar.add_task(phase, total=1.0)
                bar.start()
            if bar is not None:
                bar.update(bar.task_ids[0], completed=share, description=phase)
                if share >= 1.0:
                    bar.stop()
                    bar = None

        return show if not self._quiet and self._err.is_terminal else lambda _phase, _share: None

    def _progress_bar(self, *columns: TextColumn) -> Progress:
        """Return a progress bar that shows the time so far and the estimated time left."""
        shown = (_text("description"), BarColumn(), *columns, TimeElapsedColumn(), TimeRemainingColumn())
        return Progress(*shown, console=self._err, transient=True)

    @contextmanager
    def steps(self, count: int) -> Iterator[Callable[[str], None]]:
        """Give a callback that takes the name of each step when it starts, and draws a bar over `count` steps."""
        columns = (_text("description"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        hidden = self._quiet or not self._err.is_terminal
        with Progress(*columns, console=self._err, transient=True, disable=hidden) as bar:
            task = bar.add_task("", total=count, completed=-1)
            yield lambda name: bar.update(task, advance=1, description=name)

    @contextmanager
    def downloading(self) -> Iterator[Any]:
        """Give a callback for downloads, which draws a bar for each file; None if no bar can be shown."""
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
        """Tell the user while the `with` block runs how far long work is, and if kernels are compiled.

        Kernels are compiled the first time a method runs on a kind of large crowd, and are cached afterwards.
        """
        with announced_to(self.remark), told_to(self.phases()):
            yield


def _text(what: str) -> TextColumn:
    """Return a text column for a progress bar. Square brackets in it are printed, not taken as Rich markup."""
    return TextColumn(f"{{task.{what}}}", markup=False)


def _needs(name: Text, sample: Any, cells: Sequence[Text]) -> Needs:
    """Return the widths that a column needs.

    Columns of numbers and of bars are never wrapped. Text can be wrapped between words and, if necessary, within words.

    Args:
        name: The header of the column.
        sample: A value of the column, which shows its type.
        cells: The values as they will be printed.
    """
    whole = max(cell_len(text.plain) for text in cells)
    if isinstance(sample, int | float | Text):
        least = max(whole, _longest_word(name))
        return Needs(max(whole, cell_len(name.plain)), least, least)
    least = max(_longest_word(name), 1)
    words = max(least, *(_longest_word(text) for text in cells))
    return Needs(max(whole, cell_len(name.plain)), words, least)


def _longest_word(text: Text) -> int:
    """Return the width of the longest word."""
    return max(map(cell_len, text.plain.split()), default=0)


def _waterfall_bar(row: dict[str, Any], steps: pl.DataFrame, characters: str) -> Text:
    """Return one bar of the waterfall chart, drawn from the start to the end of a step.

    Args:
        row: The step.
        steps: All steps, which give the scale.
        characters: The character to draw a bar with, and the one for a bar without a length.
    """
    ends = pl.concat([steps["start"], steps["end"]])
    low, width = float(ends.min() or 0), float(ends.max() or 0) - float(ends.min() or 0)  # type: ignore[arg-type]  # floats
    first, last = sorted(round((row[name] - low) / (width or 1) * _CHART_WIDTH) for name in ("start", "end"))
    style = "bold" if row["kind"] == "lead" else "dark_orange" if row["end"] < row["start"] else "dodger_blue1"
    return Text(" " * first) + Text(characters[0] * (last - first) or characters[1], style)


def _shown(value: Any) -> str:
    """Return a value as text for a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)
