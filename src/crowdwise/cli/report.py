"""`crowdwise report`: a page about a crowd and its answers."""

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
    from ..reporting import check_page
    from ..reporting import report as write_report
    from .terminal import Screen

    chosen = options.choose_method(method, set_)
    options.check_targets([output], files, truth)
    check_page(output)
    screen = Screen(quiet)
    known = options.read_known(truth)
    with screen.compiling():
        labels = options.read(screen, options.Source(files, item, worker, label, duplicates, missing, strict))
        result = options.fit(screen, method, chosen, labels)
        write_report(labels, result, known, output, command=options.command_line())
    screen.remark(f"Wrote {output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
