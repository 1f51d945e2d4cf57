"""`SetResult`: the set of classes of every item, where workers name several classes at once."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import polars as pl

from ..caution import Caution
from ..crowd.class_sets import NO, YES, ClassSets
from ..crowd.labels import Labels
from ..errors import CallError, shown
from ..numerics import Array
from ..results.result import Result
from ..results.tables import ResultTables, check_count, shown_in_notebook
from .costs import align, read_costs

# A class is in the set of an item if it holds more probably than not.
EVEN: Final = 0.5
# A table with a column for every class has no more classes than this.
_MOST_COLUMNS: Final = 1000


@dataclass(frozen=True, eq=False)
class SetResult(ResultTables):
    """The inferred set of classes of every item, the probability of every class, and the quality of every worker.

    Attributes:
        result: The result about the questions: an item of it is an item with a class that somebody named, such as
            "7: cat", and its labels are yes and no.
        sets: Who named which classes.
        at_least: A class is in the set if its probability is at least this; for 0.5, above it.
    """

    result: Result
    sets: ClassSets
    at_least: float = EVEN

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on the result about the questions."""
        return self.result.cautions

    def with_cautions(self, look: Callable[[], tuple[Caution, ...]]) -> Self:
        """Return a copy whose `cautions` are what `look` returns; see `ResultTables`."""
        other = copy(self)
        object.__setattr__(other, "result", self.result.with_cautions(look))
        return other

    @property
    def disputed_columns(self) -> tuple[str, ...]:
        """The columns of `disputed`."""
        return ("item", "class", "probability", "yes", "votes")

    @property
    def probabilities(self) -> Array:
        """(questions), the calibrated probability that the class holds for the item."""
        return np.asarray(self.result.probabilities[:, 1])

    @property
    def chosen(self) -> Array:
        """(questions), whether the class is in the set of the item."""
        p = self.probabilities
        return np.asarray(p > EVEN if self.at_least == EVEN else p >= self.at_least)

    @property
    def labels(self) -> pl.Series:
        """The set of every item: a list of classes in their order."""
        return self.to_frame()["labels"]

    def pairs(self) -> pl.DataFrame:
        """Return a row for every item and class that somebody named: item, class, probability, yes, votes, chosen.

        `yes` is how many workers named the class, and `votes` how many looked at the item.
        """
        sets, votes = self.sets, self.sets.answers_per_item
        per_cell = sets.named_by_question()
        return pl.DataFrame(
            [
                sets.items.gather(sets.item_of).alias("item"),
                sets.classes.gather(sets.class_of).alias("class"),
                pl.Series("probability", self.probabilities),
                pl.Series("yes", per_cell),
                pl.Series("votes", votes[sets.item_of]),
                pl.Series("chosen", self.chosen),
            ]
        )

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, in order of first appearance.

        Args:
            scores: Whether to add a column `score_<class>` for every class, the method's own.
            probabilities: Whether to add a column `probability_<class>` for every class, calibrated.

        Returns:
            A table with the columns item, labels (a list of classes), confidence and votes, how many workers looked at
            it. The confidence is that of the decision about a class that is least sure; null if nobody named a class.
            A column of a class is null where nobody named it for the item. Files without lists, such as CSV, have
            labels as JSON: ["cat","dog"].
        """
        sets, chosen = self.sets, self.chosen
        at = np.flatnonzero(chosen)
        at = at[np.lexsort((sets.class_of[at], sets.item_of[at]))]
        sizes = np.bincount(sets.item_of[at], minlength=len(sets.items))
        names = sets.classes.gather(sets.class_of[at])
        ends = pl.DataFrame({"size": sizes}).with_row_index("item")
        listed = (
            pl.DataFrame({"item": pl.Series(sets.item_of[at], dtype=pl.UInt32), "class": names})
            .group_by("item", maintain_order=True)
            .agg("class")
        )
        lists = ends.join(listed, on="item", how="left", maintain_order="left")["class"]
        lists = lists.fill_null(pl.Series([[]], dtype=lists.dtype))
        p = self.probabilities
        least = np.full(len(sets.items), np.inf)
        np.minimum.at(least, sets.item_of, np.where(chosen, p, 1 - p))
        frame = pl.DataFrame(
            [
                sets.items,
                lists.alias("labels"),
                pl.Series("confidence", np.where(np.isinf(least), np.nan, least), nan_to_null=True),
                pl.Series("votes", sets.answers_per_item),
            ]
        )
        if scores:
            frame = frame.with_columns(self._by_class("score", self.result.scores[:, 1]))
        if probabilities:
            frame = frame.with_columns(self._by_class("probability", p))
        return frame

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of `to_frame` as a lazy table."""
        return self.to_frame(scores, probabilities).lazy()

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker: the table of the result about the questions, with precision, recall and f1.

        The precision is how probable the classes are that the worker named; the recall is how many of the classes that
        hold the worker named, of those that somebody named for the item. Both are expected by calibrated probabilities,
        and null for a worker without such classes. `named` is how many classes an answer of the worker names.
        """
        sets, n_workers = self.sets, len(self.result.names.workers)
        answer_of = np.repeat(np.arange(len(sets.workers)), np.diff(sets.set_starts))
        named_by = sets.workers[answer_of]
        p = self.probabilities
        hit = np.bincount(named_by, p[sets.question_of_named()], n_workers)
        per_item = np.bincount(sets.item_of, p, len(sets.items))
        held = np.bincount(sets.workers, np.repeat(per_item, sets.answers_per_item), n_workers)
        named = np.bincount(named_by, minlength=n_workers)
        answers = np.bincount(sets.workers, minlength=n_workers)

        def share(of: Array, total: Array) -> Array:
            return np.asarray(np.divide(of, total, out=np.full(n_workers, np.nan), where=total > 0))

        found = {
            "named": share(named.astype(float), answers),
            "precision": share(hit, named),
            "recall": share(hit, held),
            "f1": share(2 * hit, named + held),
        }
        table = self.result.workers_frame()
        return table.with_columns(pl.Series(name, values, nan_to_null=True) for name, values in found.items())

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the `count` pairs of an item and a class whose probability is closest to being chosen, or not."""
        check_count(count)
        gap = (pl.col("probability") - self.at_least).abs()
        return self.pairs().sort(gap, maintain_order=True).head(count).select(self.disputed_columns)

    def write(self, *paths: Any, columns: str = "crowdwise", **more: Any) -> None:
        """Write the tables to files; see `ResultTables.write`."""
        if columns != "crowdwise":
            raise CallError(f"columns={shown(columns)} does nothing for sets of classes: leave it out.")
        super().write(*paths, **more)

    def _by_class(self, name: str, values: Array) -> list[pl.Series]:
        sets = self.sets
        if len(sets.classes) > _MOST_COLUMNS:
            raise CallError(
                f"A column for each of {len(sets.classes):,} classes is too many: `pairs()` has a row for every item "
                "and class that somebody named."
            )
        found = np.full((len(sets.items), len(sets.classes)), np.nan)
        found[sets.item_of, sets.class_of] = values
        names = sets.classes.cast(pl.String)
        return [pl.Series(f"{name}_{of}", found[:, k], nan_to_null=True) for k, of in enumerate(names)]

    def __repr__(self) -> str:
        return f"SetResult({len(self.sets.items):,} items, {len(self.sets.classes):,} classes; {self.result!r})"

    def _repr_html_(self) -> str:
        """What a notebook shows: how it ended, and the first rows of the tables."""
        return shown_in_notebook(self, Labels=self.to_frame(), Workers=self.workers_frame())


def sets_of(result: Result, labels: Labels, at_least: float | None = None, costs: Any = None) -> SetResult:
    """Return the sets of classes that follow from a result about questions.

    Args:
        result: The result of a method, fitted to these labels.
        labels: Labels that were read with `multi="each"`.
        at_least: The probability from which on a class is in the set; None for more probable than not.
        costs: Instead of it: what a wrong yes and a wrong no cost, as `decide` takes costs; a path, a table with the
            columns truth, label and cost, or a mapping such as {("yes", "no"): 5, ("no", "yes"): 1}.
    """
    if labels.sets is None:
        raise CallError('Sets of classes are of labels that were read with multi="each" (--multi each).')
    if costs is not None:
        if at_least is not None:
            raise CallError("Give at_least (--at-least) or costs, not both.")
        aligned = align(read_costs(costs), pl.Series([NO, YES]))
        if aligned.can_abstain:
            raise CallError("Sets of classes have no decision to abstain: leave it out of the costs.")
        wrong_yes, wrong_no = aligned.matrix[0, 1], aligned.matrix[1, 0]
        at_least = wrong_yes / (wrong_yes + wrong_no) if wrong_yes + wrong_no > 0 else EVEN
    return SetResult(result, labels.sets, check_at_least(at_least))


def check_at_least(at_least: float | None) -> float:
    """Return the probability from which on a class is in a set. Raises `CallError` if it is none."""
    if at_least is None:
        return EVEN
    if isinstance(at_least, bool) or not isinstance(at_least, int | float) or not 0 <= at_least <= 1:
        raise CallError(f"at_least={shown(at_least)} (--at-least) has to be a probability, from 0 to 1.")
    return float(at_least)
