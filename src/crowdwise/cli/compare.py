"""`crowdwise compare`: run several methods on the same labels and compare them."""

import json
from typing import Annotated, Final

import typer

from . import options
from .streams import say

# The most items in JSON on which methods differ, and the most methods whose answers the screen has room for.
_MOST_DISPUTED: Final = 1000
_MOST_SHOWN: Final = 6
_SHOWN_FIRST: Final = ("mv", "adjudicator", "bwa", "ds")


def compare(
    reading: options.Labelled,
    truth: options.Truth = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    methods: options.MethodKeys = None,
    ordinal: options.Ordinal = False,
    order: options.Order = None,
    distance: options.Distance = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write a page here; ends in .html.")
    ] = None,
    numeric: options.Numeric = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Compare methods on the same labels: accuracy, how honest confidence is, and seconds.

    A two-way tie counts half. With --numeric: errors, correlation, and coverage of the intervals.
    """
    import polars as pl

    from ..analysis import compare as compare_methods
    from ..caution import listed
    from ..errors import quoted
    from ..methods import METHODS, choose
    from ..output.targets import check_targets
    from ..reading.read_truth import Truths
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
        known = given.held_out(terminal, session.read_known_classes(truth, reading, terminal))
        answers = session.about_questions(None if known is None else Truths(known), labels)
        known = None if answers is None else answers.table
        given = given._replace(gold=session.about_questions(given.gold, labels))
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
    hidden = {"ending", "low", "high", "iterations"}
    hidden |= {"brier"} if asked is not None else set()
    terminal.notes(rows.sentences())
    if known is None:
        differing = rows.disagreements().filter(pl.col("items") > 0)
        rest = "--json prints them all"
        terminal.head("Answers on which two methods differ", differing.lazy(), 5, differing.height, rest=rest)
        disputed = rows.disputed()
        usual = [key for key in _SHOWN_FIRST if key in rows.answers]
        keys = [*usual, *(key for key in rows.answers if key not in usual)][:_MOST_SHOWN]
        few = disputed.select("item", "answers", *keys)
        rest = "--json prints more" if disputed.height <= _MOST_DISPUTED else f"--json prints {_MOST_DISPUTED:,}"
        terminal.head("Items on which methods differ most", few.lazy(), 5, disputed.height, rest=rest)
    header = [name for name in rows[0] if name not in hidden]
    ran = [row for row in rows if row["seconds"] is not None]
    if known is not None:
        ran.sort(key=lambda row: row["accuracy"], reverse=True)
    title = "Methods" if known is None else "Methods, the most accurate first"
    terminal.table(title, header, [[row[name] for name in header] for row in ran], ("ties", "brier"))
    refused = [row for row in rows if row["seconds"] is None]
    if methods is None and refused:
        names = listed(quoted(row["method"]) for row in refused)
        terminal.remark(f"Not run, because they do not take these labels: {names} (--json says why).")
        refused = []
    late = [row for row in ran if row["ending"] != "converged"]
    for row in (*refused, *late):
        terminal.remark(f"{quoted(row['method'])}: {row['ending']}")
