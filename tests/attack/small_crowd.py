"""One small crowd with hostile names, and what crowdwise must answer: for areas that attack everything but the data."""

from pathlib import Path
from typing import Final

from .answers import compare
from .area import Case
from .majority import Row, Rules, majority
from .rule import Failure, Run

ROWS: Final[list[Row]] = [
    ("é=1+1", "[red]ann", "x"),
    ("é=1+1", "bob\u202e", "日本"),
    ("é=1+1", "cem", "x"),
    ("two", "[red]ann", "日本"),
    ("two", "bob\u202e", "日本"),
]
OPTIONS: Final = ("-m", "mv", "-o", "truth.csv", "--workers", "workers.csv")


def write(case: Case, name: str = "labels.csv") -> Path:
    """Write the crowd into the folder of the case."""
    path = case.here / name
    path.write_bytes(content())
    return path


def content() -> bytes:
    """The crowd as CSV."""
    return "".join(",".join(row) + "\n" for row in [("item", "worker", "label"), *ROWS]).encode()


def outputs(case: Case) -> set[str]:
    """The files that `OPTIONS` names."""
    return {str(case.here / "truth.csv"), str(case.here / "workers.csv")}


def check(case: Case, run: Run) -> None:
    """Raise `Failure` unless the right answer was written."""
    try:
        compare(majority(ROWS, Rules(), is_text=True), case.here / "truth.csv", case.here / "workers.csv")
    except (Failure, OSError, ValueError) as problem:
        raise run.fail(f"wrong answer: {problem}") from problem
