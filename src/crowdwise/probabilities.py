"""The end that iterative methods with probabilities share: run the loop, make a result."""

from .kernels import Array
from .labels import Labels
from .loop import Counts, Iterative, Progress, Workers, run
from .quality import accuracies
from .result import Result


def fit_probabilities(
    method: Iterative[Workers, Counts],
    labels: Labels,
    start: tuple[Array, Workers | None],
    parameters: int,
    progress: Progress | None,
) -> Result:
    """Iterate from scores to count first, or parameters to score with first; see `loop.run`."""
    scores, first = start
    fitted = run(method, labels, scores, parameters, progress, first)
    return Result.build(
        method,
        labels,
        fitted.scores,
        "probability",
        convergence=fitted.convergence,
        workers=fitted.workers,
        quality=accuracies,
    )
