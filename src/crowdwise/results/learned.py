"""`Learned`: what a method learned about workers, classes and items, in addition to the scores.

Methods learn different things about the workers. The members declared here are the same for all methods, so that a
report does not depend on the method. They are None for a method that does not learn them.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_type_hints

import numpy as np

from ..caution import Caution, listed
from ..crowd.names import Names
from ..crowd.numbering import Numbering
from ..numerics import Array

# An array that has a row for every item, or one for every worker. A subclass of `Learned` declares its arrays as such,
# because items and workers have other numbers while a method works than in its result; see crowd/numbering.py.
PerItem: TypeAlias = Annotated[Array, "item_numbers"]
PerWorker: TypeAlias = Annotated[Array, "worker_numbers"]
# Among what a method counts: an array about all workers together that is worth keeping for later labels.
Shared: TypeAlias = Annotated[Array, "shared"]

Self = TypeVar("Self", bound="Learned")


class ClassAxes(tuple[int, ...]):
    """Which axes of an array that is worth keeping are the classes; later labels may name more classes.

    A declaration is `Annotated[PerWorker, ClassAxes((1, 2))]`. It is about the array in `Statistics`.
    """

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Trust:
    """How much a method trusts every worker.

    Attributes:
        value: (workers), larger for a worker who is trusted more. The number means something only beside others of
            the same method.
        meaning: The name of this number, for the axis of a chart.
    """

    value: Array
    meaning: str


class Learned:
    """What a method learned about workers, classes and items; methods have subclasses with their own parameters."""

    @property
    def class_prior(self) -> Array | None:
        """(classes), the probability of each class before any vote; None if the method has no such probabilities."""
        return None

    @property
    def confusion(self) -> Array | None:
        """(workers, true class, said class), probabilities; None if the method has no confusion matrices."""
        return None

    @property
    def difficulty(self) -> Array | None:
        """(items), larger for harder items; None if the method has no difficulties."""
        return None

    @property
    def counted_as(self) -> Array | None:
        """(workers), how many workers each one counts as: less than 1 if others say the same; None if unknown."""
        return None

    @property
    def leaders(self) -> Array | None:
        """(workers), the code of the worker whom each one follows, whose votes count instead; -1 for none."""
        return None

    @property
    def followers(self) -> Array:
        """(pairs, 4), who copies whom, as `PriorKnowledge.followers`; no pairs if the method does not look."""
        return np.zeros((0, 4))

    def cautions(self, names: Names) -> list[Caution]:
        """Return what the method found out about workers that its user should know, given their names."""
        counted = self.counted_as
        if counted is None or not ((counted > 0) & (counted < 1)).any():
            return []
        less = tuple(names.workers.filter((counted > 0) & (counted < 1)))
        if names.sample_of is not None:
            sentence = f"Samples of one worker count together as one, because they share its errors: {listed(less)}."
            return [Caution("copies", sentence, workers=less)]
        sentence = f"These workers say the same as others, so they count for less than one each: {listed(less)}."
        advice = "Find out whether they copy: `crowdwise blocks labels.csv` (cw.blocks) says who agrees with whom."
        return [Caution("copies", sentence, advice, workers=less)]

    def trust(self) -> Trust | None:
        """Return how much the method trusts every worker; None if it has no such number."""
        return None

    def reordered(self: Self, numbering: Numbering) -> Self:
        """Return a copy with items and workers in the order of their first appearance, not of their numbers."""
        changed: dict[str, Any] = {}
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            for places in getattr(hint, "__metadata__", ()):
                changed[name] = getattr(self, name)[getattr(numbering, places)]
        return replace(self, **changed) if changed else self  # type: ignore[type-var]  # subclasses are dataclasses


if TYPE_CHECKING:

    class AnyLearned(Learned):
        """What some method learned: besides what all methods have, it may have attributes of its own."""

        def __getattr__(self, name: str) -> Any: ...

else:
    AnyLearned = Learned


def share_right(matrices: Array) -> Trust:
    """Return the trust in workers with confusion matrices: how often each is right, averaged over the classes."""
    return Trust(np.diagonal(matrices, axis1=1, axis2=2).mean(axis=1), "Share right, mean over classes")
