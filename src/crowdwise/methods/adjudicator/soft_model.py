"""What votes with a probability add to the E step and the M step; the formulas are at the end of those of model.py."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.sharpness import FIRST_ACCURACY
from ...numerics import Array
from ...numerics.elementary import sums

if TYPE_CHECKING:  # model.py imports this module
    from .model import Types


class SoftSaid(NamedTuple):
    """What votes with a probability say: by class, m (votes, latent class) and v P (votes, latent class, class).

    And (votes, types), log m + log(1 + (e^t - 1) h), and 1 + (e^t - 1) h.
    """

    m: Array
    parts: Array
    log_said: Array
    pulled: Array


def soft_said(labels: Labels, types: "Types", chance: Array) -> SoftSaid:
    """What the votes of these items say, given P (workers, latent class, class)."""
    parts = labels.chances[:, None, :] * chance[labels.workers]
    m = np.maximum(parts.sum(axis=2), np.finfo(float).tiny)
    pulled = 1 + np.expm1(types.strength) * parts[:, types.true, types.towards] / m[:, types.true]
    return SoftSaid(m, parts, np.log(m)[:, types.true] + np.log(pulled), pulled)


def first_soft_counts(labels: Labels, weights: Array, q: Array) -> Array:
    """The counts (workers, class, latent class) n before anything is known of the workers, given q (items, classes)."""
    n_workers, n_classes = labels.n_workers, labels.n_classes
    chance = np.full((n_classes, n_classes), (1 - FIRST_ACCURACY) / max(n_classes - 1, 1))
    np.fill_diagonal(chance, FIRST_ACCURACY)
    met = weights[:, None] * q[labels.item_of] / (labels.chances @ chance)
    n = met[:, None, :] * labels.chances[:, :, None] * chance
    return sums(labels.workers, n.reshape(len(n), -1), n_workers).reshape(n_workers, n_classes, n_classes)


def soft_counts(labels: Labels, weights: Array, types: "Types", chance: Array, r: Array) -> Array:
    """M step: (workers, class, latent class) n of votes with a probability, given r (items, types)."""
    said = soft_said(labels, types, chance)
    met = weights[:, None] * r[labels.item_of] / said.pulled
    n_classes = labels.n_classes
    of_class = types.true[:, None] == np.arange(n_classes)  # (types, latent class)
    gain = np.expm1(types.strength)[:, None] * (types.towards[:, None] == np.arange(n_classes))
    towards = np.einsum("es,sk,sa->eka", met, of_class, gain, optimize=True)
    n = said.parts / said.m[:, :, None] * ((met @ of_class)[:, :, None] + towards)
    found = sums(labels.workers, n.reshape(len(n), -1), len(chance)).reshape(-1, n_classes, n_classes)
    return found.swapaxes(1, 2)
