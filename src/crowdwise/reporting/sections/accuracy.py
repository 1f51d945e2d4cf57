"""The accuracy of the method and of majority vote, for the sections that show it."""

from dataclasses import dataclass

from ...analysis.evaluation import hits
from ...numerics import Array
from ...results.intervals import wilson
from ..report_data import ReportData


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a method.

    Attributes:
        method: The name of the method.
        accuracy: The share of right answers.
        low: The lower end of its 95 % interval.
        high: The upper end of its 95 % interval.
    """

    method: str
    accuracy: float
    low: float
    high: float


def accuracies(data: ReportData) -> list[Accuracy]:
    """Return the accuracy of the method, and of majority vote if that is not the method; [] if no truth is known."""
    if data.known is None:
        return []
    found = [Accuracy(data.method_name, *share_right(hits(data.result, data.known)))]
    if data.majority.method.key != data.method.key:
        found.append(Accuracy("majority vote", *share_right(hits(data.majority, data.known))))
    return found


def share_right(right: Array) -> tuple[float, float, float]:
    """Return the share of right answers and the ends of its 95 % interval, given what `evaluation.hits` returns."""
    share, low, high = wilson(right.sum(), len(right))
    return float(share), float(low), float(high)
