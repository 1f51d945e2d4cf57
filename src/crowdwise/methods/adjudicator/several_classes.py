"""`SeveralClasses`: what the adjudicator is for crowds that name several classes at once; see the model beside it."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...crowd.labels import Labels
from ...crowd.numbering import Numbering, inverse
from ...errors import CallError
from ...fitting.in_memory import InMemoryMethod
from ...fitting.iterations import Step, Steps
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter
from ...numerics import Array
from ...results.contributions import Contributions
from ...results.gold import clamped_scores
from ...results.learned import Learned
from .several_classes_model import Model, Votes


@dataclass(frozen=True, eq=False)
class SharedWorkers(Learned):
    """What is learned of workers and classes.

    Attributes:
        prior: (classes), the log odds that a class holds for an item.
        matrices: (workers, truth, said), how often a worker names a class that holds and one that does not, over the
            pairs that somebody named.
        cell_workers: (cells), the workers of the pairs of a worker and a class that have a label.
        cell_classes: (cells), their classes.
        no: (cells), what a no of this worker adds to the log odds that this class holds.
        yes: (cells), what a yes adds.
    """

    prior: Array
    matrices: Array
    cell_workers: Array
    cell_classes: Array
    no: Array
    yes: Array

    @property
    def confusion(self) -> Array:
        """(workers, truth, said), in the mean over the pairs that somebody named."""
        return self.matrices

    def reordered(self, numbering: Numbering) -> "SharedWorkers":
        """Return a copy with workers in the order of their first appearance."""
        workers = numbering.worker_numbers
        return replace(self, matrices=self.matrices[workers], cell_workers=inverse(workers)[self.cell_workers])


@dataclass(frozen=True)
class SeveralClasses(InMemoryMethod):
    """Yes/no questions about every item and class, with workers whom all classes share.

    The adjudicator leaves crowds to it that name several classes at once (`multi="each"`). It was chosen by how well it
    predicts answers that were held out (docs/how-to/several-classes.md).
    """

    summary: ClassVar[str] = "Several classes: a yes/no question for every item and class, with shared workers."
    paper: ClassVar[Reference] = Reference(
        "", "Several classes at once", "crowdwise 2026", "docs/how-to/several-classes.md"
    )

    tolerance: float = parameter(
        1e-3, "Stop when probabilities move by no more than this, in the mean of the questions.", at_least=0, tiny=True
    )
    max_iterations: int = most_iterations(100)

    @property
    def calibrated_as(self) -> str:
        """As the Bayesian confusion matrices of two classes, which it is: votes of workers who err independently."""
        return "ibcc"

    def limits(self) -> Limits:
        """Votes are sums, and everything else needs all labels."""
        return replace(super().limits(), unexplained="")

    def iterate(self, labels: Labels) -> Steps:
        """Yield a step after each iteration."""
        if labels.sets is None:
            raise CallError('SeveralClasses is for labels that were read with multi="each" (--multi each).')
        model = Model(Votes.of(labels, labels.sets))
        for change in model.iterate():
            yield Step(change, lambda: _finished(model, labels))

    def contributions(self, one: Labels, item: int, workers: SharedWorkers) -> Contributions:
        """What each vote adds to the log odds of yes."""
        assert one.sets is not None, "the labels of a question"
        of_class = int(one.sets.class_of[0])
        cells = np.flatnonzero(workers.cell_classes == of_class)
        order = cells[np.argsort(workers.cell_workers[cells])]
        cell = order[np.searchsorted(workers.cell_workers[order], one.workers)]
        evidence = np.zeros((one.n_labels, one.n_classes, one.n_classes))
        evidence[:, 0, 1], evidence[:, 1, 1] = workers.no[cell], workers.yes[cell]
        return Contributions(np.array([0.0, workers.prior[of_class]]), evidence, logarithmic=True)


def _finished(model: Model, labels: Labels) -> tuple[Array, SharedWorkers]:
    p = model.log_odds()
    scores = 1 / (1 + np.exp(np.stack([p, -p], axis=1)))
    no, yes = model.evidence()
    learned = SharedWorkers(model.prior(), _matrices(model), model.cell_worker, model.cell_class, no, yes)
    return (scores if labels.gold is None else clamped_scores(labels.gold, scores)), learned


def _matrices(model: Model) -> Array:
    """(workers, truth, said), the mean of the rates of the cells of every worker, each by its number of labels."""
    n_workers = len(model.given)
    rows = np.bincount(model.cell).astype(float)
    total = np.bincount(model.cell_worker, rows, n_workers)
    matrices = np.full((n_workers, 2, 2), 0.5)
    for truth, logit in zip((1, 0), model.logits, strict=True):
        named = np.bincount(model.cell_worker, rows / (1 + np.exp(-logit)), n_workers)
        rate = np.divide(named, total, out=np.full(n_workers, 0.5), where=total > 0)
        matrices[:, truth] = np.stack([1 - rate, rate], axis=1)
    return matrices
