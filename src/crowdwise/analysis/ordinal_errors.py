"""`ordinal_errors`: how far labels of ordered classes are from the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..crowd.ids import codes_of
from ..numerics import Array
from ..reading.read_truth import read_truth
from ..results.in_parts import Inferred
from ..results.result import Result
from .costs import Costs
from .decisions import cheapest
from .evaluation import match
from .ordinal import Ordinal, ordinal
from .pairing import require_result
from .worker_value import expected_costs


@dataclass(frozen=True)
class Errors:
    """How far some labels are from the truth.

    Attributes:
        mae: The mean of the absolute distances from the truth.
        rmse: The root of the mean of the squared distances from the truth.
        quadratic_kappa: Cohen's kappa with quadratic weights, of the labels and the truth: 1 if all are equal, 0 if
            they are as far apart as labels and truths that have nothing to do with each other; None if all labels
            and all truths are one and the same class.
    """

    mae: float
    rmse: float
    quadratic_kappa: float | None


@dataclass(frozen=True)
class OrdinalErrors:
    """How far the labels of a result are from the truth.

    Attributes:
        decided: Of the labels of least expected distance.
        most_probable: Of the most probable labels.
        items: The number of items whose truth is known and that have a label.
    """

    decided: Errors
    most_probable: Errors
    items: int


def ordinal_errors(
    result: Inferred, truth: Any, *, order: Sequence[Any] | None = None, distance: str | None = None
) -> OrdinalErrors:
    """Return how far the labels of a result are from the truth, where classes are ordered.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.
        order: The classes from the lowest to the highest; None if they are numbers.
        distance: What the decided labels make small: the distance ("absolute"), or its square ("squared").

    Raises:
        CallError: An argument is not allowed.
        DataError: Classes cannot be ordered, or the truth has no item or no class in common with the labels.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1, 2, 2, 2], list("abcabc"), [1, 1, 3, 2, 3, 3])
    >>> found = ordinal_errors(cw.MajorityVote().fit(labels), {1: 1, 2: 2}).most_probable
    >>> found.mae, round(found.quadratic_kappa, 3)
    (0.5, 0.667)
    """
    require_result(result)
    asked = ordinal(True, order, distance)
    assert asked is not None, "they are ordinal"
    return errors_of(result, truth, asked)


def errors_of(result: Inferred, truth: Any, asked: Ordinal) -> OrdinalErrors:
    """Return how far the labels of a result are from the truth, in this order."""
    table = read_truth(truth)
    measured = result.about(table["item"])
    known = match(measured, table)
    places = asked.positions(measured.names.classes)
    truths = _true_places(measured, known.items, table, asked)
    decided = decided_codes(measured.probabilities[known.items], asked.costs(measured.names.classes))
    return OrdinalErrors(
        errors(places[decided], truths), errors(places[measured.answers[known.items]], truths), len(truths)
    )


def _true_places(result: Result, items: Array, table: pl.DataFrame, asked: Ordinal) -> Array:
    """Return where the true classes of these items are on the scale; they need not be classes of the labels."""
    truths = table["truth"].unique(maintain_order=True)
    places = pl.DataFrame({"truth": truths, "place": asked.positions(truths, "truth")})
    by_item = table.join(places, on="truth", how="left")
    codes = codes_of(by_item["item"], result.names.items)
    found = np.full(len(result.names.items), np.nan)
    found[codes[codes >= 0]] = by_item["place"].to_numpy()[codes >= 0]
    return np.asarray(found[items])


def decided_codes(probabilities: Array, costs: Costs) -> Array:
    """Return the codes of the labels of least expected distance, given the probabilities of the classes."""
    return cheapest(expected_costs(np.ascontiguousarray(probabilities), costs.matrix), probabilities)


def errors(places: Array, truths: Array) -> Errors:
    """Return how far labels are from the truth, given where both are on the scale.

    >>> errors(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    Errors(mae=0.3333333333333333, rmse=0.5773502691896257, quadratic_kappa=0.8571428571428571)
    """
    apart = places - truths
    # The mean square of the distance of any label from any truth, without looking at all pairs.
    by_chance = places.var() + truths.var() + apart.mean() ** 2
    square = float((apart**2).mean())
    kappa = 1 - square / float(by_chance) if by_chance > 0 else None
    return Errors(float(np.abs(apart).mean()), square**0.5, kappa)
