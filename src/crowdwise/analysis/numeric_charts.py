"""The charts of the report about numeric labels; see `analysis/charts.py` for how charts are made."""

from typing import Any

import altair as alt
import polars as pl

from .charts import Style, counts_axis, finish


def errors_of_workers(points: pl.DataFrame, style: Style) -> Any:
    """Draw a point for each worker, bias across and spread up, with lines for their intervals.

    Columns worker, labels, bias, bias_low, bias_high, spread, spread_low and spread_high.
    """
    base = alt.Chart(points).encode(tooltip=_tooltip(points.columns))
    across = alt.Scale(padding=12, nice=False)
    x = alt.X("bias:Q", scale=across, title="Bias")
    y = alt.Y("spread:Q", title="Spread")
    zero = alt.Chart(pl.DataFrame({"bias": [0.0]})).mark_rule(color=style.muted, strokeDash=[4, 4]).encode(x="bias:Q")
    of_bias = base.mark_rule(color=style.accent, opacity=0.25).encode(
        x=alt.X("bias_low:Q", scale=across, title="Bias"), x2="bias_high:Q", y=y
    )
    of_spread = base.mark_rule(color=style.accent, opacity=0.25).encode(
        x=x, y=alt.Y("spread_low:Q", title="Spread"), y2="spread_high:Q"
    )
    point = base.mark_circle(color=style.accent, size=40, opacity=0.85).encode(x=x, y=y)
    return finish(alt.layer(zero, of_bias, of_spread, point), style, 300)


def qualities(points: pl.DataFrame, style: Style) -> Any:
    """Draw quality against the number of labels; columns worker, labels, quality, quality_low and quality_high."""
    base = alt.Chart(points).encode(
        x=alt.X("labels:Q", scale=alt.Scale(type="log", nice=False, padding=12), title="Labels", axis=counts_axis()),
        tooltip=_tooltip(points.columns),
    )
    ends = alt.Scale(domain=[0, 1])
    interval = base.mark_rule(color=style.accent, opacity=0.3).encode(
        y=alt.Y("quality_low:Q", scale=ends, title="Quality"), y2="quality_high:Q"
    )
    point = base.mark_circle(color=style.accent, size=40, opacity=0.85).encode(
        y=alt.Y("quality:Q", scale=ends, title="Quality")
    )
    return finish(alt.layer(interval, point), style, 300)


def against_truth(points: pl.DataFrame, style: Style) -> Any:
    """Draw inferred values against true ones, with lines for intervals; columns item, truth, value, low and high."""
    least = min(points["truth"].min(), points["value"].min())  # type: ignore[type-var]  # both are numbers
    most = max(points["truth"].max(), points["value"].max())  # type: ignore[type-var]
    ends = alt.Scale(zero=False, nice=True)
    line = alt.Chart(pl.DataFrame({"truth": [least, most], "value": [least, most]}))
    diagonal = line.mark_line(color=style.muted, strokeDash=[4, 4], strokeWidth=1).encode(x="truth:Q", y="value:Q")
    base = alt.Chart(points).encode(
        x=alt.X("truth:Q", scale=ends, title="True value"), tooltip=_tooltip(points.columns)
    )
    interval = base.mark_rule(color=style.accent, opacity=0.2).encode(
        y=alt.Y("low:Q", scale=ends, title="Inferred value"), y2="high:Q"
    )
    point = base.mark_circle(color=style.accent, size=30, opacity=0.7).encode(
        y=alt.Y("value:Q", scale=ends, title="Inferred value")
    )
    return finish(alt.layer(diagonal, interval, point), style, 340)


def _tooltip(columns: list[str]) -> list[Any]:
    """Return what is shown of a point: the first column as a name, the others as numbers."""
    numbers = [alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=".4~g") for name in columns[1:]]
    return [alt.Tooltip(f"{columns[0]}:N"), *numbers]
