"""Karger, Oh and Shah's message passing between items and workers, and their signs for two classes."""

import numpy as np

from .compilation import Array, compiled

_U = np.uint64


@compiled
def pass_messages(
    item_starts: Array, workers: Array, labels: Array, reliability: Array, task: Array, worker_sums: Array
) -> None:
    """From what workers told items, `reliability` by label, to what items tell workers, `task` by label.

    Either is the sum of all messages but the one that came along the same label. Adds to `worker_sums` what each
    worker hears in total.
    """
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        total = 0.0
        for e in range(low, high):
            total += reliability[e] * (2.0 * labels[e] - 1.0)
        for e in range(low, high):
            sign = 2.0 * labels[e] - 1.0
            task[e] = total - sign * reliability[e]
            worker_sums[_U(workers[e])] += sign * task[e]


@compiled
def reply_messages(
    workers: Array, labels: Array, task: Array, worker_sums: Array, scale: float, reliability: Array
) -> float:
    """What workers tell items next, divided by `scale`; returns the largest change of it."""
    largest = 0.0
    for e in range(workers.size):
        new = (worker_sums[_U(workers[e])] - (2.0 * labels[e] - 1.0) * task[e]) / scale
        largest = max(largest, abs(new - reliability[e]))
        reliability[e] = new
    return largest
