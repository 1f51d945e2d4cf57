"""The figures of the page, made with Altair and saved as SVG and PNG."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np
import polars as pl

import crowdwise as cw

from .palette import PAPER, colour
from .significance import Ranking

_FONT: Final = "Helvetica, Arial, sans-serif"
_INK: Final = "#222222"
_GRID: Final = "#e4e4e4"
_PNG_SCALE: Final = 2.0
# A Vega expression that writes differences with their sign, and zero without a sign.
_SIGNED: Final = "datum.value == 0 ? '0' : format(datum.value, '+~f')"


def save(chart: Any, folder: Path, name: str) -> None:
    """Save a figure as SVG and PNG; needs no browser."""
    styled = (
        chart.configure(font=_FONT, background="white", padding=8)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_INK,
            titleColor=_INK,
            labelFontSize=10,
            titleFontSize=11,
            titleFontWeight="normal",
            gridColor=_GRID,
            domainColor="#888888",
            tickColor="#888888",
        )
        .configure_header(labelColor=_INK, labelFontSize=11)
        .configure_legend(labelColor=_INK, labelFontSize=11, titleFontSize=11)
    )
    styled.save(folder / f"{name}.svg")
    styled.save(folder / f"{name}.png", scale_factor=_PNG_SCALE)


def sensitivity(means: pl.DataFrame) -> Any:
    """Draw figure 2: mean accuracy against a_v for both priors; columns prior, prior_strength and accuracy."""
    names = {"original": "BWA(30 original)", "adjusted": "BWA(15 adjusted)"}
    titles = {"original": "original ε", "adjusted": "adjusted ε"}
    chosen = {"original": 30, "adjusted": 15}
    table = means.with_columns(
        pl.col("prior").replace_strict(titles).alias("title"),
        (pl.col("prior_strength") == pl.col("prior").replace_strict(chosen)).alias("chosen"),
    )
    key = alt.Legend(title=None, orient="top-right", symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)
    shown = list(titles.values())
    base = alt.Chart(table).encode(
        x=alt.X("prior_strength:Q", title="prior strength aᵥ", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("accuracy:Q", title="mean accuracy", axis=alt.Axis(format=".3f"), scale=alt.Scale(zero=False)),
        color=alt.Color(
            "title:N", legend=key, scale=alt.Scale(domain=shown, range=[colour(name) for name in names.values()])
        ),
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("title:N", legend=key, scale=alt.Scale(domain=shown, range=[[1, 0], [5, 3]]))
    )
    best = base.transform_filter("datum.chosen").transform_calculate(told="'aᵥ = ' + datum.prior_strength")
    points = best.mark_point(size=70, filled=True, opacity=1)
    values = best.mark_text(dy=-12, dx=4, align="left", fontSize=11).encode(text="told:N")
    return (lines + points + values).properties(width=430, height=230)


def running_times(seconds: pl.DataFrame) -> Any:
    """Draw figure 3: the seconds of every method on every dataset; columns method, dataset and seconds."""
    sizes = {name: dataset.labels for name, dataset in cw.datasets.CATALOG.items()}
    table = seconds.with_columns(pl.col("dataset").replace_strict(sizes).alias("labels"))
    order = table.sort("labels")["dataset"].unique(maintain_order=True).to_list()
    methods = [method for method in PAPER if method in table["method"]]
    looks = [PAPER[method] for method in methods]
    colours = alt.Scale(domain=methods, range=[one for one, _ in looks])
    shapes = alt.Scale(domain=methods, range=[one for _, one in looks])
    scale = alt.Scale(type="log")
    base = alt.Chart(table).encode(
        x=alt.X(
            "dataset:N", sort=order, title="dataset, by number of labels", axis=alt.Axis(labelAngle=-45, grid=False)
        ),
        y=alt.Y(
            "seconds:Q",
            scale=scale,
            title="seconds (log scale)",
            axis=alt.Axis(format="~g", values=[10.0**power for power in range(-5, 6)]),
        ),
        color=alt.Color("method:N", scale=colours, legend=None),
    )
    lines = base.mark_line(strokeWidth=1.3, opacity=0.75)
    points = base.mark_point(size=38, filled=True, opacity=1).encode(
        shape=alt.Shape("method:N", scale=shapes, legend=None)
    )
    ends = _spread_names(table.filter(pl.col("dataset") == order[-1]))
    names = (
        alt.Chart(ends)
        .mark_text(align="left", dx=10, fontSize=11)
        .encode(
            x=alt.X("dataset:N", sort=order),
            y=alt.Y("place:Q", scale=scale),
            color=alt.Color("method:N", scale=colours, legend=None),
            text="method:N",
        )
    )
    return (lines + points + names).properties(width=560, height=360)


def _spread_names(ends: pl.DataFrame, distance: float = 0.24) -> pl.DataFrame:
    """Add a column place: where to write the names at the ends of the lines so that they do not overlap.

    Args:
        ends: The last point of each line; columns method and seconds.
        distance: The smallest distance between two names on the log scale, in powers of ten.
    """
    table = ends.sort("seconds")
    wanted = np.log10(table["seconds"].to_numpy())
    steps = distance * np.arange(len(wanted))
    # Move the names up as little as necessary, and down as little as necessary. In both cases they have the distance,
    # and so they have it in the mean of both.
    up = np.maximum.accumulate(wanted - steps) + steps
    down = np.minimum.accumulate((wanted - steps)[::-1])[::-1] + steps
    return table.with_columns(pl.Series("place", 10 ** ((up + down) / 2)))


def accuracies(table: pl.DataFrame) -> Any:
    """Draw figure 4: for every dataset, how far the accuracy of each method is from the mean of all methods.

    Columns method, dataset and accuracy.
    """
    methods = [method for method in PAPER if method in table["method"]]
    table = table.with_columns(
        (100 * (pl.col("accuracy") - pl.col("accuracy").mean().over("dataset"))).alias("points"),
        (100 * pl.col("accuracy").mean().over("dataset")).alias("mean"),
    ).with_columns(pl.format("{} ({} %)", "dataset", pl.col("mean").round(1)).alias("title"))
    titles = table["title"].unique(maintain_order=True).to_list()
    colours = alt.Scale(domain=methods, range=[colour(method) for method in methods])
    panels = []
    columns = 6
    for number, title in enumerate(titles):
        one = table.filter(pl.col("title") == title)
        names = alt.Axis(title=None, labels=number % columns == 0, ticks=False, domain=False, labelLimit=140)
        bars = (
            alt.Chart(one)
            .mark_bar()
            .encode(
                x=alt.X("points:Q", title=None, axis=alt.Axis(tickCount=3, labelExpr=_SIGNED)),
                y=alt.Y("method:N", sort=methods, axis=names, scale=alt.Scale(domain=methods, padding=0.15)),
                color=alt.Color("method:N", scale=colours, legend=None),
            )
        )
        zero = alt.Chart(pl.DataFrame({"x": [0]})).mark_rule(color=_INK, strokeWidth=1).encode(x="x:Q")
        heading = alt.TitleParams(title, fontSize=11, fontWeight="normal", anchor="middle", color=_INK, offset=3)
        panels.append((bars + zero).properties(width=98, height=150, title=heading))
    return alt.concat(*panels, columns=columns, spacing={"row": 14, "column": 12})


def ranks(rankings: Mapping[str, Ranking]) -> Any:
    """Draw the average ranks of the methods, one panel for each collection of datasets.

    A line shows half a critical difference to each side, so that methods whose lines do not overlap are different.
    """
    panels = [_rank_panel(title, ranking) for title, ranking in rankings.items()]
    return alt.hconcat(*panels, spacing=24)


def _rank_panel(title: str, ranking: Ranking) -> Any:
    half = ranking.critical_difference / 2
    table = pl.DataFrame({"method": list(ranking.average), "rank": list(ranking.average.values())}).with_columns(
        (pl.col("rank") - half).alias("low"), (pl.col("rank") + half).alias("high")
    )
    methods = table["method"].to_list()
    best = table["high"][0]
    colours = alt.Scale(domain=methods, range=[colour(method) for method in methods])
    base = alt.Chart(table).encode(
        y=alt.Y(
            "method:N", sort=methods, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=160, grid=True)
        ),
        color=alt.Color("method:N", scale=colours, legend=None),
    )
    spans = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="average rank (1 is best)", scale=alt.Scale(zero=False, nice=True)),
        x2="high:Q",
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x="rank:Q")
    bound = alt.Chart(pl.DataFrame({"x": [best]})).mark_rule(color=_INK, strokeDash=[4, 3]).encode(x="x:Q")
    heading = alt.TitleParams(title, fontSize=12, fontWeight="normal", anchor="start", color=_INK)
    return (bound + spans + dots).properties(width=300, height=17 * len(methods), title=heading)
