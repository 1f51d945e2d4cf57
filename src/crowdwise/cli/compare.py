"""`crowdwise compare`: run several methods on the same labels and compare them."""

import json
from typing import Annotated

import typer

from . import options
from .streams import say


def compare(
    files: options.Files,
    truth: options.Truth = None,
    methods: Annotated[str | None, typer.Option(help="Which methods, separated by commas; all if left out.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Draw a page here; ends in .html.")] = None,
    item: options.Item = None,
    worker: options.Worker = None,
    label: options.Label = None,
    duplicates: options.Duplicates = "error",
    missing: options.Missing = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Run methods side by side: accuracy with split ties, seconds, iterations."""
    from ..analysis import compare as compare_methods
    from ..data.targets import check_targets
    from ..methods import METHODS, choose
    from ..reporting import comparison_page
    from . import session
    from .terminal import Terminal

    if output is not None:
        check_targets([output], [*files, truth], page=True)
    keys = list(METHODS) if methods is None else [key.strip() for key in methods.split(",")]
    chosen = {key: choose(key) for key in keys}
    terminal = Terminal(quiet)
    with terminal.compiling():
        labels = session.read(terminal, session.Request(files, item, worker, label, duplicates, missing, strict))
        known = session.read_known(truth)
        with terminal.steps(len(chosen)) as begin:
            rows = compare_methods(labels, chosen, known, begin)
    if output is not None:
        comparison_page(labels, rows, output, session.command_line())
        terminal.remark(f"Wrote {output}")
    if as_json:
        say(json.dumps(rows))
        return
    # Only methods that did not converge need a sentence about that. A column for it would leave too little room.
    header = [name for name in rows[0] if name != "ending"]
    terminal.table(repr(labels), header, [[row[name] for name in header] for row in rows])
    terminal.notes([f"{row['method']}: {row['ending']}" for row in rows if row["ending"] != "converged"])
