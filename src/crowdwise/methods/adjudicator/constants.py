"""The numbers of the adjudicator's model, which its forms, their models and their kernels share."""

from typing import Final

import numpy as np

# Where workers have no matrices, items may pull towards at most this many of the classes that were named on them.
MOST_TARGETS: Final = 16
# The strengths of pulls, in logits. How common each one is, is learned.
STRENGTHS: Final = np.array([1.0, 2.0, 4.0])
# The probabilities of the kinds of types before any label: no pull; a pull towards the true class, of each strength
# ("easy"); a pull towards another class, of each strength ("trap"). And how many items these probabilities are worth.
FIRST_SHARES: Final = np.array([1 / 2] + [1 / 12] * 6)
SHARES_WORTH: Final = 10.0
# No probability of what a worker with a matrix says is smaller.
SMALLEST_CHANCE: Final = 1e-15
# The variances of the parts of a worker's logits at the start, and how many workers they are worth; then their limits.
FIRST_VARIANCE: Final = 0.1
VARIANCE_WORTH: Final = 2.0
SMALLEST_VARIANCE: Final = 1e-3
LARGEST_VARIANCE: Final = 25.0
# The precision of the centre around a multiple of the unit matrix.
CENTRE_PRECISION: Final = 1.0
# A worker who met a pull less often than this is as if it had not: the labels count as given without a pull.
LEAST_EXPOSURE: Final = 1e-3
# No logit of a worker moves by more than this in one step, and none of the centre by more than that.
LONGEST_MOVE: Final = 2.0
LONGEST_CENTRE_MOVE: Final = 1.0
# So many numbers are in one SIMD register.
LANES: Final = 4
