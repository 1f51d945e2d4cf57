"""`crowdwise next`: which items most need another label, or the decision of an expert."""

import json
from typing import Annotated, Any

import typer

from . import options
from .groups import Needs
from .streams import say


def next_(
    reading: options.Reading,
    budget: Annotated[
        int | None, typer.Option(help="How many labels to ask for; left out: as many as --random.")
    ] = None,
    random: Annotated[
        int, typer.Option(help="With --ask expert: draw so many items at random. Only these can calibrate confidence.")
    ] = 0,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the items to ask about here.")] = None,
    ask: Annotated[str, typer.Option(help="Who is asked: crowd, or expert, whose decisions become gold.")] = "crowd",
    worker: Annotated[
        str | None,
        typer.Option(help="Ask this worker, by its own name, about other items.", callback=options.in_utf8),
    ] = None,
    strategy: Annotated[str, typer.Option(help="expected, uncertain or best_worker.")] = "expected",
    per_item_max: Annotated[
        int | None, typer.Option(help="How many labels to ask for at most of one item; 3 if left out.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of what is drawn at random."), Needs("random")] = 0,
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    history: options.History = None,
    decay: options.Decay = 1.0,
    costs: options.Costs = None,
    bom: options.Bom = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Find the items that most need another label, or an expert, and say why."""
    from ..analysis.planning.asking import check_request, next_labels
    from ..output.targets import check_targets
    from ..output.writing import write
    from . import session
    from .terminal import Terminal

    chosen = session.choose_method(method, set_)
    settings: dict[str, Any] = {
        "budget": budget,
        "random": random,
        "ask": ask,
        "worker": worker,
        "strategy": strategy,
        "per_item_max": per_item_max,
        "seed": seed,
    }
    check_request(**settings)
    targets = [] if output is None else [output]
    check_targets(targets, [*reading.files, gold, history, costs], bom=bom)
    known_costs = session.read_given_costs(costs, reading)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading).with_history(chosen, history, decay, reading)
    with terminal.compiling():
        labels = session.read(terminal, reading)
        result = session.fit(terminal, chosen, labels, given, strict=reading.strict)
        found = next_labels(labels, result=result, costs=known_costs, **settings)
    write(dict.fromkeys(targets, found.to_frame()), reading.storage_options(), bom=bom)
    for target in targets:
        terminal.remark(f"Wrote {target}")
    if as_json:
        say(json.dumps({**found.to_dict(), "summary": found.summary, "written": targets}, default=str))
        return
    shown = found.to_frame()
    terminal.head("What to ask next", shown.lazy(), 20, shown.height)
    terminal.notes([found.summary])
