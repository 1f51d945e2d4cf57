"""`decide`: the label of least expected cost for every item, and what a label of each worker is worth.

The expected cost of deciding d for an item is sum_k p_k C[k, d], where p_k is the calibrated probability of class k and
C[k, d] the cost of d where k is true. These are the costs of Get-Another-Label (see worker_value.py), with calibrated
probabilities in the place of those of Dawid-Skene.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from ..caution import Caution
from ..crowd.ids import codes_of
from ..errors import CallError, DataError
from ..numerics import Array
from ..results.in_parts import Inferred
from ..results.scores import TIE
from ..results.tables import ResultTables, as_html
from .costs import Costs, align, read_costs
from .ordinal import Measure, Ordinal
from .ordinal import ordinal as ordinal_of
from .pairing import require_result
from .worker_value import WorkerValues, coin_values, expected_costs, worker_values

# Numbers from 0 to 1 are added as whole multiples of 2^-53, in two halves, so that no order of the items matters.
_UNIT: Final = 2**53
_HALF: Final = 26
# So many items are decided at once, because that takes several numbers for each of their decisions.
_ROWS: Final = 1 << 14


@dataclass(frozen=True)
class ExpectedCost:
    """What decisions about a crowd are expected to cost, beside what others would; for ordered classes, distances.

    Attributes:
        total: The expected cost of all decisions.
        per_item: The same for an item, on average.
        most_probable: The expected cost of deciding the most probable label of every item.
        single: The expected cost of one and the same decision about all items, the best one.
        single_decision: This decision.
        changed: How many decisions are another class than the most probable one.
        abstained: How many decisions give no label.
        items: The number of items.
    """

    total: float
    per_item: float
    most_probable: float
    single: float
    single_decision: Any
    changed: int
    abstained: int
    items: int


@dataclass(frozen=True, eq=False)
class Decisions(ResultTables):
    """What is decided about every item, and what a label of each worker is worth; it has the tables of a result.

    Attributes:
        result: The result that the probabilities are from.
        costs: What each decision costs where each class is true.
        measure: What the costs are: costs, or distances of ordered classes, or their squares.
    """

    result: Inferred
    costs: Costs
    measure: Literal["cost"] | Measure = "cost"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on the result that the decisions are from."""
        return self.result.cautions

    @property
    def disputed_columns(self) -> tuple[str, ...]:
        """The columns of the table of disputed items."""
        return ("item", "label", self._expected, "most_probable", "score", "runner_up", "runner_up_score", "votes")

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of `to_frame` as a lazy table; of a result on disk, it is made part by part."""
        table = self.result.lazy(scores, probabilities=True)
        decided = partial(self._with_decisions, probabilities=probabilities)

        def in_slices(rows: pl.DataFrame) -> pl.DataFrame:
            return pl.concat([decided(part) for part in rows.iter_slices(_ROWS)] or [decided(rows)])

        return table.map_batches(
            in_slices,
            # What is asked of the new table must not be asked of the old one, which has another column `label`.
            predicate_pushdown=False,
            projection_pushdown=False,
            streamable=True,
            schema=in_slices(pl.DataFrame(schema=table.collect_schema())).schema,
        )

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, in the order of the result.

        Returns:
            The table of the result with these columns: `label` is the decision, `confidence` the probability that it is
            right (null if it is to abstain), `expected_cost` what it is expected to cost, and `most_probable` the label
            of the result, which score and runner_up are about. For ordered classes it is `expected_distance`
            or `expected_squared_distance`.
        """
        return self.lazy(scores, probabilities).collect()

    def workers_frame(self) -> pl.DataFrame:
        """Return the workers of the result with two more columns, value and value_per_label; see worker_value.py."""
        found = self.worker_values
        return self.result.workers_frame().with_columns(
            pl.Series("value", found.value, nan_to_null=True),
            pl.Series("value_per_label", found.per_label, nan_to_null=True),
        )

    @property
    def expected_cost(self) -> ExpectedCost:
        """What the decisions are expected to cost, beside what other decisions would."""
        return self._crowd[0]

    @property
    def measured_in(self) -> str:
        """What the costs are, in words."""
        return self.measure.replace("_", " ")

    @property
    def prior(self) -> Array:
        """(classes), how common each class is: the mean of its probabilities."""
        return self._crowd[1]

    @cached_property
    def worker_values(self) -> WorkerValues:
        """What a label of each worker is worth.

        Workers are taken by their confusion matrices. If the method has none, or if they do not fit in memory, a worker
        is right as often as its quality says, and errs evenly.
        """
        costs, prior = self.costs.matrix, self.prior
        try:
            confusion = self.result.workers.confusion
        except DataError:  # they do not fit
            confusion = None
        if confusion is not None:
            return worker_values(costs, prior, confusion)
        return coin_values(costs, prior, self.result.quality.value)

    def _with_decisions(self, table: pl.DataFrame, probabilities: bool) -> pl.DataFrame:
        """Return rows of the result with decisions; `probabilities` says whether to keep those of the classes."""
        found, expected, chances = self._decide(table)
        n_classes = len(self.costs.matrix)
        right = np.take_along_axis(chances, np.minimum(found, n_classes - 1)[:, None], axis=1)[:, 0]
        first = (
            pl.col("item"),
            self.costs.decisions.gather(found).alias("label"),
            pl.Series("confidence", np.where(found < n_classes, right, np.nan), nan_to_null=True),
            pl.Series(self._expected, np.take_along_axis(expected, found[:, None], axis=1)[:, 0]),
            pl.col("label").alias("most_probable"),
        )
        left_out = () if probabilities else self._probability_columns
        return table.select(*first, pl.exclude("item", "label", "confidence", *left_out))

    def _decide(self, table: pl.DataFrame) -> tuple[Array, Array, Array]:
        """Return the codes of the decisions about some items, the expected costs, and the probabilities."""
        chances = np.ascontiguousarray(table.select(self._probability_columns).to_numpy())
        expected = expected_costs(chances, self.costs.matrix)
        return cheapest(expected, chances), expected, chances

    @property
    def _expected(self) -> str:
        """The name of the column with what decisions are expected to cost."""
        return f"expected_{self.measure}"

    @property
    def _probability_columns(self) -> list[str]:
        return [f"probability_{name}" for name in self.result.names.classes.cast(pl.String)]

    @cached_property
    def _crowd(self) -> tuple[ExpectedCost, Array]:
        """What the decisions are expected to cost, and how common each class is."""
        largest = float(self.costs.matrix.max()) or 1.0
        items, changed, abstained, sums = 0, 0, 0, np.zeros(2 + len(self.costs.matrix), object)
        batches = self.result.lazy(probabilities=True).collect_batches(maintain_order=True)
        for table in (part for batch in batches for part in batch.iter_slices(_ROWS)):
            found, expected, chances = self._decide(table)
            answers = codes_of(table["label"], self.result.names.classes)
            both = np.take_along_axis(expected, np.stack([found, answers], axis=1), axis=1)
            sums += _exact_sums(np.hstack([both / largest, chances]))
            to_abstain = found == chances.shape[1]
            items, abstained = items + len(found), abstained + int(to_abstain.sum())
            changed += int(((found != answers) & ~to_abstain).sum())
        decided, probable, *shares = (one / _UNIT for one in sums)
        prior = np.array(shares) / items
        of_one = expected_costs(prior[None], self.costs.matrix)
        single = int(cheapest(of_one, prior[None])[0])
        return ExpectedCost(
            total=decided * largest,
            per_item=decided * largest / items,
            most_probable=probable * largest,
            single=float(of_one[0, single]) * items,
            single_decision=self.costs.decisions[single],
            changed=changed,
            abstained=abstained,
            items=items,
        ), prior

    def _repr_html_(self) -> str:
        """What a notebook shows: what they cost, and the first decisions."""
        return as_html([repr(self)], {"The first decisions": self.to_frame().head(5)})

    def __repr__(self) -> str:
        return f"Decisions({self.expected_cost.items:,} items, {self.expected_cost.per_item:.4g} each; {self.result!r})"


def decide(
    result: Inferred,
    costs: Any = None,
    *,
    ordinal: bool | Ordinal = False,
    order: Sequence[Any] | None = None,
    distance: str | None = None,
) -> Decisions:
    """Decide for the label of least expected cost of every item, or to give it no label.

    Args:
        result: The result of a method, in memory or on disk. Of a result in a cluster, all rows are copied from there.
        costs: The costs: a path or a table with the columns truth, label and cost, or a mapping from pairs (truth,
            label) to costs. A right label costs nothing unless a row says otherwise. The label `abstain` is the
            decision to give no label; its cost is one row without a truth, or a row for every class.
        ordinal: Instead of costs: classes are numbers, and a label costs its distance from the truth.
        order: Instead of costs: the classes from the lowest to the highest, which are one step apart.
        distance: For ordered classes: "absolute" if the distance from the truth is to be small (the default), or
            "squared" if its square is.

    Returns:
        An object with the tables of a result: `to_frame()` has the decisions and what they are expected to cost,
        `workers_frame()` what a label of each worker is worth. `expected_cost` is about the whole crowd.

    Raises:
        CallError: An argument is not allowed.
        DataError: The costs cannot be read, do not fit the classes of the result, or lack a pair of classes.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1, 2, 2, 2], list("abcabc"), ["well"] * 2 + ["ill"] + ["well"] * 3)
    >>> result = cw.MajorityVote().fit(labels)
    >>> result.probabilities.round(2).tolist()
    [[0.37, 0.63], [0.12, 0.88]]
    >>> decided = decide(result, {("ill", "well"): 5, ("well", "ill"): 1})
    >>> decided.to_frame().select("item", "label", pl.col("expected_cost").round(2), "most_probable").rows()
    [(1, 'ill', 0.63, 'well'), (2, 'well', 0.62, 'well')]
    """
    require_result(result)
    asked = one_of(costs, ordinal_of(ordinal, order, distance))
    if asked is not None:
        return Decisions(result, asked.costs(result.names.classes), asked.measure)
    if costs is None:
        raise CallError("decide needs costs, or ordered classes: ordinal=True or order=[...].")
    return Decisions(result, align(read_costs(costs), result.names.classes))


def one_of(costs: Any, asked: Ordinal | None) -> Ordinal | None:
    """Return how classes are ordered. Raises `CallError` if there are costs as well."""
    if costs is not None and asked is not None:
        raise CallError(
            "Give costs or ordered classes, not both: the distance of ordered classes is what a label costs."
        )
    return asked


def cheapest(expected: Array, probabilities: Array) -> Array:
    """Return (items): the code of the decision of least expected cost.

    Costs that differ by less than 1e-7, relative to the larger, are tied, as scores are. Of tied decisions it is the
    most probable class, then the first class; to abstain comes last.

    Args:
        expected: (items, decisions), the expected costs.
        probabilities: (items, classes).

    >>> cheapest(np.array([[2.0, 1.0, 1.0 + 1e-9]]), np.array([[0.5, 0.2, 0.3]])).tolist()
    [2]
    """
    tied = expected - expected.min(axis=1, keepdims=True) <= TIE * expected
    # To abstain is no class and has no probability; it is preferred to what is not tied alone.
    preference = np.full(expected.shape, -1.0)
    preference[:, : probabilities.shape[1]] = probabilities
    preference = np.where(tied, preference, -2.0)
    best = preference.max(axis=1, keepdims=True)
    return np.asarray((preference >= best - TIE * np.abs(best)).argmax(axis=1))


def _exact_sums(values: Array) -> Array:
    """Return the sum of each column of numbers from 0 to about 1 as a whole number of `_UNIT`; no order changes it."""
    whole = np.rint(values * _UNIT).astype(np.int64)
    high, low = (whole >> _HALF).sum(axis=0), (whole & ((1 << _HALF) - 1)).sum(axis=0)
    return np.asarray(high.astype(object) * (1 << _HALF) + low.astype(object))
