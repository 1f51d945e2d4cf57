"""The smallest change of votes that would change an answer, the workers' parameters held fixed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..kernels import Array
from ..results.contributions import Contributions
from ..results.result import TIE


@dataclass(frozen=True, eq=False)
class Flip:
    """The smallest change of votes that would change the answer, the workers' parameters held fixed.

    Attributes:
        changes: One row per vote to change: worker, said, instead.
        label: What the answer would be then.
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
    """The fewest votes to change so that another class leads outright.

    Votes add up independently, so for each rival the votes that gain it most come first, and the rival that needs the
    fewest is the answer; the runner-up, if others need as few.
    """
    winner, runner_up = best_two
    first_rows = np.flatnonzero(np.diff(vote_of, prepend=-1))
    best: tuple[int, bool, float, Array, Array] | None = None
    for rival in range(len(added.prior)):
        prior = added.prior[winner] - added.prior[rival]
        if rival == winner or prior == np.inf:
            continue
        lead = added.lead(winner, rival)
        now = np.bincount(vote_of, weights=lead[np.arange(len(said)), said])
        options = np.where(np.isnan(lead[first_rows]), np.inf, lead[first_rows])
        instead = options.argmin(axis=1)
        then = options[np.arange(len(now)), instead]
        # A vote that makes the rival impossible has to change in any case; one that can make the winner impossible
        # settles it.
        with np.errstate(invalid="ignore"):
            gain = np.nan_to_num(now - then, nan=0.0, posinf=np.inf)
        order = np.lexsort((np.arange(len(now)), -gain, then != -np.inf, now != np.inf))
        size = TIE if added.logarithmic else TIE * float(np.abs(added.scores(said)).max())
        for count in range(1, len(now) + 1):
            changed, kept = order[:count], order[count:]
            if not (gain[changed] > 0).all() or (best is not None and count > best[0]):
                break
            if np.inf in now[kept]:
                continue
            total = prior + then[changed].sum() + now[kept].sum()
            if total < -size:
                if best is None or (count, rival != runner_up, total) < best[:3]:
                    best = (count, rival != runner_up, float(total), changed, instead[changed])
                break
    if best is None:
        return None
    *_, changed, instead = best
    after = np.delete(np.arange(len(said)), np.flatnonzero(np.isin(vote_of, changed)))
    final = Contributions(added.prior, added.evidence[np.concatenate([after, first_rows[changed]])], added.logarithmic)
    answer = int(final.scores(np.concatenate([said[after], instead])).argmax())
    changes = votes[changed].select("worker", "said").with_columns(classes.gather(instead).alias("instead"))
    return Flip(changes, classes[answer])
