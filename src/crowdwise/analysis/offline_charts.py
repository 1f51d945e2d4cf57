"""`offline`: charts that a notebook shows without a network; Altair's own load their scripts from a server."""

from typing import Any

import altair as alt


class _Offline:
    """Shows a chart together with the scripts that draw it."""

    def _repr_mimebundle_(self, *include: Any, **more: Any) -> Any:
        """What a notebook shows; a renderer of Altair that the user has enabled is used as it is."""
        chart: Any = self
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*include, **more)  # type: ignore[misc]  # of the chart
        return {"text/html": chart.to_html(inline=True), "text/plain": repr(chart)}


class OfflineChart(_Offline, alt.Chart):
    """A chart."""


class OfflineLayerChart(_Offline, alt.LayerChart):
    """A chart of several layers."""


def offline(chart: alt.Chart | alt.LayerChart) -> alt.Chart | alt.LayerChart:
    """Return the same chart, which is shown without a network."""
    kind = OfflineChart if isinstance(chart, alt.Chart) else OfflineLayerChart
    object.__setattr__(chart, "__class__", kind)  # what is set in the usual way becomes a part of the drawing
    return chart
