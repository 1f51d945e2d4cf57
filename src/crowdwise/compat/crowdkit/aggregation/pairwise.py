"""crowd-kit's aggregators of pairwise comparisons, which crowdwise has not: they refuse to be made."""

from crowdwise.compat.crowdkit.aggregation.base import BasePairwiseAggregator, Refused


class _Refused(Refused, BasePairwiseAggregator):
    aggregates = "comparisons"


class BradleyTerry(_Refused):
    """Scores from comparisons; not in crowdwise, so it refuses to be made."""


class NoisyBradleyTerry(_Refused):
    """Scores from comparisons by workers of different skill; not in crowdwise, so it refuses to be made."""
