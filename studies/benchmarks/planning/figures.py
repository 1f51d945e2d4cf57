"""The figures of docs/studies/planning.md: accuracy over labels spent, and over items that an expert decided."""

from typing import Any, Final

import altair as alt
import polars as pl

from crowdwise.analysis.charts import PLAIN

_COLOURS: Final = {
    "expected": PLAIN.accent,
    "uncertain": PLAIN.warm,
    "fewest": "#2a9d5c",
    "random": PLAIN.muted,
    "ActiveLab": "#8a5fbf",
}


def curves(means: pl.DataFrame, x: str, y: str, panels: dict[str, str]) -> Any:
    """Draw one panel beside the other, with a line for every strategy.

    Args:
        means: The columns panel, strategy, step and accuracy.
        x: What a step is.
        y: What the accuracy is of.
        panels: The title of every panel.
    """
    present = [name for name in _COLOURS if name in means["strategy"].unique()]
    colour = alt.Color(
        "strategy:N",
        title=None,
        scale=alt.Scale(domain=present, range=[_COLOURS[name] for name in present]),
        legend=alt.Legend(orient="top"),
    )
    charts = [
        alt.Chart(means.filter(pl.col("panel") == panel))
        .mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.6)
        .encode(
            x=alt.X("step:Q", title=x),
            y=alt.Y("accuracy:Q", title=y, scale=alt.Scale(zero=False), axis=alt.Axis(format=".3f")),
            color=colour,
        )
        .properties(width=330, height=240, title=title)
        for panel, title in panels.items()
    ]
    return (
        alt.hconcat(*charts, spacing=24)
        .configure(font="Helvetica, Arial, sans-serif", background="white", padding=8)
        .configure_view(stroke=PLAIN.line)
        .configure_axis(labelColor=PLAIN.muted, titleColor=PLAIN.muted, titleFontWeight="normal", gridColor=PLAIN.line)
        .configure_title(color=PLAIN.ink, fontSize=12, fontWeight="normal")
        .configure_legend(labelColor=PLAIN.ink, labelFontSize=12)
    )
