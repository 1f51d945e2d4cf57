"""A crowd and its fit in a few numbers, for people and for machines."""

import json
from typing import Any

import polars as pl

from ..results.inferred import Inferred


def crowd_rows(labels: Any, result: Inferred, accuracies: dict[str, float]) -> list[tuple[str, str]]:
    """The crowd and the fit at a glance."""
    rows = [
        ("items", f"{labels.n_items:,}"),
        ("workers", f"{labels.n_workers:,}"),
        ("classes", f"{labels.n_classes:,}"),
        ("labels", f"{labels.n_labels:,} ({labels.n_labels / labels.n_items:.2f} per item)"),
        ("method", repr(result.method)),
        ("ending", str(result.convergence)),
        ("ties", f"{result.tie_count:,}"),
    ]
    return rows + [(f"accuracy of {name}", f"{value:.4f}") for name, value in accuracies.items()]


def summary(
    labels: Any,
    result: Inferred,
    accuracies: dict[str, float],
    written: list[str],
    tables: dict[str, pl.DataFrame | None],
) -> dict[str, Any]:
    """The same for machines; tables that were not written to a file are in it."""
    told: dict[str, Any] = {
        "items": labels.n_items,
        "workers": labels.n_workers,
        "classes": labels.n_classes,
        "labels": labels.n_labels,
        "columns": labels.report.columns,
        "repairs": labels.report.repairs,
        "method": repr(result.method),
        "converged": result.convergence.converged,
        "iterations": result.convergence.iterations,
        "change": result.convergence.change,
        "ties": result.tie_count,
        "accuracy": accuracies,
        "written": written,
    }
    return told | {name: json.loads(table.write_json()) for name, table in tables.items() if table is not None}


def ranked_workers(workers: pl.DataFrame, count: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The best and the worst workers, by quality."""
    table = workers.filter(pl.col("labels") > 0).sort("quality", descending=True, maintain_order=True)
    best = min(count, (table.height + 1) // 2)
    return table.head(best).rows(), table.tail(min(count, table.height - best)).reverse().rows()


def disputed_items(truth: pl.LazyFrame, count: int) -> pl.DataFrame:
    """The items whose best two classes are closest."""
    table = truth.select("item", "label", "score", "runner_up", "runner_up_score", "votes").drop_nulls("runner_up")
    margin = pl.col("score") - pl.col("runner_up_score")
    return table.bottom_k(count, by=margin).collect().sort(margin, maintain_order=True)
