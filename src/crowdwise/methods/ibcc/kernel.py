"""iBCC by expectation propagation: score the items, and update the message of every label."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating
from ...numerics.softmax_kernel import normalise

_U = np.uint64


@allocating
def sweep_messages(
    item_starts: Array,
    workers: Array,
    labels: Array,
    cells: Array,
    rows: Array,
    classes: Array,
    messages: Array,
    item_messages: Array,
    scores: Array,
    changes: Array,
    new_cells: Array,
    new_classes: Array,
) -> None:
    """Score each item with counts from which its own messages are taken away, then update its messages.

    `cells` (workers, said class, true class) are the counts of what workers said, including the prior; `rows` (workers,
    true class) are their sums over the said classes. `classes` (classes) are the counts of the items' classes.
    `messages` (labels, true class) are what each label has added to `cells`, and `item_messages` (items, classes) what
    each item has added to `classes`.

    Overwrites `messages`, `item_messages` and `scores` (items, classes). Raises `changes` (classes) to the largest
    change of a score. Adds the new messages to `new_cells` and `new_classes`, which have the shapes of `cells` and
    `classes`.
    """
    n_classes = scores.shape[1]
    support, others = np.empty(n_classes), np.empty(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        total = 0.0
        for k in range(n_classes):
            others[k] = classes[k] - item_messages[i, k]
            total += others[k]
            support[k] = np.log(others[k])
        for e in range(low, high):
            j, y = _U(workers[e]), _U(labels[e])
            for k in range(n_classes):
                support[k] += np.log((cells[j, y, k] - messages[e, k]) / (rows[j, k] - messages[e, k]))
        normalise(support, scores, i, changes)
        for e in range(low, high):
            j, y = _U(workers[e]), _U(labels[e])
            for k in range(n_classes):
                row = rows[j, k] - messages[e, k]
                messages[e, k] = row * scores[i, k] / (row + 1.0 - scores[i, k])
                new_cells[j, y, k] += messages[e, k]
        # The new counts of the classes have the mean of the posterior, and a sum such that no class loses counts.
        size = np.inf
        for k in range(n_classes):
            size = min(size, (scores[i, k] + others[k]) / others[k])
        for k in range(n_classes):
            item_messages[i, k] = (scores[i, k] + others[k]) / size - others[k]
            new_classes[k] += item_messages[i, k]
