"""`pad` and `unpad`: matrices of classes as rows of whole SIMD registers, which kernels read.

In arrays of the kernels, (pairs) is one axis for the latent class and another class, in this order. It ends in zeros,
up to a whole number of registers.
"""

from ...numerics import Array, elementary
from .constants import LANES


def padded(n_classes: int) -> int:
    """How long the axis (pairs) is."""
    return -(-(n_classes**2) // LANES) * LANES


def pad(matrices: Array) -> Array:
    """Matrices of classes (..., class, class) as (..., pairs)."""
    n_classes = matrices.shape[-1]
    table = elementary.zeros(*matrices.shape[:-2], padded(n_classes))
    table[..., : n_classes**2] = matrices.reshape(*matrices.shape[:-2], n_classes**2)
    return table


def unpad(table: Array, n_classes: int) -> Array:
    """The inverse of `pad`; a view of the same numbers."""
    return table[..., : n_classes**2].reshape(*table.shape[:-1], n_classes, n_classes)
