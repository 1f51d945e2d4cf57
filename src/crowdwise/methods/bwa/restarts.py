"""BWA from several random starts, of which the best is chosen for each class.

That is possible because BWA fits each class by itself.
"""

from dataclasses import replace

import numpy as np

from ...crowd.labels import Labels
from ...crowd.votes import shares
from ...fitting.iterations import Counter, Progress
from ...fitting.restarts import Fitted, by_name, fit_from, with_iterations
from ...fitting.sweeping import SweepingMethod
from ...results.ending import Convergence, Ending
from .weights import Errors, Weights, mirrored


def best_by_class(
    method: SweepingMethod[Weights, Errors], labels: Labels, restarts: int, seed: int, progress: Progress | None
) -> Fitted:
    """Run the method from the vote shares and from random starts; for each class, the lowest objective wins.

    `progress` is called after each iteration of any run, with the number of all iterations so far and the change.
    """
    counter = Counter(progress)
    fitted = fit_from(method, labels, shares(labels), counter)
    for attempt in range(restarts):
        random = np.random.default_rng([seed, attempt])
        start = by_name(labels.names.items, random.random((labels.n_items, labels.n_classes)))
        if mirrored(labels.n_classes, labels.set_valued):
            start[:, 1] = 1 - start[:, 0]
        fitted = _better(fitted, fit_from(method, labels, start, counter))
    return with_iterations(fitted, counter.done)


def _better(first: Fitted, second: Fitted) -> Fitted:
    """For each class, the run with the lower objective.

    The second run must be better by more than 1e-3: a smaller difference can come from where the runs stopped.
    """
    one, other = first.ending, second.ending
    improved = other.objective < one.objective - 1e-3
    if not improved.any():
        return first
    workers = replace(
        one.workers,
        weight=np.where(improved, other.workers.weight, one.workers.weight),
        errors=np.where(improved, other.workers.errors, one.workers.errors),
        mean=np.where(improved, other.workers.mean, one.workers.mean),
    )
    objective = np.where(improved, other.objective, one.objective)
    ends = one.convergence, other.convergence
    convergence = Convergence(
        iterations=one.convergence.iterations,  # replaced in the end by those of all runs together
        converged=all(end.converged for end in ends),
        change=max(end.change for end in ends),
        objective=(*one.convergence.objective, float(objective.sum())),
    )
    return Fitted(np.where(improved, second.scores, first.scores), Ending(workers, convergence, objective))
