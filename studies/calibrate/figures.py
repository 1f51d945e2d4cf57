"""Reliability diagrams: how often labels are right against how sure they are, before and after calibration."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import numpy as np
import polars as pl

from crowdwise.analysis.charts import PLAIN

from .fitting import Fitted

_GROUPS: Final = 10
_COLUMNS: Final = 5
# What the two colours stand for: the colour of the scores as they are, and that of confidence.
_BEFORE, _AFTER = "score", "confidence"


def reliability_table(fitted: Fitted) -> pl.DataFrame:
    """Return the points of a diagram: columns source, sure, right and share.

    All items are in ten groups by how sure their labels are. `sure` and `right` are means over a group, and `share` is
    how large it is; every family weighs the same. Confidence is by constants that were not fitted to the family.
    """
    sizes, parts = Counter(fitted.families), []
    for crowd, value in zip(fitted.crowds, fitted.left_out, strict=True):
        rows = np.arange(len(crowd.measured.hits))
        weight = 1 / (len(sizes) * sizes[crowd.measured.family] * len(rows))
        for source, outcome in ((_BEFORE, crowd.uncalibrated), (_AFTER, crowd.outcome(value))):
            sure = outcome.probabilities[rows, outcome.answers]
            parts.append(
                pl.DataFrame({"sure": sure, "right": outcome.hits}).with_columns(
                    source=pl.lit(source), weight=pl.lit(weight)
                )
            )
    group = (pl.col("sure") * _GROUPS).floor().clip(0, _GROUPS - 1)
    total = pl.col("weight").sum()
    return (
        pl.concat(parts)
        .group_by("source", group=group)
        .agg(*((pl.col(name) * pl.col("weight")).sum() / total for name in ("sure", "right")), share=total)
        .sort("source", "group")
        .drop("group")
    )


def diagrams(fitted: Mapping[str, Fitted]) -> Any:
    """Draw the diagrams of all methods side by side."""
    charts = [_diagram(name, reliability_table(one)) for name, one in fitted.items()]
    return (
        alt.concat(*charts, columns=_COLUMNS, spacing=14)
        .configure(font="Helvetica, Arial, sans-serif", background="white", padding=8)
        .configure_view(stroke=PLAIN.line)
        .configure_axis(labelColor=PLAIN.muted, titleColor=PLAIN.muted, titleFontWeight="normal", gridColor=PLAIN.line)
        .configure_title(color=PLAIN.ink, fontSize=12, fontWeight="normal")
        .configure_legend(labelColor=PLAIN.ink, labelFontSize=12, symbolOpacity=1)
    )


def _diagram(name: str, table: pl.DataFrame) -> Any:
    ends, ticks = alt.Scale(domain=[0, 1]), alt.Axis(values=[0, 0.5, 1])
    colour = alt.Color(
        "source:N",
        title=None,
        scale=alt.Scale(domain=[_BEFORE, _AFTER], range=[PLAIN.warm, PLAIN.accent]),
        legend=alt.Legend(orient="top"),
    )
    diagonal = (
        alt.Chart(pl.DataFrame({"sure": [0.0, 1.0], "right": [0.0, 1.0]}))
        .mark_line(color=PLAIN.muted, strokeDash=[4, 4], strokeWidth=1)
        .encode(x="sure:Q", y="right:Q")
    )
    base = alt.Chart(table).encode(
        x=alt.X("sure:Q", scale=ends, axis=ticks, title="how sure"),
        y=alt.Y("right:Q", scale=ends, axis=ticks, title="share right"),
        color=colour,
    )
    line = base.mark_line(strokeWidth=1)
    points = base.mark_circle(opacity=0.9).encode(
        size=alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[8, 260]), legend=None)
    )
    return alt.layer(diagonal, line, points).properties(width=130, height=130, title=name)
