"""What a user should know about workers who follow others: who, how sure that is, and which items would settle it."""

from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import Caution
from ...data.crowd import Crowd
from ...data.labels import Labels
from ...data.reading_report import several
from ...errors import shortened
from ...numerics import Array
from .readings import read_items

# How many followers are named in a sentence, and how many items whose truth would settle it.
_MOST_SAID: Final = 4
_MUCH: Final = 0.05
_SETTLING: Final = 10
# The most characters of a name in a sentence.
_LONGEST_NAME: Final = 60


def in_words(workers: Any, names: pl.Series) -> str:
    """Return who follows whom, how often they agree, and how sure it is, as a phrase; `names` are in the same order."""
    copying, follows = workers.copying, workers.follows
    codes = np.flatnonzero(follows >= 0)
    said = [
        f"{_name(names[int(one)])} follows {_name(names[int(follows[one])])} ({copying.agreed[one]:,.0f} of "
        f"{copying.compared[one]:,.0f} votes on the same items are equal, {copying.nats[one]:.0f} nats)"
        for one in codes[np.argsort(-copying.nats[codes], kind="stable")]
    ]
    more = f" and {len(said) - _MOST_SAID:,} more do" if len(said) > _MOST_SAID else ""
    return ", ".join(said[:_MOST_SAID]) + more


def caution_about(result: Any, labels: Crowd) -> list[Caution]:
    """Say who follows whom, how sure that is, how many answers it changes, and which items would settle it."""
    copying, follows = result.workers.copying, result.workers.follows
    names, codes = result.names.workers, np.flatnonzero(follows >= 0)
    if copying is None:
        return _known_before(result, codes) if len(codes) else []
    items = _settling(result, labels) if isinstance(labels, Labels) else []
    settles = f" The truth of these items, given as gold= (--gold), settles it: {', '.join(map(_name, items))}."
    # As for rival readings: what changes one answer in twenty is said first.
    doubt = "The answers themselves may be wrong: v" if copying.changed >= _MUCH * labels.n_items else "V"
    changed = f"{several(copying.changed, 'answer', 'answers')} of {labels.n_items:,}"
    return [
        Caution(
            "copies",
            f"{doubt}otes are left out, because the labels speak for copying: {in_words(result.workers, names)}. A "
            f"follower counts only where its leader has no vote; that changes {changed}.",
            f"If a follower judges for itself, take copies='separate' (--set copies=separate)."
            f"{settles if items else ''}",
            workers=tuple(dict.fromkeys(names[int(code)] for one in codes for code in (one, follows[one]))),
            items=tuple(items),
        )
    ]


def _known_before(result: Any, codes: Array) -> list[Caution]:
    """Say who followed whom in the labels of the state, and still does."""
    names, follows, followed = result.names.workers, result.workers.follows, result.workers.followed
    said = [
        f"{_name(names[int(one)])} follows {_name(names[int(follows[one])])} ({followed[one, 0]:,.0f} of "
        f"{followed[one, 1]:,.0f} votes on the same items are equal today)"
        for one in codes
    ]
    more = f" and {len(said) - _MOST_SAID:,} more do" if len(said) > _MOST_SAID else ""
    return [
        Caution(
            "copies",
            f"Votes are left out, because the labels of the state spoke for copying: {', '.join(said[:_MOST_SAID])}"
            f"{more}. A follower counts only where its leader has no vote.",
            "If a follower judges for itself, take copies='separate' (--set copies=separate) from the first state on.",
            workers=tuple(dict.fromkeys(names[int(code)] for one in codes for code in (one, follows[one]))),
        )
    ]


def _settling(result: Any, labels: Labels) -> list[Any]:
    """Return the names of up to ten items whose truth tells whether followers copy: both readings are sure of them."""
    theirs, sure = read_items(result.method, result.workers.copying.instead, labels)
    differ = np.flatnonzero(theirs != result.answers)
    least = np.minimum(sure, result.best_scores)[differ]
    texts = result.names.items.gather(differ).cast(pl.String).to_numpy()
    return [result.names.items[int(item)] for item in differ[np.lexsort((texts, -least))][:_SETTLING]]


def _name(name: Any) -> str:
    return shortened(str(name), _LONGEST_NAME)
