"""`crowdwise rate`: say how many items truly pass, by judges and gold."""

import json
from typing import Annotated

import typer

from . import options
from .groups import Alias, Needs
from .streams import say


def rate(
    reading: options.Labelled,
    passing: Annotated[
        list[str],
        typer.Option(
            "--pass", metavar="LABEL", help="The label of items that pass; repeatable.", callback=options.in_utf8
        ),
    ],
    gold: Annotated[
        str | None, typer.Option(metavar="FILE", help="True labels of items that were drawn at random.")
    ] = None,
    gold_labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Labels by the same judges of the items of --gold, if these are other items."
        ),
        Needs("gold"),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system-column", metavar="COLUMN", help="The column of systems, to rate each.", callback=options.in_utf8
        ),
        Alias("--system"),
    ] = None,
    these_items: Annotated[
        bool,
        typer.Option("--these-items", help="The share of these items alone, not of all that they are a sample of."),
        Needs("gold"),
    ] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rates here.")] = None,
    differences: Annotated[
        str | None,
        typer.Option("--differences-output", metavar="FILE", help="Write the differences of systems here."),
        Alias("--differences"),
        Needs("system"),
    ] = None,
    bom: options.Bom = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Estimate the share of items that truly pass, from judges on all items and gold on a random sample.

    Without gold: how many gold items give which interval.
    """
    from ..analysis.rates.rate import rate_with
    from ..output.targets import check_other_file, check_targets
    from ..output.writing import write
    from .terminal import Terminal

    targets = [one for one in (output, differences) if one is not None]
    check_targets(targets, [*reading.files, gold, gold_labels], bom=bom)
    if gold is not None:
        check_other_file("--gold", gold, reading.files)
    terminal = Terminal(quiet)
    keywords = reading.truth_keywords(is_export=False)
    result = rate_with(
        reading.options(),
        reading.files,
        passing,
        gold,
        system,
        gold_labels,
        these_items=these_items,
        gold_keywords=keywords,
    )
    tables = {output: result.systems, differences: result.differences}
    write({path: table for path, table in tables.items() if path is not None}, reading.storage_options(), bom=bom)
    for remark in result.remarks:
        terminal.remark(remark)
    for caution in result.cautions:
        terminal.caution(caution)
    for target in targets:
        terminal.remark(f"Wrote {target}")
    if as_json:
        say(json.dumps({**result.to_dict(), "written": targets}, default=str))
        return
    terminal.notes(result.sentences())
    shown = result.systems.select("system", "items", "gold", "pass_rate", "low", "high", "raw_rate", "method")
    shown = shown if system is not None else shown.drop("system")
    if result.has_gold:
        terminal.head("Share of items that truly pass", shown.lazy(), 20, shown.height, ("method",))
    else:
        needed = result.needed if system is not None else result.needed.drop("system")
        terminal.head("Width of the interval by gold", needed.lazy(), 20, needed.height)
    if result.differences.height:
        rows = result.differences.select("a", "b", "difference", "low", "high", "raw_difference", "same_prompts")
        terminal.head(
            "Differences", rows.lazy(), 20, rows.height, ("same_prompts",), rest="--differences-output FILE has all"
        )
