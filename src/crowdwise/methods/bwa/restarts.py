"""BWA from random starts: its classes are fitted apart, so the best of several runs is chosen class by class."""

from dataclasses import replace

import numpy as np

from ...data.labels import Labels, shares
from ...inference.loop import Fitted, Iterative, Progress, run
from ...inference.restarts import Counter, by_name
from ...results.result import Convergence
from .weights import Errors, Weights, mirrored


def best_by_class(
    method: Iterative[Weights, Errors], labels: Labels, restarts: int, seed: int, progress: Progress | None
) -> Fitted[Weights]:
    """Start from vote shares and so many times at random; the lowest objective wins."""
    counter = Counter(progress)
    fitted = run(method, labels, shares(labels), counter)
    for attempt in range(restarts):
        random = np.random.default_rng([seed, attempt])
        start = by_name(labels.names.items, random.random((labels.n_items, labels.n_classes)))
        if mirrored(labels.n_classes, labels.set_valued):
            start[:, 1] = 1 - start[:, 0]
        fitted = _better(fitted, run(method, labels, start, counter))
    return replace(fitted, convergence=replace(fitted.convergence, iterations=counter.done))


def _better(one: Fitted[Weights], other: Fitted[Weights]) -> Fitted[Weights]:
    """The better of two runs, class by class; a thousandth of a nat is what stopping early leaves open."""
    improved = other.objective < one.objective - 1e-3
    if not improved.any():
        return one
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
    return Fitted(np.where(improved, other.scores, one.scores), workers, convergence, objective)
