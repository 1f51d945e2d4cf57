"""Expectation propagation for iBCC: each label is judged by a confusion matrix that leaves it out.

A row of a worker's confusion matrix has a Dirichlet distribution, whose parameters are counts of what the worker said.
Every label sends a message to its worker's matrix: how many counts it adds for each true class. Every item sends a
message to the counts of the classes. An item is scored with counts from which its own messages are taken away.

If the class of the row is the true one with probability w, a label that says y turns Dir(a) into the mixture
w Dir(a + e_y) + (1 - w) Dir(a), where e_y is one count for class y. The mixture is replaced by the Dirichlet
distribution with the same mean that takes no count away: it has A w / (A + 1 - w) counts more for y, where A is the sum
of a.
"""

from functools import partial

import numpy as np

from ...data.labels import Labels
from ...families.confusion_matrices.base import Confusions, as_evidence
from ...fitting.iterations import Step, Steps
from ...numerics import Array
from . import kernel


def propagate(labels: Labels, prior: Array, class_prior: Array) -> Steps:
    """Pass messages between labels and matrices, and yield a step after each iteration, without end.

    The matrices and class probabilities that are returned as learned include all labels, while each item was scored
    without its own.

    Args:
        labels: All labels; there is a message for each label and each class.
        prior: (true class, said class), the counts of every worker before any label.
        class_prior: (classes), the counts of the classes before any label.
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
        kernel.sweep_messages(
            part.item_starts,
            part.workers,
            part.labels,
            cells,
            totals,
            classes,
            messages[rows],
            item_messages[first:last],
            scores[first:last],
            changes,
            new_cells,
            new_classes,
        )
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
