"""Why an item has its label: what every vote added, and what would have changed the answer."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from ..data.labels import Labels
from ..data.reading_report import several
from ..errors import CallError, require_extra
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.result import Result
from .counterfactual import Flip, smallest_flip
from .evaluation import NORMAL


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why an item has its label. `prior` and the contributions of `votes` add up to `difference`.

    Attributes:
        item: The item.
        label: The answer.
        runner_up: The class that came second.
        tied: Whether the two have the same score.
        score: The answer's score.
        runner_up_score: The runner-up's.
        interval: A 95 % interval of the score; None where the method has none.
        scale: In what the votes add up: "log odds", the logarithm of one score over the other, or "score", one score
            less the other.
        votes: One row per vote, what speaks most for the answer first: worker, said, contribution.
        prior: The contribution of what is known before any vote.
        difference: The answer's lead over the runner-up, on that scale.
        flip: What would change the answer; None where no change of these votes would.
    """

    item: Any
    label: Any
    runner_up: Any
    tied: bool
    score: float
    runner_up_score: float
    interval: tuple[float, float] | None
    scale: str
    votes: pl.DataFrame
    prior: float
    difference: float
    flip: Flip | None

    def chart(self) -> Any:
        """The waterfall as an Altair chart; needs the extra `report`."""
        require_extra("report", "A chart")
        from . import charts  # needs the extra

        return charts.waterfall(self.steps(), self.axis, charts.PLAIN)

    @property
    def axis(self) -> str:
        """What the contributions are, in words."""
        between = f"{self.label} over {self.runner_up}"
        return f"Log odds of {between}" if self.scale == "log odds" else f"Score of {between}"

    def steps(self, most: int = 20) -> pl.DataFrame:
        """The waterfall: what is added, and from where to where that leads; the lead that results comes last.

        At most so many votes stand for themselves; the others, which weigh least, are one step together. An infinite
        contribution, of a vote that rules the runner-up out, leads as far as all others together and one more.
        Columns: step, kind (prior, vote, rest or lead), contribution, start, end, text (the contribution as shown).
        """
        size = pl.col("contribution").abs()
        large = self.votes.with_row_index("place").top_k(most, by=size).sort("place").drop("place")
        rows = [("before any vote", "prior", self.prior)] if self.prior else []
        rows += [(f"{worker} said {said}", "vote", added) for worker, said, added in large.iter_rows()]
        left = self.votes.height - large.height
        if left:
            rest = self.difference - self.prior - float(large["contribution"].sum())
            rows.append((several(left, "more vote", "more votes"), "rest", rest))
        steps = pl.DataFrame(rows, schema=["step", "kind", "contribution"], orient="row", infer_schema_length=None)
        added = pl.col("contribution")
        finite = pl.when(added.is_finite()).then(added).otherwise(0.0).abs()
        end = pl.when(added.is_infinite()).then(added.sign() * (finite.sum() + 1)).otherwise(added).cum_sum()
        steps = steps.with_columns(end.shift(1, fill_value=0.0).alias("start"), end.alias("end"))
        last = pl.DataFrame(
            [(f"{self.label} over {self.runner_up}", "lead", self.difference, 0.0, steps["end"][-1])],
            schema=steps.schema,
            orient="row",
        )
        shown = added.map_elements(_shown, return_dtype=pl.String)
        return steps.vstack(last).with_columns(shown.alias("text"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; a contribution that rules the runner-up out is null."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        told["votes"] = [
            {**row, "contribution": _finite(row["contribution"])} for row in self.votes.iter_rows(named=True)
        ]
        told["prior"], told["difference"] = _finite(self.prior), _finite(self.difference)
        if self.flip is not None:
            told["flip"] = {"label": self.flip.label, "changes": self.flip.changes.to_dicts()}
        return told

    @property
    def remedy(self) -> str:
        """What would change the answer, in a sentence."""
        if self.flip is None:
            return "No change of these votes alone would change the answer."
        changes = [f"{worker} had said {other} instead of {said}" for worker, said, other in self.flip.changes.rows()]
        if len(changes) > 5:
            changes[5:] = [f"{len(changes) - 5:,} more likewise"]
        told = " and ".join(filter(None, (", ".join(changes[:-1]), changes[-1])))
        return f"The answer would be {self.flip.label} if {told}."


def explain(result: Result, labels: Labels, item: Any) -> Explanation:
    """Say why an item has its label: exactly, for the method as it was fitted.

    Args:
        result: What a method found.
        labels: The labels it was found from.
        item: The item, by its own name.

    Raises:
        CallError: There is no such item, or the method's scores are no sums over votes.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1], ["ann", "bob", "cem"], ["cat", "cat", "dog"])
    >>> why = explain(cw.MajorityVote().fit(labels), labels, 1)
    >>> why.label, why.runner_up, round(why.difference, 2)
    ('cat', 'dog', 0.33)
    >>> why.remedy
    'The answer would be dog if ann had said dog instead of cat.'
    """
    refuse_unexplained(result)
    require_same(result, labels)
    return explain_code(result, labels, find_item(result, item))


def refuse_unexplained(result: Result) -> None:
    """Refuse a method whose scores are no sums over votes, and a result in which nothing was decided."""
    name = type(result.method).__name__
    if result.method.unexplained_reason:
        raise CallError(f"{name} cannot tell what each vote contributes: {result.method.unexplained_reason}.")
    if len(result.names.classes) < 2:
        raise CallError(f"There is only one class, {result.names.classes[0]!r}, so there is nothing to explain.")


def explain_code(result: Result, labels: Labels, i: int) -> Explanation:
    """Explain the item with this code; the caller has checked the method and the labels."""
    one = labels.slice(i, i + 1)
    added: Contributions = result.method.contributions(one, i, result.workers)
    winner, rival = int(result.ranking[0][i]), int(result.ranking[1][i])
    said = one.labels.astype(np.int64)
    if added.sums(said)[winner] == -np.inf:
        raise CallError(
            f"{type(result.method).__name__} finds every class of item {result.names.items[i]!r} impossible and so "
            "calls them equally likely: there is nothing to add up."
        )
    # Rows that continue a vote belong to the one before.
    vote_of = np.arange(len(said)) if one.continued is None else np.cumsum(~one.continued.astype(bool)) - 1
    lead = added.lead(winner, rival)[np.arange(len(said)), said]
    contributions = np.bincount(vote_of, weights=lead)
    prior = float(added.prior[winner] - added.prior[rival])
    names = result.names
    voters = names.workers.gather(one.workers[np.flatnonzero(np.diff(vote_of, prepend=-1))])
    words = _said(names.classes, said, vote_of)
    votes = pl.DataFrame({"worker": voters, "said": words, "contribution": contributions})
    spread = None if result.variance is None else NORMAL * float(np.sqrt(result.variance[i, winner]))
    score = float(result.scores[i, winner])
    return Explanation(
        item=names.items[i],
        label=names.classes[winner],
        runner_up=names.classes[rival],
        tied=bool(result.ties[i]),
        score=score,
        runner_up_score=float(result.scores[i, rival]),
        interval=None if spread is None else (score - spread, score + spread),
        scale="log odds" if added.logarithmic else "score",
        votes=votes.sort("contribution", descending=True, maintain_order=True),
        prior=prior,
        difference=prior + float(contributions.sum()),
        flip=smallest_flip(added, said, vote_of, (winner, rival), names.classes, votes),
    )


def find_item(result: Result, item: Any) -> int:
    """The code of an item by its own name; text also finds a number."""
    names = result.names.items
    if isinstance(item, str) and names.dtype != pl.String:
        names = names.cast(pl.String)
    place = None
    if isinstance(item, str) == (names.dtype == pl.String):
        place = names.index_of(item)
    if place is None:
        raise CallError(f"There is no item {item!r}; the first one is {result.names.items[0]!r}.")
    return int(place)


def _shown(contribution: float) -> str:
    """Signed, with three decimals, or two digits where those would be zeros."""
    if np.isinf(contribution):
        return "rules it out"
    return f"{contribution:+.3f}" if contribution == 0 or abs(contribution) >= 0.001 else f"{contribution:+.1e}"


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def require_same(result: Result, labels: Labels) -> None:
    """Refuse labels that the result was not found from, as far as names tell."""
    for role in ("items", "workers", "classes"):
        ours, theirs = getattr(result.names, role), getattr(labels.names, role)
        if ours is not theirs and not (ours.dtype == theirs.dtype and ours.equals(theirs)):
            raise CallError(f"These labels are not those of the result: their {role} differ.")


def _said(classes: pl.Series, said: Array, vote_of: Array) -> pl.Series:
    """What each vote names, in the user's own dtype; as text where a vote names several classes."""
    if len(said) == vote_of[-1] + 1:
        return classes.gather(said)
    rows = pl.DataFrame({"vote": vote_of, "said": classes.cast(pl.String).gather(said)})
    return rows.group_by("vote", maintain_order=True).agg(pl.col("said").str.join(" + "))["said"]
