"""`crowdwise next`: which items most need another label, or the decision of an expert."""

import json
import shlex
from typing import Annotated, Any, Literal

import typer

from . import options
from .groups import Needs
from .streams import say


def next_(
    reading: options.Labelled,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="How many labels to ask for; if left out, as many as --random.")
    ] = None,
    random: Annotated[
        int,
        typer.Option(help="With --ask expert: draw so many of the items at random, to calibrate confidence."),
    ] = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the items to ask about here.")
    ] = None,
    ask: Annotated[
        Literal["crowd", "expert"],
        typer.Option(metavar="WHO", help="Who is asked: crowd, or expert, whose decisions become gold."),
    ] = "crowd",
    worker: Annotated[
        str | None,
        typer.Option(
            "--for-worker",
            metavar="WORKER",
            help="Choose items for this worker, who has not labelled them yet.",
            callback=options.in_utf8,
        ),
    ] = None,
    strategy: Annotated[
        Literal["expected", "uncertain", "best_worker"],
        typer.Option(metavar="STRATEGY", help="How items are chosen: expected, uncertain or best_worker."),
    ] = "expected",
    per_item_max: Annotated[
        int | None, typer.Option(metavar="N", help="How many labels to ask for of one item at most; 3 if left out.")
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
    """Choose the items that most need another label, or an expert, and say why."""
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
    terminal.notes([found.summary, _after(ask, output)])
    title = "Items to ask about" if shown["value"].null_count() == shown.height else _title(ask, strategy, costs)
    # A column without values says nothing here; an expert fills in that of truths, in the file.
    shown = shown.select(column for column in shown if column.null_count() < shown.height)
    rest = "-o FILE writes them all" if output is None else f"all are in {output}"
    terminal.head(title, shown.lazy(), 10, shown.height, ("ask", "votes"), rest=rest)


def _after(ask: str, output: str | None) -> str:
    """Say what to do with the list."""
    if ask == "crowd":
        return "Next: collect these labels, add them to your labels, and run the command again."
    file = "FILE (-o FILE writes it)" if output is None else shlex.quote(output)
    return f"Next: fill in the column 'truth' of {file} and give it to --gold, or decide with `crowdwise review`."


def _title(ask: str, strategy: str, costs: str | None) -> str:
    """Return the title of the table, which says what its column `value` is."""
    if costs is not None:
        value = "what one more label saves" if ask == "crowd" else "what the decision costs"
        return f"Items to ask about; value = {value}, as expected"
    if ask == "crowd" and strategy == "expected":
        return "Items to ask about; value = right answers that one more label is expected to add"
    return "Items to ask about; value = the probability that the answer is wrong"
