"""`Foresight`: what further labels on every item are expected to change.

Items and workers are in the order of their numbers here, so that no last bit depends on the order of the rows.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Final

import numpy as np

from ...crowd.labels import Labels
from ...crowd.numbering import Numbering, inverse
from ...errors import DataError
from ...numerics import Array
from ...numerics.elementary import highest_of
from ...parallel import Threads
from ...progress import working
from ...results import calibration
from ...results.any_method import Outlook
from ...results.learned import Learned
from ...results.result import Result

# With more classes than this, an item has its most probable classes and all others as one class.
_MOST_CLASSES: Final = 16
_NAMED_CLASSES: Final = 7
# So many workers stand for the crowd. They are taken in proportion to their labels.
_SPEAKERS: Final = 12
# About how many numbers a part of the items makes at a time: they fit in the cache of a processor.
_NUMBERS: Final = 1 << 18
# How many further labels are looked at together, if they can be in no more than so many ways.
_NUMBERS_OF_LABELS: Final = (1, 2, 3, 5)
_MOST_OUTCOMES: Final = 150
# The smallest probability whose logarithm is taken.
_TINY: Final = 1e-300


@dataclass(frozen=True, eq=False)
class Foresight:
    """What further labels are expected to change.

    Attributes:
        outlook: What is expected of further labels; see `Outlook`.
        n_items: The number of items.
        read: Turns (items, numbers), the means of the answers over the states, and (items, classes), the numbers of
            votes, into calibrated probabilities (items, classes).
        ends: (states), how sure the answer of an item in this state is after unlimited labels; None if workers are
            expected to err independently, so that it is certain.
    """

    outlook: Outlook
    n_items: int
    read: Callable[[Array, Array], Array]
    ends: Array | None = None

    def gains(self, costs: Array | None = None) -> Array:
        """Return (items), how much a label is expected to add to the number of right answers, or to save of costs.

        One label alone often cannot change the answer, and then adds nothing, although a few together could. So this is
        the most that one, two, three or five labels of workers like those who are asked add, divided by their number
        (the KG(*) policy of Frazier and Powell, 2010, https://doi.org/10.1287/deca.1100.0188). What labels add is how
        much more probable their answer then is than today's answer. It is zero for an item on which no such number of
        labels could change the answer.

        Args:
            costs: (classes, decisions), what each decision costs where each class is true; None to count right answers.

        Raises:
            DataError: There are costs, and so many classes that some of them are looked at together.
        """
        from threadpoolctl import threadpool_limits  # imported here because it is slow to import

        said, answers = self.outlook.said, self.outlook.answers
        n_states, n_numbers = answers.shape
        n_classes = said.shape[2]
        if costs is not None and n_classes != len(costs):
            raise DataError(
                f"What a label saves of costs is not foreseen for {len(costs):,} classes; "
                "strategy='uncertain' (--strategy uncertain) asks where decisions cost most."
            )
        log_typical = np.log(np.maximum(said.mean(axis=0), _TINY))
        ways = [
            (number, outcomes)
            for number in _NUMBERS_OF_LABELS
            if (outcomes := _outcomes(n_classes, number)) is not None
        ]
        # (states, outcomes)
        chances = [np.exp(log_typical @ outcomes.T + _log_arrangements(outcomes)) for _, outcomes in ways]
        # (states, outcomes * numbers): an outcome and an answer, if the item is in this state
        joints = [(chance[:, :, None] * answers[:, None]).reshape(n_states, -1) for chance in chances]
        gains = np.zeros(self.n_items)

        def add(first: int, last: int) -> None:
            weights, votes = self.outlook.states(first, last), self.outlook.votes[first:last]
            now = _gained(self.read(weights @ answers, votes), costs).argmax(axis=1)
            for (number, outcomes), chance, joint in zip(ways, chances, joints, strict=True):
                likely = weights @ chance  # (items, outcomes)
                means = (weights @ joint).reshape(-1, n_numbers) / np.maximum(likely, _TINY).reshape(-1, 1)
                after = self.read(means, (votes[:, None] + outcomes).reshape(-1, n_classes))
                gained = _gained(after, costs).reshape(last - first, len(outcomes), -1)
                better = highest_of(gained) - np.take_along_axis(gained, now[:, None, None], axis=2)[:, :, 0]
                gains[first:last] = np.maximum(gains[first:last], (likely * better).sum(axis=1) / number)

        parts = list(self.parts(self.n_items, max(joint.shape[1] for joint in joints)))
        # The parts run in threads, so the products of matrices need none.
        with threadpool_limits(1, "blas"), Threads(len(parts)) as threads, working("what labels would change") as told:
            for done, _ in enumerate(threads.map(lambda part: add(*parts[part])), 1):
                told(done / len(parts))
        return gains

    def parts(self, n_items: int, width: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the first item and the item after the last one of parts of so many items that fit in memory.

        Args:
            n_items: The number of items.
            width: How many numbers are made of each item, besides those of its states.
        """
        step = max(_NUMBERS // (self.outlook.said.shape[1] + width), 1)
        for first in range(0, n_items, step):
            yield first, min(first + step, n_items)


def foresee(result: Result, labels: Labels, asked: int | None = None) -> Foresight:
    """Return what further labels are expected to change.

    Args:
        result: The result of a method.
        labels: The labels that it is from.
        asked: The code of the worker who is asked; None for workers like those of the crowd.
    """
    numbering = labels.numbering
    votes = result.worker_votes[inverse(numbering.worker_numbers)]
    speakers = speakers_of(votes) if asked is None else numbering.worker_numbers[[asked]].astype(np.int64)
    back = Numbering(inverse(numbering.item_numbers), inverse(numbering.worker_numbers))
    learned: Learned = result.workers.reordered(back)
    found = result.method.outlook(labels.numbered, learned, speakers)
    method, scale, fitted = result.method.calibrated_as, result.scale, result.recalibration
    if found is not None:

        def calibrated(scores: Array) -> Array:
            probabilities = calibration.probabilities(method, scale, scores, np.ones(len(scores)), result.density)
            return probabilities if fitted is None else fitted.apply(probabilities)

        ends = None if found.ends is None else calibrated(found.ends).max(axis=1)
        return Foresight(found, labels.n_items, lambda means, votes: calibrated(found.read(means, votes)), ends)
    probabilities = result.probabilities[back.item_numbers]
    if labels.n_classes <= _MOST_CLASSES and learned.confusion is not None:
        said = learned.confusion[speakers]
    else:
        quality = result.quality.value[back.worker_numbers][speakers]
        if labels.n_classes > _MOST_CLASSES:
            probabilities = _named(probabilities)
        said = np.stack([_coin(one, labels.n_classes, probabilities.shape[1]) for one in quality.tolist()])
    states = probabilities.shape[1]
    plain = Outlook(
        states=lambda first, last: probabilities[first:last],
        said=said,
        answers=np.eye(states),
        read=lambda means, _votes: means,
        votes=np.zeros(probabilities.shape, np.int64),  # which nothing here depends on
    )
    return Foresight(plain, labels.n_items, plain.read)


def _gained(probabilities: Array, costs: Array | None) -> Array:
    """Return (items, decisions), the probability that each answer is right, or what each decision saves of costs."""
    return probabilities if costs is None else np.asarray(-probabilities @ costs)


def speakers_of(votes: Array, count: int = _SPEAKERS) -> Array:
    """Return workers who stand for the crowd: each label has the same chance that its worker is among them.

    >>> speakers_of(np.array([1, 8, 0, 3]), 4).tolist()
    [1, 1, 1, 3]
    """
    ends = np.cumsum(votes)
    return np.asarray(np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1], side="right"))


def _outcomes(n_classes: int, number: int) -> Array | None:
    """Return (outcomes, classes), how often each class can be named by so many labels; None if there are too many.

    >>> _outcomes(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    if math.comb(n_classes + number - 1, number) > _MOST_OUTCOMES:
        return None
    named = list(combinations_with_replacement(range(n_classes), number))
    return np.array([np.bincount(one, minlength=n_classes) for one in named])


def _log_arrangements(outcomes: Array) -> Array:
    """Return (outcomes), the logarithm of how many orders of labels make each of them."""
    factorials = np.array([math.lgamma(count + 1) for count in range(int(outcomes.max()) + 1)])
    return np.asarray(math.lgamma(int(outcomes[0].sum()) + 1) - factorials[outcomes].sum(axis=1))


def _named(probabilities: Array) -> Array:
    """Return the probabilities of the most probable classes of each item, and last that of all others together."""
    best = -np.sort(-probabilities, axis=1)[:, :_NAMED_CLASSES]
    return np.column_stack([best, np.maximum(1 - best.sum(axis=1), 0.0)])


def _coin(quality: float, n_classes: int, n_states: int) -> Array:
    """Return (states, said), what a worker says who is right with a probability, and else says any other class.

    If there are fewer states than classes, the last state stands for all classes that have no state.

    >>> _coin(0.7, 4, 4)[0].round(2).tolist(), _coin(0.7, 4, 3)[2].round(2).tolist()
    ([0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.8])
    """
    right = min(max(quality, 1 / n_classes), 1.0) if np.isfinite(quality) else 1 / n_classes
    wrong = (1 - right) / max(n_classes - 1, 1)
    said = np.full((n_states, n_states), wrong)
    np.fill_diagonal(said, right)
    merged = n_classes - n_states + 1
    said[:, -1] *= merged
    said[-1, -1] = right + (merged - 1) * wrong
    return said
