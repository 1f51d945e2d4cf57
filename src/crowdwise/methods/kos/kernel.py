"""KOS: pass messages from workers to items, and from items to workers.

There is one message in each direction for every label. A label counts as 1 if it names class 1, and as -1 if it names
class 0.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import compiled

_U = np.uint64


@compiled
def pass_messages(
    item_starts: Array, workers: Array, labels: Array, from_workers: Array, from_items: Array, worker_sums: Array
) -> None:
    """Overwrite `from_items` (labels), the messages to workers, given `from_workers` (labels), the messages to items.

    The message along a label is the sum over the item's other labels of the label, 1 or -1, times its message. Adds to
    `worker_sums` (workers) the sum over the worker's labels of the label, 1 or -1, times its new message.
    """
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        total = 0.0
        for e in range(low, high):
            total += from_workers[e] * (2.0 * labels[e] - 1.0)
        for e in range(low, high):
            sign = 2.0 * labels[e] - 1.0
            from_items[e] = total - sign * from_workers[e]
            worker_sums[_U(workers[e])] += sign * from_items[e]


@compiled
def reply_messages(
    workers: Array, labels: Array, from_items: Array, worker_sums: Array, scale: float, from_workers: Array
) -> float:
    """Overwrite `from_workers` (labels), the messages to items, and return the largest change of a message.

    The message along a label is the sum over the worker's other labels of the label, 1 or -1, times its message in
    `from_items` (labels), divided by `scale`. `worker_sums` (workers) is what `pass_messages` made.
    """
    largest = 0.0
    for e in range(workers.size):
        new = (worker_sums[_U(workers[e])] - (2.0 * labels[e] - 1.0) * from_items[e]) / scale
        largest = max(largest, abs(new - from_workers[e]))
        from_workers[e] = new
    return largest
