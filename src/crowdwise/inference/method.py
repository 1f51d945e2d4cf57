"""`Method`: what every method is and says of itself.

A method is a value: a frozen dataclass of parameters with `fit`. It says which key names it on the command line, what
it does in one sentence, and which paper it is from; everything else (the table of methods, the public names, the
engines that take it, the report's last section, the docs) follows from that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Final, TypeAlias, overload

from ..data.crowd import Crowd, Place, require_single_votes
from ..data.labels import Labels
from ..errors import CallError, DataError
from ..results.contributions import Contributions
from ..results.inferred import Inferred
from ..results.result import Result
from . import parameters

# Called with the number of the iteration and the change in it, after each iteration.
Progress: TypeAlias = Callable[[int, float], None]

_ELSEWHERE: Final = "use engine memory, or a method that sweeps over the items, such as bwa, one_coin or ds."


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

    # How the command line names it; None for a loop that another method runs on its own behalf.
    key: ClassVar[str | None] = None
    # What it does, in one sentence that names it.
    summary: ClassVar[str]
    paper: ClassVar[Reference]
    # How many classes it takes; None for any number.
    most_classes: ClassVar[int | None] = None

    def __init_subclass__(cls, **more: Any) -> None:
        """Add what the parameters mean to the docstring, where `help` looks for it."""
        super().__init_subclass__(**more)
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Field)]
        meanings = [f"        {name}: {value.metadata[parameters.KEY].meaning}" for name, value in declared]
        if cls.__doc__ and meanings:
            cls.__doc__ = "\n".join([cls.__doc__.rstrip(), "", "    Args:", *meanings, "    "])

    def __post_init__(self) -> None:
        parameters.check(self)

    @overload
    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result: ...

    @overload
    def fit(self, labels: Crowd, *, progress: Progress | None = None) -> Inferred: ...

    def fit(self, labels: Crowd, *, progress: Progress | None = None) -> Inferred:
        """Infer the truth.

        Args:
            labels: What the workers said: in memory, on disk or in a cluster.
            progress: Called with the iteration and the change after each iteration.

        Returns:
            A `Result` for labels in memory; where they are elsewhere, one with the same tables.

        Raises:
            CallError: The method cannot run where the labels are.
            DataError: The method has no meaning for these labels, or they would need too much memory.
        """
        self.require_place(labels.place)
        self.check(labels)
        found: Inferred = self.infer(labels, progress)
        return found

    @abstractmethod
    def infer(self, labels: Any, progress: Progress | None) -> Any:
        """Infer the truth of labels that were checked."""

    def check(self, labels: Crowd) -> None:
        """Refuse labels that the method has no meaning for, or that would need too much memory."""
        if not self.takes_sets:
            require_single_votes(labels, type(self).__name__)
        if self.most_classes is not None and labels.n_classes > self.most_classes:
            raise DataError(
                f"{type(self).__name__} takes at most {self.most_classes} classes, and here are {labels.n_classes}: "
                "use bwa, ds or another method."
            )

    @property
    def takes_sets(self) -> bool:
        """Whether a vote may name several classes."""
        return False

    @property
    def starts_at_random(self) -> bool:
        """Whether it starts at random, in the order of the names: other names may give another answer."""
        return False

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once, as "because ..."; empty where any engine can run the method."""
        return ""

    def require_place(self, place: Place) -> None:
        """Refuse to run where the labels are, in a sentence that says what to do."""
        if place != "memory" and self.memory_reason:
            raise CallError(f"{type(self).__name__} needs all labels in memory, {self.memory_reason}: {_ELSEWHERE}")

    def places(self) -> list[Place]:
        """Where labels may be for this method: the engines that run it."""
        allowed: list[Place] = []
        every: tuple[Place, ...] = ("memory", "disk", "spark")
        for place in every:
            try:
                self.require_place(place)
            except CallError:
                continue
            allowed.append(place)
        return allowed

    def contributions(self, one: Labels, item: int, workers: Any) -> Contributions:
        """What each vote on one item adds to the score of every class, where scores are sums over votes.

        Args:
            one: The labels of that item.
            item: Its number among all items.
            workers: What was learned of the workers.
        """
        raise NotImplementedError

    @property
    def unexplained_reason(self) -> str:
        """Why nobody can say what a single vote contributes; empty where `contributions` can."""
        explains = type(self).contributions is not Method.contributions
        return "" if explains else "given its parameters, its scores are no sums over the votes"
