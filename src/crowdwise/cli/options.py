"""What commands share: their options, what they do first, reading labels with remarks, and fitting with progress.

Nothing heavy is imported before it is used, so that `--help` answers at once.
"""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

if TYPE_CHECKING:
    import polars as pl

    from ..data.labels import Labels
    from ..inference.method import Method
    from ..results.result import Result
    from .terminal import Screen

Files = Annotated[list[str], typer.Argument(help="Files with one label a row, a glob, or - for standard input.")]
Item = Annotated[str | None, typer.Option(help="The column of items, if its name does not say so.")]
Worker = Annotated[str | None, typer.Option(help="The column of workers.")]
Label = Annotated[str | None, typer.Option(help="The column of labels.")]
Duplicates = Annotated[
    str, typer.Option(help="Several labels of one worker on one item: error, first, last, all, set or drop.")
]
Missing = Annotated[list[str] | None, typer.Option(help="A value that means no label, such as NA or -1; repeatable.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse data that need repair.")]
Truth = Annotated[str | None, typer.Option(help="A file with the true label of some items.")]
Engine = Annotated[
    str, typer.Option(help="Where the labels are worked on: memory, disk, spark, or auto: disk if they do not fit.")
]
Master = Annotated[str | None, typer.Option(help="The master of a Spark cluster, for --engine spark.")]
Memory = Annotated[str | None, typer.Option(help="What may be taken, such as 4GB; what is free, if left out.")]
Workdir = Annotated[str | None, typer.Option(help="The folder for temporary files of --engine disk.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
MethodKey = Annotated[str, typer.Option("--method", "-m", help="See `crowdwise methods`.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method, as name=value; repeatable.")
]


# Options that some engines have no use for, and the engines that do.
_USED_BY: Final = {
    "--memory": ("disk", "auto"),
    "--workdir": ("disk", "auto"),
    "--master": ("spark",),
    "--truth": ("memory", "disk", "auto"),
    "--json": ("memory", "disk", "auto"),
}
_ENGINES: Final = ("memory", "disk", "auto", "spark")


def check_engine(engine: str, given: Mapping[str, object]) -> None:
    """Refuse an engine that does not exist, and options that do nothing with this one."""
    from ..errors import CallError

    if engine not in _ENGINES:
        raise CallError(f"engine={engine!r} is not one of {', '.join(map(repr, _ENGINES))}.")
    for option, engines in _USED_BY.items():
        if given[option] and engine not in engines:
            raise CallError(f"{option} does nothing with --engine {engine}: it is for {' or '.join(engines)}.")


class Source(NamedTuple):
    """Which labels to read and how, as the options above say."""

    files: list[str]
    item: str | None
    worker: str | None
    label: str | None
    duplicates: Any
    missing: list[str] | None
    strict: bool

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that were named."""
        return {"item": self.item, "worker": self.worker, "label": self.label}

    @property
    def rules(self) -> dict[str, Any]:
        """What to do with rows that cannot be used as they are."""
        return {"duplicates": self.duplicates, "missing": self.missing or (), "strict": self.strict}


def choose_method(key: str, settings: list[str] | None) -> "Method":
    """The method with its parameters, while what takes long to start does so."""
    from ..methods import choose

    _warm_up()
    return choose(key, settings or [])


def _warm_up() -> None:
    """Start Numba and SciPy, which takes them half a second, while polars reads the labels on other threads."""
    from threading import Thread

    import numpy as np

    from .. import kernels

    def work() -> None:
        import scipy.special  # noqa: F401  # for its being imported

        kernels.votes_per_item(np.zeros(1, np.int64), None)

    Thread(target=work, daemon=True).start()


def check_targets(targets: list[str], files: list[str], truth: str | None) -> None:
    """Refuse to overwrite an input, or to write two tables to one file."""
    from ..errors import CallError

    inputs = {Path(path).resolve() for path in (*files, truth) if path is not None}
    for path in targets:
        if Path(path).resolve() in inputs:
            raise CallError(f"{path} is an input; write to another file.")
    if len({Path(path).resolve() for path in targets}) < len(targets):
        raise CallError(f"{targets[0]} cannot hold both the labels and the workers.")


def read_known(truth: str | None) -> "pl.DataFrame | None":
    """The known truths, if there are any."""
    from ..data.reading import read_truth

    return None if truth is None else read_truth(truth)


def read(screen: "Screen", source: Source, **where: Any) -> Any:
    """Read the labels and say what was recognised, what was repaired, and where they are if not in memory."""
    from ..data.labels import Labels
    from ..data.reading import read_labels

    where = {"engine": "memory", **where, "phases": screen.phases()}
    labels = read_labels(source.files, **source.columns, **source.rules, **where)
    say_what_was_read(screen, labels)
    if not isinstance(labels, Labels):
        why = "" if where["engine"] == "disk" else "The labels may not fit in memory (--engine memory tries). "
        screen.remark(f"{why}Working on disk: {labels.n_parts:,} parts in {labels.folder}.")
        for folder in labels.abandoned:
            screen.remark(f"A run that was killed left {folder} behind; remove it.")
    return labels


def say_what_was_read(screen: "Screen", labels: Any) -> None:
    """Say which columns were recognised and what was repaired."""
    recognised = ", ".join(f"{role} = {column!r}" for role, column in labels.report.columns.items())
    screen.remark(f"Read {labels.report.rows:,} rows: {recognised}.")
    for sentence in labels.report.repairs:
        screen.remark(sentence)


def fit(screen: "Screen", key: str, method: "Method", labels: "Labels") -> "Result":
    """Fit with a bar, and say if the iterations ran out."""
    with screen.progress(getattr(method, "tolerance", 1.0)) as progress:
        result = method.fit(labels, progress=progress)
    if not result.convergence.converged:
        screen.remark(f"{key} {result.convergence}. Raise max_iterations (--set max_iterations=...).")
    return result


def command_line() -> str:
    """What was typed, to be typed again."""
    return shlex.join(["crowdwise", *sys.argv[1:]])
