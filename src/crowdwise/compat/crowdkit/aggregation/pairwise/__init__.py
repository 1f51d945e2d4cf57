"""crowd-kit's aggregators of comparisons of two objects."""

from crowdwise.compat.crowdkit.aggregation.pairwise.bradley_terry import BradleyTerry
from crowdwise.compat.crowdkit.aggregation.pairwise.noisy_bt import NoisyBradleyTerry

__all__ = ["BradleyTerry", "NoisyBradleyTerry"]
