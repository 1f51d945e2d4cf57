"""`Maker`: what a result knows of the method that made it."""

from typing import Any, Protocol

from ..data.labels import Labels
from ..numerics import Array
from .contributions import Contributions
from .outlook import Outlook


class Maker(Protocol):
    """The method that made a result, with all its parameters; `Method` describes the members in more detail.

    Methods stand above results, so that a result cannot name their class. Which method it is, and so what its
    parameters are, `isinstance(result.method, cw.BWA)` says.
    """

    @property
    def key(self) -> str | None:
        """The method's name on the command line."""
        ...

    @property
    def summary(self) -> str:
        """What the method does, in one sentence."""
        ...

    @property
    def measures_accuracy(self) -> bool:
        """Whether the quality of a worker is an estimate of its accuracy, and not its agreement with the answers."""
        ...

    @property
    def calibrated_as(self) -> str:
        """Which constant of results/calibration.toml turns the scores into confidence."""
        ...

    def limits(self) -> Any:
        """What the method cannot do, and why: a `Limits`."""
        ...

    def require(self, *, contributions: bool) -> None:
        """Raise `CallError` if the method cannot say what each vote adds to the scores."""
        ...

    def contributions(self, one: Labels, item: int, workers: Any) -> Contributions:
        """What each vote on one item adds to the score of every class."""
        ...

    def outlook(self, labels: Labels, workers: Any, asked: Array) -> Outlook | None:
        """What the method expects of further labels."""
        ...
