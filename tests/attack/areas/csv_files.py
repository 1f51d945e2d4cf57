"""CSV files in every dialect, with hostile names, whole and damaged."""

from .. import crowds, delimited
from ..answering import check_majority
from ..area import Area, Case
from ..rule import Verdict


def attack(case: Case) -> Verdict:
    """Read a CSV file, and compare with what Python's `csv` reads."""
    rows = crowds.text_rows(case)
    rules = crowds.rules(case, rows)
    whole = delimited.encode(case, rows)
    damaged = case.chance(0.5)
    content = delimited.damage(case, whole.content) if damaged else whole.content
    given = delimited.Delimited(content, whole.delimiter, whole.places)
    name = case.random.choice(("labels.csv", "labels.csv", "labels.tsv", "labels.txt", "labels"))
    (case.here / name).write_bytes(content)
    from_stream = case.chance(0.1)
    arguments = ["-"] if from_stream else [name]
    return check_majority(
        case,
        arguments,
        rules,
        given.rows(),
        may_refuse=damaged or given.may_be_refused,
        stdin=content if from_stream else b"",
    )


AREA = Area("csv", "CSV of every dialect, hostile names, damage", attack, tested=300)
