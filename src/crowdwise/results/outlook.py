"""`Outlook`: what a method expects of labels that nobody has given yet."""

from collections.abc import Callable
from dataclasses import dataclass

from ..kernels import Array


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a method expects of further labels.

    Every item is in one of a few states. A state says what workers say of the item and what its answer is. In the
    simplest case the states are the classes.

    Attributes:
        weigh: Takes the first item and the item after the last one. Returns (items, states), how probable each state
            of these items is, given the labels so far.
        said: (workers, states, classes), how probable it is that each of the asked workers says a class of an item in
            this state.
        answers: (states, classes), how probable it is that an item in this state has each class as its answer.
        read: Turns (items, classes), the means of the answers over the states, into scores of the method.
        knows_shared_errors: Whether there are states in which workers err together. If not, any number of labels is
            expected to make up for anything.
    """

    weigh: Callable[[int, int], Array]
    said: Array
    answers: Array
    read: Callable[[Array], Array]
    knows_shared_errors: bool = False
