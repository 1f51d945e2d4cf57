"""How many answers are right, of the method and of majority vote, as far as the truth is known."""

from dataclasses import dataclass

from ...analysis.evaluation import hits, wilson
from ...kernels import Array
from ..report_data import ReportData


@dataclass(frozen=True)
class Accuracy:
    """The share of right answers, with the ends of its 95 % interval."""

    method: str
    accuracy: float
    low: float
    high: float


def accuracies(data: ReportData) -> list[Accuracy]:
    """One for the method, and one for majority vote unless that is the method; none where no truth is known."""
    if data.known is None:
        return []
    found = [Accuracy(data.method_name, *share_right(hits(data.result, data.known)))]
    if type(data.majority.method) is not type(data.method):
        found.append(Accuracy("majority vote", *share_right(hits(data.majority, data.known))))
    return found


def share_right(right: Array) -> tuple[float, float, float]:
    """The share of right answers and its 95 % interval, from how far each answer is right (1 or 0; a part for ties)."""
    share, low, high = wilson(right.sum(), len(right))
    return float(share), float(low), float(high)
