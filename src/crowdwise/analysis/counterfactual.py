"""`smallest_flip`: the fewest votes that would have to name another class so that this class is the answer."""

from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Final

import numpy as np
import polars as pl

from ..numerics import Array
from ..results.contributions import Contributions
from ..results.scores import TIE

# The most changes of as many votes that are tried for each rival; where scores take long to compute, one.
_MOST_TRIED: Final = 100


@dataclass(frozen=True, eq=False)
class Flip:
    """The smallest change of votes that would change the answer, if the workers' parameters stay the same.

    Attributes:
        changes: One row per vote to change, with the columns worker, said and instead, which is the new answer.
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
    """Find the fewest votes to change so that they name another class, and this class has the best score and no tie.

    Votes are changed to the new answer only. A vote for a third class may help a rival more, where a worker has a
    strange confusion matrix, but nobody would expect that, and the matrix would not stay as it is.

    Fewer changes come first, then the runner-up, then the larger lead. For each rival, the votes whose change helps it
    most against the answer are tried first. The scores are computed again for every change that is tried; of many
    possible changes only the first are tried, so fewer changes might do in rare cases.

    Args:
        added: The contributions of prior and votes to the scores of the item.
        said: (rows), the class that each row of labels names.
        vote_of: (rows), the number of the vote that each row belongs to; a vote that names several classes has several
            rows.
        best_two: The codes of the best class and of the runner-up.
        classes: The names of the classes.
        votes: One row per vote, with the columns worker and said.

    Returns:
        The change, or None if no class would be the answer if these votes named it.
    """
    winner, runner_up = best_two
    rivals = range(len(added.prior)) if added.rescore is None else np.union1d(said, [runner_up]).tolist()
    orders = {
        rival: _most_helpful_first(added, said, vote_of, winner, rival)
        for rival in rivals
        if rival != winner and added.prior[rival] > -np.inf
    }
    for count in range(1, len(votes) + 1):
        # Whether the rival is not the runner-up, the negative of its lead, the rival, and the votes to change.
        found: list[tuple[bool, float, int, Array]] = []
        for rival, order in orders.items():
            for some in islice(combinations(order, count), _MOST_TRIED if added.rescore is None else 1):
                changed = np.array(some)
                scores = _scores_after(added, said, vote_of, changed, rival)
                ahead = float(scores[rival] - np.delete(scores, rival).max())
                if ahead > TIE * float(np.abs(scores).max()):
                    found.append((rival != runner_up, -ahead, rival, changed))
                    break
        if found:
            *_, rival, changed = min(found, key=lambda one: one[:3])
            instead = classes.gather(np.full(count, rival)).alias("instead")
            return Flip(votes[changed].select("worker", "said").with_columns(instead), classes[rival])
    return None


def _most_helpful_first(added: Contributions, said: Array, vote_of: Array, winner: int, rival: int) -> list[int]:
    """Return the votes that could change to the rival; those whose change helps it most against the winner first."""
    first_rows = np.flatnonzero(np.diff(vote_of, prepend=-1))
    lead = added.lead(winner, rival)
    now = np.bincount(vote_of, weights=lead[np.arange(len(said)), said])
    with np.errstate(invalid="ignore"):
        gain = np.nan_to_num(now - lead[first_rows, rival], nan=-np.inf)
    # A vote that makes the rival impossible must change, so it comes first.
    order = np.lexsort((np.arange(len(now)), -gain, now != np.inf))
    can_change = (said[first_rows] != rival) | (np.bincount(vote_of) > 1)
    votes: list[int] = order[can_change[order]].tolist()
    return votes


def _scores_after(added: Contributions, said: Array, vote_of: Array, changed: Array, rival: int) -> Array:
    """Return (classes), the scores if these votes named the rival and nothing else."""
    if added.rescore is not None:  # then every vote is one row
        after = said.copy()
        after[changed] = rival
        return added.rescore(after)
    kept = np.flatnonzero(~np.isin(vote_of, changed))
    rows = np.concatenate([kept, np.searchsorted(vote_of, changed)])
    final = Contributions(added.prior, added.evidence[rows], added.logarithmic)
    return final.scores(np.concatenate([said[kept], np.full(len(changed), rival)]))
