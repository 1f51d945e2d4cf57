"""Expectation propagation for workers with confusion matrices.

Every label tells its worker's matrix, and every item the balance of classes, how many counts they are worth; each is
scored without what it said itself. A mixture w Dir(a + e_y) + (1 - w) Dir(a) is replaced by the Dirichlet distribution
of the same mean that takes no count away: A w / (A + 1 - w) counts more of what was said, A the sum of a.
"""

from functools import partial

import numpy as np

from ... import kernels
from ...data.labels import Labels
from ...inference.confusion_matrices import Confusions, as_evidence
from ...inference.in_memory import Step, Steps
from ...kernels import Array


def propagate(labels: Labels, prior: Array, class_prior: Array) -> Steps:
    """Pass messages between labels and matrices, for ever.

    The matrices and class balance that are learned are means over all labels; each item was scored without its own.

    Args:
        labels: All labels; there is a message for each of them and each class.
        prior: (true class, said class), counts of every worker before any label.
        class_prior: (classes), counts of items before any.
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
        kernels.sweep_messages(
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
    """The scores, and the matrices and class balance as means."""
    matrices = (cells / cells.sum(axis=1, keepdims=True)).swapaxes(1, 2)
    learned = Confusions(as_evidence(np.log(matrices)), np.log(classes / classes.sum()), matrices, np.zeros(0))
    return scores, learned
