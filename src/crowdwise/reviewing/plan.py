"""`Plan`: which items an expert decides, in which order: random ones, those that settle rival readings, the worst."""

import math
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from ..crowd.reading_report import several
from ..errors import CallError, shown

Source: TypeAlias = Literal["random", "settle", "worst"]
SOURCES: Final[tuple[Source, ...]] = get_args(Source)
DEFAULT_PLAN: Final = "random:30,settle:10,worst"
# About how many minutes an expert takes to decide an item.
_MINUTES: Final = 0.5
_MOST: Final = 1_000_000
_STEP: Final = re.compile(r"(random|settle|worst)(?::(\d{1,9}))?")


@dataclass(frozen=True)
class Phase:
    """A part of a plan: how items are chosen, and how many; None for as many as there are, until the expert stops."""

    source: Source
    count: int | None

    def __str__(self) -> str:
        return self.source if self.count is None else f"{self.source}:{self.count}"

    def sentence(self, first: bool, settling: int | None = None) -> str:
        """Say what these items are for, and about how long they take; `settling` as in `Plan.sentence`."""
        between = "decide between readings of the crowd"
        time = "" if self.count is None else f" (about {several(_minutes(self.count), 'minute', 'minutes')})"
        what = {
            "random": f"{_items(self.count, 'random item', 'random items')} measure how often the answers are right",
            "settle": f"{_items(self.count, 'item', 'items')} at most that {between}, if there are several"
            if settling is None
            else f"{_items(self.count, 'item', 'items')} at most that {between}, of which there are several",
            "worst": f"{_items(self.count, 'item', 'items')} whose answers most likely are wrong",
        }[self.source]
        what = f"the {what}" if self.count is None else what
        until = ", until you stop" if self.count is None else ""
        sentence = f"{'' if first else 'then '}{what}{time}{until}."
        return sentence[0].upper() + sentence[1:]


@dataclass(frozen=True)
class Plan:
    """The phases of a review, in their order."""

    phases: tuple[Phase, ...]

    @classmethod
    def of(cls, text: str) -> "Plan":
        """Return the plan that a text says; a number alone is the number of random items, before the usual rest.

        Raises:
            CallError: It is not a plan.

        >>> str(Plan.of("random:30, worst")), str(Plan.of("20"))
        ('random:30,worst', 'random:20,settle:10,worst')
        """
        words = [word.strip() for word in text.split(",")]
        if len(words) == 1 and words[0].isascii() and words[0].isdigit():
            words = [f"random:{words[0]}", *DEFAULT_PLAN.split(",")[1:]]
        phases = []
        for word in words:
            found = _STEP.fullmatch(word)
            if found is None or (found[2] is not None and not 1 <= int(found[2]) <= _MOST):
                raise CallError(
                    f"plan (--plan) {shown(text)} is no plan at {shown(word)}: write it as {DEFAULT_PLAN}, or as the "
                    "number of random items."
                )
            source: Source = found[1]  # type: ignore[assignment]  # the pattern has no others
            phases.append(Phase(source, None if found[2] is None else int(found[2])))
        sources = [phase.source for phase in phases]
        if len(set(sources)) < len(sources):
            raise CallError(f"plan (--plan) {shown(text)} names one kind of items twice.")
        return cls(tuple(phases))

    def __str__(self) -> str:
        return ",".join(map(str, self.phases))

    def sentence(self, settling: int | None = None) -> str:
        """Return what is planned and why, in words.

        Args:
            settling: How many items decide between readings of the crowd; None if that is not known.

        >>> Plan.of("random:30,settle:10,worst:4").sentence(settling=0)
        '30 random items measure how often the answers are right (about 15 minutes). Then 4 items whose answers most \
likely are wrong (about 2 minutes).'
        """
        phases = [phase for phase in self.phases if phase.source != "settle" or settling != 0]
        return " ".join(phase.sentence(number == 0, settling) for number, phase in enumerate(phases))


def _items(count: int | None, one: str, many: str) -> str:
    return many if count is None else several(count, one, many)


def _minutes(count: int) -> int:
    return math.ceil(_MINUTES * count)
