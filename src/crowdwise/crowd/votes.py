"""Counts of votes: of every item and worker, of those that name an answer, and how far items disagree."""

from typing import TYPE_CHECKING

import numpy as np

from ..numerics import Array
from ..numerics.twins import twin

if TYPE_CHECKING:  # labels.py imports this module
    from .labels import Labels


def votes_per_item(labels: "Labels") -> Array:
    """Return (items), how many votes every item has."""
    votes = np.diff(labels.item_starts)
    if labels.continued is not None:
        votes -= np.diff(np.concatenate([[0], np.cumsum(labels.continued)])[labels.item_starts])
    return votes.astype(np.int32)


def votes_per_worker(labels: "Labels") -> Array:
    """Return (workers), how many votes every worker gave."""
    return count_votes(labels, labels.continued, labels.n_workers)


def agreements(labels: "Labels", answers: Array) -> Array:
    """Return (workers), how many labels of every worker name the answer to their item; `answers` (items) is a class."""
    return count_agreements(labels, answers, labels.n_workers)


@twin("crowdwise.crowd.votes_kernel")
def count_votes(labels: "Labels", continued: Array | None, n_workers: int) -> Array:
    """See `votes_per_worker`."""
    return np.bincount(labels.workers if continued is None else labels.workers[~continued], minlength=n_workers)


@twin("crowdwise.crowd.votes_kernel")
def count_agreements(labels: "Labels", answers: Array, n_workers: int) -> Array:
    """See `agreements`."""
    named = labels.labels == np.repeat(answers, np.diff(labels.item_starts))
    return np.bincount(labels.workers[named], minlength=n_workers)


@twin("crowdwise.crowd.votes_kernel")
def disagreement(labels: "Labels", votes: Array, out: Array) -> None:
    """Add to `out` (classes) the sum over the items of n s (1 - s), for n labels and the vote share s of the class.

    `votes` (items) is how many votes every item has; there are more labels where a vote names several classes.
    """
    share = votes_by_class(labels) / votes[:, None]
    out += (np.diff(labels.item_starts)[:, None] * share * (1 - share)).sum(axis=0)


def shares(labels: "Labels") -> Array:
    """Return (items, classes), the share of the votes of every item that name each class."""
    # Whole numbers are divided, so that equal shares are equal to the last bit.
    return np.asarray(votes_by_class(labels) / votes_per_item(labels)[:, None])


def given_by_class(labels: "Labels") -> Array:
    """Return (workers, classes), how many labels of every worker name each class."""
    cells = labels.workers * np.int64(labels.n_classes) + labels.labels
    shape = labels.n_workers, labels.n_classes
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def votes_by_class(labels: "Labels", kept: Array | None = None) -> Array:
    """Return (items, classes), how many labels of every item name each class.

    Args:
        labels: The labels.
        kept: (labels), whether each label counts; None if all do.
    """
    cells = labels.item_of * np.int64(labels.n_classes) + labels.labels
    cells = cells if kept is None else cells[kept]
    shape = labels.n_items, labels.n_classes
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
