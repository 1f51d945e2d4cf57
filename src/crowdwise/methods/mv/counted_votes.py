"""`CountedVotes`: the result of majority vote where a table of items by classes would be too large.

An item with five votes names at most five classes. So the votes of each item for the classes that it names are kept,
instead of a score for every class; the others have a score of 0.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from ...crowd.labels import Labels
from ...crowd.votes import shares
from ...errors import require_room
from ...numerics import Array
from ...results import calibration
from ...results.ending import Convergence
from ...results.learned import Learned
from ...results.result import Result, about_votes

# From how many bytes on the table of scores is not made. This depends on the crowd alone, not on the machine.
_LARGE_TABLE: Final = 2**30


def is_large(labels: Labels) -> bool:
    """Return whether a table of items by classes would be so large that votes are counted instead."""
    return 8 * labels.n_items * labels.n_classes > _LARGE_TABLE


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many votes each item has for each class that it names, sorted by item and class.

    Attributes:
        keys: item * classes + class.
        items: The item.
        classes: The class.
        counts: The number of votes.
    """

    keys: Array
    items: Array
    classes: Array
    counts: Array

    @classmethod
    def of(cls, labels: Labels) -> "_Counts":
        keys, counts = np.unique(labels.item_of * np.int64(labels.n_classes) + labels.labels, return_counts=True)
        items, classes = np.divmod(keys, labels.n_classes)
        return cls(keys, items, classes, counts)

    def best_two(self, n_items: int, n_classes: int) -> tuple[Array, Array, Array, Array]:
        """Return the best and the second best class of each item, as `kernels.best_two` does, and their votes."""
        order = np.lexsort((self.classes, -self.counts, self.items))
        first = np.searchsorted(self.items, np.arange(n_items))
        named = np.diff(np.append(first, len(order)))
        best, best_votes = self.classes[order[first]], self.counts[order[first]]
        following = order[np.minimum(first + 1, len(order) - 1)]
        other = np.where(best == 0, 1, 0) if n_classes > 1 else np.full(n_items, -1)
        second = np.where(named > 1, self.classes[following], other)
        second_votes = np.where(named > 1, self.counts[following], 0)
        return best.astype(np.int32), second.astype(np.int32), best_votes, second_votes


@dataclass(frozen=True, eq=False)
class CountedVotes(Result):
    """A `Result` of majority vote that makes the table of scores, and that of probabilities, only when asked for it.

    Attributes:
        voted: The labels.
        named: The votes for the classes that are named.
        best_two_scores: Two arrays (items): the scores of the best and of the second best class.
    """

    voted: Labels = field(kw_only=True)
    named: _Counts = field(kw_only=True)
    best_two_scores: tuple[Array, Array] = field(kw_only=True)

    @classmethod
    def of(cls, method: Any, labels: Labels) -> "CountedVotes":
        """Count the votes, each of which names one class; no class may be known beforehand."""
        counts = _Counts.of(labels)
        best, second, best_votes, second_votes = counts.best_two(labels.n_items, labels.n_classes)
        about, learned = about_votes(labels, best), cast(Any, Learned())
        ranking = best, second, (second_votes == best_votes) & (second >= 0)
        plain = cls(
            method=method,
            names=labels.names,
            scores=np.empty((0, 0)),
            scale=method.scale,
            workers=learned,
            convergence=Convergence(0, True, 0.0),
            ranking=ranking,
            measure_quality=None,
            known=labels.known,
            voted=labels,
            named=counts,
            best_two_scores=(best_votes / about["votes"], second_votes / about["votes"]),
            **about,
        )
        del vars(plain)["scores"]  # so that the property below makes them
        return plain

    @cached_property  # type: ignore[misc]  # a field of `Result`, which is filled at once
    def scores(self) -> Array:
        """(items, classes), the shares of the votes. Raises `DataError` if they would not fit into memory."""
        size = 8 * self.voted.n_items * self.voted.n_classes
        require_room(size, "The scores of all classes", "Use best_scores and confidence, or merge rare classes.")
        return shares(self.voted)

    @property
    def best_scores(self) -> Array:
        """(items), the score of the inferred label."""
        return self.best_two_scores[0]

    @property
    def second_scores(self) -> Array:
        """(items), the score of the second best class."""
        return self.best_two_scores[1]

    @property
    def confidence(self) -> Array:
        """(items), the probability that the inferred label is right, calibrated."""
        if self.recalibration is not None:
            return super().confidence
        classes = len(self.names.classes)
        return calibration.of_shares(self.method.calibrated_as, self.best_scores, self.votes, classes)

    def wins(self, items: Array, classes: Array) -> Array:
        """Return, for each of some items, 1 if this class has its best score and 0 if not; see `Result.wins`."""
        counts = self.named
        sought = items.astype(np.int64) * len(self.names.classes) + classes
        at = np.minimum(np.searchsorted(counts.keys, sought), len(counts.keys) - 1)
        most = self.best_scores * self.votes
        is_best = counts.counts >= np.rint(most)[counts.items]
        winners = np.bincount(counts.items, weights=is_best, minlength=len(self.votes))
        won = (counts.keys[at] == sought) & (classes >= 0) & is_best[at]
        return np.asarray(won / winners[items])
