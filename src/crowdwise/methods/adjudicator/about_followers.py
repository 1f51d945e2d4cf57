"""What a user should know about workers who follow others: who, how sure that is, and which items would settle it."""

from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import Caution
from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.reading_report import several
from ...errors import shortened
from ...numerics import Array
from .readings import read_items

# How many followers are named in a sentence, and how many items whose truth would settle it.
_MOST_SAID: Final = 4
_SETTLING: Final = 10
# As for rival readings: what changes this share of the answers is said first.
_MUCH: Final = 0.05
# The most characters of a name in a sentence.
_LONGEST_NAME: Final = 60


def in_words(workers: Any, names: pl.Series) -> str:
    """Return who follows whom, how often they agree, and how sure it is, as a phrase; `names` are in the same order."""
    copying, codes = workers.copying, np.flatnonzero(workers.follows >= 0)
    codes = codes[np.argsort(-copying.nats[codes], kind="stable")]
    agreed = np.column_stack([copying.agreed, copying.compared])
    return _phrase(codes, workers.follows, names, agreed, [f", {nats:.0f} nats" for nats in copying.nats[codes]])


def caution_about(result: Any, labels: Crowd) -> list[Caution]:
    """Say who follows whom, how sure that is, how many answers it changes, and which items would settle it."""
    copying, follows, names = result.workers.copying, result.workers.follows, result.names.workers
    codes = np.flatnonzero(follows >= 0)
    told = tuple(dict.fromkeys(names[int(code)] for one in codes for code in (one, follows[one])))
    if not told:
        return []
    if copying is None:
        today = _phrase(codes, follows, names, result.workers.followed, [" today"] * len(codes))
        return [
            Caution(
                "copies",
                f"Votes are left out, because the labels of the state spoke for copying: {today}. A follower counts "
                "only where its leader has no vote.",
                "If a follower judges for itself, take copies='separate' (--set copies=separate) from the first state "
                "on.",
                workers=told,
            )
        ]
    items = _settling(result, labels) if isinstance(labels, Labels) else []
    settles = f" The truth of these items, given as gold= (--gold), settles it: {', '.join(map(_name, items))}."
    doubt = "The answers themselves may be wrong: v" if copying.changed >= _MUCH * labels.n_items else "V"
    changed = f"{several(copying.changed, 'answer', 'answers')} of {labels.n_items:,}"
    return [
        Caution(
            "copies",
            f"{doubt}otes are left out, because the labels suggest copying: {in_words(result.workers, names)}. A "
            f"follower counts only where its leader has no vote; that changes {changed}.",
            f"If a follower judges for itself, take copies='separate' (--set copies=separate)."
            f"{settles if items else ''}",
            workers=told,
            items=tuple(items),
        )
    ]


def _phrase(codes: Array, follows: Array, names: pl.Series, agreed: Array, more: list[str]) -> str:
    """Say of the first of these followers whom they follow and how often they agree, and how many more there are."""
    said = [
        f"{_name(names[one])} follows {_name(names[int(follows[one])])} ({agreed[one, 0]:,.0f} of "
        f"{agreed[one, 1]:,.0f} votes on the same items are equal{addition})"
        for one, addition in zip(codes.tolist(), more, strict=True)
    ]
    others = f" and {len(said) - _MOST_SAID:,} more do" if len(said) > _MOST_SAID else ""
    return ", ".join(said[:_MOST_SAID]) + others


def _settling(result: Any, labels: Labels) -> list[Any]:
    """Return the names of up to ten items whose truth tells whether followers copy: both readings are sure of them."""
    theirs, sure = read_items(result.method, result.workers.copying.instead, labels)
    differ = np.flatnonzero(theirs != result.answers)
    least = np.minimum(sure, result.best_scores)[differ]
    texts = result.names.items.gather(differ).cast(pl.String).to_numpy()
    return [result.names.items[int(item)] for item in differ[np.lexsort((texts, -least))][:_SETTLING]]


def _name(name: Any) -> str:
    return shortened(str(name), _LONGEST_NAME)
