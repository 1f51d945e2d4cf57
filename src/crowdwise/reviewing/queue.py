"""`Queue`: which item comes next for a tab of the browser, by the plan and by what is decided already."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from time import monotonic
from typing import Any, Final, NamedTuple

import numpy as np

from ..numerics import Array
from .plan import Phase, Plan, Source

# An item that was shown in a tab is kept for it so long, in seconds; then others may get it.
_RESERVED: Final = 1800.0


class Next(NamedTuple):
    """An item to decide: its code, how it was chosen, its number within the phase, and how many the phase has."""

    code: int
    source: Source
    number: int
    total: int | None


class Queue:
    """The order of the items, and which of them are kept for which tab.

    Attributes:
        plan: The plan; it may be changed at any time.
        settling: The codes of the items that settle rival readings; known only after these were looked for.
        worst: The codes of the items whose answers most likely are wrong, the worst first, by the last fit.
    """

    def __init__(self, plan: Plan, random: Array) -> None:
        self.plan = plan
        self.settling: Sequence[int] = ()
        self.worst: Array = np.zeros(0, np.int64)
        self._random = random
        self._shown: dict[str, tuple[int, float]] = {}

    def next(self, tab: str, decided: set[int], counts: dict[str, int], skipped: set[int]) -> Next | None:
        """Return the next item for a tab, and keep it for this tab; None if no item is left.

        Args:
            tab: The tab.
            decided: The items that somebody decided, or could not tell.
            counts: How many of these each source has.
            skipped: The items that this reviewer skipped; they come again at the end.
        """
        now = monotonic()
        taken = {code for other, (code, until) in self._shown.items() if other != tab and until > now}
        for phase in self.plan.phases:
            done = counts.get(phase.source, 0)
            if phase.count is not None and done >= phase.count:
                continue
            for code in self._in_order(phase.source, skipped):
                if code not in decided and code not in taken:
                    self._shown[tab] = code, now + _RESERVED
                    return Next(code, phase.source, done + 1, phase.count)
        self._shown.pop(tab, None)
        return None

    def keep(self, tab: str, code: int) -> None:
        """Keep an item for a tab, as after an undo."""
        self._shown[tab] = code, monotonic() + _RESERVED

    def phase(self, counts: dict[str, int]) -> Phase | None:
        """Return the phase that is under way; None if the plan is at its end."""
        for phase in self.plan.phases:
            some = len(self.settling) > counts.get("settle", 0) if phase.source == "settle" else True
            if some and (phase.count is None or counts.get(phase.source, 0) < phase.count):
                return phase
        return None

    def ahead(self, source: Source | None, worst: Array, decided: set[int], count: int) -> Array:
        """Return the next items of a source, as many as `count`; `worst` takes the place of the attribute."""
        codes = worst if source == "worst" else () if source is None else self._in_order(source, set())
        return np.array(list(islice((int(code) for code in codes if int(code) not in decided), count)), np.int64)

    def _in_order(self, source: Source, skipped: set[int]) -> Iterator[int]:
        """Yield the items of a source, those that were skipped at the end."""
        codes: Any = {"random": self._random, "settle": self.settling, "worst": self.worst}[source]
        first = (int(code) for code in codes if int(code) not in skipped)
        return chain(first, (int(code) for code in codes if int(code) in skipped))
