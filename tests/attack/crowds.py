"""Small random crowds, as rows that a table can be written from."""

from collections.abc import Callable
from typing import Any

from . import hostile
from .area import Case
from .majority import Row, Rules


def plain(prefix: str) -> Callable[[Case, int], Any]:
    """Names such as i0 and i1."""
    return lambda _case, number: f"{prefix}{number}"


def integers(_case: Case, number: int) -> str:
    """Names that are integers, as text."""
    return str((0, 10, 9, -3, 2**63 - 1, -(2**63), 100, 7)[number % 8])


def hostile_names(case: Case, number: int) -> str:
    """Hostile names; the number keeps some of them apart."""
    return hostile.name(case) if case.chance(0.7) else f"{hostile.name(case)}{number}"


def text_rows(case: Case) -> list[Row]:
    """Rows of text with repeats, conflicts and missing labels now and then."""
    random = case.random
    styles = [plain("i"), integers, hostile_names, hostile_names]
    roles = [[random.choice(styles)(case, number) for number in range(random.randint(1, most))] for most in (7, 5, 4)]
    pairs = [(item, worker) for item in roles[0] for worker in roles[1]]
    rows: list[Row] = [(*pair, random.choice(roles[2])) for pair in random.sample(pairs, random.randint(1, len(pairs)))]
    return spoil(case, rows)


def spoil(case: Case, rows: list[Row]) -> list[Row]:
    """The rows with some of what real files have: repeats, conflicts, missing labels, rarely a missing id."""
    random = case.random
    labels = [label for _, _, label in rows]
    if case.chance(0.3):
        rows = [*rows, *random.choices(rows, k=random.randint(1, 3))]
    if case.chance(0.3):
        rows = [*rows, *((item, worker, random.choice(labels)) for item, worker, _ in random.choices(rows, k=2))]
    if case.chance(0.3):
        rows = [(*row[:2], None) if case.chance(0.2) else row for row in rows]
    if case.chance(0.03):
        rows = [(None, *row[1:]) if case.chance(0.2) else row for row in rows]
    random.shuffle(rows)
    return rows


def rules(case: Case, rows: list[Row]) -> Rules:
    """What to do with rows that cannot be used as they are."""
    labels = [label for _, _, label in rows if isinstance(label, str) and label and not label.startswith("-")]
    missing = (case.random.choice(labels),) if labels and case.chance(0.1) else ()
    # Which answer "samples" makes the n-th follows from a hash, which this rule does not know.
    duplicates = case.random.choice(("error", "error", "first", "last", "all", "set", "drop"))
    return Rules(duplicates, missing, case.chance(0.1))
