"""Summarise a crowd and a fitted method: as tables for the terminal, or as values for JSON."""

import json
from typing import Any

import polars as pl

from ..data.crowd import Crowd
from ..results.inferred import Inferred
from .terminal import Terminal


def _crowd_rows(labels: Crowd, result: Inferred, accuracies: dict[str, float]) -> list[tuple[str, str]]:
    """Return the main numbers about the crowd and the fit, as rows of a table: a name and its value."""
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


def json_values(
    labels: Crowd,
    result: Inferred,
    accuracies: dict[str, float],
    written: list[str],
    tables: dict[str, pl.DataFrame | None],
) -> dict[str, Any]:
    """Return the main numbers about the crowd and the fit as values that can be written as JSON.

    Args:
        labels: The crowd.
        result: The fitted result.
        accuracies: The accuracy of each method that was evaluated.
        written: The files that were written.
        tables: Tables to include, by name; those that are None are left out.
    """
    values: dict[str, Any] = {
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
    return values | {name: json.loads(table.write_json()) for name, table in tables.items() if table is not None}


def show(
    terminal: Terminal, labels: Crowd, result: Inferred, accuracies: dict[str, float], *, with_answers: bool
) -> None:
    """Print tables: the crowd, the best and the worst workers, and the most disputed items.

    Args:
        terminal: Where to print them.
        labels: The crowd.
        result: The fitted result.
        accuracies: The accuracy of each method that was evaluated.
        with_answers: Whether to print the first inferred labels too.
    """
    terminal.table("The crowd", None, _crowd_rows(labels, result, accuracies))
    if with_answers:
        terminal.head("Inferred labels", result.lazy(), 10, labels.n_items)
    workers = result.workers_frame()
    best, worst = _ranked_workers(workers, 5)
    terminal.table("Best workers", workers.columns, best)
    terminal.table("Worst workers", workers.columns, worst)
    disputed = result.disputed(5)
    terminal.table("Most disputed items", disputed.columns, disputed.rows())


def _ranked_workers(workers: pl.DataFrame, count: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the `count` best and the `count` worst workers by quality. No worker is in both lists."""
    table = workers.filter(pl.col("labels") > 0).sort("quality", descending=True, maintain_order=True)
    best = min(count, (table.height + 1) // 2)
    return table.head(best).rows(), table.tail(min(count, table.height - best)).reverse().rows()
