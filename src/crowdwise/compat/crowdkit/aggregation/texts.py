"""crowd-kit's aggregators of texts, which crowdwise has not: they refuse to be made."""

from crowdwise.compat.crowdkit.aggregation.base import BaseTextsAggregator, Refused


class _Refused(Refused, BaseTextsAggregator):
    aggregates = "texts"


class ROVER(_Refused):
    """Voting over aligned words; not in crowdwise, so it refuses to be made."""


class TextHRRASA(_Refused):
    """HRRASA over embeddings of texts; not in crowdwise, so it refuses to be made."""


class TextRASA(_Refused):
    """RASA over embeddings of texts; not in crowdwise, so it refuses to be made."""
