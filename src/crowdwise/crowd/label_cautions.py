"""What to know about labels before any method uses them: dropped rows, numbers as classes, names that look alike."""

from typing import Final

import polars as pl

from ..caution import Caution, listed
from ..errors import shortened
from .ids import TEXT
from .number_reader import NUMBER
from .reading_report import ReadingReport

# What people write where they give no label, in lower case.
NO_LABEL: Final = ("na", "n/a", "n.a.", "nan", "none", "null", "nil", "-", "--", "?", "unknown", "missing", "blank")
# The most names that a sentence has, and the most characters of a name in it.
_MOST_NAMED: Final = 5
_LONGEST_NAME: Final = 40
# With more classes than this, labels are no words that somebody typed.
_MOST_CLASSES: Final = 10_000
# So many cautions about classes, and about workers, are told one by one; the others are counted.
_MOST_TOLD: Final = 5
# What makes one class of names that differ in spaces, and in the case of letters.
_MERGING: Final = ("strip=True (--strip)", "fold_case=True (--fold-case)")


def cautions_of(report: ReadingReport, classes: pl.Series) -> tuple[Caution, ...]:
    """Return what was dropped or changed on reading, and that numbers are taken as classes, where that is so."""
    dropped = (Caution("dropped", sentence) for sentence in report.repairs)
    return (*dropped, *numbers_as_classes(classes))


def numbers_as_classes(classes: pl.Series) -> list[Caution]:
    """Ask what is meant if there are three classes or more and all are named by numbers; else [].

    >>> print(*numbers_as_classes(pl.Series([1, 2, 3, 4, 5])))
    The labels are 5 different numbers from 1 to 5, and are taken as classes without an order. Say numeric=True
    (--numeric) if they measure something, or ordinal=True (--ordinal) if they are steps of a scale.
    >>> numbers_as_classes(pl.Series(["cat", "dog", "7"])), numbers_as_classes(pl.Series([0, 1]))
    ([], [])
    """
    if len(classes) < 3 or not (classes.dtype.is_numeric() or classes.dtype == pl.String):
        return []
    if classes.dtype == pl.String and not classes.str.contains(NUMBER).all():
        return []
    values = classes.str.strip_chars() if classes.dtype == pl.String else classes
    ordered = values.to_frame("name").sort(pl.col("name").cast(pl.Float64))["name"]
    return [
        Caution(
            "numbers",
            f"The labels are {len(classes):,} different numbers from {ordered[0]} to {ordered[-1]}, and are taken as "
            "classes without an order.",
            "Say numeric=True (--numeric) if they measure something, or ordinal=True (--ordinal) if they are steps of "
            "a scale.",
        )
    ]


def alike_classes(classes: pl.Series, counts: pl.Series) -> list[Caution]:
    """Return which classes look like one, or like no label, and what to do; `counts` says how often each is said.

    >>> for caution in alike_classes(pl.Series(["Yes", "no", "yes"]), pl.Series([2, 40, 50])):
    ...     print(caution)
    'yes' (50) and 'Yes' (2) differ only in the case of letters. fold_case=True (--fold-case) makes one class of them.
    """
    if classes.dtype not in TEXT or not 1 < len(classes) <= _MOST_CLASSES:
        return []
    table = _folded(classes, counts).with_columns(number=pl.col("bare").cast(pl.Float64, strict=False))
    found = []
    for (_,), group in table.group_by("folded", maintain_order=True):
        if group.height > 1:
            spaces, case = _differences(group)
            options = [option for option, needed in zip(_MERGING, (spaces, case), strict=True) if needed]
            found.append(
                Caution(
                    "spelling",
                    f"{_listed(group)} differ only in {_in_words(spaces, case)}.",
                    f"{' and '.join(options)} {'make' if len(options) > 1 else 'makes'} one class of them.",
                )
            )
    numbers = table.filter(pl.col("number").is_finite() & (pl.col("folded").n_unique().over("number") > 1))
    for (_,), group in numbers.group_by("number", maintain_order=True):
        said = f"{_listed(group)} are the same number, written in several ways."
        found.append(Caution("spelling", said, "Write it in one."))
    absent = table.filter(pl.col("folded").is_in(NO_LABEL))
    if 0 < absent.height < table.height:
        values = absent["name"].head(_MOST_NAMED).to_list()
        named = " ".join(f"--missing {_quoted(name)}" for name in values)
        are, them = ("is a class", "it") if absent.height == 1 else ("are classes", "them")
        advice = f"If that means no label, missing={values!r} ({named}) leaves {them} out."
        found.append(Caution("spelling", f"{_listed(absent)} {are} here.", advice))
    return _first_of(found, "classes")


def alike_workers(workers: pl.Series, counts: pl.Series, what: str = "workers") -> list[Caution]:
    """Return which workers look like one, and what to do; `counts` says how many labels each gave.

    Likewise for others than workers, such as the objects and the judges of comparisons: `what` says what they are.

    >>> for caution in alike_workers(pl.Series(["ann", "Ann ", "bob"]), pl.Series([40, 2, 30])):
    ...     print(caution)
    Workers 'ann' (40) and 'Ann ' (2) differ only in spaces and the case of letters, and count as different workers. If
    they are one, write the name in one way in the input (strip and fold_case are for labels alone).
    """
    if workers.dtype not in TEXT or len(workers) < 2:
        return []
    alike = _folded(workers, counts).filter(pl.col("folded").is_duplicated())
    of_options = " (strip and fold_case are for labels alone)" if what == "workers" else ""
    return _first_of(
        [
            Caution(
                "spelling",
                f"{what.capitalize()} {_listed(group)} differ only in {_in_words(*_differences(group))}, and count as "
                f"different {what}.",
                f"If they are one, write the name in one way in the input{of_options}.",
                workers=tuple(group["name"]) if what != "objects" else (),
            )
            for _, group in alike.group_by("folded", maintain_order=True)
        ],
        what,
    )


def _first_of(found: list[Caution], what: str) -> list[Caution]:
    """Return the first of many cautions, and one that counts the others."""
    more = len(found) - _MOST_TOLD
    if more <= 0:
        return found
    are = "name is" if more == 1 else "names are"
    last = Caution(
        "spelling",
        f"{more:,} more {are} written in several ways among the {what}.",
        "Write each in one way.",
        workers=tuple(name for one in found[_MOST_TOLD:] for name in one.workers),
    )
    return [*found[:_MOST_TOLD], last]


def _folded(names: pl.Series, counts: pl.Series) -> pl.DataFrame:
    """Return names with their counts (len), the most frequent first; without spaces (bare), and in small letters."""
    table = pl.DataFrame({"name": names.cast(pl.String), "len": counts}).sort("len", "name", descending=[True, False])
    bare = pl.col("name").str.strip_chars()
    return table.with_columns(bare=bare, folded=bare.str.to_lowercase())


def _differences(group: pl.DataFrame) -> tuple[bool, bool]:
    """Return whether names that are folded to one differ in spaces, and whether in the case of letters."""
    return group["name"].str.to_lowercase().n_unique() > 1, group["bare"].n_unique() > 1


def _in_words(spaces: bool, case: bool) -> str:
    return " and ".join(what for what, is_one in (("spaces", spaces), ("the case of letters", case)) if is_one)


def _listed(group: pl.DataFrame) -> str:
    """Return names in words, each with its count."""
    named = [
        f"{shortened(repr(name), _LONGEST_NAME)} ({count:,})"
        for name, count in group.select("name", "len").head(_MOST_NAMED).rows()
    ]
    more = group.height - len(named)
    return listed([*named, f"{more} more"] if more else named)


def _quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    return name if name.replace("/", "").replace(".", "").isalnum() else f"'{name}'"
