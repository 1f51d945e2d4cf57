"""crowd-kit's aggregators of image segmentations, which crowdwise has not: they refuse to be made."""

from crowdwise.compat.crowdkit.aggregation.base import BaseImageSegmentationAggregator, Refused


class _Refused(Refused, BaseImageSegmentationAggregator):
    aggregates = "segmentations"


class SegmentationEM(_Refused):
    """Expectation-maximisation over pixels; not in crowdwise, so it refuses to be made."""


class SegmentationMajorityVote(_Refused):
    """Majority vote over pixels; not in crowdwise, so it refuses to be made."""


class SegmentationRASA(_Refused):
    """RASA over segmentations; not in crowdwise, so it refuses to be made."""
