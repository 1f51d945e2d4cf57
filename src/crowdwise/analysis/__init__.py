"""Analysis of labels and results: accuracy, agreement, comparison, explanation and charts."""

from .agreement import Agreement, krippendorff
from .comparison import compare
from .evaluation import accuracy
from .explanation import explain

__all__ = ["Agreement", "accuracy", "compare", "explain", "krippendorff"]
