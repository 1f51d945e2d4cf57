"""`crowdwise judges`: how good judges are, alone and as a panel."""

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from . import options
from .groups import OUTPUT, Alias, Needs
from .streams import say

if TYPE_CHECKING:
    from ..analysis.panels.result import JudgesResult
    from .terminal import Terminal


# What columns of the first table mean; those of refits are there where the panel was fitted without each judge.
_GAIN: Final = "gain: how much more often the panel is right than the judge"
_OF_REFITS: Final = (
    "; loss: how much less often the panel would be right without the judge; agreement: how often the judge says what "
    "the others together say"
)


def judges(
    reading: options.Labelled,
    method: options.MethodKey = options.DEFAULT_METHOD,
    truth: options.Truth = None,
    gold: options.Gold = None,
    history: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Compare judges with a file that `aggregate --save-state` wrote."),
    ] = None,
    by: Annotated[
        Literal["day", "week", "month", "quarter", "year"] | None,
        typer.Option(metavar="PERIOD", help="Show judges by day, week, month, quarter or year of --time-column."),
    ] = None,
    first: Annotated[
        str | None,
        typer.Option(
            "--first-column",
            metavar="COLUMN",
            help="The column of the class that the judge saw first.",
            callback=options.in_utf8,
        ),
        Alias("--first"),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write a row for each judge here.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs-output", metavar="FILE", help="Write a row for every two judges here.", rich_help_panel=OUTPUT
        ),
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            "--positions-output",
            metavar="FILE",
            help="Write how often judges take what is first here.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option(
            "--shares-output",
            metavar="FILE",
            help="Write the shares of verdicts by order here.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    drift: Annotated[
        str | None,
        typer.Option(
            "--drift-output", metavar="FILE", help="Write judges now and before here.", rich_help_panel=OUTPUT
        ),
        Needs("history"),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option("--curve-output", metavar="FILE", help="Write judges by period here.", rich_help_panel=OUTPUT),
        Needs("by"),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            "--report-output", metavar="FILE", help="Write a page here; ends in .html.", rich_help_panel=OUTPUT
        ),
        Alias("--report"),
    ] = None,
    bom: options.Bom = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Measure judges, alone and as a panel: the best, the redundant, position bias, drift."""
    from ..analysis.panels.judges import extra_columns, judge_panel, require_period
    from ..errors import CallError
    from ..output.targets import check_page, check_targets
    from ..output.writing import write
    from ..reading.read_details import read_details
    from ..reading.read_truth import Truths
    from ..reporting import judges_page
    from ..results.history import History
    from . import session
    from .terminal import Terminal

    if truth is not None and gold is not None:
        raise CallError("Give --truth or --gold, not both: gold items are measured without being told.")
    require_period(by)
    if reading.time is not None and by is None and reading.duplicates != "latest":
        raise CallError("--time-column does nothing without --by.")
    time = reading.time
    if reading.duplicates != "latest":
        reading = reading._replace(time=None)
    if first is not None and reading.duplicates is None:
        reading = reading._replace(duplicates="samples")
    outputs = {
        "judges": output,
        "pairs": pairs,
        "positions": positions,
        "shares": shares,
        "drift": drift,
        "curve": curve,
    }
    targets = [path for path in outputs.values() if path is not None]
    check_targets(targets, [*reading.files, truth, gold, history], bom=bom)
    if page is not None:
        check_page(page)
    chosen = session.choose_method(method, None)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, options.DEFAULT_GOLD_WEIGHT, reading)
    known = session.read_known_classes(truth, reading, terminal)
    before = None if history is None else History.read(history, reading.storage_options())
    more = extra_columns(by, time, first)
    with terminal.compiling():
        labels = session.read(terminal, reading, cautions=False)
        with closing(labels):
            result = judge_panel(
                labels,
                chosen,
                truth=session.about_questions(None if known is None else Truths(known), labels),
                gold=session.about_questions(given.gold, labels),
                history=before,
                details=read_details(reading.files, reading.options(), more) if more else None,
                by=by,
                first=first,
            )
    made = {
        "judges": result.judges,
        "pairs": result.pairs,
        "positions": result.positions.judges,
        "shares": result.positions.shares,
        "drift": result.drift,
        "curve": result.curve,
    }
    if (positions or shares) and not result.positions.judges.height:
        raise CallError(
            "--positions-output and --shares-output do nothing here: it is not known what judges saw first. Name "
            "the column that says it by --first-column, or call the judge who saw the other order gpt/swap beside gpt."
        )
    tables = {path: table for name, path in outputs.items() if path is not None and (table := made[name]) is not None}
    write(tables, reading.storage_options(), bom=bom)
    if page is not None:
        judges_page(result, page, session.command_line())
        targets.append(page)
    for sentence in result.positions.remarks:
        terminal.remark(sentence)
    for target in targets:
        terminal.remark(f"Wrote {target}")
    if as_json:
        say(json.dumps({**result.to_dict(), "written": targets}, default=str))
        return
    _show(terminal, result)
    for caution in result.cautions:
        terminal.caution(caution)


def _show(terminal: "Terminal", result: "JudgesResult") -> None:
    """Show what is found about the panel, the judges, and what is found about them."""
    import polars as pl

    from ..analysis.panels.drift import curve_measure

    believed = "" if result.known else ", if the panel is right"
    columns = ["judge", "measured", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "loss", "agreement"]
    shown = result.judges.select(one for one in columns if result.refitted or one not in ("loss", "agreement"))
    spare = ("measured", "gain_low", "gain_high", "agreement")
    terminal.notes(result.about_panel())
    terminal.head(f"Judges, the best first{believed}", shown.lazy(), 20, shown.height, spare)
    terminal.notes([f"{_GAIN}{_OF_REFITS if result.refitted else ''}."])
    terminal.notes(result.about_pairs())
    if result.positions.judges.height:
        names = ["judge", "first_share", "first_low", "first_high", "in_both_orders", "flips", "to_first"]
        table = result.positions.judges.select(names)
        rest = "--positions-output FILE writes them all"
        terminal.head(
            "What is seen first: how often it wins",
            table.lazy(),
            20,
            table.height,
            ("first_low", "first_high"),
            rest=rest,
        )
    terminal.notes(result.positions.sentences())
    if result.drift is not None:
        names = ["quality", "quality_before", "change", "p"]
        names += ["agreement", "agreement_before", "agreement_change", "agreement_p"]
        table = result.drift.select("judge", "status", *names)
        rest = "--drift-output FILE writes them all"
        spare = ("p", "agreement_p", "change", "agreement_change")
        terminal.head("Now and before, if the panel is right", table.lazy(), 20, table.height, spare, rest=rest)
    if result.curve is not None:
        share, _ = curve_measure(result.curve)
        title = "Share right" if share == "accuracy" else "Agreement with the others"
        named = result.curve.with_columns(pl.col("judge").fill_null("all together"))
        wide = named.pivot("period", index="judge", values=share)
        rest = "--curve-output FILE writes them all"
        terminal.head(f"{title} by {result.period}", wide.lazy(), 20, wide.height, rest=rest)
    terminal.notes(result.about_changes())
