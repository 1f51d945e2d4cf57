"""`Comparisons`: who said which of two objects is better, as codes; and `Cells`, votes that are alike counted once."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from ..caution import listed
from ..numerics import Array

# What a vote may say.
FIRST: Final = 1
TIE: Final = 0
SECOND: Final = -1
# What votes have in common that are not independent.
BY_PROMPT: Final = "prompt"
BY_ITEM: Final = "item"
BY_VOTE: Final = "vote"


class Cells(NamedTuple):
    """Votes of one judge on one ordered pair (and one prompt), counted. All members have one entry for each cell."""

    judge: Array
    first: Array
    second: Array
    prompt: Array
    n1: Array  # votes for the first
    n2: Array  # votes for the second
    n0: Array  # ties

    @property
    def n(self) -> Array:
        """How many votes every cell has."""
        return self.n1 + self.n2 + self.n0


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Votes of judges on pairs of objects. Members without a comment have one entry for each vote.

    Attributes:
        objects: The names of the objects, in order.
        judges: The names of the judges, in order.
        judge: The code of the judge.
        first: The code of the object that the judge saw first.
        second: The code of the other one.
        outcome: FIRST, SECOND or TIE.
        prompt: The code of the prompt; votes on one prompt are not independent.
        cluster: What `prompt` is: BY_PROMPT, BY_ITEM or BY_VOTE.
        ordered: Whether it is known which object the judge saw first.
        remarks: Sentences about how the input was understood.
    """

    objects: pl.Series
    judges: pl.Series
    judge: Array
    first: Array
    second: Array
    outcome: Array
    prompt: Array
    cluster: str = BY_PROMPT
    ordered: bool = True
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.judge)

    def in_order(self) -> "Comparisons":
        """Return the votes in an order that does not depend on that of the rows; then sums do not either."""
        keys = (self.outcome, self.second, self.first, self.judge)
        order = np.lexsort(keys if self.cluster == BY_VOTE else (*keys, self.prompt))
        prompt = np.arange(len(self)) if self.cluster == BY_VOTE else self.prompt[order]
        return replace(
            self,
            judge=self.judge[order],
            first=self.first[order],
            second=self.second[order],
            outcome=self.outcome[order],
            prompt=prompt,
        )

    def without(self, judges: Array, remark: str) -> "Comparisons":
        """Return the votes of the other judges, and the objects that these compared; `judges` are codes."""
        kept = ~np.isin(self.judge, judges)
        judge_codes, judge = np.unique(self.judge[kept], return_inverse=True)
        object_codes, both = np.unique(np.stack([self.first[kept], self.second[kept]]), return_inverse=True)
        first, second = both.reshape(2, -1)
        gone = self.objects.filter(~pl.int_range(len(self.objects), eager=True).is_in(object_codes.tolist()))
        if len(gone):
            remark = f"{remark} With them go the objects that only they compared: {listed(gone.to_list())}."
        return replace(
            self,
            objects=self.objects.gather(object_codes),
            judges=self.judges.gather(judge_codes),
            judge=judge,
            first=first,
            second=second,
            outcome=self.outcome[kept],
            prompt=np.unique(self.prompt[kept], return_inverse=True)[1],
            remarks=(*self.remarks, remark),
        ).in_order()

    @cached_property
    def component(self) -> Array:
        """For every object, the number of the connected component that it is in; the largest is 0."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        count = len(self.objects)
        graph = coo_array((np.ones(len(self), np.int8), (self.first, self.second)), shape=(count, count))
        _, found = connected_components(graph, directed=False)
        sizes = np.bincount(found)
        number = np.empty(len(sizes), np.int64)
        number[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        return number[found]

    @property
    def pair(self) -> Array:
        """For every vote, a number of its pair of objects, whichever came first."""
        return np.minimum(self.first, self.second) * len(self.objects) + np.maximum(self.first, self.second)

    def records(self) -> tuple[Array, Array, Array]:
        """Return how often every object won, lost and tied."""

        def number(end: Array, said: int) -> Array:
            return np.bincount(end[self.outcome == said], minlength=len(self.objects))

        return (
            number(self.first, FIRST) + number(self.second, SECOND),
            number(self.first, SECOND) + number(self.second, FIRST),
            number(self.first, TIE) + number(self.second, TIE),
        )

    def share_in_both_orders(self) -> float:
        """Return the share of votes on pairs that were shown in both orders."""
        _, pair = np.unique(self.pair, return_inverse=True)
        ascending = np.bincount(pair, self.first < self.second)
        votes = np.bincount(pair)
        return float(votes[(ascending > 0) & (ascending < votes)].sum() / len(self))

    def cells(self, *, by_prompt: bool = False, by_judge: bool = True) -> Cells:
        """Count votes that have first and second in common, and judge and prompt if asked for; by component."""
        none = np.zeros(len(self), np.int64)
        judge, prompt = self.judge if by_judge else none, self.prompt if by_prompt else none
        order = np.lexsort((self.second, self.first, judge, prompt, self.component[self.first]))
        judge, first, second, prompt = (one[order] for one in (judge, self.first, self.second, prompt))
        new = np.ones(len(self), bool)
        new[1:] = np.any([np.diff(one) != 0 for one in (judge, first, second, prompt)], axis=0)
        cell = np.cumsum(new) - 1
        outcome = self.outcome[order]
        counts = (np.bincount(cell, outcome == said) for said in (FIRST, SECOND, TIE))
        return Cells(judge[new], first[new], second[new], prompt[new], *counts)
