"""What groups of methods share: a model of the workers, and the loops over labels that go with it."""

from typing import Final

# The most classes for which workers (and items) get a whole matrix of logits: classes times classes numbers each.
MATRIX_CLASSES: Final = 16
