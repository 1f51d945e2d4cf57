"""`smallest_flip`: the fewest votes that would have to change so that an item gets another answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..kernels import Array
from ..results.contributions import Contributions
from ..results.result import TIE


@dataclass(frozen=True, eq=False)
class Flip:
    """The smallest change of votes that would change the answer, if the workers' parameters stay the same.

    Attributes:
        changes: One row per vote to change, with the columns worker, said and instead.
        label: The answer after these changes.
    """

    changes: pl.DataFrame
    label: Any


def smallest_flip(
    added: Contributions,
    said: Array,
    vote_of: Array,
    best_two: tuple[int, int],
    classes: pl.Series,
    votes: pl.DataFrame,
) -> Flip | None:
    """Find the fewest votes to change so that another class has the best score and is not tied.

    The votes add up independently. Therefore, for each rival, the votes whose change helps it most are changed first,
    until it leads. The rival that needs the fewest changes is chosen; if several need as few, the runner-up. Where what
    a vote adds depends on the other votes, the scores are computed again for every change; the order in which votes
    are changed is the same, so fewer changes might do in rare cases.

    Args:
        added: The contributions of prior and votes to the scores of the item.
        said: (rows), the class that each row of labels names.
        vote_of: (rows), the number of the vote that each row belongs to; a vote that names several classes has several
            rows.
        best_two: The codes of the best class and of the runner-up.
        classes: The names of the classes.
        votes: One row per vote, with the columns worker and said.

    Returns:
        The change, or None if no change of these votes changes the answer.
    """
    winner, runner_up = best_two
    first_rows = np.flatnonzero(np.diff(vote_of, prepend=-1))
    # The best change so far: the number of votes to change, whether the rival is not the runner-up, the winner's lead
    # after it, the numbers of these votes, and the classes that they would say instead.
    best: tuple[int, bool, float, Array, Array] | None = None
    for rival in range(len(added.prior)) if added.rescore is None else np.union1d(said, [runner_up]).tolist():
        prior = added.prior[winner] - added.prior[rival]
        if rival == winner or prior == np.inf:
            continue
        lead = added.lead(winner, rival)
        now = np.bincount(vote_of, weights=lead[np.arange(len(said)), said])
        options = np.where(np.isnan(lead[first_rows]), np.inf, lead[first_rows])
        instead = options.argmin(axis=1)
        then = options[np.arange(len(now)), instead]
        # A vote that makes the rival impossible must change, so it comes first. Next comes a vote that makes the winner
        # impossible if it changes, because then no other vote needs to change.
        with np.errstate(invalid="ignore"):
            gain = np.nan_to_num(now - then, nan=0.0, posinf=np.inf)
        order = np.lexsort((np.arange(len(now)), -gain, then != -np.inf, now != np.inf))
        tie = TIE if added.logarithmic else TIE * float(np.abs(added.scores(said)).max())
        for count in range(1, len(now) + 1):
            changed, kept = order[:count], order[count:]
            if not (gain[changed] > 0).all() or (best is not None and count > best[0]):
                break
            if np.inf in now[kept]:
                continue
            if added.rescore is None:
                total = prior + then[changed].sum() + now[kept].sum()
            else:
                total = _lead_after(added.rescore, said, changed, instead, winner)
            if total < -tie:
                if best is None or (count, rival != runner_up, total) < best[:3]:
                    best = (count, rival != runner_up, float(total), changed, instead[changed])
                break
    if best is None:
        return None
    *_, changed, instead = best
    changes = votes[changed].select("worker", "said").with_columns(classes.gather(instead).alias("instead"))
    if added.rescore is not None:
        said = said.copy()
        said[changed] = instead
        return Flip(changes, classes[int(added.rescore(said).argmax())])
    after = np.delete(np.arange(len(said)), np.flatnonzero(np.isin(vote_of, changed)))
    final = Contributions(added.prior, added.evidence[np.concatenate([after, first_rows[changed]])], added.logarithmic)
    answer = int(final.scores(np.concatenate([said[after], instead])).argmax())
    return Flip(changes, classes[answer])


def _lead_after(rescore: Callable[[Array], Array], said: Array, changed: Array, instead: Array, winner: int) -> float:
    """By how much the winner leads all others after votes were changed, relative to the best score."""
    after = said.copy()
    after[changed] = instead[changed]
    scores = rescore(after)
    others = np.delete(scores, winner).max()
    return float((scores[winner] - others) / max(scores[winner], others))
