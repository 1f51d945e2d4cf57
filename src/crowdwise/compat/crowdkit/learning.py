"""crowd-kit's neural networks that learn from workers' labels, which crowdwise has not: they refuse to be made."""

from crowdwise.compat.crowdkit.aggregation.base import Refused


class _Refused(Refused):
    aggregates = "what neural networks are trained on"


class CoNAL(_Refused):
    """Common noise adaptation layers; not in crowdwise, so it refuses to be made."""


class CrowdLayer(_Refused):
    """A layer with a confusion matrix for every worker; not in crowdwise, so it refuses to be made."""


class TextSummarization(_Refused):
    """Texts aggregated by a language model; not in crowdwise, so it refuses to be made."""
