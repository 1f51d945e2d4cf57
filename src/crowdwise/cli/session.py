"""What commands do alike: choose a method, read labels, fit, and say what happened on the way.

Nothing heavy is imported before it is used, so that `--help` answers at once.
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

_ENGINES: Final = ("memory", "disk", "auto", "spark")
# Options that some engines have no use for, and the engines that do.
_USED_BY: Final = {"--memory": ("disk", "auto"), "--workdir": ("disk", "auto"), "--master": ("spark",)}


class Request(NamedTuple):
    """Which labels a command is to read, and how, as its options say."""

    files: list[str]
    item: str | None
    worker: str | None
    label: str | None
    duplicates: Any
    missing: list[str] | None
    strict: bool


class Engine(NamedTuple):
    """Where a command is to work on the labels, as its options say."""

    name: str = "memory"
    memory: str | None = None
    workdir: str | None = None
    master: str | None = None

    def check(self) -> None:
        """Refuse an engine that does not exist, and options that do nothing with this one."""
        from ..errors import CallError

        if self.name not in _ENGINES:
            raise CallError(f"engine={self.name!r} is not one of {', '.join(map(repr, _ENGINES))}.")
        given: Mapping[str, object] = {"--memory": self.memory, "--workdir": self.workdir, "--master": self.master}
        for option, engines in _USED_BY.items():
            if given[option] and self.name not in engines:
                raise CallError(f"{option} does nothing with --engine {self.name}: it is for {' or '.join(engines)}.")


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


def read_known(truth: str | None) -> "pl.DataFrame | None":
    """The known truths, if there are any."""
    from ..data.reading import read_truth

    return None if truth is None else read_truth(truth)


def read(terminal: "Terminal", request: Request, engine: Engine | None = None, method: "Method | None" = None) -> Any:
    """Read the labels, and say what was recognised, what was repaired, and where they are if not in memory.

    Args:
        terminal: Where to say it.
        request: Which labels to read.
        engine: Where to work on them; in memory if None.
        method: What is to be fitted, so that a method that cannot run there is refused before anything is read.
    """
    from ..data.reading import read_labels

    name, memory, workdir, master = engine or Engine()
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
    """Fit with a bar, and say if the iterations ran out."""
    with terminal.progress(getattr(method, "tolerance", 1.0)) as progress:
        result: Inferred = method.fit(labels, progress=progress)
    if not result.convergence.converged:
        terminal.remark(f"{key} {result.convergence}. Raise max_iterations (--set max_iterations=...).")
    return result


def command_line() -> str:
    """What was typed, to be typed again."""
    return shlex.join(["crowdwise", *sys.argv[1:]])
