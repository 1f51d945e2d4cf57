"""The base classes of crowd-kit's aggregators, and `Refused` for those that crowdwise has not."""

from typing import Any, ClassVar

from crowdwise.compat.crowdkit.estimators import Estimator
from crowdwise.errors import CallError


class _Aggregator(Estimator):
    """What the base classes have in common: a subclass gives both methods."""

    def fit(self, data: Any) -> Any:
        """Learn from the answers of workers, and return the aggregator itself."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """Learn from the answers of workers, and return what was inferred."""
        raise NotImplementedError


class BaseClassificationAggregator(_Aggregator):
    """The base of aggregators of labels: from columns task, worker and label to `labels_`, a Series by task."""


class BaseImageSegmentationAggregator(_Aggregator):
    """The base of aggregators of segmentations."""


class BaseEmbeddingsAggregator(_Aggregator):
    """The base of aggregators of embeddings."""


class BaseTextsAggregator(_Aggregator):
    """The base of aggregators of texts."""


class BasePairwiseAggregator(_Aggregator):
    """The base of aggregators of comparisons."""


class Refused:
    """The base of classes that crowd-kit has and crowdwise has not: they can be imported, and refuse to be made."""

    aggregates: ClassVar[str]

    def __init__(self, *args: Any, **options: Any) -> None:
        raise CallError(
            f"crowdwise has no {type(self).__name__}: it aggregates labels, not {self.aggregates}; "
            "use crowd-kit itself for that."
        )
