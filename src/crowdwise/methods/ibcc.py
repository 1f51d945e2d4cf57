r"""iBCC: every worker has a confusion matrix with a prior, fitted by Bayesian inference.

$$ \pi \sim Dir(\nu), \quad C_{jk} \sim Dir(\beta_k), \; z_i \sim Cat(\pi), \; y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, and C_jk the row
for true class k of the worker's confusion matrix. nu (`class_count`) and beta (`diagonal` and `off_diagonal`) are the
counts of the priors.

Expectation propagation judges each label by a confusion matrix that leaves it out. A row of a worker's matrix has a
Dirichlet distribution, whose parameters are counts of what the worker said. Every label sends a message to its worker's
matrix: how many counts it adds for each true class. Every item sends a message to the counts of the classes. E step: an
item is scored with counts from which its own messages are taken away. M step: all messages are added up again.

If the class of the row is the true one with probability w, a label that says y turns Dir(a) into the mixture
w Dir(a + e_y) + (1 - w) Dir(a), where e_y is one count for class y. The mixture is replaced by the Dirichlet
distribution with the same mean that takes no count away: it has A w / (A + 1 - w) counts more for y, where A is the sum
of a.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from ..crowd.labels import Labels
from ..families.confusion_matrices.base import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, by_true_class
from ..fitting.in_memory import result_of_steps
from ..fitting.iterations import Progress, Step, Steps
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from ..numerics.elementary import normalise, sums
from ..results.in_parts import Inferred


@dataclass(frozen=True)
class IBCC(ConfusionMethod):
    """Confusion matrices with a prior, by Bayesian inference.

    Use it where workers confuse particular classes and some of them have few labels: the fewer labels a worker has, the
    more its matrix stays like the prior, which expects workers to be mostly right.

    By default it is fitted by expectation propagation, as in the BWA paper's comparison: each label is judged by a
    matrix that leaves it out. That takes a number per label and class, so all labels must be in memory. With
    `inference="variational"` they need not be, and it is faster, but its probabilities are too close to 0 and 1.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "ibcc"
    summary: ClassVar[str] = (
        "iBCC: independent Bayesian classifier combination, the model of Dawid-Skene fitted by Bayesian inference."
    )
    paper: ClassVar[Reference] = Reference(
        "Kim and Ghahramani",
        "Bayesian Classifier Combination",
        "AISTATS 2012",
        "https://proceedings.mlr.press/v22/kim12.html",
    )

    inference: Literal["expectation_propagation", "variational"] = parameter(
        "expectation_propagation",
        'How the model is fitted. "expectation_propagation": each label is judged by a confusion matrix that leaves it '
        'out. "variational": faster and on any engine, but its probabilities are too close to 0 and 1.',
    )
    diagonal: float | None = parameter(
        None,
        "How many right labels the prior counts in every row of a confusion matrix. If None, 7/3 of the wrong labels "
        "in the row together, so that the prior expects workers to be right seven times in ten; with variational "
        "inference, 4. Both are as in released code.",
        above=0,
    )
    off_diagonal: float = parameter(
        1.0, "How many labels the prior counts of each wrong class in every row of a confusion matrix.", above=0
    )
    class_count: float = parameter(1.0, "How many items the prior counts in every class.", above=0)
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(500)

    def infer(self, labels: Any, progress: Progress | None) -> Inferred:
        """Run expectation propagation in memory, or variational inference on the engine where the labels are."""
        if self.inference == "variational":
            return super().infer(labels, progress)
        class_prior = np.full(labels.n_classes, self.class_count)
        steps = _propagate(labels, self._prior(labels.n_classes), class_prior)
        return result_of_steps(self, self.scale, labels, steps, progress)

    @property
    def calibrated_as(self) -> str:
        """Variational inference has a constant of its own: its probabilities are too close to 0 and 1."""
        return "ibcc-variational" if self.inference == "variational" else self.key

    def limits(self) -> Limits:
        """Expectation propagation keeps numbers for every label; variational inference has no limits."""
        if self.inference == "variational":
            return super().limits()
        return replace(
            super().limits(),
            in_memory="because expectation propagation keeps numbers for every label (inference=variational does not)",
            no_gold="because the messages of expectation propagation leave no class out (with inference=variational it "
            "does)",
            no_history="because expectation propagation counts nothing that could be added up (inference=variational "
            "does)",
            unexplained="expectation propagation judges each vote by a confusion matrix that leaves it out, which is "
            "not kept",
        )

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: the expected logarithms of all probabilities under their Dirichlet posteriors."""
        from scipy import special  # imported here because it is slow to import

        cells = by_true_class(counts) + self._prior(len(counts.classes))
        rows = cells.sum(axis=2, keepdims=True)
        expected = special.digamma(cells) - special.digamma(rows)
        classes = counts.classes + self.class_count
        log_prior = special.digamma(classes) - special.digamma(classes.sum())
        return Confusions(as_evidence(expected), log_prior, cells / rows, -counts.log_likelihood)

    def _prior(self, n_classes: int) -> Array:
        """(true class, said class): the counts of every worker before any label."""
        diagonal = self.diagonal
        if diagonal is None:
            seven_in_ten = 7 / 3 * max(n_classes - 1, 1) * self.off_diagonal
            diagonal = 4.0 if self.inference == "variational" else seven_in_ten
        return np.asarray(self.off_diagonal + (diagonal - self.off_diagonal) * np.eye(n_classes))


def _propagate(labels: Labels, prior: Array, class_prior: Array) -> Steps:
    """Pass messages between labels and matrices, and yield a step after each iteration, without end.

    The matrices and class probabilities that are returned as learned include all labels, while each item was scored
    without its own. `prior` (true class, said class) and `class_prior` (classes) are the counts before any label.
    """
    n_classes = labels.n_classes
    messages = np.zeros((labels.n_labels, n_classes))
    item_messages = np.zeros((labels.n_items, n_classes))
    scores = np.zeros((labels.n_items, n_classes))
    cells = np.tile(np.ascontiguousarray(prior.T), (labels.n_workers, 1, 1))
    classes = class_prior

    def one_pass(first: int, last: int, part: Labels) -> tuple[Array, Array]:
        rows = slice(labels.item_starts[first], labels.item_starts[last])
        new_cells, new_classes, changes = np.zeros_like(cells), np.zeros(n_classes), np.zeros(n_classes)
        counts = (cells, totals, classes, messages[rows], item_messages[first:last])
        _sweep_messages(part, *counts, scores[first:last], changes, new_cells, new_classes)
        largest[first] = float(changes.max())
        return new_cells, new_classes

    while True:
        largest: dict[int, float] = {}
        totals = cells.sum(axis=1)
        used = cells, classes
        new_cells, new_classes = labels.add_slices(cells.size, one_pass)
        cells, classes = new_cells + prior.T, new_classes + class_prior
        yield Step(max(largest.values()), partial(_finish, scores, *used))


def _finish(scores: Array, cells: Array, classes: Array) -> tuple[Array, Confusions]:
    """The scores, and the means of the confusion matrices and of the class probabilities."""
    matrices = (cells / cells.sum(axis=1, keepdims=True)).swapaxes(1, 2)
    learned = Confusions(as_evidence(np.log(matrices)), np.log(classes / classes.sum()), matrices, np.zeros(0))
    return scores, learned


def _sweep_messages(
    labels: Labels,
    cells: Array,
    totals: Array,
    classes: Array,
    messages: Array,
    item_messages: Array,
    scores: Array,
    changes: Array,
    new_cells: Array,
    new_classes: Array,
) -> None:
    """Score each item with counts from which its own messages are taken away (E step), then update its messages.

    `cells` (workers, said class, true class) counts what workers said, including the prior; `totals` (workers, true
    class) are the sums over the said classes; `classes` (classes) counts the items. Overwrites `messages` (labels, true
    class), what each label has added to `cells`, and `item_messages` (items, classes), what each item has added to
    `classes`. Overwrites `scores`, and raises `changes` (classes) to the largest change of a score. The new messages
    are added to `new_cells` and `new_classes` (M step).
    """
    n_classes, items = labels.n_classes, labels.item_of
    said = labels.workers * np.int64(n_classes) + labels.labels
    of_row = totals.take(labels.workers, axis=0) - messages
    of_cell = cells.reshape(-1, n_classes).take(said, axis=0) - messages
    others = classes - item_messages
    normalise(np.log(others) + sums(items, np.log(of_cell / of_row), labels.n_items), scores, changes)
    w = scores.take(items, axis=0)
    messages[:] = of_row * w / (of_row + 1 - w)
    new_cells += sums(said, messages, new_cells.size // n_classes).reshape(new_cells.shape)
    # The new counts of the classes have the mean of the posterior, and a sum such that no class loses counts.
    posterior = scores + others
    item_messages[:] = posterior / (posterior / others).min(axis=1, keepdims=True) - others
    new_classes += item_messages.sum(axis=0)
