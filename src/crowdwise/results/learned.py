"""`Learned`: what a method learned besides the scores, and what anybody may ask of it.

Methods differ in what they know of workers. A report must not guess at attribute names: it asks the members declared
here, and a method that has no such thing answers None.
"""

from dataclasses import dataclass

import numpy as np

from ..kernels import Array


@dataclass(frozen=True, eq=False)
class Trust:
    """How much a method trusts every worker.

    Attributes:
        value: (workers), the larger, the more a worker is trusted; in the method's own units.
        meaning: What the number is, in a few words.
    """

    value: Array
    meaning: str


class Learned:
    """What a method learned of the workers, the classes and the items: the base of every method's own parameters."""

    @property
    def class_prior(self) -> Array | None:
        """(classes), how common each class is expected to be before any vote, adding up to one; None if unknown."""
        return None

    @property
    def confusion(self) -> Array | None:
        """(workers, true class, said class), probabilities; None where workers have no confusion matrices."""
        return None

    @property
    def difficulty(self) -> Array | None:
        """(items), the larger, the harder; None where the method does not tell items apart."""
        return None

    def trust(self) -> Trust | None:
        """One number per worker that says how much the method trusts it; None where it has none."""
        return None


def chances(logarithms: Array) -> Array:
    """Probabilities that add up to one, from their logarithms up to a constant."""
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum())


def share_right(matrices: Array) -> Trust:
    """The trust in workers with confusion matrices: how often each is right, every class counting alike."""
    return Trust(np.diagonal(matrices, axis1=1, axis2=2).mean(axis=1), "Share right, mean over classes")
