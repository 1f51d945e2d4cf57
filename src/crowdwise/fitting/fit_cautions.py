"""`cautions_of_fit`: what a fit itself knows that its user should know."""

from typing import Any

from ..caution import Caution
from ..data.crowd import Crowd


def cautions_of_fit(result: Any, labels: Crowd) -> list[Caution]:
    """Return that iterations ran out, that there is one class, and what the method found out about workers."""
    found: list[Caution] = []
    if not result.convergence.converged:
        found.append(
            Caution(
                "iterations",
                f"{type(result.method).__name__} {result.convergence}.",
                "Raise max_iterations (--set max_iterations=...) before relying on the answers.",
            )
        )
    if labels.numeric:
        return found
    if len(result.names.classes) == 1:
        found.append(
            Caution(
                "one class",
                f"All labels name one class, {result.names.classes[0]!r}, so confidence says nothing.",
                "If there are others, name all of them: classes= (--classes).",
            )
        )
    return [*found, *result.method.cautions(result, labels)]
