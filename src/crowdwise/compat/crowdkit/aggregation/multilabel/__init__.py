"""crowd-kit's aggregators of answers that are lists of labels."""

from crowdwise.compat.crowdkit.aggregation.multilabel.binary_relevance import BinaryRelevance

__all__ = ["BinaryRelevance"]
