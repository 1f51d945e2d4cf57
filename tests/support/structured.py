"""Simulate crowds from the adjudicator's own model: workers with structured logits, and items that pull."""

from typing import Any, Final, NamedTuple

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array

# Ability, class-wise part, style and rest; and how common the types of items are, as the adjudicator orders them.
VARIANCES: Final = (0.5, 0.2, 0.3, 0.1)
SHARES: Final = (0.5, 0.2, 0.1, 0.02, 0.1, 0.06, 0.02)
STRENGTHS: Final = np.array([1.0, 2.0, 4.0])


class StructuredCrowd(NamedTuple):
    """A simulated crowd.

    Attributes:
        labels: What the workers said; items and workers are numbers.
        classes: (items), the latent classes.
        traps: (items), whether the item pulls away from its class.
        accuracy: (workers), how often the worker is right, over all classes and types of items.
        truth: The latent classes as a truth.
    """

    labels: cw.Labels
    classes: Array
    traps: Array
    accuracy: Array
    truth: dict[int, int]


def simulate(
    n_items: int,
    n_workers: int,
    n_classes: int,
    labels_per_item: int,
    seed: int,
    spread: float = 2.0,
    variances: Any = VARIANCES,
    shares: Any = SHARES,
) -> StructuredCrowd:
    """Simulate a crowd in which every item is labelled by some workers, drawn at random."""
    random = np.random.default_rng(seed)
    parts = [random.normal(0, np.sqrt(variance), (n_workers, n_classes, n_classes)) for variance in variances]
    same = np.eye(n_classes)
    logits = spread * same + same * (parts[0][:, :1, :1] + parts[1][:, :, :1]) + parts[2][:, :1] + parts[3]
    classes = random.integers(0, n_classes, n_items)
    kind = random.choice(7, n_items, p=np.array(shares) / np.sum(shares))
    away = (classes + random.integers(1, max(n_classes, 2), n_items)) % n_classes
    pulls = np.zeros((n_items, n_classes))
    pulled = np.flatnonzero(kind > 0)
    towards = np.where(kind > 3, away, classes)
    pulls[pulled, towards[pulled]] = STRENGTHS[(kind[pulled] - 1) % 3]
    item = np.repeat(np.arange(n_items), labels_per_item)
    worker = np.concatenate([random.choice(n_workers, labels_per_item, replace=False) for _ in range(n_items)])
    felt = logits[worker, classes[item]] + pulls[item]
    said = (felt + random.gumbel(size=felt.shape)).argmax(axis=1)
    return StructuredCrowd(
        cw.Labels.from_arrays(item, worker, said),
        classes,
        kind > 3,
        _accuracy(logits, np.array(shares) / np.sum(shares)),
        dict(enumerate(classes.tolist())),
    )


def _accuracy(logits: Array, shares: Array) -> Array:
    """(workers), how often each is right."""
    n_classes = logits.shape[1]
    right = np.zeros(len(logits))
    for k in range(n_classes):
        for kind, share in enumerate(shares):
            targets = [k] if kind <= 3 else [other for other in range(n_classes) if other != k]
            for towards in targets:
                felt = logits[:, k].copy()
                if kind:
                    felt[:, towards] += STRENGTHS[(kind - 1) % 3]
                weights = np.exp(felt - felt.max(axis=1, keepdims=True))
                right += share / len(targets) / n_classes * weights[:, k] / weights.sum(axis=1)
    return right
