"""What to know before trusting a ranking: `cautions_of`, and the flags of objects and judges."""

from typing import Final

import numpy as np
import polars as pl

from ..caution import Caution, in_order, listed
from ..crowd.label_cautions import alike_workers
from ..crowd.reading_report import several
from ..numerics import Array
from .comparisons import BY_VOTE, Comparisons
from .fit import Fit
from .intervals import Uncertainty
from .redundancy import Redundancy

# Below this mean of d, judges do not agree on an order.
_LEAST_AGREEMENT: Final = 0.25
_FEW_PROMPTS: Final = 20
_FEW_VOTES: Final = 10
# Two judges look like one above this correlation on so many items.
_LIKE_COPIES: Final = 0.8
_LEAST_ITEMS: Final = 20
_Z: Final = 1.959963984540054


def has_order(votes: Comparisons, fit: Fit) -> bool:
    """Return whether the votes say anything about an order that judges agree on."""
    return bool((votes.outcome != 0).any()) and fit.agreement >= _LEAST_AGREEMENT


def unbounded(votes: Comparisons) -> tuple[Array, Array]:
    """Return which objects won everything, and which lost everything: how far they are from others is not known."""
    wins, losses, ties = votes.records()
    return (losses + ties == 0) & (wins > 0), (wins + ties == 0) & (losses > 0)


def object_flags(votes: Comparisons) -> list[str]:
    """Return a flag for every object; empty for most."""
    won, lost = unbounded(votes)
    return list(np.where(won, "unbounded: won everything", np.where(lost, "unbounded: lost everything", "")))


def is_against(fit: Fit) -> Array:
    """Return which judges clearly prefer what the others do not."""
    return fit.judges.d + _Z * fit.judge_errors()[:, 0] < 0


def judge_flags(votes: Comparisons, fit: Fit, near: Redundancy) -> list[str]:
    """Return a flag for every judge; empty for most."""
    flags: list[list[str]] = [[] for _ in votes.judges]
    counts = np.bincount(votes.judge, minlength=len(flags))
    against = np.zeros(len(flags), bool) if fit.plain else is_against(fit)
    for judge, its in enumerate(flags):
        if against[judge]:
            its.append("against the panel")
        if counts[judge] < _FEW_VOTES:
            its.append("few votes")
        if near.nearest_correlation[judge] > _LIKE_COPIES and near.shared[judge] >= _LEAST_ITEMS:
            its.append(f"like {votes.judges[int(near.nearest[judge])]}")
    return [", ".join(its) for its in flags]


def cautions_of(
    votes: Comparisons, fit: Fit, sure: Uncertainty, objects: pl.DataFrame, judges: pl.DataFrame
) -> tuple[Caution, ...]:
    """Return what to know before trusting the ranking; the most serious is first."""
    found = []
    if not (votes.outcome != 0).any():
        found.append(Caution("one class", "Every vote is a tie: nothing says which object is better.", ""))
    elif not has_order(votes, fit):
        said = "The judges do not agree on an order, so there is no ranking."
        found.append(Caution("rivals", said, "Look at the judges: some may say the opposite of others."))
    sizes = np.bincount(votes.component)
    if len(sizes) > 1:
        shown = ", ".join(f"{size:,}" for size in sizes[:8]) + (", ..." if len(sizes) > 8 else "")
        said = f"The comparisons fall into {len(sizes):,} groups of objects ({shown}) that nothing connects."
        advice = "Each is ranked by itself; compare objects of different groups to rank them together."
        found.append(Caution("no overlap", said, advice))
    if not fit.converged and (votes.outcome != 0).any():
        said = f"The fit stopped after {fit.iterations:,} iterations before it converged."
        found.append(Caution("iterations", said, "Numbers may still change a little."))
    for did, where in (("won", "ahead"), ("lost", "behind")):
        ends = objects.filter(pl.col("flag").str.contains(did))["object"].to_list()
        if ends:
            said = f"{listed(ends)} {did} everything, so how far {where} is not known: intervals have one end only."
            found.append(Caution("few items", said, "Compare with objects that are closer."))
    found += _of_prompts(votes, sure) + _of_judges(votes, judges)
    found += alike_workers(objects["object"], objects["votes"], "objects")
    found += alike_workers(judges["judge"], judges["votes"], "judges")
    return in_order(found)


def _of_prompts(votes: Comparisons, sure: Uncertainty) -> list[Caution]:
    if votes.cluster == BY_VOTE:
        said = "No column says which votes are on one prompt: intervals are too narrow if some are."
        return [Caution("few items", said, "Name the column with item= (--item-column).")]
    if sure.clusters == 1:
        said = "All votes are on one prompt: intervals say nothing about other prompts."
        return [Caution("few items", said, "Compare on more prompts.")]
    if sure.clusters < _FEW_PROMPTS:
        said = f"There are only {sure.clusters} prompts, so intervals are wide and rough."
        return [Caution("few items", said, "Compare on more prompts.")]
    return []


def _of_judges(votes: Comparisons, judges: pl.DataFrame) -> list[Caution]:
    found = []
    against = judges.filter(pl.col("flag").str.contains("against the panel"))["judge"].to_list()
    if against:
        many = several(len(against), "judge clearly prefers", "judges clearly prefer")
        said = f"{many} what the others do not, so that these votes count reversed: {listed(against)}."
        advice = "Look whether the verdicts were reversed by mistake; --drop-against leaves such judges out."
        found.append(Caution("decider", said, advice, tuple(against)))
    alike = judges.filter(pl.col("flag").str.contains("like "))["judge"].to_list()
    if alike:
        many = several(len(alike), "judge says", "judges say")
        said = f"{many} nearly the same as another one, beyond what the order explains: {listed(alike)}."
        found.append(Caution("copies", said, "They add little: see the column nearest.", tuple(alike)))
    if votes.ordered and votes.share_in_both_orders() == 0:
        said = "Every pair was shown in one order only: position cannot be told from content."
        found.append(Caution("not compared", said, "Show each pair in both orders."))
    return found
