"""What states of earlier versions of the file are today; see history_file.py."""

import ast
from collections.abc import Mapping
from typing import Final

from ..errors import DataError
from ..numerics import Array

# Files before version 4 have all parameters of a method. These were the defaults.
_DEFAULTS_BEFORE_4: Final = """
Adjudicator(read_out='answer', temperature=0.73, copies='separate', tolerance=0.001, max_iterations=30)
BWA(prior_strength=15.0, prior_correction=True, mean_weight=1.0, tolerance=0.001, max_iterations=500,
    restarts=0, seed=0, weights='per_worker', link='gaussian')
CATD(level=0.95, smoothing=0.5, tolerance=1e-09, max_iterations=100)
CBCC(communities=4, noise_precision=5.0, membership_count=10.0, class_count=1.0, damping=0.5, tolerance=0.001,
    max_iterations=100, seed=0)
CRH(per_label=True, tolerance=1e-09, max_iterations=100)
DawidSkene(start_from='majority', tolerance=0.0001, max_iterations=200)
EBCC(subtypes=10, concentration=0.1, diagonal=None, off_diagonal=1.0, tolerance=0.001, max_iterations=200,
    restarts=2, seed=0)
Hierarchical(form='class_accuracy', tolerance=0.0001, max_iterations=200)
IBCC(inference='expectation_propagation', diagonal=None, off_diagonal=1.0, class_count=1.0, tolerance=0.001,
    max_iterations=500)
IterativeWeightedMajorityVote(tolerance=1e-09, max_iterations=20)
LearningFromCrowds(smoothing=0.1, diagonal_smoothing=1.0, tolerance=0.0001, max_iterations=200)
MACE(knowing_prior=0.5, habit_prior=10.0, tolerance=0.0001, max_iterations=200)
OneCoin(tolerance=0.0001, max_iterations=200)
PTBCC(right=5.0, even=1.0, contrary=1.35, mixture_prior=0.4, matrix_prior=0.5, tolerance=0.001,
    max_iterations=500)
MeanField(coins='two', prior_right=2.0, prior_wrong=1.0, tolerance=0.001, max_iterations=100)
Wawa()
ZenCrowd(first_accuracy=0.8, tolerance=0.0001, max_iterations=200)
ZeroBasedSkill(step=0.5, tolerance=1e-05, max_iterations=100)
"""
# Which axes were the classes, where files did not say so.
_AXES_BEFORE_4: Final[Mapping[str, tuple[int, ...]]] = {
    "confusion": (1, 2),
    "classes": (0,),
    "exposure": (2, 3),
    "pulled": (1, 2),
    "matrix": (1, 2),
    "errors": (1,),
    "total": (0,),
    "disagreement": (0,),
}
# Parameters that have another name now.
_RENAMED: Final = {("Adjudicator", "temperature"): "power"}


def method_now(text: str) -> str:
    """Return the method of a file before version 4 as `described` says it.

    >>> method_now("OneCoin(tolerance=0.0001, max_iterations=7)")
    'OneCoin(max_iterations=7)'
    """
    ((name, given),) = _parsed(text)
    defaults = dict(_parsed(_DEFAULTS_BEFORE_4)).get(name, {})
    changed = [
        f"{_RENAMED.get((name, parameter), parameter)}={value}"
        for parameter, value in given.items()
        if value != defaults.get(parameter)
    ]
    return f"{name}({', '.join(changed)})"


def array_now(name: str, values: Array, n_classes: int) -> tuple[Array, tuple[int, ...]]:
    """Return an array of a file before version 4 as it is now, and which of its axes are the classes."""
    axes = _AXES_BEFORE_4.get(name, ())
    pairs = n_classes**2
    if name in ("exposure", "pulled"):
        outer = 1 if name == "exposure" else 0
        if values.ndim == outer + 1:  # version 2 has strengths and pairs on one axis
            values = values.reshape(*values.shape[:outer], -1, pairs)
        # In version 3, zeros are after the pairs.
        return values[..., :pairs].reshape(*values.shape[:-1], n_classes, n_classes), axes
    if name in ("confusion", "classes") and values.shape[-1] != n_classes:  # EBCC has subtypes of classes
        return values.reshape(*values.shape[:-1], n_classes, -1), axes
    return values, axes


def _parsed(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the names of methods, and their parameters as text, given the `repr` of each."""
    found = []
    for statement in ast.parse(text).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            raise DataError(f"{text[:100]!r} is no method.")
        found.append((call.func.id, {str(one.arg): ast.unparse(one.value) for one in call.keywords}))
    return found
