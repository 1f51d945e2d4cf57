"""`review`: the items to look at again, and why, in words."""

from typing import Any, Final

import numpy as np
import polars as pl

from ..data.labels import Labels
from ..errors import shown
from ..methods.mv import MajorityVote
from ..results.result import Result
from .pairing import require_order, same_labels
from .planning.needs import require_in_memory
from .planning.reasons import reasons

# An item is looked at again if its answer is wrong more often than this, as far as can be told.
_DOUBTFUL: Final = 0.2


def review(result: Result, labels: Labels) -> pl.DataFrame:
    """Return the items that somebody should look at again, the worst first.

    These are items whose answer is less than 80 % sure, whose best two classes are tied, or whose answer is not what
    most workers say. Items that were given as gold are left out.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to, in memory.

    Returns:
        A row for each item: item, label, confidence, majority (what most workers say; null if there is a tie), votes
        (how many there are) and reason (in words).

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(100, 10, classes=2, seed=1)
    >>> review(cw.aggregate(crowd.labels), crowd.labels).columns
    ['item', 'label', 'confidence', 'majority', 'votes', 'reason']
    """
    require_order(result)
    require_in_memory(labels, "review")
    labels = same_labels(result, labels)
    votes = MajorityVote().fit(labels)
    outvoted = (votes.labels != result.labels).to_numpy() & ~votes.ties
    doubtful = (result.confidence < 1 - _DOUBTFUL) | result.ties | outvoted
    if result.gold is not None:
        doubtful &= result.gold < 0
    # Items with the same confidence are in the order of their numbers, so that the order of rows changes nothing.
    codes = np.flatnonzero(doubtful)
    codes = codes[np.lexsort((labels.numbering.item_places[codes], np.round(result.confidence[codes], 12)))]
    majority = votes.labels.to_frame("majority").select(
        pl.when(pl.Series(~votes.ties)).then(pl.col("majority")).otherwise(None).alias("majority")
    )["majority"]
    why = [
        _in_words(said, bool(result.ties[code]), bool(outvoted[code]), majority[int(code)])
        for said, code in zip(reasons(result, labels, codes.tolist()), codes, strict=True)
    ]
    return pl.DataFrame(
        [
            labels.names.items.gather(codes).alias("item"),
            result.labels.gather(codes).alias("label"),
            pl.Series("confidence", result.confidence[codes]),
            majority.gather(codes),
            pl.Series("votes", result.votes[codes]),
            pl.Series("reason", why, dtype=pl.String),
        ]
    )


def _in_words(votes: str, tied: bool, outvoted: bool, majority: Any) -> str:
    """Return why an item is to be looked at: what is said about it, and what is done with that."""
    if tied:
        return f"{votes}; the best two are tied"
    return f"{votes}; most say {shown(majority)}, but those who say so are trusted less" if outvoted else votes
