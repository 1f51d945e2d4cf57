"""Majority vote computed again, plainly and with the standard library alone: what crowdwise must answer."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

# One row: the item, the worker and the label; None where there is nothing.
Row = tuple[Any, Any, Any]

_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


class MustRefuseError(Exception):
    """These rows cannot be used, so that crowdwise must refuse them; says why."""


@dataclass(frozen=True)
class Rules:
    """The options that say what to do with rows that cannot be used as they are."""

    duplicates: str = "error"
    missing: tuple[Any, ...] = ()
    strict: bool = False

    @property
    def options(self) -> list[str]:
        """The rules as options of the command line."""
        given = [] if self.duplicates == "error" else ["--duplicates", self.duplicates]
        given += [option for value in self.missing for option in ("--missing", str(value))]
        return [*given, "--strict"] if self.strict else given


@dataclass(frozen=True)
class Answers:
    """What majority vote says.

    Attributes:
        items: One row per item in order of first appearance: item, label, score, runner-up, its score, votes.
        workers: One row per worker in order of first appearance: worker, number of votes, share of them that agree with
            the answers (None without votes).
        scores: For every item the score of every class, classes in the order of their values.
    """

    items: list[tuple[Any, Any, float, Any, float | None, int]]
    workers: list[tuple[Any, int, float | None]]
    scores: list[list[float]]


def majority(rows: Sequence[Row], rules: Rules, *, is_text: bool, order: Callable[[Any], Any] | None = None) -> Answers:
    """Compute majority vote.

    Args:
        rows: The rows in the order of the file; None or empty text is missing.
        rules: What to do with rows that cannot be used as they are.
        is_text: Whether the rows are from a format without types, in which a column of integers is recognised.
        order: What classes are sorted by; None for the values themselves.

    Raises:
        MustRefuseError: The rows cannot be used.
    """
    labelled = _cleaned(rows, rules)
    if is_text:
        columns = [_typed(list(column)) for column in zip(*labelled, strict=True)]
        labelled = list(zip(*columns, strict=True))
    classes = sorted({label for _, _, label in labelled}, key=order)
    votes = _votes(labelled, rules)
    by_item: dict[Any, list[tuple[Any, Any]]] = {item: [] for item, _, _ in labelled}
    for (item, worker), said in votes.items():
        by_item[item].extend((worker, label) for label in said)
    by_item = {item: ballots for item, ballots in by_item.items() if ballots}
    if not by_item:
        raise MustRefuseError("nothing is left")
    given, agreed = Counter[Any](), Counter[Any]()
    items, scores = [], []
    for item, ballots in by_item.items():
        counts = Counter(label for _, label in ballots)
        ranked = sorted(classes, key=lambda label: -counts[label])  # stable: of equal ones, the first class is first
        share = [float(Fraction(counts[label], len(ballots))) for label in classes]
        scores.append(share)
        best, second = ranked[0], ranked[1] if len(ranked) > 1 else None
        runner_score = share[classes.index(second)] if len(ranked) > 1 else None
        items.append((item, best, share[classes.index(best)], second, runner_score, len(ballots)))
        for worker, label in ballots:
            given[worker] += 1
            agreed[worker] += label == best
    names = dict.fromkeys(worker for _, worker, _ in labelled)
    workers = [(name, given[name], agreed[name] / given[name] if given[name] else None) for name in names]
    return Answers(items, workers, scores)


def _cleaned(rows: Sequence[Row], rules: Rules) -> list[Row]:
    """The rows that have a label. Raises `MustRefuseError` for rows without an item or a worker."""
    if not rows:
        raise MustRefuseError("there are no rows")
    if any(_absent(item) or _absent(worker) for item, worker, _ in rows):
        raise MustRefuseError("an item or a worker is missing")
    empty = sum(_absent(label) for _, _, label in rows)
    labelled = [row for row in rows if not _absent(row[2]) and row[2] not in rules.missing]
    if not labelled:
        raise MustRefuseError("no row has a label")
    if rules.strict and (empty or len(set(labelled)) < len(labelled)):
        raise MustRefuseError("strict")
    return labelled


def _absent(value: Any) -> bool:
    """Whether there is no value: None, empty text, or a number that is none."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def _votes(labelled: Sequence[Row], rules: Rules) -> dict[tuple[Any, Any], list[Any]]:
    """The labels that count, for every item and worker, in the order of first appearance."""
    votes: dict[tuple[Any, Any], list[Any]] = {}
    for item, worker, label in labelled:
        votes.setdefault((item, worker), []).append(label)
    for pair, said in votes.items():
        distinct = list(dict.fromkeys(said))
        if len(distinct) > 1:
            if rules.duplicates in ("error", "set"):  # majority vote takes no votes for several classes
                raise MustRefuseError(f"conflict of {pair}")
            kept = {"first": said[:1], "last": said[-1:], "drop": []}
            distinct = kept.get(rules.duplicates, distinct)
        votes[pair] = distinct
    return votes


def _typed(column: list[Any]) -> list[Any]:
    """A column of text as integers, if all are integers as programs write them and fit in 64 bits."""
    if all(_INTEGER.fullmatch(value) and -(2**63) <= int(value) < 2**63 for value in column):
        return [int(value) for value in column]
    return column
