"""`review_list`: the items to look at again, and why, in words."""

import math
from numbers import Real
from typing import Any, Final

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..errors import CallError, shown
from ..methods.mv import MajorityVote
from ..results.result import Result
from .pairing import require_order, same_labels
from .planning.needs import require_in_memory, require_whole
from .planning.reasons import reasons
from .unnamed import unnamed_answers

# Without other wishes, an item is listed only if its answer is less sure than this, tied, or not what most workers say.
_SURE: Final = 0.8
# And at most this share of the items is listed: the rest is more than a person reads.
SHARE: Final = 0.1


def review_list(result: Result, labels: Labels, *, top: int | None = None, below: float | None = None) -> pl.DataFrame:
    """Return the items that are worth a person's time, the least sure first.

    These are at most a tenth of the items: the least sure of those whose answer is less than 80 % sure, whose best two
    classes are tied, or whose answer is not what most workers say, or what none of them says. Items that were given as
    gold are left out.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to, in memory.
        top: List so many of the least sure items instead.
        below: List all items whose confidence is below this instead; with `top`, at most so many of them.

    Returns:
        A row for each item: item, label, confidence, majority (what most workers say; null if there is a tie), votes
        (how many there are) and reason (in words).

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(100, 10, classes=2, seed=1)
    >>> review_list(cw.aggregate(crowd.labels), crowd.labels).columns
    ['item', 'label', 'confidence', 'majority', 'votes', 'reason']
    """
    check_review(top, below)
    require_order(result)
    require_in_memory(labels, "review_list")
    labels = same_labels(result, labels)
    votes = MajorityVote().fit(labels, warn=False)
    outvoted = (votes.labels != result.labels).to_numpy() & ~votes.ties
    unnamed = unnamed_answers(result, labels)
    is_open = np.ones(labels.n_items, bool) if result.gold is None else result.gold < 0
    if below is not None:
        doubtful = is_open & (result.confidence < below)
    elif top is not None:
        doubtful = is_open
    else:
        doubtful = is_open & ((result.confidence < _SURE) | result.ties | outvoted | unnamed)
        top = math.ceil(SHARE * is_open.sum())
    # Items with the same confidence are in the order of their numbers, so that the order of rows changes nothing.
    codes = np.flatnonzero(doubtful)
    codes = codes[np.lexsort((labels.numbering.item_numbers[codes], np.round(result.confidence[codes], 12)))][:top]
    majority = votes.labels.to_frame("majority").select(
        pl.when(pl.Series(~votes.ties)).then(pl.col("majority")).otherwise(None).alias("majority")
    )["majority"]
    why = [
        _in_words(said, bool(result.ties[code]), bool(outvoted[code]), majority[int(code)])
        + (f"; nobody says {shown(result.labels[int(code)])}" if unnamed[code] else "")
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


def check_review(top: int | None, below: float | None) -> None:
    """Raise `CallError` if a list cannot be made by these limits."""
    if top is not None:
        require_whole("top", top, 1, 10**9)
    if below is not None and (isinstance(below, bool) or not isinstance(below, Real) or not 0 < below <= 1):
        raise CallError(f"below={shown(below)} is not a number above 0 and at most 1.")


def expected_errors(result: Result, listed: pl.DataFrame) -> str:
    """Say how many errors the items of a list are expected to hold, and how many the others, by confidence.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(100, 10, classes=2, seed=1)
    >>> result = cw.aggregate(crowd.labels)
    >>> expected_errors(result, review_list(result, crowd.labels, top=5)).partition(",")[0]
    'The review list has 5 of 100 items'
    """
    is_open = np.ones(len(result.confidence), bool) if result.gold is None else result.gold < 0
    errors = float((1 - result.confidence[is_open]).sum())
    held = float((1 - listed["confidence"]).sum())
    items = several(len(result.confidence), "item", "items")
    return (
        f"The review list has {listed.height:,} of {items}, with about {held:,.0f} of the {errors:,.0f} answers that "
        "are expected to be wrong."
    )


def _in_words(votes: str, tied: bool, outvoted: bool, majority: Any) -> str:
    """Return why an item is to be looked at: what is said about it, and what is done with that."""
    if tied:
        return f"{votes}; the best two are tied"
    return f"{votes}; most say {shown(majority)}, but those who say so are trusted less" if outvoted else votes
