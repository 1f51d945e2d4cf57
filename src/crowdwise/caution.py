"""`Caution`: one reason not to trust a result or an input as it is, and what to do about it.

The same objects are in `result.cautions`, on the screen, in `--json` and in the report, and Python raises each of them
once as a warning. `warnings.filterwarnings("ignore", category=cw.Caution)` silences them, `warn=False` too.
"""

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from .errors import shortened

# What a caution is about; the most serious kind is first, and lists of cautions are in this order.
Kind: TypeAlias = Literal[
    "rivals",  # the same labels allow other answers
    "decider",  # the answers follow one worker, or one block, against all others
    "copies",  # workers count for less than one, because they say the same as others
    "blocks",  # workers agree too often to be independent, and count in full
    "iterations",  # the method stopped before it converged
    "one class",  # all labels name one class, or those of each item another one
    "few items",  # too few to learn how good workers are
    "no overlap",  # no item has two labels
    "unnamed answers",  # answers that no worker gave
    "uncalibrated",  # confidence has no fitted constant
    "not compared",  # nobody looked whether workers are independent
    "gold",  # gold is used otherwise than its user may think
    "history",  # the same for a history
    "dropped",  # rows that were dropped or changed on reading
    "numbers",  # labels are numbers and are taken as classes
    "spelling",  # names that may be one, or no label at all
]
_ORDER: dict[str, int] = {kind: place for place, kind in enumerate(get_args(Kind))}
# The most characters of a name, and the most names, in a sentence.
_LONGEST_NAME = 60
_MOST_NAMES = 8


@dataclass(unsafe_hash=True)  # not frozen: Python sets attributes of warnings that are raised as errors
class Caution(UserWarning):
    """One reason not to trust a result or an input as it is; `str` gives the sentence and the advice.

    Attributes:
        kind: What it is about, such as "rivals" or "copies".
        sentence: What was found, as one or several sentences.
        advice: What to do about it; empty if there is nothing to do.
        workers: The names of the workers concerned; empty if it concerns no workers in particular.
        items: The names of the items concerned, or of those to look at first.
        raised: Whether it was raised as a warning already.

    >>> print(Caution("few items", "There are 3 items.", "Label more."))
    There are 3 items. Label more.
    """

    kind: Kind
    sentence: str
    advice: str = ""
    workers: tuple[Any, ...] = ()
    items: tuple[Any, ...] = ()
    raised: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.args = (self.kind, self.sentence, self.advice, self.workers, self.items)  # by which it is pickled

    def __str__(self) -> str:
        return f"{self.sentence} {self.advice}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "advice": self.advice,
            "workers": [_plain(name) for name in self.workers],
            "items": [_plain(name) for name in self.items],
        }


def in_order(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Return each caution once, the most serious first; those of one kind stay in their order."""
    return tuple(sorted(dict.fromkeys(cautions), key=lambda caution: _ORDER[caution.kind]))


def raise_once(cautions: Iterable[Caution]) -> None:
    """Raise each caution as a warning unless it was raised before; it names the first line outside of this package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    for caution in cautions:
        if not caution.raised:
            caution.raised = True
            warnings.warn(caution, stacklevel=level)


def listed(names: Iterable[Any]) -> str:
    """Return names in words, each of them short; of many, the first and how many more there are.

    >>> listed(["ann", "bob", 7])
    'ann, bob and 7'
    """
    texts = [shortened(str(name), _LONGEST_NAME) for name in names]
    if len(texts) > _MOST_NAMES:
        texts[_MOST_NAMES - 1 :] = [f"{len(texts) - _MOST_NAMES + 1:,} more"]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def _plain(name: Any) -> Any:
    return name if isinstance(name, int | float | str | bool) else str(name)
