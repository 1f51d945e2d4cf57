"""`ranking_page`: writes an HTML page about a ranking, in the style of the report; `ranking_chart` draws it."""

from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from scipy.special import expit

from .. import __version__
from ..analysis.panels.positions import position_sentences
from ..errors import require_extra
from ..output.targets import check_page
from ..output.writing import write_text
from ..reporting.blocks import Bullets, Cell, Code, Figure, Paragraph, Section, Table
from ..reporting.cells import number, text
from ..reporting.rendering import render

if TYPE_CHECKING:
    from ..analysis.charts import Style
    from .result import RankResult

# So many objects are drawn, and so many are in the matrix.
_MOST_DRAWN: Final = 60
_MOST_IN_MATRIX: Final = 10
_MOST_JUDGES: Final = 200


def ranking_chart(result: "RankResult", style: "Style") -> Any:
    """Draw theta with its interval for the first objects, with the ranks that each may have before its name.

    An end that is not known is drawn as theta itself.
    """
    from ..analysis import charts

    low, high, name = pl.col("rank_low"), pl.col("rank_high"), pl.col("object").cast(pl.String)
    ranks = pl.when(low == high).then(low.cast(pl.String)).otherwise(pl.format("{}-{}", low, high))
    rows = result.objects.head(_MOST_DRAWN).select(
        (pl.concat_str(ranks, name, separator="  ") if result.has_order else name).alias("object"),
        "theta",
        *(pl.col(end).fill_null(pl.col("theta")) for end in ("low", "high")),
        pl.col("rank_low").alias("rank from"),
        pl.col("rank_high").alias("to"),
    )
    return charts.intervals(rows, "Log odds against an average object (theta)", style)


def ranking_page(result: "RankResult", path: str | PathLike[str], command: str = "") -> None:
    """Write the page; see `RankResult.report`."""
    require_extra("report", "A page")
    check_page(path)
    what = f"{len(result.votes):,} votes of {result.judges.height:,} judges on {result.objects.height:,} objects."
    sections = [
        Section("short", "In short", _in_short(result), "In short"),
        Section("objects", "Objects", _objects(result), "Objects"),
        Section("judges", "Judges", _judges(result), "Judges"),
        Section("made", "How it was made", _made(result, command), "How it was made"),
    ]
    write_text(path, render("Ranking", "Ranking", what, sections))


def _in_short(result: "RankResult") -> list[Any]:
    verdict, *others = result.sentences()
    cautions = [Paragraph(str(one), "warning") for one in result.cautions]
    return [Paragraph(verdict, "intro"), *([Bullets(others)] if others else []), *cautions]


def _objects(result: "RankResult") -> list[Any]:
    from ..analysis import charts

    caption = "Lines are 95 % intervals, of what other prompts with the same judges would give."
    caption += " Before each name are the ranks that it may have." if result.has_order else ""
    blocks: list[Any] = [Figure("Objects, the best first", ranking_chart(result, charts.PAGE), caption)]
    few = result.objects.head(_MOST_IN_MATRIX)["object"].cast(pl.String).to_list()
    if len(few) > 1:
        long = result.wins.head(len(few)).select("object", *few).with_row_index("row").unpivot(index=["row", "object"])
        long = long.drop_nulls().sort("row", maintain_order=True)
        cells = long.select(row="object", column="variable", share=pl.col("value") / 100)
        axes = charts.Axes("This object", "against this one", "votes")
        said = "Of 100 decided votes, how many the object of the row would win against that of the column."
        blocks.append(Figure("Wins of 100", charts.heat_map(cells, axes, charts.PAGE), said))
    columns = [
        "#Rank",
        "#From",
        "#To",
        "Object",
        "#Theta",
        "#Low",
        "#High",
        "#Wins of 100",
        "#Votes",
        "#Plain",
        "Remark",
    ]
    rows = [
        [
            *(number(row[name]) for name in ("rank", "rank_low", "rank_high")),
            text(row["object"]),
            *(number(row[name], ".3f") for name in ("theta", "low", "high")),
            number(100 * row["win_rate"], ".0f"),
            number(row["votes"]),
            number(row["theta_plain"], ".3f"),
            text(row["flag"]),
        ]
        for row in result.objects.to_dicts()
    ]
    said = "Wins of 100 decided votes against an average object. Plain is theta if every vote counts the same."
    return [*blocks, Table("objects", columns, rows), Paragraph(said, "note")]


def _judges(result: "RankResult") -> list[Any]:
    table = result.judges.sort("votes", "judge", descending=[True, False]).head(_MOST_JUDGES)
    columns = ["Judge", "#Votes", "#Tells apart (d)", "#Low", "#High", "#First of 100", "#Flips", "#Ties of 100"]
    positions = result.positions
    both = {row["judge"]: (row["flips"], row["in_both_orders"]) for row in positions.to_dicts()}
    rows = [
        [
            text(row["judge"]),
            number(row["votes"]),
            *(number(row[name], ".2f") for name in ("d", "d_low", "d_high")),
            _first_of_100(row),
            _flips(*both.get(row["judge"], (0, 0))),
            number(row["ties_of_100"], ".0f"),
            text("-" if row["nearest"] is None else f"{row['nearest']} ({row['nearest_correlation']:.2f})"),
            text(row["flag"]),
        ]
        for row in table.to_dicts()
    ]
    more = result.judges.height - table.height
    left_out = f"{more:,} more judges with fewer votes; --judges-output FILE writes them all." if more else ""
    said = (
        "d is 1 for the average judge, 0 for one who guesses, below 0 for one who is against the panel. First of 100 "
        "is how often a judge takes the first of two equals, with its 95 % interval. Flips are verdicts that changed "
        "with the order, of the pairs that the judge saw in both. Nearest is the judge whose errors are most alike, "
        "with their correlation."
    )
    return [
        Bullets(position_sentences(positions)),
        Table("judges", [*columns, "Nearest", "Remark"], rows, left_out),
        Paragraph(said, "note"),
    ]


def _first_of_100(judge: dict[str, Any]) -> Cell:
    if judge["b"] is None:
        return number(None)
    low, high = 100 * expit(judge["b_low"]), 100 * expit(judge["b_high"])
    return Cell(f"{judge['first_of_100']:.0f} ({low:.0f} to {high:.0f})", judge["first_of_100"])


def _flips(flips: int, both: int) -> Cell:
    return Cell(f"{flips:,} of {both:,}", flips / both) if both else number(None)


def _made(result: "RankResult", command: str) -> list[Any]:
    model = (
        "Bradley and Terry's model with Davidson's ties"
        if result.fit.plain
        else ("Davidson's model of ties, with discrimination, position and tie tendency for each judge")
    )
    said = (
        f"{model}; intervals by {result.votes.cluster}, with {result.uncertainty.clusters:,} of them. They do not say "
        f"what judges who are not here would find. crowdwise {__version__}."
    )
    remarks = [Bullets(list(result.remarks))] if result.remarks else []
    return [*([Code(command)] if command else []), *remarks, Paragraph(said, "note")]
