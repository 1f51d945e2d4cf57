r"""Expectation propagation for iBCC: each label is judged by a confusion matrix that leaves it out.

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
from ...numerics.softmax import normalise
from ...numerics.sums import sums


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
        counts = (cells, totals, classes, messages[rows], item_messages[first:last])
        sweep_messages(part, *counts, scores[first:last], changes, new_cells, new_classes)
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


def sweep_messages(
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

    Args:
        labels: The labels of these items.
        cells: (workers, said class, true class), the counts of what workers said, including the prior.
        totals: (workers, true class), their sums over the said classes.
        classes: (classes), the counts of the items' classes.
        messages: (labels, true class), what each label has added to `cells`; overwritten.
        item_messages: (items, classes), what each item has added to `classes`; overwritten.
        scores: (items, classes), overwritten.
        changes: (classes), raised to the largest change of a score.
        new_cells: The new messages are added to it (M step); as `cells`.
        new_classes: The new messages of items are added to it; as `classes`.
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
