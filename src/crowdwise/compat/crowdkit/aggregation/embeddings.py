"""crowd-kit's aggregators of embeddings, which crowdwise has not: they refuse to be made."""

from crowdwise.compat.crowdkit.aggregation.base import BaseEmbeddingsAggregator, Refused


class _Refused(Refused, BaseEmbeddingsAggregator):
    aggregates = "embeddings"


class HRRASA(_Refused):
    """Reliability and representation aware aggregation; not in crowdwise, so it refuses to be made."""


class RASA(_Refused):
    """Reliability aware aggregation; not in crowdwise, so it refuses to be made."""


class ClosestToAverage(_Refused):
    """The output whose embedding is closest to the average; not in crowdwise, so it refuses to be made."""
