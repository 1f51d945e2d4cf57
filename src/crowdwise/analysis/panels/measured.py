"""`Measured`: what judges and the panel said about items whose class is known, or believed with some probability.

Without a truth, the panel's own probabilities take its place: a judge's chance to be right is the probability of the
class that it named. Everything that is computed here is the same for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ...crowd.ids import codes_of
from ...crowd.labels import Labels
from ...errors import DataError, quoted
from ...fitting.method import Method
from ...methods.ds import DawidSkene
from ...numerics import Array
from ...reading.read_truth import Truths
from ...results.result import Result
from ..evaluation import match

# A panel has a table of items and judges with no more cells than this.
_MOST_CELLS: Final = 50_000_000


@dataclass(frozen=True, eq=False)
class Measured:
    """What judges and the panel said about the items that are measured. Judges are in the order of their names.

    Attributes:
        judges: The names of the judges.
        items: The names of the items.
        said: (items, judges), the code of the class that the judge named; -1 without a vote.
        chance: (items, classes), the probability that the class is the true one: 1 or 0 if that is known.
        answers: (items), the codes of the panel's answers.
        panel: (items), the chance that the panel's answer is right; of m tied classes, the mean.
        known: Whether the true classes are known; if not, `chance` is what the panel believes.
    """

    judges: pl.Series
    items: pl.Series
    said: Array
    chance: Array
    answers: Array
    panel: Array
    known: bool

    @cached_property
    def right(self) -> Array:
        """(items, judges), the chance that the judge is right; NaN without a vote."""
        chance = np.take_along_axis(self.chance, np.maximum(self.said, 0), axis=1)
        return np.where(self.said >= 0, chance, np.nan)

    @cached_property
    def votes(self) -> Array:
        """(judges), how many of these items the judge has a vote on."""
        return np.asarray((self.said >= 0).sum(axis=0))


class Without(NamedTuple):
    """The panel without one judge.

    Attributes:
        panel: (measured items), the chance that its answer is right; 0 for an item that nobody else has a vote on.
        changed: The share of all items whose answer is another one, or has none.
        agreed: On how many items the judge names the answer of the others.
        compared: On how many items both the judge and the others say something.
        answers: (items), the codes of the answers, -1 for items that nobody else has a vote on.
    """

    panel: Array
    changed: float
    agreed: int
    compared: int
    answers: Array


@dataclass(frozen=True, eq=False)
class Panel:
    """The answers of a method to what judges said, all of them and without single ones.

    Attributes:
        labels: What the judges said.
        result: The result of a method.
        truth: The true classes of some items, which the method is not told; None if they are not known.
        gold: The true classes of some items, which it is told; each is measured by a fit that is not told it.
    """

    labels: Labels
    result: Result
    truth: pl.DataFrame | None = None
    gold: Truths | None = None

    @classmethod
    def fitted(cls, labels: Labels, method: Method, truth: pl.DataFrame | None, gold: Truths | None) -> "Panel":
        """Fit the method to all judges. Raises `DataError` if this is no panel, or too large."""
        if labels.n_items * labels.n_workers > _MOST_CELLS:
            raise DataError(
                f"A panel is a few judges who each saw most items, and here are {labels.n_workers:,} workers on "
                f"{labels.n_items:,} items: use `crowdwise aggregate` and `crowdwise blocks` for large crowds."
            )
        if np.bincount(labels.item_of * labels.n_workers + labels.workers).max() > 1:
            raise DataError(
                'Some judges have several votes on an item: read them with duplicates="samples" (--duplicates '
                "samples), where each answer is a vote of its own."
            )
        if gold is not None and (labels.names.class_codes(gold.table["truth"]) < 0).all():
            raise DataError(
                f"The gold shares no class with the labels: it has {quoted(gold.table['truth'][0])}, for example, the "
                f"labels have {quoted(labels.names.classes[0])}."
            )
        return cls(labels, method.fit(labels, gold=gold, warn=False), truth, gold)

    @cached_property
    def order(self) -> Array:
        """The codes of the judges in the order of their names."""
        names = [str(name) for name in self.labels.names.workers.to_list()]
        return np.argsort(np.array(names), kind="stable")

    @cached_property
    def measured(self) -> Measured:
        """What judges and the panel said about the items whose class is known; about all, if none is known."""
        labels, result = self.labels, self.result
        known = self._known
        if known is None:
            items, chance = np.arange(labels.n_items), result.probabilities
            panel = chance[items, result.answers]
        else:
            items, truths = known
            chance = np.zeros((len(items), len(result.names.classes)))
            chance[np.flatnonzero(truths >= 0), truths[truths >= 0]] = 1.0
            panel = self._right(result, items, truths)
        said = np.full((labels.n_items, labels.n_workers), -1)
        codes = labels.names.codes_in(result.names.classes)
        said[labels.item_of, labels.workers] = codes[labels.labels]
        names = labels.names.workers.gather(self.order).alias("judge")
        return Measured(
            names,
            labels.names.items.gather(items),
            said[items][:, self.order],
            chance,
            result.answers[items],
            panel,
            known is not None,
        )

    def independent(self, blocks: Sequence[pl.Series]) -> Measured | None:
        """Return what one would believe if judges erred independently; None if classes are known.

        The panel's own probabilities expect that judges err together, as they do in most crowds. Of judges in a block,
        who agree too often to be independent, the first alone counts.
        """
        if self.measured.known:
            return None
        labels = self.labels
        for block in blocks:
            for name in block[1:]:
                labels = _without(labels, int(codes_of(pl.Series([name]), labels.names.workers)[0]))
        found = DawidSkene().fit(labels, warn=False)
        chance = self.measured.chance.copy()
        items = codes_of(found.names.items, self.measured.items)
        chance[items] = found.scores[:, self.result.names.codes_in(found.names.classes)]
        return replace(self.measured, chance=chance)

    @cached_property
    def _known(self) -> tuple[Array, Array] | None:
        """The codes of the items whose class is known, and of their classes, -1 for one that no label names."""
        if self.truth is not None:
            matched = match(self.result, self.truth)
            return matched.items, matched.truths
        if self.gold is None:
            return None
        check = self.result.gold_check
        if check is None:
            raise DataError(
                "Judges are measured by items that were drawn at random, and fewer than two gold items were: draw some "
                "at random, or give them as --truth."
            )
        table = self.gold.table
        items = codes_of(check.measured["item"], self.labels.names.items)
        rows = codes_of(check.measured["item"], table["item"])
        return items, self.result.names.class_codes(table["truth"].gather(rows))

    def _right(self, result: Result, items: Array, truths: Array) -> Array:
        """(items), how far the answer of a result is right; items and truths are codes of all labels."""
        names = self.labels.names.items.gather(items)
        right = np.zeros(len(items))
        if self.gold is not None and result.gold_check is not None:
            found = codes_of(names, result.gold_check.measured["item"])
            right[found >= 0] = result.gold_check.measured["right"].to_numpy()[found[found >= 0]]
            return right
        found = codes_of(names, result.names.items)
        there = found >= 0
        right[there] = result.wins(found[there], truths[there])
        return right

    def without(self, place: int) -> Without:
        """Return what the panel is without the judge at this place in the order of names."""
        labels, code = self.labels, int(self.order[place])
        others = _without(labels, code)
        method: Any = self.result.method
        result: Result = method.fit(others, gold=self.gold, warn=False)
        answers = np.full(labels.n_items, -1)
        found = codes_of(result.names.items, labels.names.items)
        answers[found] = result.names.codes_in(self.result.names.classes)[result.answers]
        if self._known is None:
            chance = self.result.probabilities
            panel = np.where(answers >= 0, chance[np.arange(len(answers)), np.maximum(answers, 0)], 0.0)
        else:
            panel = self._right(result, *self._known)
        mine = labels.workers == code
        items = labels.item_of[mine]
        said = labels.names.codes_in(self.result.names.classes)[labels.labels[mine]]
        compared = answers[items] >= 0
        agreed = int((said == answers[items])[compared].sum())
        changed = float((answers != self.result.answers).mean())
        return Without(panel, changed, agreed, int(compared.sum()), answers)


def _without(labels: Labels, worker: int) -> Labels:
    """Return what the other workers said; items that only this one labelled are gone."""
    kept = labels.workers != worker
    sizes = np.bincount(labels.item_of[kept], minlength=labels.n_items)
    items = np.flatnonzero(sizes)
    others = np.delete(np.arange(labels.n_workers), worker)
    names, sample_of = labels.names, labels.names.sample_of
    if sample_of is not None:
        # The first of the samples that are left stands for all of them.
        _, first, group = np.unique(sample_of[others], return_index=True, return_inverse=True)
        sample_of = first[group]
    names = replace(names, items=names.items.gather(items), workers=names.workers.gather(others), sample_of=sample_of)
    return replace(
        labels,
        item_starts=np.concatenate([[0], np.cumsum(sizes[items])]),
        workers=(labels.workers[kept] - (labels.workers[kept] > worker)).astype(labels.workers.dtype),
        labels=labels.labels[kept],
        soft=None if labels.soft is None else labels.soft[kept],
        names=names,
        gold=None,
        sets=None if labels.sets is None else labels.sets.without(worker, items),
    )
