"""Analysis of labels and results: accuracy, calibration, agreement, comparison, explanation and charts."""

from .agreement import Agreement, alpha, krippendorff
from .calibration_measures import brier, log_loss, overconfidence
from .cautions import cautions
from .comparison import compare
from .evaluation import accuracy
from .explanation import explain
from .numeric_agreement import interval_alpha
from .numeric_comparison import compare_numbers

__all__ = [
    "Agreement",
    "accuracy",
    "alpha",
    "brier",
    "cautions",
    "compare",
    "compare_numbers",
    "explain",
    "interval_alpha",
    "krippendorff",
    "log_loss",
    "overconfidence",
]
