"""`AnyMethod`: what a result knows of the method that made it; `Outlook`: what a method expects of further labels."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..crowd.labels import Labels
from ..numerics import Array
from .contributions import Contributions


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a method expects of further labels.

    Every item is in one of a few states, which say how workers label it and what its answer is; often, the classes.

    Attributes:
        states: Takes the first item and the item after the last one. Returns (items, states), how probable each state
            of these items is, given the labels so far.
        said: (workers, states, classes), how probable it is that each of the asked workers says a class of an item in
            this state.
        answers: (states, numbers), what the scores follow from if an item is in this state, such as how probable each
            class is as its answer.
        read: Turns (items, numbers), the means of the answers over the states, and (items, classes), the numbers of
            votes, into scores (items, classes) of the method.
        votes: (items, classes), how many votes each item has so far.
        ends: (states, classes), the scores of an item in this state after unlimited labels; None if workers are
            expected to err independently, so that labels make up for anything.
    """

    states: Callable[[int, int], Array]
    said: Array
    answers: Array
    read: Callable[[Array, Array], Array]
    votes: Array
    ends: Array | None = None


class AnyMethod(ABC):
    """What a result knows of the method that made it; `Method`, which stands above results, has the rest.

    Which method it is, and so what its parameters are, `isinstance(result.method, cw.BWA)` says.
    """

    # The method's name on the command line; None if it is not in the table of methods because another method runs it.
    key: ClassVar[str | None] = None
    # What the method does, in one sentence that begins with its name.
    summary: ClassVar[str]
    # Whether the quality of a worker is an estimate of its accuracy. If False, it is its agreement with the answers.
    measures_accuracy: ClassVar[bool] = True

    # What the difficulty of an item is, as a phrase; empty if the method has no difficulties.
    difficulty_is: ClassVar[str] = ""

    @property
    def calibrated_as(self) -> str:
        """Which constant of results/calibration.toml turns the scores into confidence; by default, that of the key.

        A variant whose scores are much sharper, or mean something else, has a constant of its own.
        """
        return self.key or type(self).__name__

    @abstractmethod
    def require(self, *, contributions: bool = False) -> None:
        """Raise `CallError` if the method cannot say what each vote adds to the scores."""

    def contributions(self, one: Labels, item: int, workers: Any) -> Contributions:
        """What each vote on one item, whose labels alone `one` has, adds to the score of every class.

        Only methods whose scores are sums over the votes have this; for the others, `Limits.unexplained` says why not.
        """
        raise NotImplementedError

    def outlook(self, labels: Labels, workers: Any, asked: Array) -> Outlook | None:
        """What the method expects of further labels; None if its probabilities and confusion matrices say all.

        Items and workers are in the order of their numbers; `asked` has those of the workers who may be asked.
        """
        return None
