"""`crowdwise report`: write an HTML page about a crowd, its answers and its workers."""

from pathlib import Path
from typing import Annotated

import typer

from . import options


def report(
    context: typer.Context,
    reading: options.Labelled,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page; ends in .html.")
    ],
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    numeric: options.Numeric = False,
    truth: options.Truth = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    history: options.History = None,
    decay: options.Decay = 1.0,
    costs: options.Costs = None,
    ordinal: options.Ordinal = False,
    order: options.Order = None,
    distance: options.Distance = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The heading of the page.")] = "Crowd report",
    quiet: options.Quiet = False,
) -> None:
    """Write an HTML report about the crowd, the answers and the workers, in one file."""
    from ..errors import CallError
    from ..output.targets import check_targets
    from ..reporting import report as write_report
    from ..reviewing.item_columns import item_texts
    from . import numbers, session
    from .terminal import Terminal

    if numeric:
        numbers.report(reading, numbers.choose(context, method, set_), truth, output, title, quiet)
        return
    if reading.multi == "each" and (costs is not None or ordinal or order is not None):
        raise CallError("With --multi each, the report is about yes/no questions, without --costs and an order.")
    chosen = session.choose_method(method, set_)
    check_targets([output], [*reading.files, truth, gold, history, costs], page=True)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading).with_history(chosen, history, decay, reading)
    known = given.held_out(terminal, session.read_known_classes(truth, reading, terminal))
    known_costs = session.read_given_costs(costs, reading)
    asked = session.read_order(ordinal, order, distance, costs)
    with terminal.compiling():
        labels = session.read(terminal, reading, ordered=asked is not None)
        if asked is not None:
            asked.positions(labels.names.classes)  # what cannot be ordered is refused before any work
        result = session.fit(terminal, chosen, labels, given, strict=reading.strict)
        command = session.command_line()
        write_report(
            result,
            labels,
            known,
            output,
            command=command,
            costs=known_costs,
            ordinal=asked or False,
            decisions=given.gold,
            source=session.review_arguments(reading, gold, given, method),
            title=title,
            name=reading.shown_name,
            texts=item_texts(labels, reading.files, reading.options()),
        )
    terminal.notes([f"Expected accuracy: {result.expected_accuracy}. The first card of the page says what to do next."])
    terminal.remark(f"Wrote {output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
