"""`Desk`: everything the page asks for, behind one lock: the next item, votes, decisions, undo, and what a fit says.

A decision is in the file before it is acknowledged. Fits run beside (fits.py), and no request waits for one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any, Final

import numpy as np
import polars as pl

from ..analysis.pairing import same_labels
from ..analysis.planning.asking import request_for
from ..analysis.planning.experts import least_sure, settling_items
from ..analysis.planning.strategies import shuffled
from ..crowd.ids import as_number
from ..crowd.labels import Labels
from ..crowd.numbering import inverse
from ..crowd.reading_report import several
from ..errors import CallError, quoted
from ..fitting.method import Method
from ..numerics import Array
from ..reading.decision_log import CANNOT_TELL, DECIDED, NOTHING, SKIPPED, SURE, UNCLEAR, UNDONE, VOTES
from .contents import Contents
from .fits import Refits
from .ledger import Ledger
from .log import DecisionFile, Entry, now
from .panel import AHEAD, about_fit, about_numbers
from .plan import Phase, Plan, Source
from .queue import Next, Queue
from .reveal import reveal, reveal_numbers, votes_without_names

# The keys that decide for the first classes; other letters are commands.
_KEYS: Final = "123456789abdefijklmnopqrtwyz"
# So many classes are found by a search.
_FOUND: Final = 20
# The longest text that the page may send, in characters.
_LONGEST: Final = 10_000
# The seconds of a decision are at most a day.
_MOST_SECONDS: Final = 86400.0
# How many of the worst items are kept in order after a fit; the next fit has others.
_WORST: Final = 1000
# How many answers are kept in case that the page asks for them again.
_ANSWERS: Final = 1000

_WHY: Final = {
    "random": "Drawn at random: it measures how often the answers are right.",
    "settle": "Readings of the crowd differ here: your decision helps to tell which one is right.",
    "worst": "Its answer is among those that most likely are wrong.",
}
_WORDS: Final = {"random": "random items", "settle": "items that settle rival readings", "worst": "least sure items"}
_POSITIONS: Final = {"random": "Random item", "settle": "Settling item", "worst": "Least sure item"}


@dataclass(frozen=True)
class Setting:
    """What a review is about.

    Attributes:
        title: The name of the labels.
        reviewer: Who decides, if the page says nothing else.
        command: The command that uses the decisions.
        restart: The command that goes on with the review after the server has stopped.
        seed: The seed of what is drawn at random.
        order: The codes of the classes in the order of the buttons; None for the order of their values.
    """

    title: str
    reviewer: str
    command: str
    restart: str
    seed: int = 0
    order: Sequence[int] | None = None


class Desk:
    """The state of a review."""

    def __init__(
        self,
        labels: Labels,
        method: Method,
        first: Any,
        file: DecisionFile,
        contents: Contents,
        plan: Plan,
        about: Setting,
    ) -> None:
        """Begin a review, or go on with one.

        Args:
            labels: The labels.
            method: The method that is fitted again.
            first: Its result without any decision.
            file: The file of decisions.
            contents: What is shown of the items.
            plan: Which items are decided.
            about: What the review is about.
        """
        self._lock = RLock()
        self.labels, self.contents, self.about = labels, contents, about
        self._method, self._first, self._file = method, first, file
        self._ledger = Ledger(labels, file, about.order)
        self._code_of = inverse(labels.numbering.item_numbers)  # by the number of the item
        self._queue = Queue(plan, self._code_of[shuffled(np.arange(labels.n_items), about.seed)])
        self._sources: dict[int, Source] = {}  # how the items were chosen that were shown
        self._with_votes: set[tuple[str, int]] = set()  # the tabs and items whose votes were visible
        self._done: dict[str, list[tuple[int, str]]] = {}  # what was done in each tab
        self._answers: dict[str, dict[str, Any]] = {}
        self._version = 0
        self._curve: list[dict[str, Any]] = []
        self._fitted, self._fitted_labels, self._fitted_decisions = first, labels, 0
        self._settling: Sequence[int] | None = None
        self._said: dict[str, Any] = {}
        self._take(first, 0)
        self._refits = Refits(self._fit, self._take)
        self._ask_fit()

    def state(self) -> dict[str, Any]:
        """Return what the page shows before the first item."""
        with self._lock:
            numbers = self.labels.labels if self.labels.numeric else None
            return {
                "title": self.about.title,
                "method": type(self._method).__name__,
                "reviewer": self.about.reviewer,
                "file": str(self._file.path),
                "command": self.about.command,
                "restart": self.about.restart,
                "kind": "numbers" if numbers is not None else "classes" if self.labels.sets is None else "questions",
                "classes": self._buttons(),
                "classes_total": len(self._ledger.classes),
                "range": None if numbers is None else {"low": float(numbers.min()), "high": float(numbers.max())},
                "plan": self._plan(),
                "panel": self.panel(),
            }

    def change_plan(self, text: str) -> dict[str, Any]:
        """Take another plan, and return the state. Raises `CallError` if it is none."""
        with self._lock:
            self._queue.plan = Plan.of(text)
            self._version += 1
            return self.state()

    def panel(self) -> dict[str, Any]:
        """Return what is said beside the item."""
        with self._lock:
            return {
                "version": self._version,
                "decisions": len(self._ledger.decided),
                "random": self._ledger.counts.get("random", 0),
                "cannot_tell": self._ledger.cannot_tell,
                "fitted": self._fitted_decisions,
                "fitting": self._refits.is_running,
                "age": self._refits.age,
                "curve": self._curve,
                **self._said,
                "remarks": [*self._ledger.remarks, *self.contents.remarks, *filter(None, [self._refits.failed])],
            }

    @property
    def version(self) -> tuple[int, bool]:
        """What changes whenever the panel does."""
        return self._version, self._refits.is_running

    def next(self, tab: str, reviewer: str) -> dict[str, Any]:
        """Return the next item for a tab, which no other tab gets meanwhile."""
        with self._lock:
            ledger = self._ledger
            found = self._queue.next(tab, ledger.decided, ledger.counts, ledger.skipped(reviewer))
            if found is None:
                return {"item": None, "why": self._nothing_left()}
            return {"item": self._item(found)}

    def votes(self, tab: str, code: int) -> dict[str, Any]:
        """Return the votes on an item without names, and remember that they were visible in this tab."""
        with self._lock:
            self._require_shown(code)
            self._with_votes.add((tab, code))
            return {"votes": votes_without_names(self.labels, code, self.about.seed)}

    def decide(self, tab: str, reviewer: str, given: dict[str, Any]) -> dict[str, Any]:
        """Write a decision to the file, and return what the crowd said.

        Args:
            tab: The tab.
            reviewer: Who decides.
            given: The values of the request; the same `entry` again is answered again, and written once.

        Raises:
            CallError: A value is not allowed; nothing was written.
            DataError: The file cannot be written to.
        """
        with self._lock:
            entry = text_of(given, "entry")
            if entry not in self._answers:
                self._answers[entry] = self._decide(tab, reviewer, given)
                self._answers.pop("", None)  # it cannot be asked for again
                if len(self._answers) > _ANSWERS:
                    del self._answers[next(iter(self._answers))]
            answer = self._answers[entry]
            return {**answer, "panel": self.panel(), "plan": self._plan(), "classes": self._buttons()}

    def undo(self, tab: str, reviewer: str) -> dict[str, Any]:
        """Take the last decision of a reviewer back by another row, and return its item; a skip is only shown again.

        Raises:
            CallError: There is nothing to take back.
        """
        with self._lock:
            done = self._done.get(tab, [])
            code, action = done.pop() if done else (-1, "")
            row = None if action == SKIPPED else self._ledger.last(reviewer)
            if action != SKIPPED:
                if row is None:
                    raise CallError("There is nothing to undo.")
                code = self._ledger.codes[row.item]
                undone = Entry(row.item, "", reviewer, now(), "", "", row.source, "", "", "", UNDONE)
                self._ledger.append(undone, code)
                self._changed()
            self._queue.keep(tab, code)
            kept: Any = "random" if row is None else row.source
            source: Source = self._sources.get(code) or kept
            count = next((phase.count for phase in self._queue.plan.phases if phase.source == source), None)
            return {
                "item": self._item(Next(code, source, self._ledger.counts.get(source, 0) + 1, count)),
                "entry": {
                    "action": SKIPPED if row is None else row.action,
                    "truth": "" if row is None else row.truth,
                    "sure": "" if row is None else row.sure,
                    "unclear": row is not None and row.guideline == UNCLEAR,
                    "comment": "" if row is None else row.comment,
                },
                "panel": self.panel(),
                "plan": self._plan(),
            }

    def search(self, text: str) -> list[dict[str, Any]]:
        """Return the classes whose names begin with a text, and then those that have it anywhere."""
        wanted = text.strip().casefold()
        with self._lock:
            folded = [(name.casefold(), code, name) for code, name in enumerate(self._ledger.classes)]
        found = sorted(
            (not key.startswith(wanted), len(key), code, name) for key, code, name in folded if wanted in key
        )
        return [{"code": code, "name": name} for *_, code, name in found[:_FOUND]]

    def decisions(self) -> pl.DataFrame:
        """Return what stands: a row for each reviewer and item, with the columns of the file."""
        with self._lock:
            return self._ledger.standing()

    def summary(self) -> str:
        """Say what was done."""
        with self._lock:
            ledger = self._ledger
            if not ledger.decided:
                return "Nothing is decided."
            return (
                f"{several(len(ledger.decided), 'item is', 'items are')} decided, {ledger.counts.get('random', 0):,} "
                f"of them drawn at random. They are in {self._file.path}."
            )

    def close(self) -> None:
        """Begin no other fit."""
        self._refits.close()

    def _decide(self, tab: str, reviewer: str, given: dict[str, Any]) -> dict[str, Any]:
        """Write a decision, and return what is shown of it."""
        code, action = given.get("code"), given.get("action")
        if action not in (DECIDED, CANNOT_TELL, SKIPPED):
            raise CallError(f"{quoted(action)} is nothing that can be done with an item.")
        self._require_shown(code)
        assert isinstance(code, int)
        if given.get("name") not in (None, self._name(code)):
            raise CallError("That item has another place now: load the page again.")
        truth = self._truth(given) if action == DECIDED else None
        self._ledger.append(self._row(code, tab, reviewer, given, truth or "", action), code)
        self._done.setdefault(tab, []).append((code, action))
        if action == SKIPPED:
            self._version += 1
            return {"saved": True, "reveal": None}
        self._changed()
        make = reveal_numbers if self.labels.numeric else reveal
        shown: dict[str, Any] = make(self._fitted, self._fitted_labels, code, truth)
        return {"saved": True, "reveal": {**shown, "fitted": self._fitted_decisions}}

    def _truth(self, given: dict[str, Any]) -> str:
        """Return what was decided, as it is written in the file. Raises `CallError` if it is no class or no number."""
        code, text = given.get("truth"), " ".join(text_of(given, "text").split())
        if self.labels.numeric:
            number = as_number(text)
            if number is None or not np.isfinite(number):
                raise CallError(f"{quoted(text)} is no number.")
            return text
        if isinstance(code, int) and not isinstance(code, bool) and 0 <= code < len(self._ledger.classes):
            return self._ledger.classes[code]
        if not text:
            raise CallError("The decision names no class.")
        return self._ledger.add_class(text)

    def _row(self, code: int, tab: str, reviewer: str, given: dict[str, Any], truth: str, action: str) -> Entry:
        """Return the row of a decision."""
        seconds, sure = given.get("seconds"), given.get("sure") or ""
        seen = (tab, code) in self._with_votes or given.get("visible") == VOTES
        known = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _MOST_SECONDS
        if sure not in SURE:
            raise CallError(f"{quoted(sure)} is not one of {', '.join(SURE[1:])}.")
        return Entry(
            item=self._name(code),
            truth=truth,
            reviewer=reviewer,
            time=now(),
            seconds=f"{seconds:.1f}" if known else "",
            visible=VOTES if seen or self._ledger.has_seen(reviewer, code) else NOTHING,
            source=self._sources[code],
            sure=sure,
            guideline=UNCLEAR if given.get("unclear") is True else "",
            comment=" ".join(text_of(given, "comment").split()),
            action=action,
        )

    def _require_shown(self, code: Any) -> None:
        if not isinstance(code, int) or isinstance(code, bool) or code not in self._sources:
            raise CallError("That item was not shown: load the page again.")

    def _name(self, code: int) -> str:
        """Return the name of an item as it is written in files."""
        return str(self.labels.names.items[code : code + 1].cast(pl.String)[0])

    def _item(self, found: Next) -> dict[str, Any]:
        """Return what the page shows of an item before it is decided."""
        self._sources[found.code] = found.source
        of = "" if found.total is None else f" of {found.total:,}"
        sets = self.labels.sets
        return {
            "code": found.code,
            "name": self._name(found.code),
            "asked": None if sets is None else str(sets.classes[int(sets.class_of[found.code])]),
            "source": found.source,
            "position": f"{_POSITIONS[found.source]} {found.number:,}{of}",
            "why": _WHY[found.source],
            "fields": self.contents.fields(found.code),
        }

    def _nothing_left(self) -> str:
        if len(self._ledger.decided) >= self.labels.n_items:
            return "Every item is decided."
        if self._settling is None and any(phase.source == "settle" for phase in self._queue.plan.phases):
            return "Other readings of the labels are still looked for: try again in a moment, or change the plan."
        return "The plan is at its end: change it to go on, or finish."

    def _buttons(self) -> list[dict[str, Any]]:
        """Return the first classes, each with the key that decides for it."""
        named = zip(self._ledger.classes, _KEYS, strict=False)
        return [{"code": code, "name": name, "key": key} for code, (name, key) in enumerate(named)]

    def _plan(self) -> dict[str, Any]:
        """Return the plan, and how far it is."""
        plan = self._queue.plan
        phases = [
            {
                "source": phase.source,
                "count": phase.count,
                "done": self._ledger.counts.get(phase.source, 0),
                "words": _WORDS[phase.source],
            }
            for phase in plan.phases
            if phase.source != "settle" or self._settling != []  # it is known that nothing is to be settled
        ]
        settling = None if self._settling is None else len(self._settling)
        return {"text": str(plan), "sentence": plan.sentence(settling), "phases": phases}

    def _changed(self) -> None:
        """Note that another decision stands than before."""
        self._version += 1
        self._ask_fit()

    def _ask_fit(self) -> None:
        self._refits.ask(self._ledger.gold(), len(self._ledger.decided))

    def _fit(self, gold: pl.DataFrame) -> Any:
        """Fit the method with what was decided; numbers stay as they are."""
        if self._settling is None:
            self._find_settling()
        if self.labels.numeric or gold.height == 0:
            return self._first
        return self._method.fit(self.labels, gold=gold, warn=False)

    def _find_settling(self) -> None:
        """Look for the items that settle rival readings, once."""
        found: list[int] = []
        if not self.labels.numeric:
            found = self._code_of[settling_items(request_for(self._first, self.labels))].tolist()
        with self._lock:
            self._settling = self._queue.settling = found
            self._version += 1

    def _take(self, result: Any, decisions: int) -> None:
        """Take the result of a fit that knows so many decisions."""
        if self.labels.numeric:
            worst = np.lexsort((self.labels.numbering.item_numbers, -np.nan_to_num(result.variance)))[:_WORST]
            said, labels = about_numbers(result, self._ledger.gold()), self.labels
        else:
            labels = same_labels(result, self.labels)
            request = request_for(result, labels)
            order = least_sure(request)
            worst = self._code_of[order[request.open[order]][:_WORST]]
            with self._lock:
                phase = self._queue.phase(self._ledger.counts)
            said = about_fit(self._first, result, labels, phase, self._ahead(phase, worst))
        with self._lock:
            self._queue.worst, self._said = worst, said
            self._fitted, self._fitted_labels, self._fitted_decisions = result, labels, decisions
            expected = said["expected"]
            if expected["value"] is not None and [decisions] != [one["decisions"] for one in self._curve[-1:]]:
                point = {"decisions": decisions, **{name: expected[name] for name in ("value", "low", "high")}}
                # After an undo, the curve goes back.
                self._curve = [*(one for one in self._curve if one["decisions"] < decisions), point]
            self._version += 1

    def _ahead(self, phase: Phase | None, worst: Array) -> Array:
        """Return the items that come next, as far as the panel looks ahead."""
        with self._lock:
            return self._queue.ahead(None if phase is None else phase.source, worst, self._ledger.decided, AHEAD)


def text_of(given: dict[str, Any], name: str) -> str:
    """Return a text of a request; empty if it has none. Raises `CallError` if it is too long."""
    text = given.get(name)
    if not isinstance(text, str):
        return ""
    if len(text) > _LONGEST:
        raise CallError(f"The {name} has {len(text):,} characters, and may have {_LONGEST:,}.")
    return text
