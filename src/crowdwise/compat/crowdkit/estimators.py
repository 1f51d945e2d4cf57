"""`Estimator`: what scikit-learn asks of an aggregator: `get_params`, `set_params`, an error if not fitted."""

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
        names = [one.name for one in signature(type(self)).parameters.values() if one.kind not in kinds]
        found = {name: getattr(self, name) for name in names}
        for name, value in list(found.items()):
            if deep and isinstance(value, Estimator):
                found |= {f"{name}__{inner}": one for inner, one in value.get_params().items()}
        return found

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
