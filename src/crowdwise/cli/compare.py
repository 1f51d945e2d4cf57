"""`crowdwise compare`: run several methods on the same labels and compare them."""

import json
from typing import Annotated, Final

import typer

from . import options
from .streams import say

# The most items in JSON on which methods differ, and the most methods whose answers the screen has room for.
_MOST_DISPUTED: Final = 1000
_MOST_SHOWN: Final = 6


def compare(
    reading: options.Reading,
    truth: options.Truth = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    methods: Annotated[str | None, typer.Option(help="Which methods, separated by commas; all if left out.")] = None,
    ordinal: options.Ordinal = False,
    order: options.Order = None,
    distance: options.Distance = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Draw a page here; ends in .html.")] = None,
    numeric: options.Numeric = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Run methods side by side: share correct (a two-way tie counts half), how honest confidence is, seconds.

    With --numeric: mean absolute error, root mean squared error, correlation, and coverage of the intervals.
    """
    from ..analysis import compare as compare_methods
    from ..methods import METHODS, choose
    from ..output.targets import check_targets
    from ..reporting import comparison_page
    from . import numbers, session
    from .terminal import Terminal

    if numeric:
        numbers.compare(reading, methods, truth, output, quiet, as_json)
        return
    if output is not None:
        check_targets([output], [*reading.files, truth, gold], page=True)
    keys = list(METHODS) if methods is None else [key.strip() for key in methods.split(",")]
    chosen = {key: choose(key) for key in keys}
    asked = session.read_order(ordinal, order, distance)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading)
    with terminal.compiling():
        labels = session.read(terminal, reading, ordered=asked is not None)
        if asked is not None:
            asked.positions(labels.names.classes)  # what cannot be ordered is refused before any work
        known = given.held_out(terminal, session.read_known(truth, reading, terminal))
        with terminal.steps(len(chosen)) as begin, session.warnings_said(terminal):
            rows = compare_methods(labels, chosen, known, begin, gold=given.gold, gold_weight=gold_weight, asked=asked)
    session.require_convergence(rows, reading)
    if output is not None:
        comparison_page(labels, rows, output, session.command_line())
        terminal.remark(f"Wrote {output}")
    if as_json:
        disagreements = rows.disagreements()
        disputed = rows.disputed().head(_MOST_DISPUTED)
        tables = {"disagreements": disagreements.to_dicts(), "disputed": json.loads(disputed.write_json())}
        say(json.dumps({"methods": rows.rows, **tables}))
        return
    # A narrow screen has no room for everything that was measured. Only methods that did not converge need a sentence
    # about that; the interval and the iterations are on the page and in JSON.
    hidden = {"ending", "low", "high", "iterations"} if known is not None else {"ending"}
    hidden |= {"brier"} if asked is not None else set()
    header = [name for name in rows[0] if name not in hidden]
    terminal.table(repr(labels), header, [[row[name] for name in header] for row in rows], ("ties", "brier"))
    terminal.notes([f"{row['method']}: {row['ending']}" for row in rows if row["ending"] != "converged"])
    if known is None:
        differing = rows.disagreements()
        rest = "--json prints them all"
        terminal.head("Answers on which two methods differ", differing.lazy(), 10, differing.height, rest=rest)
        disputed = rows.disputed()
        few = disputed.select("item", "answers", *list(rows.answers)[:_MOST_SHOWN])
        rest = rest if disputed.height <= _MOST_DISPUTED else f"--json prints the first {_MOST_DISPUTED:,}"
        terminal.head("Items on which methods differ most", few.lazy(), 10, disputed.height, rest=rest)
