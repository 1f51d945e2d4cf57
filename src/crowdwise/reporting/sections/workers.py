"""Workers: how good each is, what its vote weighs, what it takes for what, and who is worth a look."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ...analysis import charts
from ...data.labels import Labels
from ...kernels import Array
from ...results.result import Result
from ..widgets import Cell, Figure, Table, bins, left_out, most, names, number, text
from .suspects import habits, suspects, words

_ROWS: Final = 300
_SUSPECTS: Final = 100
# More points than this are drawn as a density.
_POINTS: Final = 1000
_MINI_CLASSES: Final = 8
_SHADES: Final = 6


@dataclass(frozen=True)
class Workers:
    """The third section."""

    figures: list[Figure]
    suspects: Table
    reasons: int
    few: int
    table: Table
    intervals: bool
    pictured: str


def workers(labels: Labels, result: Result) -> Workers:
    """Gather it."""
    table = habits(labels, result)
    worth = suspects(table, labels.names.classes)
    reasons = worth.filter(pl.any_horizontal("always", "guessing", "alone")).height
    called = names(labels.names.classes)
    suspect_rows = [
        [text(row["worker"]), number(row["labels"]), number(row["quality"], ".3f"), Cell("\n".join(told))]
        for row in worth.head(_SUSPECTS).iter_rows(named=True)
        for told in [words(row, called[row["usual"]])]
    ]
    intervals = bool(table["low"].is_not_null().any())
    shown = table.sort("labels", "code", descending=[True, False]).head(_ROWS)
    pictures = _pictures(labels, result, shown["code"].to_numpy())
    columns = [
        "Worker",
        "#Labels",
        "#Quality",
        *(["#95% low", "#95% high"] if intervals else []),
        "#Agrees with answers",
    ]
    rows = [
        [
            text(row["worker"]),
            number(row["labels"]),
            number(row["quality"], ".3f"),
            *([number(row["low"], ".3f"), number(row["high"], ".3f")] if intervals else []),
            number(row["agreement"], ".1%"),
            number(row["others"] if row["compared"] else None, ".1%"),
            picture,
        ]
        for row, picture in zip(shown.iter_rows(named=True), pictures, strict=True)
    ]
    return Workers(
        figures=[_scatter(table, intervals), *_weights(result)],
        suspects=Table(
            "workers worth a look",
            ["Worker", "#Labels", "#Quality", "Why"],
            suspect_rows,
            left_out(len(suspect_rows), worth.height, "Those with the most reasons and labels:"),
        ),
        reasons=reasons,
        few=worth.height - reasons,
        table=Table(
            "workers",
            [*columns, "#Agrees with others", "Confusion"],
            rows,
            left_out(len(rows), table.height, "The workers with the most labels:"),
        ),
        intervals=intervals,
        pictured=left_out(min(labels.n_classes, _MINI_CLASSES), labels.n_classes, "Classes with the most answers:"),
    )


def _scatter(table: pl.DataFrame, intervals: bool) -> Figure:
    title = "Quality against number of labels"
    if table.height <= _POINTS:
        points = table.select("worker", "labels", "quality", "low", "high")
        lines = ", a line its 95% interval" if intervals else ""
        caption = f"A point is a worker{lines}. Further right are workers with more labels (logarithmic)."
        return Figure(title, charts.workers(points, charts.PAGE), caption)
    given, quality = table["labels"].to_numpy().astype(float), table["quality"].to_numpy()
    edges = np.geomspace(given.min(), max(given.max(), given.min() + 1) * 1.001, 41)
    counts, across, up = np.histogram2d(given, np.clip(quality, 0, 1), [edges, np.linspace(0, 1, 41)])
    x, y = np.nonzero(counts)
    cells = pl.DataFrame(
        {
            "labels_from": across[x],
            "labels_to": across[x + 1],
            "quality_from": up[y],
            "quality_to": up[y + 1],
            "count": counts[x, y],
            "shade": np.log1p(counts[x, y]) / np.log1p(counts.max()),
        }
    )
    caption = (
        f"There are more than {_POINTS:,} workers, so a cell counts workers: the stronger, the more (logarithmic). "
        "Further right are workers with more labels (logarithmic)."
    )
    return Figure(title, charts.worker_density(cells, charts.PAGE), caption)


def _weights(result: Result) -> list[Figure]:
    found = worker_weights(result.workers)
    if found is None:
        return []
    values, what = found
    values = values[result.worker_votes > 0]
    low, high = float(values.min()), float(values.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    chart = charts.histogram(bins(values, low, high), what, "Workers", charts.PAGE)
    return [
        Figure(
            "How much a worker's vote weighs",
            chart,
            "The further right, the more the method trusts a worker. In the method's own units.",
        )
    ]


def worker_weights(parameters: Any) -> tuple[Array, str] | None:
    """One number per worker that says how much the method trusts it, and what it is; None where it has none."""
    for name, what in (
        ("weight", "Weight of a vote"),
        ("accuracy", "Accuracy"),
        ("ability", "Ability"),
        ("reliability", "Reliability"),
        ("confusion", "Share right, mean over classes"),
        ("mixture", "Share of the good prototype"),
    ):
        values = getattr(parameters, name, None)
        if values is None:
            continue
        if name == "confusion":
            return np.diagonal(values, axis1=1, axis2=2).mean(axis=1), what
        if name == "mixture":
            return values[:, 0], what
        return (values.mean(axis=1), f"{what}, mean over classes") if values.ndim == 2 else (values, what)
    return None


def _pictures(labels: Labels, result: Result, codes: Array) -> list[Cell]:
    """A small heat map for each of these workers: rows are answers, columns what it said."""
    shown = most(np.bincount(result.answers, minlength=labels.n_classes), _MINI_CLASSES)
    place = np.full(labels.n_workers, -1)
    place[codes] = np.arange(len(codes))
    class_place = np.full(labels.n_classes, -1)
    class_place[shown] = np.arange(len(shown))
    size = len(shown)
    worker = place[labels.workers]
    answer = class_place[np.repeat(result.answers, np.diff(labels.item_starts))]
    said = class_place[labels.labels]
    there = (worker >= 0) & (answer >= 0) & (said >= 0)
    cells = (worker[there] * size + answer[there]) * size + said[there]
    counts = np.bincount(cells, minlength=len(codes) * size**2).reshape(len(codes), size, size)
    called = names(labels.names.classes).gather(shown).to_list()
    return [_picture(counts[place], called) for place in range(len(codes))]


def _picture(counts: Array, called: list[str]) -> Cell:
    given = counts.sum(axis=1)
    share = counts / np.maximum(given, 1)[:, None]
    shades = np.ceil(share * _SHADES).astype(int)
    paths = [
        (shade, "".join(f"M{column} {row}h1v1h-1z" for row, column in zip(*np.nonzero(shades == shade), strict=True)))
        for shade in range(1, _SHADES + 1)
        if (shades == shade).any()
    ]
    right = ", ".join(f"{name} {share[k, k]:.0%}" for k, name in enumerate(called) if given[k])
    return Cell("", float(np.trace(counts) / max(given.sum(), 1)), (len(called), paths, f"Says the answer: {right}"))
