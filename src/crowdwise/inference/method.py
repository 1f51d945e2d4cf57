"""`Method`: the base of all methods, with `fit` and what a method says about itself.

A method is a frozen dataclass of parameters with a function `fit`. Its class has a key, which names it on the command
line, a summary of what it does in one sentence, and the paper that it is from. The table of methods, the public names,
the report's last section and the docs are made from these.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Final, TypeAlias, get_args, overload

import numpy as np

from ..data.crowd import Crowd, Place, require_crowd, require_single_votes
from ..data.labels import Labels
from ..errors import CallError, DataError
from ..results.contributions import Contributions
from ..results.finite import out_of_range
from ..results.inferred import Inferred
from ..results.result import Result
from . import parameters

# Called with the number of the iteration and the change in it, after each iteration.
Progress: TypeAlias = Callable[[int, float], None]

_ALTERNATIVES: Final = "use engine memory, or a method that sweeps over the items, such as bwa, one_coin or ds."


@dataclass(frozen=True)
class Reference:
    """The paper, or other source, that a method is from."""

    authors: str
    title: str
    published: str
    address: str

    def __str__(self) -> str:
        authors = f"{self.authors}, " if self.authors else ""
        return f'{authors}"{self.title}", {self.published}, {self.address}'


class Method(ABC):
    """The base of all methods. A subclass is a frozen dataclass whose fields are declared by `parameter`."""

    # The method's name on the command line; None if it is not in the table of methods because another method runs it.
    key: ClassVar[str | None] = None
    # What the method does, in one sentence that begins with its name.
    summary: ClassVar[str]
    paper: ClassVar[Reference]
    # The largest number of classes that the method can be used with; None if there is no limit.
    most_classes: ClassVar[int | None] = None
    # Whether the method adds up fractions. The last bits of such sums depend on the order of their terms; sums of whole
    # numbers do not, so that a method with no other need not be given items and workers in an order of their own.
    adds_fractions: ClassVar[bool] = True

    def __init_subclass__(cls, **more: Any) -> None:
        """Add the meanings of the parameters to the docstring of the class, so that `help` shows them."""
        super().__init_subclass__(**more)
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Field)]
        meanings = [f"        {name}: {parameters.meaning_of(value)}" for name, value in declared]
        if cls.__doc__ and meanings:
            cls.__doc__ = "\n".join([cls.__doc__.rstrip(), "", "    Args:", *meanings, "    "])

    def __post_init__(self) -> None:
        parameters.check(self)

    @overload
    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result: ...

    @overload
    def fit(self, labels: Crowd, *, progress: Progress | None = None) -> Inferred: ...

    def fit(self, labels: Crowd, *, progress: Progress | None = None) -> Inferred:
        """Infer the true class of every item from the labels.

        Args:
            labels: What the workers said: in memory, on disk or in a cluster.
            progress: Called after each iteration with its number and the largest change in it.

        Returns:
            A `Result` for labels in memory; for labels on disk or in a cluster, an object with the same tables.

        Raises:
            CallError: The method cannot run where the labels are, or its parameters lead out of the range of numbers.
            DataError: The method cannot be used with such labels, or would need too much memory for them.
        """
        require_crowd(labels)
        self.require_place(labels.place)
        self.check(labels)
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                if isinstance(labels, Labels) and self.adds_fractions and not labels.is_numbered:
                    result: Result = self.infer(labels.numbered, progress)
                    return result.arranged(labels.names, labels.numbering)
                found: Inferred = self.infer(labels, progress)
                return found
        except ArithmeticError as problem:
            raise out_of_range(self, "cannot be computed") from problem

    @abstractmethod
    def infer(self, labels: Any, progress: Progress | None) -> Any:
        """Infer the true class of every item.

        `fit` has checked the labels already and, if the method adds fractions, numbered items and workers by their
        names; see data/numbering.py.
        """

    def check(self, labels: Crowd) -> None:
        """Refuse labels that the method cannot be used with, or would need too much memory for."""
        if not self.takes_sets:
            require_single_votes(labels, type(self).__name__)
        if self.most_classes is not None and labels.n_classes > self.most_classes:
            raise DataError(
                f"{type(self).__name__} takes at most {self.most_classes} classes, and here are {labels.n_classes}: "
                "use bwa, ds or another method."
            )

    def last_change(self) -> float:
        """The change at which the iterations end: the tolerance of methods that iterate, 0 for others."""
        return 0.0

    @property
    def takes_sets(self) -> bool:
        """Whether a vote may name several classes."""
        return False

    @property
    def starts_at_random(self) -> bool:
        """Whether the method starts at random.

        What is drawn is given out in the order of the items' or workers' names, so other names may give other answers.
        """
        return False

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once, as a clause "because ..."; empty if they need not be."""
        return ""

    def require_place(self, place: Place) -> None:
        """Refuse to run where the labels are, if the method cannot; the message says what to do instead."""
        if place != "memory" and self.memory_reason:
            raise CallError(f"{type(self).__name__} needs all labels in memory, {self.memory_reason}: {_ALTERNATIVES}")

    def places(self) -> list[Place]:
        """Where the labels may be for this method to run: in memory, on disk, in a Spark cluster."""
        allowed: list[Place] = []
        for place in get_args(Place):
            try:
                self.require_place(place)
            except CallError:
                continue
            allowed.append(place)
        return allowed

    def contributions(self, one: Labels, item: int, workers: Any) -> Contributions:
        """What each vote on one item adds to the score of every class.

        Only methods whose scores are sums over the votes have this; for the others, `unexplained_reason` says why not.

        Args:
            one: The labels of that item alone.
            item: The number of the item among all items.
            workers: What the method learned of the workers.
        """
        raise NotImplementedError

    @property
    def unexplained_reason(self) -> str:
        """Why the scores cannot be split into what each vote adds; empty if `contributions` can do so."""
        explains = type(self).contributions is not Method.contributions
        return "" if explains else "given its parameters, its scores are no sums over the votes"
