"""`rivals`: other readings of the same labels, how many answers hang on them, and which items would settle it.

The labels of workers who are not independent can be read in more than one way: a block of workers who agree may be
copies of one opinion, or experts. The labels alone do not say which reading is right, the truth of a few items does.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..caution import Caution, listed
from ..crowd.labels import Labels
from ..crowd.protocol import require_crowd
from ..crowd.reading_report import several
from ..errors import shortened
from ..families.dependence.blocks import WorkerBlocks
from ..families.dependence.pairs import PairCounts
from ..fitting.engines.memory import MemoryEngine
from ..methods.adjudicator import Adjudicator, has_readings, plausible_readings
from ..numerics import Array
from ..progress import working
from ..results.result import Result
from ..results.tables import as_html
from .pairing import require_result, same_labels

# A reading is a rival if it changes at least this share of the answers.
_LEAST_CHANGED: Final = 0.05
# How many items are named whose truth would settle which reading is right.
_ITEMS: Final = 10
# Iterations that come so near to the first reading in all probabilities of all workers would end in it.
_SAME: Final = 0.03
# About how many readings are looked at, for the display of progress.
_USUAL_READINGS: Final = 8
# The most characters of a name in a sentence.
_LONGEST_NAME: Final = 60


class Other(NamedTuple):
    """A reading of the labels.

    Attributes:
        how: How it was found, as a phrase.
        answers: (items), the codes of its answers.
        sure: (items), the scores of these answers.
    """

    how: str
    answers: Array
    sure: Array


@dataclass(frozen=True, eq=False)
class Rivals:
    """Other readings of the same labels.

    Attributes:
        how: How each rival reading was found, as a phrase; the first changes the most answers.
        changed: How many answers differ in each.
        answers: One row per item that any reading changes: item, label (the answer of the result), and reading_1,
            reading_2 and so on: the answers of the rivals.
        group: The workers who decide between the result and the first rival: where the two differ, these say other
            things than the remaining workers do. They are the smaller of the two camps; empty if there is one camp.
        follows_group: Whether the answers of the result are those of this group.
        settling: The items whose truth would settle best which reading is right, the best one first: every two
            readings differ on some of them, and each reading is most sure of its answer.
        n_items: The number of items.
    """

    how: list[str]
    changed: list[int]
    answers: pl.DataFrame
    group: pl.Series
    follows_group: bool
    settling: pl.Series
    n_items: int

    @property
    def caution(self) -> Caution:
        """What to know about it, and what to do."""
        found = [
            f"{how}, {several(changed, 'answer', 'answers')} of {self.n_items:,} ({changed / self.n_items:.0%})"
            for how, changed in zip(self.how, self.changed, strict=True)
        ]
        readings = "another reading" if len(found) == 1 else "other readings"
        decides = ""
        if len(self.group):
            be, them = ("is", "this worker") if len(self.group) == 1 else ("are", "them")
            decides = (
                f" It depends on whether {listed(self.group)} {be} right where others disagree; the answers "
                f"{'follow' if self.follows_group else 'go against'} {them}."
            )
        names = ", ".join(shortened(str(name), _LONGEST_NAME) for name in self.settling)
        return Caution(
            "rivals",
            f"The answers themselves may be wrong, because the labels allow {readings}: {'; '.join(found)} would be "
            f"different.{decides}",
            f"Find out the truth of these items, which settle best who is right, and give it as gold= (--gold): "
            f"{names}.",
            workers=tuple(self.group),
            items=tuple(self.settling),
        )

    def __str__(self) -> str:
        return str(self.caution)

    def _repr_html_(self) -> str:
        """What a notebook shows: what to know, the readings, and the answers that differ."""
        readings = pl.DataFrame({"reading": self.how, "answers changed": self.changed})
        return as_html([str(self)], {"Other readings": readings, "Answers that differ": self.answers})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "how": self.how,
            "changed": self.changed,
            "group": self.group.to_list(),
            "settling": self.settling.to_list(),
        }


def rivals(result: Result, labels: Labels) -> Rivals | None:
    """Find other readings of the labels that change at least 5 % of the answers.

    They are looked for where workers can be compared with each other: a few fits of the method are made, from other
    starts, and with blocks of workers who agree too often counted once.

    Args:
        result: The result of `Adjudicator`. What it knew beforehand is known in all readings.
        labels: The labels that it was fitted to.

    Returns:
        The rival readings; None if there are none, or if they cannot be looked for: by another method, with more than
        16 classes, with too many workers, or on disk or in a cluster; nor if gold has settled it.

    >>> import crowdwise as cw
    >>> labels = cw.simulate(100, 8, seed=1).labels
    >>> rivals(cw.Adjudicator().fit(labels), labels) is None
    True
    """
    return rivals_by(result, labels)


def rivals_by(
    result: Result, labels: Labels, compared: Callable[[], tuple[PairCounts, WorkerBlocks]] | None = None
) -> Rivals | None:
    """Do what `rivals` does; `compared` returns what `compare_all` does, where that is known already."""
    require_result(result)
    require_crowd(labels, "rivals")
    method = result.method
    if not isinstance(method, Adjudicator) or not isinstance(labels, Labels):
        return None
    if not has_readings(labels) or result.known.initial_workers is not None:  # then gold has settled it
        return None
    # Other readings know what this one knew.
    labels = replace(same_labels(result, labels), gold=result.gold, known=result.known)
    with MemoryEngine(method, labels.numbered) as engine, working("other readings of the labels") as told:
        readings = []
        for how, reading in plausible_readings(method, engine, _SAME, None if compared is None else compared()):
            found = engine.result(reading.ending).reordered(labels.names, labels.numbering)
            readings.append(Other(how, found.answers, found.best_scores))
            told(len(readings) / _USUAL_READINGS)
    return _compared(result, labels, readings)


def _compared(result: Result, labels: Labels, readings: list[Other]) -> Rivals | None:
    """Find out which readings differ from the result, and the items on which most pairs of readings differ."""
    here = Other("", result.answers, result.best_scores)
    different: list[Other] = []
    for reading in readings:
        if all((reading.answers != other.answers).mean() >= _LEAST_CHANGED for other in (here, *different)):
            different.append(reading)
    if not different:
        return None
    different.sort(key=lambda reading: -int((reading.answers != result.answers).sum()))
    every = np.stack([here.answers, *(reading.answers for reading in different)])
    # A truth decides most where every reading is sure of its own answer.
    sure = np.min([here.sure, *(reading.sure for reading in different)], axis=0)
    best_first = np.lexsort((result.names.items.cast(pl.String).to_numpy(), -sure))
    changed = np.flatnonzero((every != every[0]).any(axis=0))
    columns = {
        f"reading_{number}": result.names.classes.gather(reading.answers[changed])
        for number, reading in enumerate(different, 1)
    }
    group, follows = _deciding_group(labels, result.answers, different[0].answers)
    return Rivals(
        how=[reading.how for reading in different],
        changed=[int((reading.answers != result.answers).sum()) for reading in different],
        answers=pl.DataFrame(
            {"item": result.names.items.gather(changed), "label": result.labels.gather(changed), **columns}
        ),
        group=result.names.workers.gather(group),
        follows_group=follows,
        settling=result.names.items.gather(best_first[_telling_apart(every[:, best_first])]),
        n_items=len(result.answers),
    )


def _deciding_group(labels: Labels, ours: Array, theirs: Array) -> tuple[Array, bool]:
    """Return the codes of the workers who decide between two readings, and whether the first reading is theirs.

    Where the readings differ, each worker sides with one of them in some share of its votes. The workers are split
    into two camps where that explains most of the variance of these shares; the group is the smaller camp.
    """
    ours, theirs = ours[labels.item_of], theirs[labels.item_of]
    with_ours, with_theirs = (
        np.bincount(labels.workers[(ours != theirs) & (labels.labels == side)], minlength=labels.n_workers)
        for side in (ours, theirs)
    )
    votes = with_ours + with_theirs
    codes = np.flatnonzero(votes)
    share = with_ours[codes] / votes[codes]
    order = np.lexsort((codes, share))
    weight = np.cumsum(votes[codes][order])[:-1]
    total = np.cumsum(with_ours[codes][order])[:-1]
    below, above = total / weight, (with_ours.sum() - total) / (votes.sum() - weight)
    explained = np.where(np.diff(share[order]) > 0, weight * (votes.sum() - weight) * (above - below) ** 2, 0.0)
    if not explained.any():  # everybody sides the same way
        return codes[:0], False
    cut = int(explained.argmax()) + 1
    follows = len(order) - cut <= cut
    return np.sort(codes[order[cut:] if follows else order[:cut]]), follows


def _telling_apart(answers: Array) -> list[int]:
    """Return up to ten items on which every two readings differ about equally often.

    One by one, the item is taken that tells most pairs of readings apart; a pair that others tell apart already counts
    the less. Otherwise ten items could all set two wrong readings against the right one, or the other way round.

    Args:
        answers: (readings, items), the items that are preferred come first.

    >>> _telling_apart(np.array([[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]))
    [0, 2, 1]
    """
    first, second = np.triu_indices(len(answers), 1)
    differ = answers[first] != answers[second]  # (pairs, items)
    told = np.zeros(len(differ))
    chosen: list[int] = []
    while len(chosen) < _ITEMS:
        gain = (differ / (1.0 + told)[:, None]).sum(axis=0)
        gain[chosen] = 0.0
        best = int(np.argmax(gain))  # the first of the best
        if gain[best] == 0.0:
            break
        chosen.append(best)
        told += differ[:, best]
    return chosen
