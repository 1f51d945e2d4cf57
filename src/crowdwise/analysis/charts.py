"""Charts of plain tables, by Altair: one function each. Nothing here knows of labels or methods.

Colours come from a `Style`: for a page they are the variables of its style sheet, so that one chart is right in light,
in dark and on paper. Shades are opacities of one colour for the same reason. Importing this needs the extra `report`.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

import altair as alt
import polars as pl


@dataclass(frozen=True)
class Style:
    """Colours and width. Blue and vermilion of Okabe and Ito can be told apart by everyone."""

    ink: str
    muted: str
    line: str
    accent: str
    warm: str
    panel: str
    width: int | Literal["container"]


PLAIN: Final = Style("#1c2430", "#5b6675", "#dfe3e8", "#0072b2", "#d55e00", "#ffffff", 480)
PAGE: Final = Style(
    "var(--ink)", "var(--muted)", "var(--line)", "var(--accent)", "var(--warm)", "var(--panel)", "container"
)


def histogram(bins: pl.DataFrame, across: str, up: str, style: Style) -> Any:
    """Counts in intervals: low, high, count."""
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
    return _finish(chart, style, 180)


def bars(counts: pl.DataFrame, across: str, up: str, style: Style) -> Any:
    """A bar for each of a few values, in their order: value, count."""
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
    return _finish(chart, style, 180)


def class_shares(shares: pl.DataFrame, style: Style) -> Any:
    """Each class's share of the answers as a bar, of the labels and of the prior as marks: class, source, share."""
    order = shares["class"].unique(maintain_order=True).to_list()
    y = alt.Y("class:N", sort=order, title=None, axis=alt.Axis(labelLimit=120))
    x = alt.X("share:Q", title="Share", axis=alt.Axis(format=".0%", tickCount=5))
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
    return _finish(alt.layer(bar, marks), style, max(90, 30 * len(order)))


def heat_map(cells: pl.DataFrame, style: Style) -> Any:
    """What is said where each class is the answer: truth, said, share (of the row), count."""
    order = cells["truth"].unique(maintain_order=True).to_list()
    # Names that would not fit side by side on a phone stand upright.
    angle = 0 if sum(map(len, order)) <= 40 else -90
    base = alt.Chart(cells).encode(
        x=alt.X("said:N", sort=order, title="Said", axis=alt.Axis(orient="top", labelAngle=angle, labelLimit=80)),
        y=alt.Y("truth:N", sort=order, title="Answer", axis=alt.Axis(labelLimit=100)),
        tooltip=[
            alt.Tooltip("truth:N", title="answer"),
            alt.Tooltip("said:N"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("count:Q", title="labels", format=","),
        ],
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None)
    layers = [base.mark_rect(color=style.accent, stroke=style.panel, strokeWidth=1).encode(opacity=shade)]
    if len(order) <= 10:
        on_cell = alt.condition(alt.datum.share > 0.7, alt.value(style.panel), alt.value(style.ink))
        layers.append(base.mark_text(fontSize=11).encode(text=alt.Text("share:Q", format=".0%"), color=on_cell))
    return _finish(alt.layer(*layers), style, max(120, min(36 * len(order), 480)))


def workers(points: pl.DataFrame, style: Style) -> Any:
    """Quality against labels, a point each: worker, labels, quality, low, high (null where there is no interval)."""
    base = alt.Chart(points).encode(
        x=alt.X("labels:Q", scale=alt.Scale(type="log", nice=False, padding=12), title="Labels", axis=_counts()),
        tooltip=[
            alt.Tooltip("worker:N"),
            alt.Tooltip("labels:Q", format=","),
            alt.Tooltip("quality:Q", format=".3f"),
            alt.Tooltip("low:Q", title="95% from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    y = alt.Y("quality:Q", scale=alt.Scale(domain=[0, 1]), title="Quality")
    point = base.mark_circle(color=style.accent, size=40, opacity=0.85).encode(y=y)
    if points["low"].is_null().all():
        return _finish(point, style, 300)
    interval = base.mark_rule(color=style.accent, opacity=0.3).encode(
        y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1]), title="Quality"), y2="high:Q"
    )
    return _finish(alt.layer(interval, point), style, 300)


def worker_density(cells: pl.DataFrame, style: Style) -> Any:
    """How many workers there are: labels_from, labels_to, quality_from, quality_to, count, shade."""
    chart = (
        alt.Chart(cells)
        .mark_rect(color=style.accent)
        .encode(
            x=alt.X("labels_from:Q", scale=alt.Scale(type="log", nice=False), title="Labels", axis=_counts()),
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
    return _finish(chart, style, 300)


def reliability(bins: pl.DataFrame, style: Style) -> Any:
    """How often answers are right against how probable the method calls them: score, accuracy, low, high, items."""
    ends = alt.Scale(domain=[0, 1])
    line = alt.Chart(pl.DataFrame({"score": [0.0, 1.0], "accuracy": [0.0, 1.0]}))
    diagonal = line.mark_line(color=style.muted, strokeDash=[4, 4], strokeWidth=1).encode(x="score:Q", y="accuracy:Q")
    base = alt.Chart(bins).encode(
        x=alt.X("score:Q", scale=ends, title="Probability of the answer"),
        tooltip=[
            alt.Tooltip("score:Q", title="probability", format=".3f"),
            alt.Tooltip("accuracy:Q", title="share right", format=".3f"),
            alt.Tooltip("items:Q", format=","),
        ],
    )
    interval = base.mark_rule(color=style.accent, opacity=0.5).encode(
        y=alt.Y("low:Q", scale=ends, title="Share right"), y2="high:Q"
    )
    point = base.mark_circle(color=style.accent, size=70, opacity=1).encode(
        y=alt.Y("accuracy:Q", scale=ends, title="Share right")
    )
    return _finish(alt.layer(diagonal, interval, point), style, 300)


def accuracies(rows: pl.DataFrame, style: Style) -> Any:
    """Accuracy with its interval: method, accuracy, low, high."""
    order = rows["method"].to_list()
    base = alt.Chart(rows).encode(
        y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=140)),
        tooltip=[alt.Tooltip("method:N"), *(alt.Tooltip(f"{name}:Q", format=".4f") for name in rows.columns[1:4])],
    )
    x = alt.Scale(zero=False, padding=12)
    interval = base.mark_rule(color=style.accent, strokeWidth=2, opacity=0.5).encode(
        x=alt.X("low:Q", scale=x, title="Accuracy"), x2="high:Q"
    )
    point = base.mark_circle(color=style.accent, size=70, opacity=1).encode(
        x=alt.X("accuracy:Q", scale=x, title="Accuracy", axis=alt.Axis(tickCount=6))
    )
    return _finish(alt.layer(interval, point), style, max(70, 26 * len(order)))


def times(rows: pl.DataFrame, style: Style) -> Any:
    """Seconds on a logarithmic axis: method, seconds."""
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
    return _finish(chart, style, max(70, 26 * len(order)))


def waterfall(steps: pl.DataFrame, axis: str, style: Style) -> Any:
    """What each step adds and where it leads: step, kind, start, end, text (see `Explanation.steps`)."""
    colour = (
        alt.when(alt.datum.kind == "lead")
        .then(alt.value(style.ink))
        .when(alt.datum.end < alt.datum.start)
        .then(alt.value(style.warm))
        .otherwise(alt.value(style.accent))
    )
    # Names may repeat, so that places order the steps and names only label them.
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
    return _finish(alt.layer(zero, bar, text_mark), style, 24 * table.height)


def _counts() -> Any:
    """An axis of whole numbers that may be large."""
    return alt.Axis(format="~s", tickCount=6, grid=False)


def _finish(chart: Any, style: Style, height: int) -> Any:
    """What all charts look like."""
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
