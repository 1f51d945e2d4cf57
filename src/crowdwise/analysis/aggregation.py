"""`aggregate`: the truth from labels in one call, by the method that nobody has to choose."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, cast, get_type_hints, overload

from ..caution import Caution, raise_once
from ..crowd.labels import Labels, Numbers
from ..crowd.protocol import Crowd, is_crowd
from ..crowd.read_options import ColumnKeywords, ReadKeywords, SetKeywords
from ..errors import CallError, did_you_mean
from ..fitting.gold import GOLD_WEIGHT
from ..fitting.iterations import Progress
from ..fitting.method import Method
from ..methods import as_method
from ..methods.adjudicator import Adjudicator
from ..methods.numeric.robust import NumericRobust
from ..partitions.disk_partitioning import Phases
from ..reading.read_labels import read_labels
from ..reading.truth_sets import gold_of_sets
from ..results.in_parts import Inferred
from ..results.numeric_result import NumericResult
from ..results.result import Result
from .cautions import cautions
from .costs import read_costs
from .decisions import Decisions, decide, one_of
from .ordinal import ordinal as ordinal_of
from .set_result import SetResult, sets_of


class _FitOptions(TypedDict, total=False):
    """The arguments of `aggregate` that neither say how labels are read nor change what it returns."""

    phases: Phases
    method: str | Method | None
    gold: Any
    gold_weight: float
    history: Any
    decay: float
    at_least: float | None
    progress: Progress | None
    warn: bool


class _Options(ReadKeywords, _FitOptions, total=False):
    """The arguments of `aggregate` that do not change what it returns, for type checkers."""

    engine: str


class _SetOptions(SetKeywords, ColumnKeywords, _FitOptions, total=False):
    """The same where sets are inferred."""

    costs: Any


class _NoCosts(_Options, total=False):
    """The same, and those that make `aggregate` decide by costs or an order, where they are not used."""

    costs: None
    ordinal: Literal[False]
    order: None
    distance: None


@overload
def aggregate(
    labels: Any, *, multi: Literal["each"], engine: Literal["disk"], **options: Unpack[_SetOptions]
) -> Inferred: ...


@overload
def aggregate(
    labels: Any, *, multi: Literal["each"], engine: str = ..., **options: Unpack[_SetOptions]
) -> SetResult: ...


@overload
def aggregate(labels: Numbers, **options: Unpack[_NoCosts]) -> NumericResult: ...  # type: ignore[overload-overlap]


@overload
def aggregate(labels: Labels, **options: Unpack[_NoCosts]) -> Result: ...


# On disk or in a cluster, the type does not say whether labels are numbers.
@overload
def aggregate(labels: Crowd, **options: Unpack[_NoCosts]) -> Inferred | NumericResult: ...


@overload
def aggregate(labels: Any, *, numeric: Literal[False] = ..., **options: Unpack[_NoCosts]) -> Result: ...


@overload
def aggregate(labels: Any, *, numeric: Literal[True], **options: Unpack[_NoCosts]) -> NumericResult: ...


@overload
def aggregate(labels: Any, *, costs: Any, **options: Unpack[_Options]) -> Decisions: ...


@overload
def aggregate(
    labels: Any, *, ordinal: Literal[True], distance: str | None = ..., **options: Unpack[_Options]
) -> Decisions: ...


@overload
def aggregate(
    labels: Any, *, order: Sequence[Any], distance: str | None = ..., **options: Unpack[_Options]
) -> Decisions: ...


@overload
def aggregate(
    labels: Any,
    *,
    numeric: bool = ...,
    costs: Any = ...,
    ordinal: bool = ...,
    order: Sequence[Any] | None = ...,
    distance: str | None = ...,
    **options: Unpack[_Options],
) -> Result | NumericResult | Decisions | Inferred | SetResult: ...


def aggregate(
    labels: Any,
    *,
    method: str | Method | None = None,
    numeric: bool = False,
    gold: Any = None,
    gold_weight: float = GOLD_WEIGHT,
    history: Any = None,
    decay: float = 1.0,
    costs: Any = None,
    ordinal: bool = False,
    order: Sequence[Any] | None = None,
    distance: str | None = None,
    at_least: float | None = None,
    progress: Progress | None = None,
    warn: bool = True,
    **reading: Any,
) -> Result | NumericResult | Decisions | Inferred | SetResult:
    """Infer the true label of every item, how sure that is, and how good every worker is.

    This is `Adjudicator().fit(labels)`, and for numbers `NumericRobust().fit(numbers)`, or `fit` of another method; it
    also takes files and tables.

    Args:
        labels: What the workers said: labels, a path, or a table with a row for each label.
        method: Another method than the default: its key, as in `METHODS`, or the method itself, such as `cw.BWA()`.
        numeric: Whether the labels of a path or a table are numbers; every item then gets a value with an interval.
        gold: True labels of some items, to learn from: a path, a table, or a mapping from item to class.
        gold_weight: How many items each of these counts as when workers are judged.
        history: Counts of an earlier call: `result.history`, or a file that it was written to.
        decay: The weight of these counts, from 0 to 1.
        costs: Costs of errors: decide for the label of least expected cost. A path, a table or a mapping; see
            `decide`.
        ordinal: Whether classes are numbers on a scale: decide for the label with the least expected distance from the
            truth.
        order: The order of classes that are not numbers: all of them, from the lowest to the highest.
        distance: For ordered classes: minimise the "absolute" (the default) or the "squared" distance.
        at_least: If workers name several classes at once (`multi="each"`): a class is in the set of an item if its
            probability is at least this; None for above 0.5. With `costs`, the costs decide.
        progress: Called after each iteration with its number and the largest change in it.
        warn: Whether to raise what `result.cautions` says as warnings, a `Caution` each. If not, cautions that take
            time are looked for when `result.cautions` is first used.
        reading: For a path or a table: all arguments of `read_labels`, such as item, worker and label (the columns),
            duplicates, missing, strict, classes, fold_case, question or engine.

    Returns:
        A `Result`, or a `NumericResult` of numbers; for labels on disk or in a cluster, an object with the same tables.
        With costs or ordered classes, what `decide` makes of it, whose `result` it is. Where workers name several
        classes at once, a `SetResult`; but on disk, what is inferred about items such as "7: cat".

    Raises:
        CallError: An argument is not allowed.
        DataError: The labels or the costs cannot be used.

    >>> import polars as pl
    >>> votes = pl.DataFrame({"item": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": list("xxyyyx")})
    >>> aggregate(votes).labels.to_list()
    ['x', 'y']
    """
    known: Any = {"gold": gold, "gold_weight": gold_weight, "history": history, "decay": decay}
    known_costs = None if costs is None else read_costs(costs)  # bad ones are refused before any work
    asked = one_of(costs, ordinal_of(ordinal, order, distance))
    _check_reading(reading)
    reading = {name: value for name, value in reading.items() if value is not None}  # the default of all that take it
    if is_crowd(labels):
        given = [name for name, value in {**reading, "numeric": numeric}.items() if value is not False and value != ()]
        if given:
            raise CallError(f"{given[0]} is for a path or a table, and these labels are read already.")
        crowd: Crowd = labels
        chosen = _method(method, crowd.numeric)
    else:
        chosen = _method(method, numeric)
        crowd = read_labels(labels, numeric=numeric, method=chosen, warn=warn, **reading)
    sets = crowd if isinstance(crowd, Labels) and crowd.sets is not None else None
    if sets is None and at_least is not None:
        raise CallError('at_least is for several classes at once: multi="each", in memory.')
    if sets is not None and asked is not None:
        raise CallError("An order is for one class an item, and here workers name several at once.")
    if sets is not None and gold is not None:
        known["gold"] = gold_of_sets(gold, sets, separator=reading.get("separator"))
    if crowd.numeric and (costs is not None or asked is not None):
        raise CallError("costs and an order are for classes, and these labels are numbers.")
    if asked is not None:
        asked.positions(crowd.names.classes)  # what cannot be ordered is refused before any work
    fitted = chosen.fit(crowd, **known, progress=progress, warn=False)
    result = fitted.with_cautions(partial(_all_cautions, fitted, crowd, asked is not None))
    if warn:
        raise_once(result.cautions)
    if sets is not None:
        return sets_of(cast(Result, result), sets, at_least, costs)
    if known_costs is None and asked is None:
        return result
    return decide(result, known_costs, ordinal=asked or False)


def _method(method: str | Method | None, numeric: bool) -> Method:
    """Return the method that was asked for, or the default."""
    default = NumericRobust() if numeric else Adjudicator()
    return default if method is None else as_method(method, numbers=numeric)


def _check_reading(reading: Mapping[str, Any]) -> None:
    """Raise `CallError` if `aggregate` has no such arguments."""
    known = get_type_hints(_Options)
    for name in reading:
        if name not in known:
            raise CallError(f"aggregate has no argument {name!r}.{did_you_mean(name, list(known))}")


def _all_cautions(fitted: Inferred, crowd: Crowd, ordered: bool) -> tuple[Caution, ...]:
    """Return what is known and found about a result; that classes are numbers is no news where they are ordered."""
    found = fitted.cautions if crowd.numeric else cautions(fitted, crowd)
    return tuple(one for one in found if not (ordered and one.kind == "numbers"))
