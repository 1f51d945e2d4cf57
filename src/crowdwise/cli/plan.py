"""`crowdwise plan`: how many labels, how much money or how much gold a target takes."""

import json
from typing import Annotated

import typer

from . import options
from .streams import say


def plan(
    reading: options.Labelled,
    target: Annotated[float, typer.Option(metavar="NUMBER", help="The accuracy that is wanted, such as 0.95.")],
    price: Annotated[float | None, typer.Option(metavar="NUMBER", help="What a label costs.")] = None,
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    history: options.History = None,
    decay: options.Decay = 1.0,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Estimate the accuracy, and how many labels or how much gold a target accuracy needs."""
    from ..analysis.cautions import cautions
    from ..analysis.planning.plan import check_target
    from ..analysis.planning.plan import plan as make_plan
    from . import session
    from .terminal import Terminal

    chosen = session.choose_method(method, set_)
    check_target(target, price)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading).with_history(chosen, history, decay, reading)
    with terminal.compiling():
        labels = session.read(terminal, reading, cautions=False)
        result = session.fit(terminal, chosen, labels, given, cautions=False, strict=reading.strict)
        found = make_plan(labels, target=target, price=price, result=result)
        doubts = cautions(result, labels)
    if as_json:
        say(json.dumps({**found.to_dict(), "cautions": [caution.to_dict() for caution in doubts]}))
        return
    terminal.notes(found.sentences())
    for caution in doubts:
        terminal.caution(caution)
    # Up to the first step that reaches the target.
    before = int((found.curve["expected_accuracy"] < found.target).sum())
    curve = found.curve.head(before + 1)
    terminal.table("Expected accuracy if every item got so many more labels", curve.columns, curve.rows())
