"""What a person sees in the terminal: tables on standard output, progress on standard error."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import polars as pl
from numba.core import event
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .labels import Labels
from .result import Result

# Work that takes less than this needs no bar.
_MOMENT: Final = 0.5


class Screen:
    """Tables go to standard output; remarks and progress to standard error, unless quiet."""

    def __init__(self, quiet: bool, tables: bool = True) -> None:
        self._quiet = quiet
        self._tables = tables and not quiet
        self._out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    def remark(self, text: str) -> None:
        """Say something beside the results."""
        if not self._quiet:
            self._err.print(Text(text))

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Show a table; numbers stand to the right."""
        if not self._tables or not rows:
            return
        table = Table(
            title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim"
        )
        for name, sample in zip(header, rows[0], strict=True):
            table.add_column(name, justify="right" if isinstance(sample, int | float) else "left")
        for row in rows:
            table.add_row(*(Text(_shown(value)) for value in row))
        self._out.print(table)
        self._out.print()

    @contextmanager
    def progress(self, tolerance: float) -> Iterator[Any]:
        """A callback for a method's iterations that draws a bar once the work takes more than a moment.

        The bar is full when the change has fallen to the tolerance, on a logarithmic scale.
        """
        if self._quiet or not self._err.is_terminal:
            yield None
            return
        started = time.monotonic()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
        )
        bar = Progress(*columns, console=self._err, transient=True)
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

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Say so once if kernels have to be compiled: the first run after installing, and never again."""
        screen = self

        class Listener(event.Listener):
            said = False

            def on_start(self, _: Any) -> None:
                if not self.said:
                    screen.remark("Compiling kernels; this happens once after installing and takes some seconds.")
                Listener.said = True

            def on_end(self, _: Any) -> None:
                pass

        with event.install_listener("numba:compile", Listener()):
            yield


def crowd_rows(labels: Labels, result: Result, accuracies: dict[str, float]) -> list[tuple[str, str]]:
    """The crowd and the fit at a glance."""
    rows = [
        ("items", f"{labels.n_items:,}"),
        ("workers", f"{labels.n_workers:,}"),
        ("classes", f"{labels.n_classes:,}"),
        ("labels", f"{labels.n_labels:,} ({labels.n_labels / labels.n_items:.2f} per item)"),
        ("method", repr(result.method)),
        ("ending", str(result.convergence)),
        ("ties", f"{int(result.ties.sum()):,}"),
    ]
    return rows + [(f"accuracy of {name}", f"{value:.4f}") for name, value in accuracies.items()]


def ranked_workers(result: Result, count: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The best and the worst workers, by quality."""
    table = result.workers_frame().filter(pl.col("labels") > 0).sort("quality", descending=True, maintain_order=True)
    best = min(count, (table.height + 1) // 2)
    return table.head(best).rows(), table.tail(min(count, table.height - best)).reverse().rows()


def disputed_items(result: Result, count: int) -> list[tuple[Any, ...]]:
    """The items whose best two classes are closest."""
    table = result.to_frame().drop_nulls("runner_up")
    return (
        table.bottom_k(count, by=pl.col("score") - pl.col("runner_up_score"))
        .sort(pl.col("score") - pl.col("runner_up_score"), maintain_order=True)
        .rows()
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)
