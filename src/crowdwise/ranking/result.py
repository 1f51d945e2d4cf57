"""`RankResult`: the order of objects with intervals, the judges, and what every pair would score."""

import json
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Final

import numpy as np
import polars as pl
from scipy.special import expit

from ..caution import Caution
from ..errors import require_extra
from ..numerics import Array
from ..results.saving import save
from ..results.tables import as_html
from .comparisons import Comparisons
from .fit import Fit
from .guards import cautions_of, has_order, judge_flags, object_flags, unbounded
from .intervals import Uncertainty
from .position import positions
from .redundancy import Redundancy

_Z: Final = 1.959963984540054
# Another judge on the same prompt adds little if votes on an item are worth less than this share of their number.
_LITTLE: Final = 0.8


@dataclass(frozen=True, eq=False, repr=False)
class RankResult:
    """The order of objects by comparisons; `str` gives it in sentences.

    Attributes:
        objects: One row per object, the best first: object, component, votes, wins, losses, ties, theta (log odds
            against an average object in a vote of the panel's average judge), se, low and high (95 % interval),
            win_rate, win_low and win_high (share of decided votes against an average object), rank, rank_low and
            rank_high, theta_plain (Bradley and Terry's), flag. Ends that are not known are null.
        judges: One row per judge: judge, votes, d (discrimination; 1 is the average, below 0 is against the panel), b
            (position; above 0 prefers the first), both with intervals, first_of_100 (how often it takes the first of
            two equals), ties_of_100 (how many ties between equals), nearest and nearest_correlation (the judge that is
            most like it), flag. Position is null where it is not known what judges saw first, and in a plain fit, which
            has no d either.
        cautions: What to know before trusting this.
        remarks: How the input was understood.
        has_order: Whether there is a ranking: judges agree on an order.
    """

    objects: pl.DataFrame
    judges: pl.DataFrame
    cautions: tuple[Caution, ...]
    remarks: tuple[str, ...]
    has_order: bool
    votes: Comparisons
    fit: Fit
    uncertainty: Uncertainty
    redundancy: Redundancy

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one Arrow file, from which `load_result` reads it again, exactly."""
        save(self, path)

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """One row per two objects of one component, the better one first.

        Columns: a, b, diff, se, low, high, wins_of_100 (of 100 decided votes, how many a wins), wins_low, wins_high,
        and seen, how many votes compare the two. An end that is not known, because one of them won or lost everything,
        is null.
        """
        names, component = self.votes.objects, self.votes.component
        order = np.lexsort((np.arange(len(names)), -self.fit.theta, component))
        above, below = np.triu_indices(len(order), 1)
        first, second = order[above], order[below]
        known = component[first] == component[second]
        first, second = first[known], second[known]
        diff = self.fit.theta[first] - self.fit.theta[second]
        se = self.uncertainty.errors_between(first, second)
        won, lost = unbounded(self.votes)
        low = np.where(lost[first] | won[second], -np.inf, diff - self.uncertainty.quantile * se)
        high = np.where(won[first] | lost[second], np.inf, diff + self.uncertainty.quantile * se)
        count = len(names)
        pair, votes = np.unique(self.votes.pair, return_counts=True)
        wanted = np.minimum(first, second) * count + np.maximum(first, second)
        place = np.minimum(np.searchsorted(pair, wanted), len(pair) - 1)
        seen = np.where(pair[place] == wanted, votes[place], 0)
        return pl.DataFrame(
            {
                "a": names.gather(first),
                "b": names.gather(second),
                "diff": diff,
                "se": se,
                "low": _finite(low),
                "high": _finite(high),
                "wins_of_100": 100 * expit(diff),
                "wins_low": _finite(100 * expit(low), low),
                "wins_high": _finite(100 * expit(high), high),
                "seen": seen,
            }
        )

    @cached_property
    def positions(self) -> pl.DataFrame:
        """How often every judge takes what it sees first, and how many verdicts change with the order.

        Empty if it is not known what judges saw first. `position_table` in analysis/panels describes the columns.
        """
        return positions(self.votes)

    @property
    def wins(self) -> pl.DataFrame:
        """A row and a column per object: of 100 decided votes, how many the row wins against the column.

        Null between objects of different components, and of an object with itself.
        """
        names, component = self.objects["object"], self.objects["component"].to_numpy()
        theta = self.objects["theta"].to_numpy()
        won = 100 * expit(theta[:, None] - theta[None, :])
        won[component[:, None] != component[None, :]] = np.nan
        np.fill_diagonal(won, np.nan)
        columns = {str(name): pl.Series(won[:, place]).fill_nan(None) for place, name in enumerate(names)}
        return pl.DataFrame({"object": names.cast(pl.String), **columns})

    @property
    def chart(self) -> Any:
        """An Altair chart: theta with its interval for every object, the best first; needs the extra `report`."""
        require_extra("report", "A chart")
        from ..analysis import charts
        from .ranking_page import ranking_chart

        return ranking_chart(self, charts.PLAIN)

    def report(self, path: str | PathLike[str], *, command: str = "") -> None:
        """Write an HTML page about the ranking; needs the extra `report`.

        Args:
            path: The file to write; its name ends in .html.
            command: The command that makes the page again, if there is one.
        """
        from .ranking_page import ranking_page

        ranking_page(self, path, command)

    @property
    def summary(self) -> str:
        """What was found, in a few sentences."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the first place of every component, what it would score against the next, and what to ask next."""
        said = []
        if self.has_order:
            groups = self.objects.partition_by("component", maintain_order=True)
            said += [self._first_of(group, several=len(groups) > 1) for group in groups[:3] if group.height > 1]
            maybe_first = groups[0].filter(pl.col("rank_low") == 1).height
            if maybe_first > 1:
                where = " of group 1" if len(groups) > 1 else ""
                said.append(
                    f"{maybe_first:,} objects{where} may be first: compare these with each other, on more prompts."
                )
        else:
            said.append("There is no ranking: the votes do not say which object is better.")
        near = self.redundancy
        if near.correlation is not None and near.effective < _LITTLE * near.votes:
            said.append(
                f"Another judge on the same prompt adds little: {near.votes:.1f} votes on an item are worth "
                f"{near.effective:.1f} independent ones. Ask about more prompts."
            )
        return said

    def _first_of(self, group: pl.DataFrame, several: bool) -> str:
        best, other = group.row(0, named=True), group.row(1, named=True)
        pair = self.pairs.filter(pl.col("a") == best["object"], pl.col("b") == other["object"]).row(0, named=True)
        where = f" in group {best['component']}" if several else ""
        return (
            f"{best['object']} is first of {group.height:,}{where} (rank {best['rank_low']} to {best['rank_high']}); "
            f"of 100 decided votes against {other['object']} it would win {pair['wins_of_100']:.0f} "
            f"({_range(pair['wins_low'], pair['wins_high'])})."
        )

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, the objects and the judges."""
        return as_html(self.summary.splitlines(), {"Objects, the best first": self.objects, "Judges": self.judges})

    def __repr__(self) -> str:
        return (
            f"RankResult({len(self.votes):,} votes of {self.judges.height:,} judges on {self.objects.height:,} objects)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pairs as plain values for JSON."""
        near = self.redundancy
        return {
            "summary": self.summary,
            "votes": len(self.votes),
            "prompts": self.uncertainty.clusters,
            "clustered_by": self.votes.cluster,
            "plain": self.fit.plain,
            "has_order": self.has_order,
            "iterations": self.fit.iterations,
            "converged": self.fit.converged,
            "votes_per_item": near.votes,
            "effective_votes_per_item": near.effective,
            "residual_correlation": near.correlation,
            "objects": json.loads(self.objects.write_json()),
            "judges": json.loads(self.judges.write_json()),
            "remarks": list(self.remarks),
            "cautions": [one.to_dict() for one in self.cautions],
        }


def make_result(votes: Comparisons, fit: Fit, plain: Fit, uncertainty: Uncertainty, near: Redundancy) -> RankResult:
    """Return what a fit says, as tables and sentences."""
    ranked = has_order(votes, fit)
    objects = _objects_table(votes, fit, plain, uncertainty, ranked)
    judges = _judges_table(votes, fit, near)
    cautions = cautions_of(votes, fit, uncertainty, objects, judges)
    return RankResult(objects, judges, cautions, votes.remarks, ranked, votes, fit, uncertainty, near)


def _objects_table(votes: Comparisons, fit: Fit, plain: Fit, uncertainty: Uncertainty, ranked: bool) -> pl.DataFrame:
    wins, losses, ties = votes.records()
    won, lost = unbounded(votes)
    se = uncertainty.errors()
    low = np.where(lost, -np.inf, fit.theta - uncertainty.quantile * se)
    high = np.where(won, np.inf, fit.theta + uncertainty.quantile * se)
    rank, rank_low, rank_high = _ranks(votes.component, fit.theta, low, high)
    table = pl.DataFrame(
        {
            "object": votes.objects,
            "component": votes.component + 1,
            "votes": wins + losses + ties,
            "wins": wins,
            "losses": losses,
            "ties": ties,
            "theta": fit.theta,
            "se": se,
            "low": _finite(low),
            "high": _finite(high),
            "win_rate": expit(fit.theta),
            "win_low": _finite(expit(low), low),
            "win_high": _finite(expit(high), high),
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "theta_plain": plain.theta,
            "flag": object_flags(votes),
        }
    ).sort("component", "rank", "object")
    if not ranked:
        table = table.with_columns(pl.lit(None, pl.Int64).alias(name) for name in ("rank", "rank_low", "rank_high"))
    return table


def _range(low: float | None, high: float | None) -> str:
    """Return an interval in words; an end that is None is not known."""
    if low is None:
        return "no telling how often" if high is None else f"at most {high:.0f}"
    return f"at least {low:.0f}" if high is None else f"{low:.0f} to {high:.0f}"


def _finite(ends: Array, where: Array | None = None) -> pl.Series:
    """Return the ends of intervals, but null where they are infinite, or those of `where`: they are not known."""
    return pl.Series(ends).set(pl.Series(~np.isfinite(ends if where is None else where)), None)


def _ranks(component: Array, theta: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return the rank of every object in its component, the first rank that it may have, and the last."""
    ranks = np.zeros((3, len(theta)), np.int64)
    for number in range(int(component.max()) + 1):
        its = np.flatnonzero(component == number)
        ordered = np.sort(theta[its])
        ranks[0, its] = 1 + len(its) - np.searchsorted(ordered, theta[its], "right")
        ranks[1, its] = 1 + len(its) - np.searchsorted(np.sort(low[its]), high[its], "right")
        ranks[2, its] = len(its) - np.searchsorted(np.sort(high[its]), low[its], "left")
    return ranks[0], ranks[1], ranks[2]


def _judges_table(votes: Comparisons, fit: Fit, near: Redundancy) -> pl.DataFrame:
    judges = len(votes.judges)
    which = np.zeros(judges, np.int64) if fit.plain else np.arange(judges)
    d, b, c = (one[which] for one in fit.judges)
    spread = _Z * fit.judge_errors()[which]
    tie = np.exp(np.minimum(c, 700.0))
    learns_d, learns_b, _ = fit.free
    unknown = [] if learns_b else ["b", "b_low", "b_high", "first_of_100"]
    unknown += [] if learns_d else ["d", "d_low", "d_high"]
    nearest = [None if one < 0 else votes.judges[int(one)] for one in near.nearest]
    return pl.DataFrame(
        {
            "judge": votes.judges,
            "votes": np.bincount(votes.judge, minlength=judges),
            "d": d,
            "d_low": d - spread[:, 0],
            "d_high": d + spread[:, 0],
            "b": b,
            "b_low": b - spread[:, 1],
            "b_high": b + spread[:, 1],
            "first_of_100": 100 * expit(b),
            "ties_of_100": 100 * tie / (2 + tie),
            "nearest": pl.Series(nearest, dtype=votes.judges.dtype),
            "nearest_correlation": pl.Series(near.nearest_correlation).fill_nan(None),
            "flag": judge_flags(votes, fit, near),
        }
    ).with_columns(pl.lit(None, pl.Float64).alias(name) for name in unknown)
