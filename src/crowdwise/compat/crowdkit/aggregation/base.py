"""The base classes of crowd-kit's aggregators, with what scikit-learn asks of an estimator."""

import sys
from inspect import Parameter, signature
from typing import Any, TypeVar

from crowdwise.errors import CallError, did_you_mean

Self = TypeVar("Self", bound="Estimator")


class NotFittedError(CallError, AttributeError):
    """An aggregator was asked for something that it learns by `fit`."""


class Estimator:
    """An object whose parameters are the arguments of its constructor, under the same names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Args:
            deep: Whether to add those of parameters that have parameters themselves, as "outer__inner".
        """
        kinds = Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
        names = [name for name, parameter in signature(type(self)).parameters.items() if parameter.kind not in kinds]
        params = {name: getattr(self, name) for name in names}
        for name, value in list(params.items()):
            if deep and isinstance(value, Estimator):
                params |= {f"{name}__{inner}": nested for inner, nested in value.get_params().items()}
        return params

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters by name, "outer__inner" for the parameter of a parameter, and return the object itself."""
        known = self.get_params(deep=False)
        for name, value in params.items():
            outer, nested, inner = name.partition("__")
            if outer not in known or (nested and not isinstance(known[outer], Estimator)):
                hint = did_you_mean(name, list(known))
                raise CallError(f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}.{hint}")
            if nested:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # scikit-learn itself calls this

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def require_fitted(self, attribute: str) -> None:
        """Raise `NotFittedError` if an attribute that `fit` makes is not there; scikit-learn's too, if that is used."""
        if hasattr(self, attribute):
            return
        message = f"This {type(self).__name__} is not fitted yet: call fit first."
        theirs = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", None)
        if theirs is None:
            raise NotFittedError(message)
        raise type("NotFittedError", (NotFittedError, theirs), {})(message)


class _Aggregator(Estimator):
    """What the base classes have in common."""

    def fit(self, data: Any) -> Any:
        """Learn from the answers of workers, and return the aggregator itself."""
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """Learn from the answers of workers, and return what was inferred."""
        raise NotImplementedError


class BaseClassificationAggregator(_Aggregator):
    """The base of aggregators of labels: from columns task, worker and label to `labels_`, a Series by task."""

    def fit_predict(self, data: Any) -> Any:
        """Fit, and return the label by task."""
        return self.fit(data).labels_


class BaseImageSegmentationAggregator(_Aggregator):
    """The base of aggregators of segmentations."""


class BaseEmbeddingsAggregator(_Aggregator):
    """The base of aggregators of embeddings."""


class BaseTextsAggregator(_Aggregator):
    """The base of aggregators of texts."""


class BasePairwiseAggregator(_Aggregator):
    """The base of aggregators of comparisons: from columns left, right and label to `scores_`, a Series by object."""

    def fit_predict(self, data: Any) -> Any:
        """Fit, and return the score by object."""
        return self.fit(data).scores_
