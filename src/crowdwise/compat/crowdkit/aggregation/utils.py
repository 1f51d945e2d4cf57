"""crowd-kit's helper functions: accuracies of workers, most probable labels, skills for rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.encoded_answers import COLUMNS, three_columns
from crowdwise.errors import CallError, DataError, require_kind
from crowdwise.numerics import Array


def clone_aggregator(aggregator: Any) -> Any:
    """Return a new aggregator with the same parameters, which has learned nothing yet."""
    require_kind("aggregator", aggregator, BaseClassificationAggregator, "an aggregator of labels")
    return type(aggregator)(**aggregator.get_params(deep=False))


def evaluate_in(row: Any) -> int:
    """Return 1 if label_pred is one of label_true, else 0."""
    return int(row["label_pred"] in row["label_true"])


def evaluate_equal(row: Any) -> int:
    """Return 1 if label_pred is label_true, else 0."""
    return int(row["label_pred"] == row["label_true"])


def evaluate(df_true: Any, df_pred: Any, evaluate_func: Callable[[Any], int] = evaluate_in) -> float:
    """Return the mean of `evaluate_func` over the tasks of two tables, whose columns get the ends _true and _pred."""
    both = df_true.merge(df_pred, on="task", suffixes=("_true", "_pred"))
    if len(both) != len(df_true):
        # As in crowd-kit, an AssertionError.
        raise AssertionError(f"{len(df_true)} tasks have a truth, and {len(both)} of them a prediction.")
    return float(both.apply(evaluate_func, axis=1).mean())


def factorize(data: Array) -> tuple[Array, Array]:
    """Return the sorted values of an array, and an array of their codes."""
    values, codes = np.unique(data, return_inverse=True)
    return values, codes.reshape(data.shape)


def get_most_probable_labels(proba: Any) -> Any:
    """Return the column with the highest value of every row; of equal ones the first."""
    return proba.idxmax(axis="columns") if proba.size else pd.Series([], dtype="O")


def normalize_rows(scores: Any) -> Any:
    """Divide every row by its sum."""
    return scores.div(scores.sum(axis=1), axis=0)


def get_accuracy(data: Any, true_labels: Any, by: str | None = None) -> Any:
    """Return how often labels are right, weighted by the column weight if there is one.

    Args:
        data: The columns task, worker and label; rows that repeat another count once.
        true_labels: The true label by task; a task that is there several times has several true labels.
        by: A column to group by, for example "worker" or "true_label"; None for one number.
    """
    kept = [*COLUMNS, "weight"] if "weight" in data.columns else list(COLUMNS)
    three_columns(data)
    truth = pd.Series(true_labels, name="true_label")
    rows = data[kept].join(truth, on="task") if len(data) else data[kept].assign(true_label=[])
    rows = rows[rows["true_label"].notna()]
    if "weight" not in rows:
        rows = rows.assign(weight=1)
    rows = rows.assign(score=rows["weight"] * (rows["label"] == rows["true_label"]))
    rows = rows.sort_values("score").drop_duplicates(list(COLUMNS), keep="last")
    if by is None:
        return rows["score"].sum() / rows["weight"].sum()
    sums = rows.groupby(by)[["score", "weight"]].sum()
    return sums["score"] / sums["weight"]


def add_skills_to_data(data: Any, skills: Any, on_missing_skill: str, default_skill: float | None) -> Any:
    """Return the table with a column skill, that of the worker of each row.

    Args:
        data: The columns task, worker and label.
        skills: The skill by worker.
        on_missing_skill: What to do with rows of workers who have no skill. "error": raise `ValueError`. "ignore": drop
            them, and raise `ValueError` if a task has no other row. "value": they get `default_skill`.
        default_skill: That skill, for "value" and for nothing else.
    """
    if on_missing_skill not in ("error", "ignore", "value"):
        raise CallError(f'on_missing_skill is {on_missing_skill!r}, and has to be "error", "ignore" or "value".')
    if (on_missing_skill == "value") != (default_skill is not None):
        raise CallError('on_missing_skill="value" and default_skill need each other.')
    rows = data.join(skills.rename("skill"), on="worker")
    missing = rows["skill"].isna()
    if not missing.any():
        return rows
    first = rows.loc[missing, "worker"].iloc[0]
    if on_missing_skill == "error":
        raise DataError(
            f"{missing.sum():,} rows are of workers who have no skill, first {first!r}: give every worker a skill, or "
            'set on_missing_skill to "ignore" or "value".'
        )
    if on_missing_skill == "value":
        return rows.fillna({"skill": default_skill})
    kept = rows[~missing]
    lost = pd.Index(rows["task"]).difference(pd.Index(kept["task"]))
    if len(lost):
        raise DataError(
            f"{len(lost):,} tasks have no answer of a worker who has a skill, first {lost[0]!r}: give more workers a "
            'skill, or use on_missing_skill="value".'
        )
    return kept.reset_index(drop=True)
