"""`Method`: the base of all methods, with `fit` and what a method says about itself.

A method is a frozen dataclass of parameters with a function `fit`. Its class has a key, which names it on the command
line, a summary of what it does in one sentence, and the paper that it is from. The table of methods, the public names,
the report's last section and the docs are made from these.
"""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import Field, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypedDict, Unpack, overload

import numpy as np

from ..caution import Caution, in_order, raise_once
from ..crowd.knowledge import PriorKnowledge
from ..crowd.labels import Labels, Numbers
from ..crowd.protocol import Crowd, Place, require_crowd, require_single_votes
from ..errors import CallError, DataError, did_you_mean
from ..parallel import require_threads
from ..progress import followed
from ..reading.read_labels import as_crowd
from ..results.any_method import AnyMethod
from ..results.ending import Convergence
from ..results.in_parts import Inferred, ResultInParts
from ..results.numeric_result import NumericResult
from ..results.result import Result
from ..results.scores import out_of_range
from ..sources.frames import Tabular
from . import parameters
from .gold import GOLD_WEIGHT, fit_with_gold
from .history import add_history
from .iterations import Outcome, Progress, Step
from .limits import Limits

# Fewer items than this may have a class each.
_LEAST_TEXTS: Final = 20
_SWEEPING: Final = "use adjudicator, bwa, ds or another method that sweeps over the items."
_ALTERNATIVES: Final = "use engine memory, or a method that sweeps over the items, such as bwa, one_coin or ds."
_LOG: Final = logging.getLogger("crowdwise")


def _logged(progress: Progress | None) -> Progress | None:
    """Return a callback that also writes each iteration to the log, if anybody reads it."""
    if not _LOG.isEnabledFor(logging.DEBUG):
        return progress

    def both(number: int, change: float) -> None:
        _LOG.debug("Iteration %d changed a score by up to %.3g.", number, change)
        if progress is not None:
            progress(number, change)

    return both


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


class FitOptions(TypedDict, total=False):
    """The options of `fit`, for type checkers."""

    gold: Any
    gold_weight: float
    history: Any
    decay: float
    progress: Progress | None
    warn: bool


class OfNumbers:
    """Marks the methods whose labels and answers are numbers, not classes; they take no gold and no history."""

    numeric: ClassVar[bool] = True


class Method(AnyMethod):
    """The base of all methods. A subclass is a frozen dataclass whose fields are declared by `parameter`."""

    paper: ClassVar[Reference]
    # Whether labels and answers are numbers instead of classes; see `OfNumbers`.
    numeric: ClassVar[bool] = False
    # Whether the method adds up fractions. The last bits of such sums depend on the order of their terms; sums of whole
    # numbers do not, so that a method with no other need not be given items and workers in an order of their own.
    adds_fractions: ClassVar[bool] = True
    # Iterations end when the change in one of them is no more than the tolerance, or when they run out. Methods that
    # iterate declare the first two as parameters.
    tolerance: float
    max_iterations: int
    # Whether votes with a probability are taken as sharp as their workers are found to be, and not as they are.
    learns_sharpness: ClassVar[bool] = True
    # The fewest iterations before the scores count as converged.
    least_iterations: ClassVar[int] = 1
    # Parameters of the release before that have another name now: for each, a sentence that says what to use instead.
    renamed: ClassVar[Mapping[str, str]] = {}

    if TYPE_CHECKING:  # so that `cw.METHODS[key](...)` may be called; a subclass knows its own parameters

        def __init__(self, **parameters: Any) -> None: ...

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse parameters that have another name now."""
        for name in given:
            if name in cls.renamed:
                raise CallError(cls.renamed[name])
        return super().__new__(cls)

    def __init_subclass__(cls, **more: Any) -> None:
        """Add the meanings of the parameters to the docstring of the class, so that `help` shows them."""
        super().__init_subclass__(**more)
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Field)]
        meanings = [f"        {name}: {parameters.meaning_of(value)}" for name, value in declared]
        if cls.__doc__ and meanings:
            cls.__doc__ = "\n".join([cls.__doc__.rstrip(), "", "    Args:", *meanings, "    "])

    def __post_init__(self) -> None:
        parameters.check(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn asks for them: its `clone` copies a method by these."""
        return {name: getattr(self, name) for name in parameters.parameters_of(type(self))}

    def set_params(self, **given: Any) -> Self:
        """Give parameters other values, all or none, and return this method, as scikit-learn wants it.

        Results keep the parameters that they were made with. It is the only way to change a method: to leave it as it
        is, make another one, by `dataclasses.replace` or `clone`.

        Raises:
            CallError: There is no such parameter, or it does not take the value.
        """
        known = self.get_params()
        for name in given:
            if name in self.renamed:
                raise CallError(self.renamed[name])
            if name not in known:
                hint = did_you_mean(name, list(known))
                raise CallError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.{hint}")
        for name, value in vars(replace(self, **given)).items():  # type: ignore[type-var]  # subclasses are dataclasses
            object.__setattr__(self, name, value)
        return self

    @overload
    def fit(  # type: ignore[misc]  # of the methods that are `OfNumbers`
        self: "OfNumbers", labels: Numbers | Tabular, **options: Unpack[FitOptions]
    ) -> NumericResult: ...

    @overload
    def fit(  # type: ignore[misc]
        self: "OfNumbers", labels: Crowd, **options: Unpack[FitOptions]
    ) -> NumericResult | ResultInParts: ...

    @overload
    def fit(self, labels: Labels | Tabular, **options: Unpack[FitOptions]) -> Result: ...

    @overload
    def fit(self, labels: Crowd, **options: Unpack[FitOptions]) -> Inferred: ...

    def fit(
        self: Any,
        labels: Crowd | Tabular,
        *,
        gold: Any = None,
        gold_weight: float = GOLD_WEIGHT,
        history: Any = None,
        decay: float = 1.0,
        progress: Progress | None = None,
        warn: bool = True,
    ) -> Any:
        """Infer the true class of every item from the labels; numeric methods infer its true value.

        Args:
            labels: What the workers said: in memory, on disk or in a cluster; or a table, as in `Labels.from_frame`.
            gold: The true classes of some items, which then are known: a path, a table, or a mapping from item to
                class. Confidence is fitted to them; see docs/how-to/gold.md.
            gold_weight: How many items each item of known class counts as in what is learned about the workers.
            history: What the same method counted in earlier labels: `result.history`, or a file that was written by
                `result.history.write` or `--save-state`. New workers start from the prior.
            decay: What the earlier counts are multiplied by, so that they fade; 1 to keep them.
            progress: Called after each iteration with its number and the largest change in it. If None, a line shows
                how far a long fit is; see `show_progress`.
            warn: Whether to raise what `result.cautions` says as warnings.

        Returns:
            A `Result` for labels in memory, a `NumericResult` for numbers; for labels on disk or in a cluster, an
            object with the same tables.

        Raises:
            CallError: The method cannot run where the labels are, or its parameters lead out of the range of numbers.
            DataError: The method cannot be used with such labels, or would need too much memory for them.
        """
        for name, value in (("gold", gold), ("history", history)):
            if self.numeric and value is not None:
                raise CallError(f"{name} is for classes, and {type(self).__name__} is for numbers: leave it out.")
        require_threads()
        self = copy(self)  # the method of the result, which `set_params` leaves as it is
        given: Crowd = as_crowd(labels, numeric=self.numeric)
        require_crowd(given, method=type(self).__name__, numeric=self.numeric)
        self.require(place=given.place, gold=gold is not None)
        parameters.check_weight(gold_weight)
        parameters.check_decay(decay)
        _LOG.info("Fitting %r to %r", self, given)
        known, crowd, cautions = PriorKnowledge(), given, list(given.cautions)
        if history is not None:
            self.require(history=True)
            crowd, known, unknown = add_history(self, given, history, decay)
            cautions += unknown
        with followed(type(self).__name__, getattr(self, "tolerance", 0.0), progress) as told:
            progress = _logged(told)
            if gold is None:
                result = self._fit(crowd if history is None else crowd.with_known(None, known), progress)
            else:
                known = replace(known, gold_weight=gold_weight)
                result, about_gold = fit_with_gold(self, self._fit, crowd, gold, known, progress)
                cautions += about_gold
        _LOG.info("%s %s", type(self).__name__, result.convergence)
        found = in_order([*cautions, *_cautions(result, given)])
        if warn:
            raise_once(found)
        return result.with_cautions(partial(tuple, found))

    def _fit(self, given: Any, progress: Progress | None) -> Inferred:
        """Infer the true class of every item; what is known beforehand is in the labels."""
        labels: Crowd = given
        if labels.soft_valued and not self.limits().takes_soft:
            raise DataError(
                f"{type(self).__name__} takes plain votes, and here votes have a probability or a weight: use "
                'adjudicator, bwa, ds, lfc or mv, or read the votes without: votes="hard" (--votes hard).'
            )
        self.check(labels)
        if labels.soft_valued and self.learns_sharpness:
            from .sharpness import learn_sharpness, with_sharpness

            labels = labels.numbered if isinstance(labels, Labels) else labels
            labels = with_sharpness(labels, learn_sharpness(labels))
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                adds_fractions = self.adds_fractions or labels.soft_valued
                if isinstance(labels, Labels) and adds_fractions and not given.is_numbered:
                    result: Result = self.infer(labels.numbered, progress)
                    return result.reordered(given.names, given.numbering)
                found: Inferred = self.infer(labels, progress)
                return found
        except ArithmeticError as problem:
            raise out_of_range(self, "cannot be computed") from problem

    @abstractmethod
    def infer(self, labels: Any, progress: Progress | None) -> Any:
        """Infer the true class of every item.

        `fit` has checked the labels already and, if the method adds fractions, numbered items and workers by their
        names; see crowd/numbering.py.
        """

    def run_steps(
        self, steps: Iterator[Step[Outcome]], progress: Progress | None, objective: float | None = None
    ) -> tuple[Outcome, Convergence]:
        """The loop of all methods: iterate until a change is within the tolerance, or the iterations run out.

        `steps` has no end. `objective` is that before the first iteration; None if the method has none.
        """
        objectives = [objective]
        for number, step in enumerate(steps, 1):
            objectives.append(step.objective)
            if progress is not None:
                progress(number, step.change)
            converged = step.change <= self.tolerance and number >= self.least_iterations
            if converged or number >= self.max_iterations:
                course = tuple(value for value in objectives if value is not None)
                return step.finish(), Convergence(number, converged, step.change, course)
        raise AssertionError("steps have no end")

    def check(self, labels: Crowd) -> None:
        """Refuse labels that the method cannot be used with, or would need too much memory for."""
        limits = self.limits()
        if not limits.takes_sets:
            require_single_votes(labels, type(self).__name__, ", or use bwa, which takes several")
        if limits.most_classes is not None and labels.n_classes > limits.most_classes:
            raise DataError(
                f"{type(self).__name__} takes at most {limits.most_classes} classes, and here are {labels.n_classes}: "
                "use adjudicator, bwa, ds or another method."
            )

    @property
    def starts_at_random(self) -> bool:
        """Whether the method starts at random.

        What is drawn is given out in the order of the items' or workers' names, so other names may give other answers.
        """
        return False

    def limits(self) -> Limits:
        """What the method cannot do, with these parameters."""
        explains = type(self).contributions is not AnyMethod.contributions
        return Limits(
            no_history="because it counts nothing that could be added up",
            unexplained="" if explains else "given its parameters, its scores are no sums over the votes",
        )

    def require(
        self, *, place: Place = "memory", gold: bool = False, history: bool = False, contributions: bool = False
    ) -> None:
        """Raise `CallError` if the method cannot do one of these; the sentence says why, and what to do instead."""
        name, limits = type(self).__name__, self.limits()
        if place != "memory" and limits.in_memory:
            raise CallError(f"{name} needs all labels in memory, {limits.in_memory}: {_ALTERNATIVES}")
        if place == "spark" and limits.not_in_cluster:
            raise CallError(f"{name} needs {limits.not_in_cluster}: use engine memory or disk.")
        if history and limits.no_history:
            raise CallError(f"{name} has no history, {limits.no_history}: {_SWEEPING}")
        if gold and limits.no_gold:
            raise CallError(f"{name} takes no gold, {limits.no_gold}: {_SWEEPING}")
        if contributions and limits.unexplained:
            raise CallError(f"{name} cannot tell what each vote contributes: {limits.unexplained}.")

    def solutions(self, labels: Crowd) -> list[Any]:
        """Return the workers' parameters of different solutions for the same labels, the method's own first.

        Gold decides between them (fitting/gold.py). Most methods have one solution: [].
        """
        return []

    def cautions(self, result: Any, labels: Crowd) -> list[Caution]:
        """Return what this method found out about the workers that its user should know."""
        return list(result.workers.cautions(labels.names))


def _say_what_items_are(result: Result, labels: Crowd) -> bool:
    """Return whether no two items have the same answer, which the texts of items have and classes do not."""
    if not _LEAST_TEXTS <= labels.n_items <= labels.n_classes:
        return False
    return len(np.unique(result.answers)) == labels.n_items


def _cautions(result: Any, labels: Crowd) -> list[Caution]:
    """That iterations ran out, that there is one class, and what the method found out about workers."""
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
    if isinstance(result, Result) and _say_what_items_are(result, labels):
        found.append(
            Caution(
                "one class",
                f"No two of the {labels.n_items:,} items have the same answer: the labels look like texts about the "
                "items and not like classes, so confidence says nothing.",
                "Look whether this is the column of labels: label= (--label-column).",
            )
        )
    return [*found, *result.method.cautions(result, labels)]
