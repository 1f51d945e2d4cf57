"""The charts of the report, made with Altair: one function for each kind of chart.

Every function takes a table, whose columns its docstring names, and returns an Altair chart. A `Style` gives the
colours. On a page they are variables of the page's style sheet, so that the same chart fits a light screen, a dark
screen and paper; for the same reason, shades are opacities of one colour. Needs the extra `report`.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

import altair as alt
import polars as pl


@dataclass(frozen=True)
class Style:
    """The colours and the width of a chart.

    Attributes:
        ink: The colour of text and strong marks.
        muted: The colour of axis labels and of other secondary text.
        line: The colour of grid lines.
        accent: The main colour of the data.
        warm: The second colour of the data, for contrast.
        panel: The colour of the background.
        width: The width in pixels, or "container" to fill the page.
    """

    ink: str
    muted: str
    line: str
    accent: str
    warm: str
    panel: str
    width: int | Literal["container"]


# The blue and the vermilion of Okabe and Ito, which people with any kind of colour vision can distinguish.
PLAIN: Final = Style("#1c2430", "#5b6675", "#dfe3e8", "#0072b2", "#d55e00", "#ffffff", 480)
PAGE: Final = Style(
    "var(--ink)", "var(--muted)", "var(--line)", "var(--accent)", "var(--warm)", "var(--panel)", "container"
)


def histogram(bins: pl.DataFrame, across: str, up: str, style: Style) -> Any:
    """Draw a histogram; columns low, high (the ends of a bin) and count.

    `across` and `up` are the titles of the horizontal and the vertical axis.
    """
    chart = (
        alt.Chart(bins)
        .mark_bar(color=style.accent, binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=across),
            x2="high:Q",
            y=alt.Y("count:Q", title=up, axis=alt.Axis(tickMinStep=1, format="~s")),
            tooltip=[
                alt.Tooltip("low:Q", title="from", format=".4~g"),
                alt.Tooltip("high:Q", title="to", format=".4~g"),
                alt.Tooltip("count:Q", title=up.lower(), format=","),
            ],
        )
    )
    return finish(chart, style, 180)


def bars(counts: pl.DataFrame, across: str, up: str, style: Style) -> Any:
    """Draw a bar for each of a few values, in the order of the rows; columns value and count.

    `across` and `up` are the titles of the horizontal and the vertical axis.
    """
    chart = (
        alt.Chart(counts)
        .mark_bar(color=style.accent)
        .encode(
            x=alt.X("value:N", sort=None, title=across, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count:Q", title=up, axis=alt.Axis(tickMinStep=1, format="~s")),
            tooltip=[
                alt.Tooltip("value:N", title=across.lower()),
                alt.Tooltip("count:Q", title=up.lower(), format=","),
            ],
        )
    )
    return finish(chart, style, 180)


def class_shares(shares: pl.DataFrame, style: Style) -> Any:
    """Draw how common each class is; columns class, source, share and count.

    The shares of the first source, the answers, are bars. Those of the others, labels and prior, are marks.
    """
    order = shares["class"].unique(maintain_order=True).to_list()
    y = alt.Y("class:N", sort=order, title=None, axis=alt.Axis(labelLimit=120))
    x = alt.X("share:Q", title="Share", axis=alt.Axis(format="~%", tickCount=5))
    sources = shares["source"].unique(maintain_order=True).to_list()
    colours = [style.accent, style.ink, style.warm][: len(sources)]
    colour = alt.Color(
        "source:N",
        scale=alt.Scale(domain=sources, range=colours),
        sort=sources,
        title=None,
        legend=alt.Legend(orient="top", symbolType="square", symbolStrokeWidth=0, symbolOpacity=1),
    )
    tooltip = [
        alt.Tooltip("class:N"),
        alt.Tooltip("source:N", title="share of"),
        alt.Tooltip("share:Q", format=".2%"),
        alt.Tooltip("count:Q", format=",.0f"),
    ]
    base = alt.Chart(shares).encode(y=y, x=x, color=colour, tooltip=tooltip)
    bar = base.transform_filter(alt.datum.source == sources[0]).mark_bar(height={"band": 0.55}, opacity=1)
    marks = base.transform_filter(alt.datum.source != sources[0]).mark_tick(
        thickness=3, height={"band": 0.75}, opacity=1
    )
    return finish(alt.layer(bar, marks), style, max(90, 30 * len(order)))


@dataclass(frozen=True)
class Axes:
    """What the rows, the columns and the cases of a heat map are."""

    row: str
    column: str
    cases: str = ""


def heat_map(cells: pl.DataFrame, axes: Axes, style: Style) -> Any:
    """Draw which classes are taken for which; columns row and column (two classes), share (of the row).

    There may be a column count, the number of cases.
    """
    order = cells["row"].unique(maintain_order=True).to_list()
    # Names that are too long to fit side by side on a phone are turned by 90 degrees.
    across = alt.Axis(orient="top", labelAngle=0 if sum(map(len, order)) <= 40 else -90, labelLimit=80)
    base = alt.Chart(cells).encode(
        x=alt.X("column:N", sort=order, title=axes.column, axis=across),
        y=alt.Y("row:N", sort=order, title=axes.row, axis=alt.Axis(labelLimit=100)),
        tooltip=[
            alt.Tooltip("row:N", title=axes.row.lower()),
            alt.Tooltip("column:N", title=axes.column.lower()),
            alt.Tooltip("share:Q", format=".1%"),
            *([alt.Tooltip("count:Q", title=axes.cases, format=",")] if "count" in cells.columns else []),
        ],
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None)
    layers = [base.mark_rect(color=style.accent, stroke=style.panel, strokeWidth=1).encode(opacity=shade)]
    if len(order) <= 10:
        on_cell = alt.condition(alt.datum.share > 0.7, alt.value(style.panel), alt.value(style.ink))
        layers.append(base.mark_text(fontSize=11).encode(text=alt.Text("share:Q", format=".0%"), color=on_cell))
    return finish(alt.layer(*layers), style, max(120, min(36 * len(order), 480)))


def _worker_tooltip() -> list[Any]:
    return [
        alt.Tooltip("worker:N"),
        alt.Tooltip("labels:Q", format=","),
        alt.Tooltip("quality:Q", format=".3f"),
        alt.Tooltip("low:Q", title="95% from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
    ]


# What the quantiles of a band are called.
_BANDS: Final = {"q5": "95% above", "q25": "75% above", "q50": "median", "q75": "25% above", "q95": "5% above"}


def workers(points: pl.DataFrame, style: Style) -> Any:
    """Draw a point for each worker, quality against number of labels; columns worker, labels, quality, low and high.

    low and high are the ends of an interval; they are null if the method has no interval.
    """
    base = alt.Chart(points).encode(
        x=alt.X("labels:Q", scale=alt.Scale(type="log", nice=False, padding=12), title="Labels", axis=counts_axis()),
        tooltip=_worker_tooltip(),
    )
    y = alt.Y("quality:Q", scale=alt.Scale(domain=[0, 1]), title="Quality")
    point = base.mark_circle(color=style.accent, size=40, opacity=0.85).encode(y=y)
    if points["low"].is_null().all():
        return finish(point, style, 300)
    interval = base.mark_rule(color=style.accent, opacity=0.3).encode(
        y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1]), title="Quality"), y2="high:Q"
    )
    return finish(alt.layer(interval, point), style, 300)


def worker_bands(points: pl.DataFrame, bands: pl.DataFrame, style: Style) -> Any:
    """Draw a point for each of many workers, over bands that hold half and nine of ten of them.

    Columns of points as for `workers`; of bands labels_from, labels_to, q5, q25, q50, q75, q95 (quantiles of the
    quality) and len (how many workers).
    """
    ends = alt.Scale(domain=[0, 1])
    layer = (
        alt.Chart(points)
        .mark_circle(color=style.accent, size=16, opacity=0.55)
        .encode(x="labels:Q", y=alt.Y("quality:Q", scale=ends), tooltip=_worker_tooltip())
    )
    base = alt.Chart(bands).encode(
        x=alt.X(
            "labels_from:Q", scale=alt.Scale(type="log", nice=False, padding=12), title="Labels", axis=counts_axis()
        ),
        x2="labels_to:Q",
        tooltip=[
            alt.Tooltip("len:Q", title="workers", format=","),
            alt.Tooltip("labels_from:Q", title="labels from", format=",.0f"),
            alt.Tooltip("labels_to:Q", title="to", format=",.0f"),
            *(alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in _BANDS.items()),
        ],
    )
    shades = [
        base.mark_rect(color=style.accent, opacity=opacity).encode(
            y=alt.Y(f"{low}:Q", scale=ends, title="Quality"), y2=f"{high}:Q"
        )
        for low, high, opacity in (("q5", "q95", 0.14), ("q25", "q75", 0.22))
    ]
    middle = base.mark_rule(color=style.accent, strokeWidth=2).encode(y=alt.Y("q50:Q", scale=ends, title="Quality"))
    return finish(alt.layer(*shades, middle, layer), style, 300)


def worker_density(cells: pl.DataFrame, style: Style) -> Any:
    """Draw how many workers have a certain quality and number of labels, as a grid of shaded cells.

    Columns labels_from, labels_to, quality_from and quality_to (the ends of a cell), count and shade (from 0 to 1).
    """
    chart = (
        alt.Chart(cells)
        .mark_rect(color=style.accent)
        .encode(
            x=alt.X("labels_from:Q", scale=alt.Scale(type="log", nice=False), title="Labels", axis=counts_axis()),
            x2="labels_to:Q",
            y=alt.Y("quality_from:Q", scale=alt.Scale(domain=[0, 1]), title="Quality"),
            y2="quality_to:Q",
            opacity=alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0.08, 1]), legend=None),
            tooltip=[
                alt.Tooltip("count:Q", title="workers", format=","),
                alt.Tooltip("labels_from:Q", title="labels from", format=",.0f"),
                alt.Tooltip("labels_to:Q", title="to", format=",.0f"),
                alt.Tooltip("quality_from:Q", title="quality from", format=".2f"),
                alt.Tooltip("quality_to:Q", title="to", format=".2f"),
            ],
        )
    )
    return finish(chart, style, 300)


def reliability(groups: pl.DataFrame, style: Style) -> Any:
    """Draw how often answers are right against how sure they are, in one colour for confidence and one for scores.

    Each row is a group of answers; columns source ("confidence" or "score"), sure (its mean over the group), accuracy,
    low, high (an interval) and items.
    """
    ends = alt.Scale(domain=[0, 1])
    line = alt.Chart(pl.DataFrame({"sure": [0.0, 1.0], "accuracy": [0.0, 1.0]}))
    diagonal = line.mark_line(color=style.muted, strokeDash=[4, 4], strokeWidth=1).encode(x="sure:Q", y="accuracy:Q")
    sources = groups["source"].unique(maintain_order=True).to_list()
    colour = alt.Color(
        "source:N",
        scale=alt.Scale(domain=sources, range=[style.accent, style.warm][: len(sources)]),
        title=None,
        legend=alt.Legend(orient="top", symbolOpacity=1) if len(sources) > 1 else None,
    )
    base = alt.Chart(groups).encode(
        x=alt.X("sure:Q", scale=ends, title="How sure the answer is"),
        color=colour,
        tooltip=[
            alt.Tooltip("source:N", title="by"),
            alt.Tooltip("sure:Q", title="mean", format=".3f"),
            alt.Tooltip("accuracy:Q", title="share right", format=".3f"),
            alt.Tooltip("items:Q", format=","),
        ],
    )
    interval = base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", scale=ends, title="Share right"), y2="high:Q")
    point = base.mark_circle(size=70, opacity=1).encode(y=alt.Y("accuracy:Q", scale=ends, title="Share right"))
    return finish(alt.layer(diagonal, interval, point), style, 300)


def intervals(rows: pl.DataFrame, across: str, style: Style) -> Any:
    """Draw a number with its interval for each row, such as the accuracy of each method.

    Columns a name, the number, low and high; others are in the tooltip. `across` is the title of the horizontal axis.
    """
    name, value, *others = rows.columns
    order = rows[name].to_list()
    base = alt.Chart(rows).encode(
        y=alt.Y(f"{name}:N", sort=order, title=None, axis=alt.Axis(labelLimit=140)),
        tooltip=[alt.Tooltip(f"{name}:N"), *(alt.Tooltip(f"{one}:Q", format=".4~f") for one in (value, *others))],
    )
    x = alt.Scale(zero=False, padding=12)
    interval = base.mark_rule(color=style.accent, strokeWidth=2, opacity=0.5).encode(
        x=alt.X("low:Q", scale=x, title=across), x2="high:Q"
    )
    point = base.mark_circle(color=style.accent, size=70, opacity=1).encode(
        x=alt.X(f"{value}:Q", scale=x, title=across, axis=alt.Axis(tickCount=6))
    )
    return finish(alt.layer(interval, point), style, max(70, 26 * len(order)))


def curves(rows: pl.DataFrame, across: str, up: str, style: Style) -> Any:
    """Draw a line for each name, and one for all together, whose name is null; columns period, name and share."""
    order = rows["period"].unique().sort().to_list()
    x = alt.X("period:O", sort=order, title=across, axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("share:Q", title=up, scale=alt.Scale(zero=False), axis=alt.Axis(format=".0%", tickCount=5))
    named = rows.filter(pl.col("name").is_not_null())
    base = alt.Chart(named).encode(
        x=x,
        y=y,
        detail="name:N",
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("period:O"), alt.Tooltip("share:Q", format=".1%")],
    )
    line = base.mark_line(color=style.accent, strokeWidth=1.5, opacity=0.5)
    point = base.mark_circle(color=style.accent, size=30, opacity=0.8)
    together = alt.Chart(rows.filter(pl.col("name").is_null())).encode(x=x, y=y)
    all_of_them = together.mark_line(color=style.warm, strokeWidth=3)
    return finish(alt.layer(line, point, all_of_them), style, 260)


def times(rows: pl.DataFrame, style: Style) -> Any:
    """Draw the running time of each method on a logarithmic axis; columns method and seconds."""
    order = rows["method"].to_list()
    chart = (
        alt.Chart(rows)
        .mark_circle(color=style.warm, size=70, opacity=1)
        .encode(
            y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=140, grid=True)),
            x=alt.X(
                "seconds:Q",
                scale=alt.Scale(type="log"),
                title="Seconds",
                axis=alt.Axis(format="~g", tickCount=5, grid=False),
            ),
            tooltip=[alt.Tooltip("method:N"), alt.Tooltip("seconds:Q", format=".4f")],
        )
    )
    return finish(chart, style, max(70, 26 * len(order)))


def dots(rows: pl.DataFrame, title: str, style: Style) -> Any:
    """Draw a number for each method, such as its error; columns method and the number, which `title` names."""
    name, order = rows.columns[1], rows["method"].to_list()
    chart = (
        alt.Chart(rows)
        .mark_circle(color=style.accent, size=70, opacity=1)
        .encode(
            y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=140, grid=True)),
            x=alt.X(f"{name}:Q", scale=alt.Scale(zero=False, padding=12), title=title, axis=alt.Axis(tickCount=6)),
            tooltip=[alt.Tooltip("method:N"), alt.Tooltip(f"{name}:Q", format=".4~g")],
        )
    )
    return finish(chart, style, max(70, 26 * len(order)))


def waterfall(steps: pl.DataFrame, axis: str, style: Style) -> Any:
    """Draw what each vote adds to the lead of the answer, step by step; columns as in `Explanation.steps`.

    `axis` is the title of the horizontal axis.
    """
    colour = (
        alt.when(alt.datum.kind == "lead")
        .then(alt.value(style.ink))
        .when(alt.datum.end < alt.datum.start)
        .then(alt.value(style.warm))
        .otherwise(alt.value(style.accent))
    )
    # Two steps may have the same name, so the steps are placed by their number, and the name is only the label.
    table = steps.with_row_index("place").drop("contribution")
    y = alt.Y(
        "place:O",
        title=None,
        axis=alt.Axis(labelExpr=f"{json.dumps(table['step'].to_list())}[datum.value]", labelLimit=150),
    )
    base = alt.Chart(table).encode(
        y=y, tooltip=[alt.Tooltip("step:N", title="vote"), alt.Tooltip("text:N", title="adds")]
    )
    bar = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("start:Q", title=axis, scale=alt.Scale(padding=46), axis=alt.Axis(tickCount=5)),
        x2="end:Q",
        color=colour,
    )
    right = alt.expr.max(alt.datum.start, alt.datum.end)
    text_mark = (
        base.transform_calculate(right=right)
        .mark_text(align="left", dx=5, fontSize=11, color=style.muted)
        .encode(x="right:Q", text="text:N")
    )
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=style.muted).encode(x="zero:Q")
    return finish(alt.layer(zero, bar, text_mark), style, 24 * table.height)


def counts_axis() -> Any:
    """Return an axis for counts, which may be large."""
    return alt.Axis(format="~s", tickCount=6, grid=False)


def finish(chart: Any, style: Style, height: int) -> Any:
    """Set the size of a chart and the style that all charts have in common."""
    return (
        chart.properties(width=style.width, height=height, background="transparent")
        .configure(font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=style.muted,
            titleColor=style.muted,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            gridColor=style.line,
            domainColor=style.line,
            tickColor=style.line,
        )
        .configure_axisBand(grid=False, ticks=False)
        .configure_legend(labelColor=style.muted, labelFontSize=11)
    )
