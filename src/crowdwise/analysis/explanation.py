"""`explain`: why an item has its label: what every vote adds, and what would change the answer."""

from dataclasses import dataclass, fields
from html import escape
from typing import Any, Final

import numpy as np
import polars as pl

from ..crowd.ids import comparable
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..errors import CallError, quoted, require_extra, shortened, shown
from ..numerics import Array
from ..results.contributions import Contributions
from ..results.intervals import NORMAL
from ..results.result import Result
from .counterfactual import Flip, smallest_flip
from .pairing import same_labels

# The most characters of a name in a sentence or a chart.
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why an item has its label. `prior`, the contributions of `votes` and `limit` add up to `difference`.

    Attributes:
        item: The name of the item.
        label: The answer.
        runner_up: The second best class.
        tied: Whether the answer and the runner-up have the same score.
        score: The score of the answer.
        runner_up_score: The score of the runner-up.
        interval: A 95 % interval of the score; None if the method has none.
        scale: The unit of the contributions and of the difference. "log odds": the logarithm of the answer's score
            divided by the runner-up's. "score": the answer's score minus the runner-up's.
        votes: One row per vote, with the columns worker, said and contribution; the largest contribution to the answer
            is first.
        prior: The contribution of what is known before any vote.
        difference: The lead of the answer over the runner-up.
        flip: The fewest votes that would have to name another class to make it the answer; None if no class would be
            the answer if these votes named it.
        gold: Whether the answer was given as gold; then the votes only say what they would have made of it.
        limit: What the limits of confidence add at last, mostly below 0: no number of votes makes an answer certain.
        named: Whether any vote names the answer; a method with confusion matrices may infer a class that nobody named.
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
    gold: bool = False
    limit: float = 0.0
    named: bool = True

    def chart(self) -> Any:
        """Return `steps` as an Altair chart; needs the extra `report`."""
        require_extra("report", "A chart")
        from . import charts  # imported here because it needs the extra

        return charts.waterfall(self.steps(), self.axis, charts.PLAIN)

    @property
    def axis(self) -> str:
        """The meaning of the contributions, as the title of an axis."""
        return f"{'Log odds' if self.scale == 'log odds' else 'Score'} of {self._between}"

    @property
    def _between(self) -> str:
        """The two classes that the explanation is about, in words."""
        return f"{_name(self.label)} over {_name(self.runner_up)}"

    def steps(self, most: int = 20) -> pl.DataFrame:
        """Return the contributions as the steps of a waterfall chart: each step starts where the one before ends.

        Args:
            most: The number of votes that have a step of their own. The other votes, which have the smallest
                contributions, are one step together.

        Returns:
            One row per step: the prior, the votes, the other votes together, the limits of confidence, and last the
            lead that results. The columns are step (its name), kind ("prior", "vote", "rest", "limit" or "lead"),
            contribution, start, end and text (the contribution as it is shown). A vote that rules the runner-up out has
            an infinite contribution; its step is longer by one than all other steps together, so that it can be drawn.
        """
        size = pl.col("contribution").abs()
        large = self.votes.with_row_index("place").top_k(most, by=size).sort("place").drop("place")
        rows = [("before any vote", "prior", self.prior)] if self.prior else []
        rows += [(f"{_name(worker)} said {_name(said)}", "vote", added) for worker, said, added in large.iter_rows()]
        left = self.votes.height - large.height
        if left:
            rest = self.difference - self.limit - self.prior - float(large["contribution"].sum())
            rows.append((several(left, "more vote", "more votes"), "rest", rest))
        if self.limit:
            rows.append(("limits of confidence", "limit", self.limit))
        steps = pl.DataFrame(rows, schema=["step", "kind", "contribution"], orient="row", infer_schema_length=None)
        added = pl.col("contribution")
        finite = pl.when(added.is_finite()).then(added).otherwise(0.0).abs()
        end = pl.when(added.is_infinite()).then(added.sign() * (finite.sum() + 1)).otherwise(added).cum_sum()
        steps = steps.with_columns(end.shift(1, fill_value=0.0).alias("start"), end.alias("end"))
        last = pl.DataFrame(
            [(self._between, "lead", self.difference, 0.0, steps["end"][-1])],
            schema=steps.schema,
            orient="row",
        )
        shown = added.map_elements(_shown, return_dtype=pl.String)
        return steps.vstack(last).with_columns(shown.alias("text"))

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, what every vote added, and what would change it."""
        what = f"Item {quoted(self.item)}: {quoted(self.label)}"
        what += f", not {quoted(self.runner_up)}" if self.runner_up is not None else ""
        return f"<p>{escape(what)}</p>{self.votes._repr_html_()}<p>{escape(self.remedy)}</p>"

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as plain values for JSON; an infinite contribution becomes None."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["votes"] = [
            {**row, "contribution": _finite(row["contribution"])} for row in self.votes.iter_rows(named=True)
        ]
        values["prior"], values["difference"] = _finite(self.prior), _finite(self.difference)
        if self.flip is not None:
            values["flip"] = {"label": self.flip.label, "changes": self.flip.changes.to_dicts()}
        return values

    @property
    def remedy(self) -> str:
        """A sentence that says which change of votes would change the answer."""
        if self.gold:
            return "The answer was given as gold, so no votes would change it."
        nobody = "" if self.named else f"No worker named {quoted(self.label)}. "
        if self.flip is None:
            return f"{nobody}No other class would be the answer if these votes named it."
        changes = [
            f"{quoted(worker)} had said {quoted(other)} instead of {quoted(said)}"
            for worker, said, other in self.flip.changes.rows()
        ]
        if len(changes) > 5:
            changes[5:] = [f"{len(changes) - 5:,} more likewise"]
        conditions = " and ".join(filter(None, (", ".join(changes[:-1]), changes[-1])))
        return f"{nobody}The answer would be {quoted(self.flip.label)} if {conditions}."


def explain(result: Result, labels: Labels, item: Any) -> Explanation:
    """Explain why an item has its label.

    The explanation is exact: the contributions are the terms of the method's own sum, with its fitted parameters.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        item: The name of the item.

    Raises:
        CallError: There is no such item, the result is not from these labels, or the scores of the method are not sums
            over votes.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 1], ["ann", "bob", "cem"], ["cat", "cat", "dog"])
    >>> why = explain(cw.MajorityVote().fit(labels), labels, 1)
    >>> why.label, why.runner_up, round(why.difference, 2)
    ('cat', 'dog', 0.33)
    >>> why.remedy
    "The answer would be 'dog' if 'ann' had said 'dog' instead of 'cat'."
    """
    labels = same_labels(result, labels)
    refuse_unexplained(result)
    return explain_code(result, labels, find_item(result, item))


def refuse_unexplained(result: Result) -> None:
    """Raise a CallError if the method's scores are not sums over votes, or if there is only one class."""
    result.method.require(contributions=True)
    if len(result.names.classes) < 2:
        raise CallError(f"There is only one class, {quoted(result.names.classes[0])}, so there is nothing to explain.")


def explain_code(result: Result, labels: Labels, i: int) -> Explanation:
    """Explain the item with the code `i`.

    The caller must have called `refuse_unexplained`, and `same_labels` for the labels.

    Raises:
        CallError: All classes of this item are impossible.
    """
    one = labels.slice(i, i + 1)
    added: Contributions = result.method.contributions(one, i, result.workers)
    winner, rival = int(result.ranking[0][i]), int(result.ranking[1][i])
    gold = result.gold is not None and bool(result.gold[i] >= 0)
    if gold:  # scores say nothing about the other classes, but votes do
        others = np.delete(np.arange(len(result.names.classes)), winner)
        rival = int(others[added.sums(one.labels.astype(np.int64))[others].argmax()])
    said = one.labels.astype(np.int64)
    if added.sums(said)[winner] == -np.inf and not gold:
        raise CallError(
            f"{type(result.method).__name__} finds every class of item {result.names.items[i]!r} impossible and so "
            "calls them equally likely: there is nothing to add up."
        )
    # A vote that names several classes has several rows; the rows after its first are marked as continued.
    vote_of = np.arange(len(said)) if one.continued is None else np.cumsum(~one.continued.astype(bool)) - 1
    lead = added.lead(winner, rival)[np.arange(len(said)), said]
    contributions = np.bincount(vote_of, weights=lead)
    prior = float(added.prior[winner] - added.prior[rival])
    limit = 0.0 if added.limits is None else float(added.limits[winner] - added.limits[rival])
    names = result.names
    voters = names.workers.gather(one.workers[np.flatnonzero(np.diff(vote_of, prepend=-1))])
    words = _said(names.classes, said, vote_of)
    votes = pl.DataFrame({"worker": voters, "said": words, "contribution": contributions})
    spread = None if gold or result.variance is None else NORMAL * float(np.sqrt(result.variance[i, winner]))
    score = float(result.scores[i, winner])
    return Explanation(
        item=names.items[i],
        label=names.classes[winner],
        runner_up=names.classes[rival],
        tied=bool(result.ties[i]),
        score=score,
        runner_up_score=float(result.scores[i, rival]),
        # A score lies between 0 and 1, and so does what it may be.
        interval=None if spread is None else (max(score - spread, 0.0), min(score + spread, 1.0)),
        scale="log odds" if added.logarithmic else "score",
        votes=votes.sort("contribution", descending=True, maintain_order=True),
        prior=prior,
        difference=prior + float(contributions.sum()) + limit,
        flip=None if gold else smallest_flip(added, said, vote_of, (winner, rival), names.classes, votes),
        gold=gold,
        limit=limit,
        named=bool((said == winner).any()),
    )


def find_item(result: Result, item: Any) -> int:
    """Return the code of an item, given its name; a number may be given as text.

    Raises:
        CallError: There is no such item.
    """
    return find_name(result.names.items, item, "item")


def find_name(names: pl.Series, name: Any, what: str) -> int:
    """Return the place of a name among names; a number may be given as text.

    Args:
        names: The names.
        name: The name that is looked for.
        what: What the names are of, for the message.

    Raises:
        CallError: There is no such name.
    """
    place = None
    try:
        wanted, ours = comparable(pl.Series([name]), names) if isinstance(name, str) else (pl.Series([name]), names)
        place = ours.index_of(wanted[0])
    except (Exception, pl.exceptions.PanicException):  # the name may be anything
        place = None
    if place is None:
        # Text stands for a number too. Of other values, the type may be what is wrong.
        words = (quoted(name), quoted(names[0])) if isinstance(name, str) else (shown(name), shown(names[0]))
        pairs = names.filter(names.str.starts_with(f"{name}: ")) if names.dtype == pl.String else names.head(0)
        some = f"{', '.join(map(quoted, pairs.head(3)))}{', ...' if len(pairs) > 3 else ''}"
        about = f"there are {some}" if len(pairs) else f"the first one is {words[1]}"
        raise CallError(f"There is no {what} {words[0]}; {about}.")
    return int(place)


def _shown(contribution: float) -> str:
    """Write a contribution with its sign and three decimals, or in scientific notation if these would be zeros."""
    if np.isinf(contribution):
        return "rules it out"
    return f"{contribution:+.3f}" if contribution == 0 or abs(contribution) >= 0.001 else f"{contribution:+.1e}"


def _name(value: Any) -> str:
    """Return the name of a worker or a class for a sentence or a chart; a long one is cut."""
    return shortened(str(value), _LONGEST_NAME)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _said(classes: pl.Series, said: Array, vote_of: Array) -> pl.Series:
    """Return what each vote says: class names, or text such as "a + b" if there are votes for several classes."""
    if len(said) == vote_of[-1] + 1:
        return classes.gather(said)
    rows = pl.DataFrame({"vote": vote_of, "said": classes.cast(pl.String).gather(said)})
    return rows.group_by("vote", maintain_order=True).agg(pl.col("said").str.join(" + "))["said"]
