"""The steps that several commands share: choose a method, read labels, fit, and inform the user.

Modules that are slow to import are imported only where they are used, so that `--help` answers at once.
"""

import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from ..data.crowd import Crowd
    from ..inference.method import Method
    from ..results.inferred import Inferred
    from .terminal import Terminal

# The options that only some engines use, and these engines.
_USED_BY: Final = {"--memory": ("disk", "auto"), "--workdir": ("disk", "auto"), "--master": ("spark",)}


class Request(NamedTuple):
    """Which labels a command reads, and how, as given by its options.

    Attributes:
        files: The files.
        item: The column of items; None to recognise it.
        worker: The column of workers; None to recognise it.
        label: The column of labels; None to recognise it.
        duplicates: What to do where one worker gave one item several labels.
        missing: Values that mean "no label".
        strict: Whether to refuse rows that would otherwise be dropped silently.
    """

    files: list[str]
    item: str | None
    worker: str | None
    label: str | None
    duplicates: Any
    missing: list[str] | None
    strict: bool


class EngineOptions(NamedTuple):
    """Where a command works on the labels, as given by its options.

    Attributes:
        name: The value of --engine: memory, disk, auto or spark.
        memory: How much memory may be used; None for what is free.
        workdir: The folder for temporary files of the engine "disk".
        master: The master of the Spark cluster.
    """

    name: str = "memory"
    memory: str | None = None
    workdir: str | None = None
    master: str | None = None

    def check(self) -> None:
        """Raise `CallError` if there is no such engine, or if an option has no effect with it."""
        from ..data.crowd import check_engine
        from ..errors import CallError

        check_engine(self.name)
        given: Mapping[str, object] = {"--memory": self.memory, "--workdir": self.workdir, "--master": self.master}
        for option, engines in _USED_BY.items():
            if given[option] and self.name not in engines:
                raise CallError(f"{option} does nothing with --engine {self.name}: it is for {' or '.join(engines)}.")


def choose_method(key: str, settings: list[str] | None) -> "Method":
    """Return the method with its parameters. Also starts to load slow libraries in the background.

    Args:
        key: The key of the method, as listed by `crowdwise methods`.
        settings: Parameters as text, such as "tolerance=1e-6".
    """
    from ..methods import choose

    _warm_up()
    return choose(key, settings or [])


def _warm_up() -> None:
    """Load Numba and SciPy in a thread, which takes half a second, while polars reads the labels."""
    from threading import Thread

    import numpy as np

    from .. import kernels

    def work() -> None:
        import scipy.special  # noqa: F401  # only to have it loaded

        kernels.votes_per_item(np.zeros(1, np.int64), None)

    Thread(target=work, daemon=True).start()


def read_known(truth: str | None) -> "pl.DataFrame | None":
    """Read the known truths; returns None if the user gave no file."""
    from ..data.reading import read_truth

    return None if truth is None else read_truth(truth)


def read(
    terminal: "Terminal", request: Request, engine: EngineOptions | None = None, method: "Method | None" = None
) -> Any:
    """Read the labels, and tell the user which columns were recognised, what was repaired, and where the labels are.

    Args:
        terminal: Where to tell the user.
        request: Which labels to read.
        engine: Where to work on the labels; None for memory.
        method: The method that will be fitted. If it cannot run on the engine, this is refused before anything is read.
    """
    from ..data.reading import read_labels

    name, memory, workdir, master = engine or EngineOptions()
    labels: Crowd = read_labels(
        request.files,
        item=request.item,
        worker=request.worker,
        label=request.label,
        duplicates=request.duplicates,
        missing=request.missing or (),
        strict=request.strict,
        engine=name,
        memory=memory,
        workdir=workdir,
        master=master,
        method=method,
        phases=terminal.phases(),
    )
    recognised = ", ".join(f"{role} = {column!r}" for role, column in labels.report.columns.items())
    terminal.remark(f"Read {labels.report.rows:,} rows: {recognised}.")
    for sentence in labels.report.repairs:
        terminal.remark(sentence)
    if name == "auto" and labels.place == "disk":
        terminal.remark("The labels may not fit in memory (--engine memory tries).")
    for sentence in labels.remarks:
        terminal.remark(sentence)
    return labels


def fit(terminal: "Terminal", key: str, method: "Method", labels: "Crowd") -> Any:
    """Fit a method while showing a progress bar, and tell the user if it did not converge."""
    with terminal.progress(method.last_change()) as progress:
        result: Inferred = method.fit(labels, progress=progress)
    if not result.convergence.converged:
        terminal.remark(f"{key} {result.convergence}. Raise max_iterations (--set max_iterations=...).")
    return result


def command_line() -> str:
    """Return the command that the user typed, in a form that can be pasted into a shell."""
    return shlex.join(["crowdwise", *sys.argv[1:]])
