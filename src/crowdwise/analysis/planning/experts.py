"""Which items an expert should decide: where answers may be wrong, and where the truth says most about the others."""

from typing import Final

import numpy as np

from ...crowd.numbering import inverse
from ...numerics import Array
from ..rivals import rivals
from .reasons import reasons
from .strategies import Offers, Request

_DIGITS: Final = 12


def rank_for_expert(request: Request) -> tuple[Offers, list[str]]:
    """Return the items to decide, the most wanted first, and why.

    First come the items whose truth settles which of rival readings of the labels is right; on them hang many other
    answers. Then come the items whose answers are most likely wrong, or cost most, those with more labels first if
    that is
    equal: their truth says something about more workers. The value of an item is the probability that its answer is
    wrong, or its expected cost, which is what deciding it adds at least.
    """
    labels, result = request.labels, request.result
    order, settling = least_sure(request), settling_items(request)
    order = np.concatenate([settling, order[~np.isin(order, settling)]])
    order = order[request.open[order]][: request.budget]
    why = reasons(result, labels, inverse(labels.numbering.item_numbers)[order].tolist())
    first = set(settling.tolist())
    lost = np.round(request.loss, _DIGITS)
    told = [
        f"readings of the crowd differ here, and its truth says which is right; {reason}" if item in first else reason
        for item, reason in zip(order.tolist(), why, strict=True)
    ]
    return Offers(order, lost[order]), told


def least_sure(request: Request) -> Array:
    """Return the numbers of all items, those first whose answers are most likely wrong, or cost most."""
    return np.lexsort((-request.votes, -np.round(request.loss, _DIGITS)))


def settling_items(request: Request) -> Array:
    """Return the numbers of the items whose truth settles best which reading is right; none without rival readings."""
    found = rivals(request.result, request.labels)
    if found is None:
        return np.zeros(0, np.int64)
    names = {name: code for code, name in enumerate(request.labels.names.items.to_list())}
    codes = [names[name] for name in found.settling.to_list()]
    return request.labels.numbering.item_numbers[codes].astype(np.int64)
