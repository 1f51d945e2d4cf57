"""`Ledger`: what stands in the file of decisions, in terms of the items and classes of the labels."""

from typing import Any

import polars as pl

from ..crowd.ids import codes_of
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..errors import CallError, DataError, quoted
from ..reading.decision_log import CANNOT_TELL, DECIDED, SKIPPED, held_rows, standing_rows
from ..reading.read_truth import CHOSEN, RANDOM
from .log import DecisionFile, Entry, table_of


class Ledger:
    """What stands in the file of decisions.

    Attributes:
        codes: The code of every item in the file, by its name there.
        classes: All classes as text, in the order of the buttons: those of the labels, then those that only decisions
            name.
        decided: The codes of the items that somebody decided, or could not tell.
        counts: How many items of each source are decided.
        cannot_tell: How many items nobody could tell.

    Raises:
        DataError: The file is about other items.
    """

    def __init__(self, labels: Labels, file: DecisionFile, order: Any = None) -> None:
        self._labels, self._file = labels, file
        self._remarks: list[str] = []
        self.codes = self._known_codes()
        self.classes = self._all_classes(order)
        self._read()

    @property
    def remarks(self) -> list[str]:
        """What to know about the file, as sentences."""
        return [*self._file.remarks, *self._remarks, *self._differing]

    def append(self, row: Entry, code: int) -> None:
        """Write a row about an item; it is on the disk when this returns."""
        self._file.append(row)
        self.codes[row.item] = code
        self._read()

    def gold(self) -> pl.DataFrame:
        """Return the decisions that hold as gold: item, truth and source (random or chosen)."""
        codes = pl.Series([self.codes[entry.item] for entry, _ in self._held], dtype=pl.Int64)
        truths = pl.Series("truth", [entry.truth for entry, _ in self._held], pl.String)
        sources = pl.Series("source", [RANDOM if drawn else CHOSEN for _, drawn in self._held], pl.String)
        return pl.DataFrame([self._labels.names.items.gather(codes).alias("item"), truths, sources])

    def skipped(self, reviewer: str) -> set[int]:
        """Return the items that a reviewer skipped."""
        return {
            self.codes[entry.item]
            for entry in self._file.entries
            if entry.action == SKIPPED and entry.reviewer == reviewer and entry.item in self.codes
        }

    def has_seen(self, reviewer: str, code: int) -> bool:
        """Return whether a reviewer decided an item before, also if that was undone: then the votes were shown."""
        return any(
            entry.action in (DECIDED, CANNOT_TELL) and entry.reviewer == reviewer and self.codes.get(entry.item) == code
            for entry in self._file.entries
        )

    def last(self, reviewer: str) -> Entry | None:
        """Return the last row of a reviewer that stands; None if there is none."""
        return next((entry for entry in reversed(self._standing) if entry.reviewer == reviewer), None)

    def standing(self) -> pl.DataFrame:
        """Return the rows that stand, at most one for each reviewer and item."""
        return table_of(self._standing)

    def add_class(self, text: str) -> str:
        """Add a class that no worker named, or return the name of the class that a text stands for.

        Raises:
            CallError: It cannot be a class of these labels.
        """
        names = self._labels.names
        found = int(names.class_codes(pl.Series([text]))[0])
        if found >= 0:
            return str(names.classes.cast(pl.String)[found])
        if self._labels.sets is not None:
            raise CallError(f"{quoted(text)} is no answer to a question about one class: it is yes or no.")
        try:
            pl.Series([text]).cast(names.classes.dtype)
        except pl.exceptions.PolarsError as problem:
            raise CallError(
                f"{quoted(text)} is no class of these labels, which are {names.classes.dtype}."
            ) from problem
        if text not in self.classes:
            self.classes.append(text)
        return text

    def _known_codes(self) -> dict[str, int]:
        texts = list(dict.fromkeys(entry.item for entry in self._file.entries if entry.item))
        names = self._labels.names.items
        codes = codes_of(pl.Series(texts, dtype=pl.String), names).tolist() if texts else []
        known = {text: code for text, code in zip(texts, codes, strict=True) if code >= 0}
        if texts and not known:
            raise DataError(
                f"{self._file.path} has decisions about other items: about {quoted(texts[0])}, for example, and the "
                f"labels have {quoted(names[0])}. Name another file (--decisions)."
            )
        if len(known) < len(texts):
            other = next(text for text in texts if text not in known)
            self._remarks.append(
                f"{self._file.path} has decisions about {several(len(texts) - len(known), 'item', 'items')} without "
                f"labels, which are kept and not used; first: {quoted(other)}."
            )
        return known

    def _all_classes(self, order: Any) -> list[str]:
        if self._labels.numeric:
            return []
        classes = self._labels.names.classes
        names = classes.cast(pl.String).to_list()
        ordered = names if order is None else [names[code] for code in order]
        known = set(ordered)
        new = [
            text for text in dict.fromkeys(entry.truth for entry in self._file.entries) if text and text not in known
        ]
        # What is written in another way, such as 1.0 for 1, is no new class.
        spelled = codes_of(pl.Series(new, dtype=pl.String), classes).tolist() if new else []
        added = [name for name, code in zip(new, spelled, strict=True) if code < 0]
        self._remarks += [f"No worker named the class {quoted(name)}; {self._file.path} does." for name in added]
        return [*ordered, *added]

    def _read(self) -> None:
        """Find out what stands, after every row."""
        rows = self._file.entries
        actions = standing_rows((row.item, row.truth, row.reviewer, row.action) for row in rows)
        stands = [rows[place]._replace(action=action) for place, action in actions.items()]
        self._standing = [row for row in stands if row.item in self.codes]
        held, differ = held_rows((row.item, row.truth, row.action) for row in self._standing)
        # With each decision, whether the item was drawn at random for any reviewer.
        self._held = [
            (self._standing[places[0]], any(self._standing[place].source == RANDOM for place in places))
            for places in held
        ]
        self.decided = {self.codes[row.item] for row in self._standing}
        self.cannot_tell = sum(row.action == CANNOT_TELL for row in self._standing)
        # A random item that nobody can tell measures nothing: another one takes its place.
        counted = {row.item: row.source for row in self._standing if row.action == DECIDED or row.source != RANDOM}
        self.counts: dict[str, int] = {}
        for source in counted.values():
            self.counts[source] = self.counts.get(source, 0) + 1
        self._differing = []
        if differ:
            self._differing.append(
                f"Reviewers decided {several(len(differ), 'item', 'items')} differently, which count for nothing; "
                f"first: {quoted(differ[0])}."
            )
