"""The commands for people who would rather look: a page about a crowd, and why an item has its label."""

import json
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
    from .reporting import check_page
    from .reporting import report as write_report
    from .screen import Screen

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


def explain(
    files: options.Files,
    item: Annotated[str, typer.Option(help="The item to explain, by its own name.")],
    item_column: options.Item = None,
    worker: options.Worker = None,
    label: options.Label = None,
    method: options.MethodKey = "bwa",
    set_: options.Settings = None,
    duplicates: options.Duplicates = "error",
    missing: options.Missing = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Say why an item has its label: who said what, what each vote added, and what would change the answer."""
    from .explanation import explain as explain_item
    from .screen import Screen

    chosen = options.choose_method(method, set_)
    screen = Screen(quiet)
    with screen.compiling():
        source = options.Source(files, item_column, worker, label, duplicates, missing, strict)
        labels = options.read(screen, source)
        why = explain_item(options.fit(screen, method, chosen, labels), labels, item)
    if as_json:
        typer.echo(json.dumps(why.to_dict()))
    else:
        screen.explanation(why)
