"""`crowdwise report`: write an HTML page about a crowd, its answers and its workers."""

from pathlib import Path
from typing import Annotated

import typer

from . import options


def report(
    files: options.Files,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the page; ends in .html.")],
    item: options.Item = None,
    worker: options.Worker = None,
    label: options.Label = None,
    method: options.MethodKey = "bwa",
    set_: options.Settings = None,
    truth: options.Truth = None,
    duplicates: options.Duplicates = "error",
    missing: options.Missing = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page about the crowd, the answers and the workers: one file that opens in any browser."""
    from ..data.targets import check_targets
    from ..reporting import report as write_report
    from . import session
    from .terminal import Terminal

    chosen = session.choose_method(method, set_)
    check_targets([output], [*files, truth], page=True)
    terminal = Terminal(quiet)
    known = session.read_known(truth)
    with terminal.compiling():
        labels = session.read(terminal, session.Request(files, item, worker, label, duplicates, missing, strict))
        result = session.fit(terminal, method, chosen, labels)
        write_report(labels, result, known, output, command=session.command_line())
    terminal.remark(f"Wrote {output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
