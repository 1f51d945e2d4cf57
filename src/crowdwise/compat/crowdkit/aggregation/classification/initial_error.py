"""What `DawidSkene` does with matrices of workers from earlier work."""

from typing import Any

import numpy as np

from crowdwise.errors import CallError, DataError


def with_initial_error(errors: Any, initial: Any, strategy: str | None) -> Any:
    """Return the first counts of a worker's answers, given those from earlier work.

    Args:
        errors: The counts in these answers, by worker and label, with a column for every true label.
        initial: The same from earlier work.
        strategy: "assign" to take the earlier ones instead, for which every worker must have some; they may be
            probabilities. "addition" to add them.
    """
    if list(initial.index.names) != list(errors.index.names):
        raise DataError(
            f"The index of initial_error must be worker and label, and it is {', '.join(map(str, initial.index.names))}"
        )
    if strategy == "addition":
        added = errors.add(initial, fill_value=0.0)
        return added.reindex(columns=errors.columns).fillna(0.0)
    if strategy != "assign":
        raise CallError(f'initial_error_strategy is {strategy!r}, and has to be "assign", "addition" or None.')
    missing = errors.index[~errors.index.isin(initial.index)].get_level_values("worker").unique()
    if len(missing):
        raise DataError(
            f"All the workers in data should be in initial_error, with each label that they gave: {len(missing):,} are "
            f"not, first {missing[0]!r}."
        )
    if (initial <= 1.0).all(axis=None) and not np.allclose(initial.groupby(level="worker").sum(), 1.0):
        raise DataError(
            "The sum of each worker's error matrix in initial_error should be 1.0 in every column, "
            "unless they are counts."
        )
    return initial
