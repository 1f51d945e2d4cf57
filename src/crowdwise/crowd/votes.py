"""Counts of votes: of items and workers, for an answer, and against what most others say of the same item."""

from typing import Final

import numpy as np

from ..numerics import Array
from ..numerics.elementary import sums
from ..numerics.twins import twin
from .labels import Labels
from .soft_votes import sharpened

# A worker decides the answers if it labels at least half of the items, and the answers follow it in at least this
# share of the cases in which most others say something else; and if there are this many such cases.
_NEARLY_ALWAYS: Final = 0.9
_FEWEST_OUTVOTED: Final = 10
# With more workers than this, nobody labels nearly every item.
MOST_TO_COMPARE: Final = 100


def votes_per_item(labels: Labels) -> Array:
    """Return (items), how many votes every item has."""
    votes = np.diff(labels.item_starts)
    if labels.continued is not None:
        votes -= np.diff(np.concatenate([[0], np.cumsum(labels.continued)])[labels.item_starts])
    return votes.astype(np.int32)


def votes_per_worker(labels: Labels) -> Array:
    """Return (workers), how many votes every worker gave."""
    return count_votes(labels, labels.continued, labels.n_workers)


def agreements(labels: Labels, answers: Array) -> Array:
    """Return (workers), how many labels of every worker name the answer to their item; `answers` (items) is a class."""
    return count_agreements(labels, answers, labels.n_workers)


@twin("crowdwise.crowd.votes_kernel")
def count_votes(labels: Labels, continued: Array | None, n_workers: int) -> Array:
    """See `votes_per_worker`."""
    return np.bincount(labels.workers if continued is None else labels.workers[~continued], minlength=n_workers)


@twin("crowdwise.crowd.votes_kernel")
def count_agreements(labels: Labels, answers: Array, n_workers: int) -> Array:
    """See `agreements`."""
    named = labels.labels == np.repeat(answers, np.diff(labels.item_starts))
    return np.bincount(labels.workers[named], minlength=n_workers)


def weight_per_item(labels: Labels) -> Array:
    """Return (items), how much the votes of every item weigh: their number, if all are plain."""
    weights = labels.vote_weights
    return votes_per_item(labels) if weights is None else np.bincount(labels.item_of, weights, labels.n_items)


def weight_per_worker(labels: Labels) -> Array:
    """Return (workers), how much the votes of every worker weigh: their number, if all are plain."""
    weights = labels.vote_weights
    return votes_per_worker(labels) if weights is None else np.bincount(labels.workers, weights, labels.n_workers)


@twin("crowdwise.crowd.votes_kernel")
def disagreement(labels: Labels, votes: Array, out: Array) -> None:
    """Add to `out` (classes) the sum over the items of n s (1 - s), for n labels and the vote share s of the class.

    `votes` (items) is how many votes every item has; there are more labels where a vote names several classes. Soft
    votes have their weight for their number.
    """
    given = np.diff(labels.item_starts) if labels.soft is None else votes
    share = votes_by_class(labels) / np.maximum(votes, np.finfo(float).tiny)[:, None]
    out += (given[:, None] * share * (1 - share)).sum(axis=0)


def shares(labels: Labels) -> Array:
    """Return (items, classes), the share of the votes of every item that name each class."""
    # Whole numbers are divided, so that equal shares are equal to the last bit.
    total = weight_per_item(labels)[:, None]
    if labels.soft is None or (total > 0).all():
        return np.asarray(votes_by_class(labels) / total)
    even = np.full((labels.n_items, labels.n_classes), 1 / labels.n_classes)  # where no vote weighs anything
    return np.asarray(np.divide(votes_by_class(labels), total, out=even, where=total > 0))


def powers_of_shares(labels: Labels, kept: Array | None = None) -> Array | None:
    """Return (items), the power of the vote shares in confidence; None if votes are plain. Only labels `kept` count.

    Shares of plain votes are votes of workers who may err, and calibration knows how often they do. Probabilities say
    that themselves: a share of them is what one vote is worth, and n votes count like sqrt(n), as everywhere. With a
    share f of votes that state a probability, the power is n^(f/2), where a vote of weight 3 is three votes.
    """
    if labels.soft is None:
        return None
    weights = labels.soft[:, -1] if kept is None else labels.soft[:, -1] * kept
    states = (labels.soft[:, :-1].max(axis=1, initial=0.0) < 1.0) * weights
    n = np.bincount(labels.item_of, weights, labels.n_items)
    share = np.bincount(labels.item_of, states, labels.n_items) / np.maximum(n, np.finfo(float).tiny)
    return np.asarray(np.maximum(n, 1.0) ** (share / 2))


def raised(found: Array, powers: Array | None) -> Array:
    """Return shares (items, classes) to these powers, which add up to one; None is the power 1."""
    return found if powers is None else sharpened(found, powers)


def as_said(labels: Labels) -> Array:
    """Return (labels, said class, class), what a vote says of every class if its label were each of the classes.

    That is what it says, and nothing but that class if it is not the label.
    """
    said = np.tile(np.eye(labels.n_classes), (labels.n_labels, 1, 1))
    if labels.soft is not None:
        said[np.arange(labels.n_labels), labels.labels] = labels.chances
    return said


def soft_if(labels: Labels, said: Array) -> Array | None:
    """Return what votes say and weigh if their labels were these: nothing but the label, where it is another one."""
    if labels.soft is None:
        return None
    soft, other = labels.soft.copy(), said != labels.labels
    soft[other, :-1] = np.eye(labels.n_classes)[said[other]]
    return soft


def given_by_class(labels: Labels) -> Array:
    """Return (workers, classes), how many labels of every worker name each class."""
    return _tally(labels.workers, labels.labels, (labels.n_workers, labels.n_classes))


def votes_by_class(labels: Labels, kept: Array | None = None) -> Array:
    """Return (items, classes), how many labels of every item name each class; of the labels `kept`, if it is given.

    A soft vote adds its weight times its probabilities.
    """
    if labels.soft is not None:
        weights = labels.soft[:, -1] if kept is None else labels.soft[:, -1] * kept
        return sums(labels.item_of, weights[:, None] * labels.chances, labels.n_items)
    items, named = labels.item_of, labels.labels
    if kept is not None:
        items, named = items[kept], named[kept]
    return _tally(items, named, (labels.n_items, labels.n_classes))


def _tally(rows: Array, classes: Array, shape: tuple[int, int]) -> Array:
    cells = rows * np.int64(shape[1]) + classes
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


@twin("crowdwise.crowd.votes_kernel")
def said_by_others(labels: Labels, n_classes: int) -> Array:
    """Return (labels), the class that most other labels of the same item name; -1 if there is none, or a tie."""
    cells, cell_of, votes = np.unique(
        labels.item_of * n_classes + labels.labels, return_inverse=True, return_counts=True
    )
    item, said = cells // n_classes, cells % n_classes
    order = np.lexsort((-votes, item))  # the classes of an item by their votes, the most first
    rank = np.empty(len(cells), np.int64)
    rank[order] = np.arange(len(cells)) - np.searchsorted(item, item)
    # The best three classes of every item; those that are not there have no votes.
    best, most = np.full((labels.n_items, 3), -1), np.zeros((labels.n_items, 3), np.int64)
    best[item[rank < 3], rank[rank < 3]], most[item[rank < 3], rank[rank < 3]] = said[rank < 3], votes[rank < 3]
    # Of the other classes than that of a cell, the first is the best or the second, and the next one follows it.
    first, following = (rank == 0) * 1, 1 + (rank < 2)
    rivals, runners_up = most[item, first], most[item, following]
    same = votes - 1  # of the same class, without the label itself
    answer = np.where(same > rivals, said, np.where((same < rivals) & (rivals > runners_up), best[item, first], -1))
    return answer[cell_of].astype(np.int32)


def count_outvoted(labels: Labels, answers: Array) -> Array:
    """Compare every label with what most other labels of its item say.

    Returns:
        (4, workers): how many labels can be compared, because most others name one class; how many name the same class;
        how many name another one, so that they are outvoted; and how many of these are the answer all the same.
    """
    if labels.n_workers > MOST_TO_COMPARE or labels.set_valued:
        return np.zeros((4, labels.n_workers), np.int64)
    others = said_by_others(labels, labels.n_classes)
    agrees = others == labels.labels
    outvoted = (others >= 0) & ~agrees
    won = outvoted & (answers[labels.item_of] == labels.labels)
    cases = (others >= 0, agrees, outvoted, won)
    return np.stack([np.bincount(labels.workers[case], minlength=labels.n_workers) for case in cases])


def is_deciding(outvoted: Array, won: Array, given: Array, n_items: int) -> Array:
    """Return which workers the answers follow nearly always, also where most others say something else.

    `outvoted` is how many of each worker's labels are outvoted, `won` how many of these are the answer all the same.
    """
    decides: Array = (outvoted >= _FEWEST_OUTVOTED) & (won >= _NEARLY_ALWAYS * outvoted) & (2 * given >= n_items)
    return decides
