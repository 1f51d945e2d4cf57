"""crowd-kit's metrics of answers: consistency, uncertainty and Krippendorff's alpha."""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from crowdwise.compat.crowdkit.aggregation import MajorityVote
from crowdwise.errors import DataError

__all__ = ["alpha_krippendorff", "consistency", "uncertainty"]


def consistency(answers: Any, workers_skills: Any = None, aggregator: Any = None, by_task: bool = False) -> Any:
    """Return the posterior probability of the aggregated labels, given the answers and the skills of the workers.

    A worker says the true label with the probability of its skill, and each other label equally often.

    Args:
        answers: The columns task, worker and label.
        workers_skills: The skill by worker; None for those that the aggregator learns.
        aggregator: What aggregates the answers; None for majority vote.
        by_task: Whether to return a Series by task instead of the mean.
    """
    _require_answers(answers)
    aggregator = MajorityVote() if aggregator is None else aggregator
    aggregated = aggregator.fit_predict(answers)
    skills = _skills(aggregator) if workers_skills is None else workers_skills
    likelihoods, labels = _likelihoods(answers, answers["worker"].map(skills))
    products = likelihoods.groupby(answers["task"]).prod()
    codes = {label: code for code, label in enumerate(labels)}
    best = np.array([codes[label] for label in aggregated.reindex(products.index)], np.int64)
    total = products.sum(axis=1)
    likelihood = products.to_numpy()[np.arange(len(best)), best]
    posterior = np.divide(likelihood, total, out=np.zeros(len(best)), where=total.to_numpy() != 0)
    by_group = pd.Series(posterior, index=products.index)
    return by_group if by_task else by_group.mean()


def uncertainty(
    answers: Any,
    workers_skills: Any = None,
    aggregator: Any = None,
    compute_by: str = "task",
    aggregate: bool = True,
) -> Any:
    """Return the entropy of the labels of a task, or of a worker, with the natural logarithm.

    Args:
        answers: The columns task, worker and label.
        workers_skills: The skill by worker; None for those that the aggregator learns.
        aggregator: What learns the skills; None if all workers are right.
        compute_by: "task" or "worker".
        aggregate: Whether to return the mean instead of a Series.
    """
    _require_answers(answers)
    if workers_skills is None and aggregator is not None:
        aggregator.fit(answers)
        workers_skills = _skills(aggregator)
    skill = pd.Series(1.0, index=answers.index) if workers_skills is None else answers["worker"].map(workers_skills)
    if skill.isna().any():
        missing = answers.loc[skill.isna(), "worker"].unique()
        raise AssertionError(f"{len(missing):,} workers have no skill, first {missing[0]!r}: give every worker one.")
    likelihoods, _ = _likelihoods(answers, skill)
    sums = likelihoods.groupby(answers[compute_by]).sum().to_numpy()
    total = sum(sums.T, np.zeros(len(sums)))  # in this order, as in crowd-kit
    entropy = stats.entropy(sums / (total[:, None] + 1e-6), axis=1)
    by_group = pd.Series(entropy, index=likelihoods.groupby(answers[compute_by]).size().index)
    return by_group.mean() if aggregate else by_group


def alpha_krippendorff(answers: Any, distance: Callable[[Hashable, Hashable], float] | None = None) -> float:
    """Return Krippendorff's alpha: 1 if workers agree always, 0 if they agree as often as by chance.

    Args:
        answers: The columns task, worker and label.
        distance: How far two labels are from each other, from 0 to 1; None for 1 if they differ.
    """
    _require_answers(answers)
    if not len(answers):
        raise DataError("There are no answers, so there is no agreement.")

    def disagreement(counts: Counter[Any]) -> float:
        total = counts.total()
        pairs = 0.0
        for one, n_one in counts.items():
            for other, n_other in counts.items():
                far = float(one != other) if distance is None else distance(other, one)
                pairs += n_one * n_other * far
        return pairs / (total * (total - 1))

    observed, everything = 0.0, Counter[Any]()
    for _, said in answers.groupby("task")["label"]:
        counts = Counter(said)
        if counts.total() > 1:
            everything += counts
            observed += disagreement(counts) * counts.total()
    if len(everything) <= 1:
        return 1.0
    return 1.0 - (observed / everything.total()) / disagreement(everything)


def _require_answers(answers: Any) -> None:
    """Raise what crowd-kit raises if this is no table of answers."""
    if not isinstance(answers, pd.DataFrame):
        raise TypeError(f"answers is a {type(answers).__name__}, and has to be a pandas DataFrame.")
    for column in ("task", "worker", "label"):
        if column not in answers:
            raise AssertionError(f"answers has no column {column}.")


def _skills(aggregator: Any) -> Any:
    """Return the skills that an aggregator has learned."""
    if not hasattr(aggregator, "skills_"):
        raise AssertionError(f"{type(aggregator).__name__} learns no skills: give workers_skills.")
    return aggregator.skills_


def _likelihoods(answers: Any, skill: Any) -> tuple[Any, Any]:
    """Return the likelihood of every answer (rows) under every label (columns), and the labels."""
    codes, labels = pd.factorize(answers["label"])
    skilled = skill.to_numpy(float)[:, None]
    right = codes[:, None] == np.arange(len(labels))
    return pd.DataFrame(np.where(right, skilled, (1 - skilled) / max(len(labels) - 1, 1)), index=answers.index), labels
