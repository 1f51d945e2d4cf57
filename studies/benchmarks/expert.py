"""Replays an expert who decides items of a crowd by a plan, where the truth file answers; see review.py."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import polars as pl

import crowdwise as cw

# After so many decisions, it is measured what they were worth.
CHECKPOINTS: Final = (0, 10, 20, 40, 80)
# Items that are most likely wrong are chosen so many at a time; then the method is fitted again.
_BATCH: Final = 10
# How an item was picked, by the phase of a plan, as gold says it: only random items calibrate.
_SOURCES: Final = {"random": "random", "settle": "chosen", "worst": "chosen"}


class Expert:
    """Somebody who knows the truth of the items of a crowd, and decides them one by one.

    Attributes:
        labels: The labels of the crowd.
        truth: The known truths of items that have labels: a table with the columns item, as in the labels, and truth.
        several_readings: Whether the labels can be read in several ways, so that there is something to settle.
        checkpoints: Those of `CHECKPOINTS` after which at least half of the known truths are left to measure by.
    """

    def __init__(self, labels: cw.Labels, truth: pl.DataFrame) -> None:
        """Know the truth of a crowd."""
        self.labels = labels
        self.truth = truth
        self._fits: dict[frozenset[tuple[Any, str]], cw.Result] = {}
        self.several_readings = cw.rivals(self._fit({}), labels) is not None
        self.checkpoints = [count for count in CHECKPOINTS if truth.height >= 2 * count]

    def replay(self, plan: str, draw: int) -> Iterator[dict[str, Any]]:
        """Decide items by a plan, and yield what is measured at each checkpoint.

        Args:
            plan: Phases in their order, such as "random:30,settle:10,worst"; the last one goes on to the end.
            draw: The seed of the order of random items, which is the same for all plans.
        """
        decided: dict[Any, str] = {}
        deciding = self._deciding(plan, draw, decided)
        for count in self.checkpoints:
            while len(decided) < count:
                next(deciding)
            yield self._measured(decided)

    def _deciding(self, plan: str, draw: int, decided: dict[Any, str]) -> Iterator[None]:
        """Decide the next item, given what is decided until then: add it and its source to `decided`."""
        for phase in plan.split(","):
            kind, _, count = phase.partition(":")
            pick = {"random": self._random, "settle": self._settling, "worst": self._worst}[kind](draw, decided)
            for item in islice(pick, int(count) if count else None):
                decided[item] = _SOURCES[kind]
                yield

    def _random(self, draw: int, decided: dict[Any, str]) -> Iterator[Any]:
        """Yield items in an order that depends on the draw alone."""
        everything = self.labels.n_items
        asked = cw.next_labels(self.labels, result=self._fit({}), ask="expert", random=everything, seed=draw)
        yield from self._open(asked.to_frame()["item"], decided)

    def _settling(self, draw: int, decided: dict[Any, str]) -> Iterator[Any]:
        """Yield the items that settle which of several readings is right; none if there is one reading only."""
        found = cw.rivals(self._fit(decided), self.labels)
        if found is not None:
            yield from self._open(found.settling, decided)

    def _worst(self, draw: int, decided: dict[Any, str]) -> Iterator[Any]:
        """Yield the items whose answers are most likely wrong, some at a time."""
        unknown = self.labels.n_items - self.truth.height  # the expert cannot decide these
        while True:
            asked = cw.next_labels(
                self.labels, result=self._fit(decided), ask="expert", strategy="uncertain", budget=_BATCH + unknown
            )
            # Batches end at tens, so that all plans are fitted after equally many decisions.
            yield from islice(self._open(asked.to_frame()["item"], decided), _BATCH - len(decided) % _BATCH)

    def _open(self, items: pl.Series, decided: dict[Any, str]) -> Iterator[Any]:
        """Yield the items that can be decided and are not decided yet."""
        known = set(self.truth["item"])
        yield from (item for item in items if item in known and item not in decided)

    def _fit(self, decided: dict[Any, str]) -> cw.Result:
        """Fit the default method with what is decided; plans that have decided the same share a fit."""
        key = frozenset(decided.items())
        if key not in self._fits:
            self._fits[key] = cw.aggregate(self.labels, gold=self._gold(decided), warn=False)
        return self._fits[key]

    def _gold(self, decided: dict[Any, str]) -> pl.DataFrame | None:
        if not decided:
            return None
        source = pl.col("item").replace_strict(decided, default=None, return_dtype=pl.String)
        return self.truth.with_columns(source=source).drop_nulls("source")

    def _measured(self, decided: dict[Any, str]) -> dict[str, Any]:
        """Measure a fit on the items that are not decided; those that are count as right among all items."""
        before, now = self._fit({}), self._fit(decided)
        left = self.truth.filter(~pl.col("item").is_in(list(decided)))
        right, expected = cw.accuracy(now, left), now.expected_accuracy
        low, high = expected.low_80, expected.high_80
        assert low is not None, "there are fewer than 20 items"
        assert high is not None
        return {
            "decisions": len(decided),
            "random": sum(source == "random" for source in decided.values()),
            "expected": expected.value,
            "low_80": low,
            "high_80": high,
            "error": abs(expected.value - right),
            "holds": float(low <= right <= high),
            "accuracy": (len(decided) + right * left.height) / self.truth.height,
            "undecided": float(right),
            "undecided_before": float(cw.accuracy(before, left)),
            "log_loss": cw.log_loss(now, left),
            "log_loss_before": cw.log_loss(before, left),
        }
