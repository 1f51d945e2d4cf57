"""Expectation propagation for workers with confusion matrices.

Every label tells its worker's matrix, and every item the balance of classes, how many counts they are worth; each is
scored without what it said itself. A mixture w Dir(a + e_y) + (1 - w) Dir(a) is replaced by the Dirichlet distribution
of the same mean that takes no count away: A w / (A + 1 - w) counts more of what was said, A the sum of a.
"""

from typing import Any

import numpy as np

from ... import kernels
from ...data.labels import Labels
from ...inference.confusion_matrices import Confusions, as_evidence
from ...inference.loop import Progress
from ...kernels import Array
from ...results.quality import accuracies
from ...results.result import Convergence, Result


def fit_messages(method: Any, labels: Labels, prior: Array, class_prior: Array, progress: Progress | None) -> Result:
    """Pass messages until the scores settle.

    The result's matrices and class balance are means over all labels; each item was scored without its own.

    Args:
        method: Whose `tolerance` and `max_iterations` to stop by.
        labels: All labels; there is a message for each of them and each class.
        prior: (true class, said class), counts of every worker before any label.
        class_prior: (classes), counts of items before any.
        progress: Called with the iteration and the change after each.
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

    for iteration in range(1, method.max_iterations + 1):
        largest: dict[int, float] = {}
        totals = cells.sum(axis=1)
        used = cells, classes
        new_cells, new_classes = labels.add_slices(cells.size, one_pass)
        cells, classes = new_cells + prior.T, new_classes + class_prior
        change = max(largest.values())
        if progress is not None:
            progress(iteration, change)
        if change <= method.tolerance:
            break
    confusion = (used[0] / used[0].sum(axis=1, keepdims=True)).swapaxes(1, 2)
    workers = Confusions(as_evidence(np.log(confusion)), np.log(used[1] / used[1].sum()), confusion, np.zeros(0))
    return Result.build(
        method,
        labels,
        scores,
        "probability",
        convergence=Convergence(iteration, change <= method.tolerance, change),
        workers=workers,
        quality=accuracies,
    )
