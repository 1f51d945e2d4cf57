"""`crowdwise explain`: say why an item has its label."""

import json
from typing import Annotated

import typer

from . import options
from .streams import say


def explain(
    files: options.Files,
    item: Annotated[str, typer.Option(help="The item to explain, by its own name.", callback=options.in_utf8)],
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
    from ..analysis import explain as explain_item
    from . import session
    from .terminal import Terminal

    chosen = session.choose_method(method, set_)
    terminal = Terminal(quiet)
    with terminal.compiling():
        request = session.Request(files, item_column, worker, label, duplicates, missing, strict)
        labels = session.read(terminal, request)
        why = explain_item(session.fit(terminal, method, chosen, labels), labels, item)
    if as_json:
        say(json.dumps(why.to_dict(), default=str))
    else:
        terminal.explanation(why)
