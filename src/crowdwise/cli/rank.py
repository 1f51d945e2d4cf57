"""`crowdwise rank`: rank objects, such as language models, by comparisons of two of them."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from . import options
from .groups import OUTPUT, Alias, Needs, Only
from .streams import say

if TYPE_CHECKING:
    from ..ranking.result import RankResult
    from .terminal import Terminal


# What reading comparisons shares with reading labels, besides files and storage.
_SHARED: Final = ("item", "sheet", "query", "table", "encoding")


def _column(role: str, help_: str) -> Any:
    return typer.Option(f"--{role}-column", metavar="COLUMN", help=help_, callback=options.in_utf8)


class Comparing(NamedTuple):
    """The columns of comparisons, besides that of items."""

    judge: Annotated[
        str | None, _column("judge", "The column of judges."), Alias("--judge", "--worker-column", "--worker")
    ] = None
    left: Annotated[str | None, _column("left", "The column of the object that was shown first."), Alias("--left")] = (
        None
    )
    right: Annotated[str | None, _column("right", "The column of the other object."), Alias("--right")] = None
    winner: Annotated[
        str | None,
        _column("winner", "The column of verdicts: left, right, tie, or the name of the object."),
        Alias("--winner"),
    ] = None
    object: Annotated[
        str | None, _column("object", "With --from-scores, the column of objects."), Alias("--object"), Needs("scores")
    ] = None
    score: Annotated[
        str | None, _column("score", "With --from-scores, the column of scores."), Alias("--score"), Needs("scores")
    ] = None


def rank(
    reading: Annotated[options.Reading, Only("files", "storage", *_SHARED)],
    comparing: Comparing,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the objects in order here.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs-output",
            metavar="FILE",
            help="Write how often each object would beat each other one here.",
            rich_help_panel=OUTPUT,
        ),
        Alias("--pairs"),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            "--judges-output",
            metavar="FILE",
            help="Write what was learned about the judges here.",
            rich_help_panel=OUTPUT,
        ),
        Alias("--judges"),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            "--report-output", metavar="FILE", help="Write a page here; ends in .html.", rich_help_panel=OUTPUT
        ),
        Alias("--report"),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--from-scores", help="A row is a score of one object; scores of one judge and item are compared."
        ),
        Alias("--scores"),
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Count every vote the same: the Bradley-Terry model with ties.")
    ] = False,
    drop_against: Annotated[
        bool,
        typer.Option(
            "--drop-against", help="Leave out judges whose preferences are clearly the opposite of the others'."
        ),
    ] = False,
    bom: options.Bom = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Rank objects, such as language models, by comparisons of two of them, with intervals."""
    from ..output.targets import check_page, check_targets
    from ..output.writing import write
    from ..ranking.rank import rank as rank_objects
    from .session import command_line
    from .terminal import Terminal

    targets = [one for one in (output, pairs, judges) if one is not None]
    check_targets(targets, reading.files, bom=bom)
    if page is not None:
        check_page(page)
    storage = reading.storage_options()
    named = comparing._asdict() | {name: getattr(reading, name) for name in _SHARED}
    terminal = Terminal(quiet)
    result = rank_objects(
        reading.files, scores=scores, plain=plain, drop_against=drop_against, warn=False, storage=storage, **named
    )
    tables = {}
    if output is not None:
        tables[output] = result.objects
    if pairs is not None:
        tables[pairs] = result.pairs
    if judges is not None:
        tables[judges] = result.judges
    write(tables, storage, bom=bom)
    if page is not None:
        result.report(page, command=command_line())
        targets.append(page)
    for sentence in result.remarks:
        terminal.remark(sentence)
    for target in targets:
        terminal.remark(f"Wrote {target}")
    if as_json:
        say(json.dumps({**result.to_dict(), "written": targets}, default=str))
        return
    terminal.notes(result.sentences())
    _show(terminal, result)
    for caution in result.cautions:
        terminal.caution(caution)


def _show(terminal: "Terminal", result: "RankResult") -> None:
    """Show the objects and the judges with the most votes."""
    import polars as pl

    ranks = pl.format("{} to {}", "rank_low", "rank_high").alias("range")
    shown = result.objects.select(
        "rank",
        ranks,
        "object",
        "theta",
        "low",
        "high",
        (100 * pl.col("win_rate")).round().cast(pl.Int64).alias("wins_of_100"),
        "votes",
    )
    title = "Objects, the best first" if result.has_order else "Objects, without a ranking"
    terminal.head(title, shown.lazy(), 20, shown.height, ("votes",))
    by_votes = result.judges.sort("votes", "judge", descending=[True, False])
    few = by_votes.select("judge", "votes", "d", "first_of_100", "ties_of_100", "flag")
    few = few.with_columns(pl.col("first_of_100", "ties_of_100").round().cast(pl.Int64))
    terminal.head("Judges", few.lazy(), 10, few.height, ("ties_of_100",), rest="--judges-output FILE writes them all")
