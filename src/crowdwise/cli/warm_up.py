"""`crowdwise warm-up`: compile the kernels that other commands need, so that their first run need not wait for that."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer

from . import options

# Some kernels are compiled for each small number of classes, others for few and for many.
_CLASSES: Final = (*range(2, 9), 40)


def warm_up(
    methods: Annotated[str | None, typer.Option(help="Which methods, separated by commas; all if left out.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Compile what aggregate, report and compare need, once for this machine: for images and clusters."""
    from ..analysis import cautions, compare
    from ..data.reading import read_labels
    from ..data.simulation import simulate
    from ..data.writing import write
    from ..errors import CallError, DataError
    from ..kernels import machine_code_folder
    from ..methods import METHODS, choose
    from ..methods.mv import MajorityVote
    from ..reporting import report
    from .terminal import Terminal

    keys = list(METHODS) if methods is None else [key.strip() for key in methods.split(",")]
    chosen = {key: choose(key) for key in keys}
    terminal = Terminal(quiet)
    with TemporaryDirectory() as folder, terminal.steps(len(_CLASSES)) as begin:
        for classes in _CLASSES:
            begin(f"{classes} classes")
            crowd = simulate(60, 8, classes, seed=1)
            files = [Path(folder) / f"labels.{extension}" for extension in ("csv", "jsonl", "parquet")]
            write(dict.fromkeys(files, crowd.rows))
            *_, labels = (read_labels(file, warn=False) for file in files)  # each format has kernels of its own
            compare(labels, chosen, crowd.truth)
            for method in chosen.values():
                with suppress(DataError):  # some methods refuse so many classes
                    result = method.fit(labels, warn=False)
                    result.workers_frame()
                    cautions(result, labels)
        with suppress(CallError):  # the extra for reports is not installed
            report(MajorityVote().fit(labels, warn=False), labels, crowd.truth, Path(folder) / "report.html")
    terminal.remark(f"Compiled for {', '.join(keys)}, and kept in {machine_code_folder()}.")
