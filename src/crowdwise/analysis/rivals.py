"""`rivals`: other readings of the same labels, how many answers hang on them, and which items would settle it.

The labels of workers who are not independent can be read in more than one way: a block of workers who agree may be
copies of one opinion, or experts. The labels alone do not say which reading is right, the truth of a few items does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..data.crowd import require_crowd
from ..data.labels import Labels
from ..data.reading_report import several
from ..engines.memory import MemoryEngine
from ..errors import shortened
from ..inference.dependence import pairs_refusal
from ..kernels import Array
from ..methods.adjudicator import Adjudicator, Copies, Reading, count_blocks_once, other_readings
from ..results.result import Result
from .pairing import require_result, same_labels

# A reading is a rival if it changes at least this share of the answers.
_LEAST_CHANGED: Final = 0.05
# Its workers are at least this much as informed as those of the plain reading: none in which all workers lie is meant.
_LEAST_INFORMED: Final = 0.5
# With more classes there may be no evidence to compare readings by.
_MOST_CLASSES: Final = 16
# How many items are named whose truth would settle which reading is right.
_ITEMS: Final = 10
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
        settling: The items whose truth would settle best which reading is right, the best one first: on which most
            pairs of readings differ, and each is most sure of its answer.
        n_items: The number of items.
    """

    how: list[str]
    changed: list[int]
    answers: pl.DataFrame
    settling: pl.Series
    n_items: int

    def __str__(self) -> str:
        """What to know about it, in two sentences."""
        found = [
            f"{how}, {several(changed, 'answer', 'answers')} of {self.n_items:,} ({changed / self.n_items:.0%})"
            for how, changed in zip(self.how, self.changed, strict=True)
        ]
        names = ", ".join(shortened(str(name), _LONGEST_NAME) for name in self.settling)
        readings = "another reading" if len(found) == 1 else "other readings"
        said = f"The labels allow {readings}: {'; '.join(found)} would be different."
        return f"{said} The truth of these items would settle best which is right: {names}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"how": self.how, "changed": self.changed, "settling": self.settling.to_list()}


def rivals(result: Result, labels: Labels) -> Rivals | None:
    """Find other readings of the labels that change at least 5 % of the answers.

    They are looked for where workers can be compared with each other: a few fits of the method are made, from other
    starts, and with blocks of workers who agree too often counted once.

    Args:
        result: The result of `Adjudicator`. What it knew beforehand is known in all readings.
        labels: The labels that it was fitted to.

    Returns:
        The rival readings; None if there are none, or if they cannot be looked for: by another method, with more than
        16 classes, with too many workers, or on disk or in a cluster.

    >>> import crowdwise as cw
    >>> labels = cw.simulate(100, 8, seed=1).labels
    >>> rivals(cw.Adjudicator().fit(labels), labels) is None
    True
    """
    require_result(result)
    require_crowd(labels, "rivals")
    method = result.method
    if not isinstance(method, Adjudicator) or not isinstance(labels, Labels):
        return None
    if not 2 <= labels.n_classes <= _MOST_CLASSES or pairs_refusal(labels.n_workers, labels.n_classes):
        return None
    # Other readings know what this one knew.
    labels = replace(same_labels(result, labels), gold=result.gold, known=result.known)
    with MemoryEngine(method, labels.numbered) as engine:
        readings = []
        for how, reading in _plausible(method, engine):
            found = engine.result(reading.ending).arranged(labels.names, labels.numbering)
            readings.append(Other(how, found.answers, found.best_scores))
    return _compared(result, readings)


def _plausible(method: Adjudicator, engine: MemoryEngine) -> Iterator[tuple[str, Reading]]:
    """Read the labels with copies counted in each way, and from other starts if that explains them about as well.

    Yields how each reading was found. The engine has the scores of a reading only until the next one is asked for.
    """
    votes, _ = engine.sweep(None)
    plain = method.read_votes(engine, votes, method.count_copies(engine, votes), None)
    yield "read from the votes as they are", plain
    once = count_blocks_once(engine, len(votes.given))
    everybody = Copies.none(len(votes.given))
    ways = (
        ("with workers who agree too often counted once (--set copies=once)", once),
        ("with every worker counted for itself, copies too", everybody),
    )
    for how, copies in ways:
        if (copies.exponents != plain.workers.exponents).any():
            yield how, method.read_votes(engine, votes, copies, None)
    for other in other_readings(method, engine, plain, None) if plain.can_be_compared else ():
        if other.explains_no_less_than(plain) and other.informedness >= _LEAST_INFORMED * plain.informedness:
            yield "following another group of workers", other


def _compared(result: Result, readings: list[Other]) -> Rivals | None:
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
    disputes = (every[:, None] != every[None]).sum(axis=(0, 1)) // 2
    # A truth decides most where every reading is sure of its own answer.
    sure = np.min([here.sure, *(reading.sure for reading in different)], axis=0)
    order = np.lexsort((result.names.items.cast(pl.String).to_numpy(), -sure, -disputes))
    changed = np.flatnonzero(disputes)
    columns = {
        f"reading_{number}": result.names.classes.gather(reading.answers[changed])
        for number, reading in enumerate(different, 1)
    }
    return Rivals(
        how=[reading.how for reading in different],
        changed=[int((reading.answers != result.answers).sum()) for reading in different],
        answers=pl.DataFrame(
            {"item": result.names.items.gather(changed), "label": result.labels.gather(changed), **columns}
        ),
        settling=result.names.items.gather(order[: min(_ITEMS, len(changed))]),
        n_items=len(result.answers),
    )
