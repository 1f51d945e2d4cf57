"""BWA from random starts: its classes are fitted apart, so the best of several runs is chosen class by class."""

from dataclasses import replace

import numpy as np

from ...data.labels import Labels, shares
from ...inference.loop import Fitted, IterativeMethod, run
from ...inference.method import Progress
from ...inference.restarts import Counter, by_name
from ...results.convergence import Convergence
from ...results.result import Ending
from .weights import Errors, Weights, mirrored


def best_by_class(
    method: IterativeMethod[Weights, Errors], labels: Labels, restarts: int, seed: int, progress: Progress | None
) -> Fitted:
    """Start from vote shares and so many times at random; for every class, the lowest objective wins."""
    counter = Counter(progress)
    fitted = run(method, labels, shares(labels), counter)
    for attempt in range(restarts):
        random = np.random.default_rng([seed, attempt])
        start = by_name(labels.names.items, random.random((labels.n_items, labels.n_classes)))
        if mirrored(labels.n_classes, labels.set_valued):
            start[:, 1] = 1 - start[:, 0]
        fitted = _better(fitted, run(method, labels, start, counter))
    return counter.all_of(fitted)


def _better(first: Fitted, second: Fitted) -> Fitted:
    """The better of two runs, class by class; a thousandth of a nat is what stopping early leaves open."""
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
        iterations=one.convergence.iterations,  # the counter knows those of all
        converged=all(end.converged for end in ends),
        change=max(end.change for end in ends),
        objective=(*one.convergence.objective, float(objective.sum())),
    )
    return Fitted(np.where(improved, second.scores, first.scores), Ending(workers, convergence, objective))
