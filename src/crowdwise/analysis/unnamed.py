"""`unnamed_answers`: answers that no worker gave, which a method infers from how workers confuse classes."""

import numpy as np

from ..caution import Caution
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..numerics import Array
from ..results.result import Result

# The most items that a caution names.
_MOST_ITEMS = 100


def unnamed_answers(result: Result, labels: Labels) -> Array:
    """Return (items): whether no worker named the answer of an item, and it was not given as gold either."""
    named = np.zeros(labels.n_items, bool)
    named[labels.item_of[labels.labels == result.answers[labels.item_of]]] = True
    return ~named if result.gold is None else ~named & (result.gold < 0)


def caution_of_unnamed(result: Result, labels: Labels) -> list[Caution]:
    """Return how many answers nobody named, and what to do; [] if there are none."""
    codes = np.flatnonzero(unnamed_answers(result, labels))
    if not len(codes):
        return []
    one = len(codes) == 1
    return [
        Caution(
            "unnamed answers",
            f"{several(len(codes), 'answer is a class', 'answers are classes')} that no worker named for "
            f"{'its item' if one else 'their items'}: the method infers {'it' if one else 'them'} from how workers "
            "confuse classes.",
            f"Look at {'it' if one else 'them'} with cw.review_list in Python or --review-output on the command line, "
            "or use a method without confusion matrices, such as bwa.",
            items=tuple(labels.names.items.gather(codes[:_MOST_ITEMS])),
        )
    ]
