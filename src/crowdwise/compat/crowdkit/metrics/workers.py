"""crowd-kit's metric of workers: how often they agree with the aggregated labels."""

from typing import Any, Final

from crowdwise.compat.crowdkit.aggregation import MajorityVote
from crowdwise.compat.crowdkit.aggregation.utils import get_accuracy

__all__ = ["accuracy_on_aggregates"]

_MAJORITY_VOTE: Final = MajorityVote()


def accuracy_on_aggregates(
    answers: Any, aggregator: Any = _MAJORITY_VOTE, aggregates: Any = None, by: Any = None
) -> Any:
    """Return how often answers are the aggregated label of their task.

    Args:
        answers: The columns task, worker and label.
        aggregator: What aggregates the answers, if they are not aggregated yet.
        aggregates: The aggregated label by task.
        by: A column to group by, for example "worker"; None for one number.
    """
    if aggregates is None:
        if aggregator is None:
            raise AssertionError("Give an aggregator, or what it gave as aggregates.")
        aggregates = aggregator.fit_predict(answers)
    return get_accuracy(answers, aggregates, by=by)
