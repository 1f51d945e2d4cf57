"""`Outlook`: what a method expects of labels that nobody has given yet."""

from collections.abc import Callable
from dataclasses import dataclass

from ..numerics import Array


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
        answers: (states, numbers), what the scores follow from if an item is in this state, such as how probable each
            class is as its answer.
        read: Turns (items, numbers), the means of the answers over the states, and (items, classes), the numbers of
            votes, into scores (items, classes) of the method.
        votes: (items, classes), how many votes each item has so far.
        ends: (states, classes), the scores of an item in this state after labels without end; None if workers are
            expected to err independently, so that labels make up for anything.
    """

    weigh: Callable[[int, int], Array]
    said: Array
    answers: Array
    read: Callable[[Array, Array], Array]
    votes: Array
    ends: Array | None = None
