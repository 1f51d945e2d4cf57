"""What can be said about a crowd and a result: accuracy, agreement, comparison, explanation."""

from .agreement import Agreement, krippendorff
from .comparison import compare
from .evaluation import accuracy
from .explanation import explain

__all__ = ["Agreement", "accuracy", "compare", "explain", "krippendorff"]
