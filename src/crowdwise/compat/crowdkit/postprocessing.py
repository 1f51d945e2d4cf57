"""crowd-kit's postprocessing: leave out workers who answer always the same."""

import warnings
from typing import Any

import numpy as np

from crowdwise.compat.crowdkit.encoded_answers import three_columns
from crowdwise.compat.crowdkit.metrics.data import uncertainty

__all__ = ["entropy_threshold"]


def entropy_threshold(answers: Any, workers_skills: Any = None, percentile: int = 10, min_answers: int = 2) -> Any:
    """Return the answers without those of workers whose labels have little entropy.

    Args:
        answers: The columns task, worker and label.
        workers_skills: The skill by worker; None if all are right.
        percentile: Workers up to this percentile of the entropies are left out.
        min_answers: Workers with fewer answers are not judged, and stay.
    """
    given = three_columns(answers).groupby("worker")["label"].count()
    judged = answers[answers["worker"].isin(given.index[given >= min_answers])]
    if judged.empty:
        return answers.copy()
    entropies = uncertainty(judged, workers_skills, compute_by="worker", aggregate=False)
    left_out = entropies.index[entropies <= np.percentile(entropies, percentile)]
    kept = answers[~answers["worker"].isin(left_out)]
    if len(kept) <= len(answers) // 2:
        warnings.warn(
            "Removed >= 1/2 of answers with entropy_threshold. This might lead to poor annotation quality. Try a lower "
            "percentile, or more min_answers.",
            stacklevel=2,
        )
    return kept
