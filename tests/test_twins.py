"""Tests that the kernels of large crowds give what the NumPy models of small crowds give.

They also pass with NUMBA_DISABLE_JIT=1, which runs the kernels as Python; all but those that use vector registers.
"""

from typing import Any

import numba
import numpy as np
import pytest

import crowdwise as cw
from crowdwise.families.confusion_matrices import kernel as confusion_kernel
from crowdwise.families.confusion_matrices import model as confusion_model

WITHOUT_JIT = bool(numba.config.DISABLE_JIT)


def crowd(n_classes: int, seed: int = 0) -> cw.Labels:
    """A crowd that includes an item with one label, a worker with one label, and a class that nobody names."""
    random = np.random.default_rng(seed)
    items, workers = random.integers(40, size=300), random.integers(9, size=300)
    said = random.integers(max(n_classes - 1, 1), size=300)
    rows = (np.append(items, 99), np.append(workers, 99), np.append(said, 0))
    return cw.Labels.from_arrays(*rows, classes=range(n_classes), duplicates="all")


def both(model: Any, kernel: Any, labels: cw.Labels, *arguments: Any) -> None:
    """Run the model and the kernel on copies of the same arguments, and compare all arrays and what is returned."""
    swept = []
    for run in (lambda *a: model.__wrapped__(labels, *a), lambda *a: kernel(*labels.arrays, *a)):
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            returned = run(*copies)
        swept.append([returned, *(one for one in copies if isinstance(one, np.ndarray))])
    for ours, theirs in zip(*swept, strict=True):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


# Dawid-Skene and the other confusion matrices


@pytest.mark.parametrize("in_registers", [True, False])
@pytest.mark.parametrize("negligible", [np.inf, 3.0])
@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("classes", [1, 2, 5])
def test_confusion_matrices(classes: int, scored: bool, negligible: float, in_registers: bool) -> None:
    if in_registers and WITHOUT_JIT:
        pytest.skip("vector registers need compiled code")
    labels, random = crowd(classes), np.random.default_rng(1)
    log_pi = np.log(random.dirichlet(np.ones(classes), (labels.n_workers, classes)))
    log_pi[0] = -np.inf  # a label of this worker makes every class impossible
    log_pi[1, 0, -1] = -np.inf
    log_p = np.log(random.dirichlet(np.ones(classes)))
    parameters = (log_pi.reshape(-1, classes), log_p) if scored else None
    scores = random.dirichlet(np.ones(classes), labels.n_items)
    sums = np.zeros(classes), np.ones((labels.n_workers, classes, classes)), np.ones(classes), np.ones(1)
    block = tuple(range(classes)) if in_registers else None
    arguments = (block, parameters, negligible, scores, *sums)
    both(confusion_model.sweep_confusions, confusion_kernel.sweep_confusions, labels, *arguments)


def test_confusion_matrices_with_subtypes() -> None:
    labels, random = crowd(3), np.random.default_rng(2)
    states = 12
    log_pi = np.log(random.dirichlet(np.ones(states), (labels.n_workers, 3))).reshape(-1, states)
    parameters = (log_pi, np.log(random.dirichlet(np.ones(states))))
    scores = random.dirichlet(np.ones(states), labels.n_items)
    sums = np.zeros(states), np.zeros((labels.n_workers, 3, states)), np.zeros(states), np.zeros(1)
    arguments = (None, parameters, 40.0, scores, *sums)
    both(confusion_model.sweep_confusions, confusion_kernel.sweep_confusions, labels, *arguments)
