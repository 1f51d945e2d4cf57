"""Simulated judges who state probabilities: calibrated ones, that were sharpened or flattened afterwards."""

from typing import NamedTuple

import numpy as np
import polars as pl

from crowdwise.numerics import Array


class Judges(NamedTuple):
    """What judges state of items: a row for each judge, item and class."""

    rows: pl.DataFrame
    truth: Array
    sharpness: Array


def simulate_judges(
    items: int, judges: int, classes: int, *, seed: int, share: float = 1.0, signal: float = 1.0
) -> Judges:
    """Every judge sees the true class through noise, and states its posterior to the power 1 / sharpness.

    `signal` is how well they see it, as a multiple.
    """
    random = np.random.default_rng(seed)
    truth = random.integers(classes, size=items)
    sharpness, signals = np.exp(random.normal(0, 0.6, judges)), signal * random.uniform(0.8, 2.0, judges)
    rows = []
    for judge in range(judges):
        seen = np.flatnonzero(random.random(items) < share)
        view = random.normal(size=(len(seen), classes)) + signals[judge] * np.eye(classes)[truth[seen]]
        logits = signals[judge] * view / sharpness[judge]
        stated = np.exp(logits - logits.max(axis=1, keepdims=True))
        stated /= stated.sum(axis=1, keepdims=True)
        columns = {"item": np.repeat(seen, classes), "worker": np.full(stated.size, judge)}
        rows.append(pl.DataFrame({**columns, "label": np.tile(np.arange(classes), len(seen)), "p": stated.ravel()}))
    return Judges(pl.concat(rows), truth, sharpness)
