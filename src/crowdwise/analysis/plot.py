"""`plot`: the charts of a report one by one, for a notebook."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..errors import CallError, DataError, did_you_mean, require_extra, shown
from ..numerics import Array
from ..reading.read_truth import read_truth
from ..results.in_parts import Inferred
from ..results.numeric_result import NumericResult
from .condensing import bins, evenly, most_common, names_as_text
from .evaluation import match
from .explanation import find_name
from .numeric_evaluation import match_values
from .pairing import is_numeric, require_order, require_result, same_labels

if TYPE_CHECKING:  # at run time, altair is imported when a chart is drawn: it is slow to import, and may be missing
    import altair as alt

# What can be drawn.
Chart = Literal["workers", "items", "difficulty", "confusion"]

# Up to so many workers have a row each, with their names; more are points.
_MOST_ROWS: Final = 30
# The most points of a chart of numbers.
_MOST_POINTS: Final = 1500
# The name of the row of items whose true class no worker ever named.
_NEVER_SAID: Final = "(never said)"


def plot(
    result: Inferred | NumericResult,
    chart: Chart = "workers",
    labels: Labels | None = None,
    *,
    worker: Any = None,
    truth: Any = None,
) -> "alt.Chart | alt.LayerChart":
    """Draw a result: its workers, its items, or which classes are confused.

    Needs the extra `report`: pip install 'crowdwise[report]'. A notebook shows the chart, also without a network: the
    scripts that draw it are in the output (0.9 MB). `.save("chart.png")` and `.save("chart.svg")` write it.

    Args:
        result: The result of a method.
        chart: What to draw.
            "workers": how often each worker is right, with a 95 % interval; of numbers, the bias and the spread of
            each worker.
            "items": how many items have which confidence; of numbers, how wide their intervals are, or, with `truth`,
            the inferred values against the true ones.
            "difficulty": how many items have which difficulty, if the method has difficulties.
            "confusion": the share of each class in a row. Rows are the inferred labels, or the true ones if `truth` is
            given. Columns are what the workers said if `labels` are given, else the inferred labels. With `worker`
            and without `labels`, it is the matrix that the method has learned about this worker.
        labels: For "confusion": the labels that the method was fitted to.
        worker: For "confusion": the name of one worker, if it is to be about this one alone.
        truth: The true labels of some items: a path, a table, or a mapping from item to class.

    Returns:
        An Altair chart, which can be changed further.

    Raises:
        CallError: The extra is missing, there is no such chart, the chart does not use an argument that is given, or
            the result does not have what is to be drawn.
        DataError: The truth has no item or no class in common with the labels.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(100, 8, seed=1)
    >>> result = cw.aggregate(crowd.labels)
    >>> plot(result, "workers").to_dict()["layer"][1]["encoding"]["x"]["title"]
    'Quality'
    """
    require_extra("report", "A chart")
    require_order(result)
    if chart not in get_args(Chart):
        known = ", ".join(map(repr, get_args(Chart)))
        raise CallError(f"chart={shown(chart)} is not one of {known}.{did_you_mean(str(chart), get_args(Chart))}")
    given = {"labels": labels, "worker": worker, "truth": truth}
    numeric = is_numeric(result)
    if not numeric:
        require_result(result)
    drawing = (_OF_NUMBERS if numeric else _OF_CLASSES).get(chart)
    if drawing is None:
        raise CallError(f"The chart {chart!r} is about classes, and these are numbers: draw 'workers' or 'items'.")
    for name, value in given.items():
        if value is not None and name not in drawing.uses:
            raise CallError(f"The chart {chart!r} of this result does not use {name}: leave it out.")
    from .offline_charts import offline  # imported here because it needs the extra

    return offline(drawing.draw(result, **{name: given[name] for name in drawing.uses}))


@dataclass(frozen=True)
class _Drawing:
    """How a chart is drawn, and which arguments besides the result it uses."""

    draw: Callable[..., Any]
    uses: tuple[str, ...] = ()


def _workers(result: Inferred) -> Any:
    """Draw the quality of every worker: with names, the best on top, if there are few; else against their labels."""
    from . import charts, figures

    table = result.workers_frame().filter(pl.col("labels") > 0)
    table = table.rename({"quality_low": "low", "quality_high": "high"})
    table = table.with_columns(names_as_text(table["worker"]).alias("worker"))
    if table.height > _MOST_ROWS or table["worker"].is_duplicated().any():
        return figures.qualities(table, charts.PLAIN)
    ranked = table.sort("quality", descending=True, maintain_order=True)
    return charts.intervals(ranked.select("worker", "quality", "low", "high"), "Quality", charts.PLAIN)


def _items(result: Inferred) -> Any:
    """Draw the histogram of confidence."""
    from . import charts, figures

    confidence = result.lazy().select("confidence").collect()["confidence"].to_numpy()
    return figures.confidence(confidence, charts.PLAIN)


def _difficulty(result: Inferred) -> Any:
    """Draw the histogram of difficulties."""
    from . import charts

    table = result.lazy()
    if "difficulty" not in table.collect_schema():
        raise CallError(f"{type(result.method).__name__} has no difficulties of items; the default and glad have.")
    values = table.select("difficulty").collect()["difficulty"].to_numpy()
    low, high = float(values.min()), float(values.max())
    return charts.histogram(bins(values, low, high if high > low else low + 1), "Difficulty", "Items", charts.PLAIN)


def _confusion(result: Any, labels: Labels | None, worker: Any, truth: Any) -> Any:
    """Draw which classes are taken for which; see `plot`."""
    from . import charts, figures

    if labels is None and truth is None:
        if worker is None:
            raise CallError(
                'The chart "confusion" compares two things: give labels (what was said against the answers), truth '
                "(the answers against it), both, or a worker (what the method has learned about this one)."
            )
        return _learned(result, worker)
    if labels is None and worker is not None:
        raise CallError("What a worker says is compared with the truth by labels: give them, too.")
    names = names_as_text(result.names.classes)
    rows, columns = _inferred_cases(result, truth) if labels is None else _said_cases(result, labels, worker, truth)
    if (rows < 0).any():  # true classes that nobody ever named
        names = pl.concat([names, pl.Series(names.name, [_NEVER_SAID])])
        rows = np.where(rows < 0, len(names) - 1, rows)
    charted = most_common(np.bincount(rows, minlength=len(names)), figures.MOST_CLASSES)
    axes = charts.Axes(
        "Inferred" if truth is None else "Truth",
        "Inferred" if labels is None else "Said",
        "items" if labels is None else "labels",
    )
    return figures.confusion(names, (rows, columns), charted, axes, charts.PLAIN)


def _inferred_cases(result: Inferred, truth: Any) -> tuple[Array, Array]:
    """Return the true and the inferred class of every item whose truth is known; -1 for one that nobody named."""
    known = read_truth(truth)
    measured = result.about(known["item"])
    matched = match(measured, known)
    return matched.truths, measured.answers[matched.items]


def _said_cases(result: Any, labels: Labels, worker: Any, truth: Any) -> tuple[Array, Array]:
    """Return, for every label, the true or the inferred class of its item, and what was said.

    Labels of other workers are left out if there is a worker, and of items without a known truth if there is a truth.
    """
    labels = same_labels(result, labels)
    counts = np.ones(labels.n_labels, bool)
    if worker is not None:
        counts = labels.workers == find_name(result.names.workers, worker, "worker")
    classes = result.answers
    if truth is not None:
        matched = match(result, truth)
        classes = np.full(labels.n_items, -1, np.int64)
        classes[matched.items] = matched.truths
        has_truth = np.zeros(labels.n_items, bool)
        has_truth[matched.items] = True
        counts &= has_truth[labels.item_of]
        if not counts.any():
            raise DataError(f"No item that worker {worker!r} labelled has a known truth.")
    return classes[labels.item_of][counts], labels.labels[counts]


def _learned(result: Inferred, worker: Any) -> Any:
    """Draw what the method has learned of one worker: how probable it is to say each class if a class is true."""
    from . import charts, figures

    table = result.confusion(worker)
    share = table.drop("truth").to_numpy()
    prior = result.workers.class_prior
    charted = most_common(np.zeros(len(share)) if prior is None else prior, figures.MOST_CLASSES)
    names = names_as_text(table["truth"]).gather(charted)
    cells = figures.heat_cells(names, share[np.ix_(charted, charted)])
    return charts.heat_map(cells, charts.Axes("Truth", "Said"), charts.PLAIN)


def _number_workers(result: Any) -> Any:
    """Draw the bias and the spread of every worker; of many, those with the most labels."""
    from . import charts, numeric_charts

    table = result.workers_frame().drop_nulls("bias")
    if table.height == 0:
        raise CallError("No item has two labels, so nothing is known of the errors of workers.")
    table = table.with_columns(names_as_text(table["worker"]).alias("worker"))
    table = table.sort("labels", descending=True, maintain_order=True).head(_MOST_POINTS)
    columns = ("worker", "labels", "bias", "bias_low", "bias_high", "spread", "spread_low", "spread_high")
    return numeric_charts.errors_of_workers(table.select(columns), charts.PLAIN)


def _number_items(result: Any, truth: Any) -> Any:
    """Draw the histogram of half widths of intervals, or the values against the true ones."""
    from . import charts, figures, numeric_charts

    if truth is not None:
        known = match_values(result, truth)
        points = evenly(known.with_columns(names_as_text(known["item"]).alias("item")), _MOST_POINTS)
        return numeric_charts.against_truth(points.select("item", "truth", "value", "low", "high"), charts.PLAIN)
    table = result.lazy().select(half=(pl.col("high") - pl.col("low")) / 2).drop_nulls().collect()
    if table.height == 0:
        raise CallError("No item has two labels, so values have no intervals.")
    return figures.half_widths(table["half"].to_numpy(), charts.PLAIN)


_OF_CLASSES: Final = {
    "workers": _Drawing(_workers),
    "items": _Drawing(_items),
    "difficulty": _Drawing(_difficulty),
    "confusion": _Drawing(_confusion, ("labels", "worker", "truth")),
}
_OF_NUMBERS: Final = {"workers": _Drawing(_number_workers), "items": _Drawing(_number_items, ("truth",))}
