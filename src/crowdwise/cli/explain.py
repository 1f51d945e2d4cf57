"""`crowdwise explain`: why an item has its label."""

import json
from typing import Annotated

import typer

from . import options


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
    from ..analysis.explanation import explain as explain_item
    from .terminal import Screen

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
