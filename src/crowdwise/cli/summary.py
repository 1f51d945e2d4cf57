"""Summarise a crowd and a fitted method: as tables for the terminal, or as values for JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import polars as pl

from ..analysis.decisions import Decisions
from ..analysis.findings import Findings
from ..analysis.ordinal_errors import OrdinalErrors
from ..caution import Caution
from ..crowd.protocol import Crowd
from ..crowd.reading_report import several
from ..results.gold import Share
from ..results.in_parts import Inferred
from ..results.stated import STATED
from .terminal import Terminal

# What tables on the screen do without where it is too narrow for unbroken names, the least important first. Files and
# JSON have everything.
_SPARE: Final = ("agreement", "votes", "runner_up")
# Columns of items that the screen does without: where they say more than the confidence, files have them.
_NOT_ON_SCREEN: Final = ("score", "runner_up_score", "difficulty")
# So many workers the screen shows.
_BEST: Final = 3
_WORST: Final = 3
_MARKED: Final = 5


def _verdict(result: Inferred, labels: Crowd, accuracies: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return what was inferred, and how sure that is, as rows of a table: a name and its value."""
    by = several(labels.n_workers, "worker", "workers")
    classes = several(len(result.names.classes), "class", "classes")
    rows = [
        ("inferred", f"{several(labels.n_items, 'label', 'labels')}, in {classes}"),
        ("from labels", f"{labels.n_labels:,} ({labels.n_labels / labels.n_items:.2f} per item) by {by}"),
        ("by method", f"{result.method.key}, {result.convergence}"),
        ("expected accuracy", str(result.expected_accuracy)),
    ]
    if result.tie_count:
        rows.append(("ties", f"{result.tie_count:,}"))
    if result.gold_check is not None:
        rows.append(("accuracy on gold", _share(result.gold_check.accuracy)))
        rows.append(("majority on gold", _share(result.gold_check.majority)))
    return rows + [(f"accuracy of {name}", f"{value:.4f}") for name, value in accuracies.items()]


def _share(share: Share) -> str:
    """Return a share with its interval, in words."""
    return f"{share.value:.3f} (95% interval {share.low:.3f} to {share.high:.3f})"


def json_values(
    found: Findings,
    cautions: Sequence[Caution],
    accuracies: Mapping[str, float],
    written: list[str],
    tables: dict[str, pl.DataFrame | None],
) -> dict[str, Any]:
    """Return the main numbers about the crowd and the fit as values that can be written as JSON.

    Args:
        found: The fitted result, the crowd, and what was found about them.
        cautions: What to know before relying on the result.
        accuracies: The accuracy of each method that was evaluated.
        written: The files that were written.
        tables: Tables to include, by name; those that are None are left out.
    """
    result, labels, rivals = found.result, found.labels, found.rivals
    values: dict[str, Any] = {
        "cautions": [caution.to_dict() for caution in cautions],
        "crowd": {
            "items": labels.n_items,
            "workers": labels.n_workers,
            "classes": len(result.names.classes),
            "labels": labels.n_labels,
        },
        "columns": labels.report.columns,
        "repairs": labels.report.repairs,
        "method": repr(result.method),
        "converged": result.convergence.converged,
        "iterations": result.convergence.iterations,
        "change": result.convergence.change,
        "ties": result.tie_count,
        "expected_accuracy": asdict(result.expected_accuracy),
        "gold": None if result.gold_check is None else result.gold_check.to_dict(),
        "rivals": None if rivals is None else {"sentence": str(rivals), **rivals.to_dict()},
        "accuracy": accuracies,
        "written": written,
    }
    return values | {name: json.loads(table.write_json()) for name, table in tables.items() if table is not None}


def _cost_rows(decisions: Decisions | None) -> list[tuple[str, str]]:
    """Return what the decisions are expected to cost as rows of a table; none if there are no costs."""
    if decisions is None:
        return []
    cost = decisions.expected_cost

    def both(total: float) -> str:
        return f"{total:,.2f} ({total / cost.items:.4g} per item)"

    rows = [
        (f"expected {decisions.measured_in}", both(cost.total)),
        (f"{decisions.measured_in} of most probable labels", both(cost.most_probable)),
        (f"{decisions.measured_in} of always {cost.single_decision}", both(cost.single)),
        ("not most probable", f"{cost.changed:,}"),
    ]
    return rows + ([("abstained", f"{cost.abstained:,}")] if decisions.costs.can_abstain else [])


def cost_values(decisions: Decisions | None) -> dict[str, Any]:
    """Return what the decisions are expected to cost as values that can be written as JSON; {} without costs."""
    if decisions is None:
        return {}
    cost = asdict(decisions.expected_cost)
    label = cost["single_decision"]
    cost["single_decision"] = label if isinstance(label, int | float | str) else str(label)
    return {f"expected_{decisions.measure}": cost}


def _distance_rows(distances: OrdinalErrors | None) -> list[tuple[str, str]]:
    """Return how far labels of ordered classes are from the truth as rows of a table; none if that is not known."""
    if distances is None:
        return []
    decided, probable = distances.decided, distances.most_probable
    rows = {
        "mean absolute error": (decided.mae, probable.mae),
        "root mean square error": (decided.rmse, probable.rmse),
        "quadratic kappa": (decided.quadratic_kappa, probable.quadratic_kappa),
    }
    shown = {name: ["none" if one is None else f"{one:.4f}" for one in both] for name, both in rows.items()}
    return [
        (name, f"{of_decided} ({of_probable} of most probable labels)")
        for name, (of_decided, of_probable) in shown.items()
    ]


def distance_values(distances: OrdinalErrors | None) -> dict[str, Any]:
    """Return how far labels of ordered classes are from the truth, as values that can be written as JSON."""
    return {} if distances is None else {"errors": asdict(distances)}


def show(
    terminal: Terminal,
    result: Inferred,
    labels: Crowd,
    accuracies: Mapping[str, float],
    decisions: Decisions | None = None,
    distances: OrdinalErrors | None = None,
    about: Findings | None = None,
    notes: Sequence[str] = (),
    *,
    with_answers: bool,
) -> None:
    """Print what was inferred and how sure that is; then labels, some workers, and the items that are least sure.

    Args:
        terminal: Where to print them.
        result: The fitted result.
        labels: The crowd.
        accuracies: The accuracy of each method that was evaluated.
        decisions: What was decided by costs, or for ordered classes; None if there are none.
        distances: How far labels of ordered classes are from the truth; None if that is not known.
        about: What was found about the result, such as the workers who are worth a look; None if nobody looked.
        notes: Sentences below the verdict, such as what to do next.
        with_answers: Whether to print the first inferred labels too.
    """
    found = decisions or result
    rows = _verdict(result, labels, accuracies) + _distance_rows(distances) + _cost_rows(decisions)
    terminal.table("The answers", None, rows)
    terminal.notes(notes)
    if with_answers:
        answers = found.lazy()
        shown = [name for name in answers.collect_schema().names() if name not in _NOT_ON_SCREEN]
        terminal.head("Inferred labels", answers.select(shown), 10, labels.n_items, _SPARE)
    workers = found.workers_frame()
    if about is not None and about.marks is not None and about.marks.height:
        workers = workers.join(
            about.marks.rename({"reasons": "worth a look"}), on="worker", how="left", maintain_order="left"
        )
    judges = workers.select("worker", *STATED).drop_nulls("brier") if STATED[0] in workers.columns else None
    title, some = few_workers(workers.drop(STATED, strict=False))
    terminal.table(title, some.columns, some.rows(), _SPARE)
    if judges is not None and judges.height:
        table = judges.sort("brier", maintain_order=True)
        rest = "--workers-output FILE writes all"
        terminal.head("Probabilities that workers state", table.lazy(), 10, table.height, rest=rest)
    disputed = found.disputed(5)
    disputed = disputed.drop(name for name in _NOT_ON_SCREEN if name in disputed.columns)
    terminal.table("Least sure items", disputed.columns, disputed.rows(), _SPARE)


def few_workers(workers: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Return some workers, the best first, and the title of their table: the best, the worst, those worth a look."""
    table = workers.filter(pl.col("labels") > 0).sort("quality", descending=True, maintain_order=True)
    position = pl.int_range(pl.len())
    wanted = (position < _BEST) | (position >= pl.len() - _WORST)
    title = "Best and worst workers"
    if "worth a look" in table.columns:
        marked = pl.col("worth a look").is_not_null()
        wanted |= marked & (marked.cum_sum() <= _MARKED)
        title = "Workers: the best, the worst, those worth a look"
    some = table.filter(wanted)
    rest = (
        "all"
        if some.height == workers.height
        else f"{some.height} of {workers.height:,}; --workers-output FILE writes them all"
    )
    return f"{title} ({rest})", some
