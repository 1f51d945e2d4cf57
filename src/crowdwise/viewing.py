"""The commands for people who would rather look: a page about a crowd, and why an item has its label."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Duplicates,
    Files,
    Item,
    Json,
    Label,
    MethodKey,
    Missing,
    Quiet,
    Settings,
    Strict,
    Truth,
    Worker,
    check_targets,
    command_line,
    fit,
    read,
    warm_up,
)


def report(
    files: Files,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the page; ends in .html.")],
    item: Item = None,
    worker: Worker = None,
    label: Label = None,
    method: MethodKey = "bwa",
    set_: Settings = None,
    truth: Truth = None,
    duplicates: Duplicates = "error",
    missing: Missing = None,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Write a page about the crowd, the answers and the workers: one file that opens in any browser."""
    from .choice import choose
    from .files import read_truth
    from .reporting import check_page
    from .reporting import report as write_report
    from .screen import Screen

    warm_up()
    chosen = choose(method, set_ or [])
    check_targets([output], [*files, *([] if truth is None else [truth])])
    check_page(output)
    screen = Screen(quiet)
    known = None if truth is None else read_truth(truth)
    with screen.compiling():
        labels = read(screen, files, item, worker, label, duplicates, missing, strict)
        result = fit(screen, method, chosen, labels)
        write_report(labels, result, known, output, command=command_line())
    screen.remark(f"Wrote {output} ({Path(output).stat().st_size / 1e6:.1f} MB)")


def explain(
    files: Files,
    item: Annotated[str, typer.Option(help="The item to explain, by its own name.")],
    item_column: Item = None,
    worker: Worker = None,
    label: Label = None,
    method: MethodKey = "bwa",
    set_: Settings = None,
    duplicates: Duplicates = "error",
    missing: Missing = None,
    strict: Strict = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say why an item has its label: who said what, what each vote added, and what would change the answer."""
    from .choice import choose
    from .explanation import explain as explain_item
    from .screen import Screen

    warm_up()
    chosen = choose(method, set_ or [])
    screen = Screen(quiet)
    with screen.compiling():
        labels = read(screen, files, item_column, worker, label, duplicates, missing, strict)
        why = explain_item(fit(screen, method, chosen, labels), labels, item)
    if as_json:
        typer.echo(json.dumps(why.to_dict()))
    else:
        screen.explanation(why)
