"""`crowdwise explain`: say why an item has its label."""

import json
from typing import Annotated

import typer

from . import options
from .streams import say


def explain(
    reading: options.Labelled,
    item: Annotated[str, typer.Option(metavar="ITEM", help="The item to explain.", callback=options.in_utf8)],
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    history: options.History = None,
    decay: options.Decay = 1.0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Explain the label of an item: who said what, what each vote added, and what would change it."""
    from ..analysis import explain as explain_item
    from . import session
    from .terminal import Terminal

    chosen = session.choose_method(method, set_)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading).with_history(chosen, history, decay, reading)
    with terminal.compiling():
        labels = session.read(terminal, reading)
        result = session.fit(terminal, chosen, labels, given, strict=reading.strict)
        why = explain_item(result, labels, item)
    if as_json:
        say(json.dumps(why.to_dict(), default=str))
    else:
        terminal.explanation(why)
