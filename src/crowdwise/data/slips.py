"""`class_slips` and `worker_slips`: names that look like one, written in several ways, or like no label at all."""

import sys
import warnings
from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from ..errors import shortened

# What people write where they give no label, in lower case.
_NO_LABEL: Final = ("na", "n/a", "n.a.", "nan", "none", "null", "nil", "-", "--", "?", "unknown", "missing", "blank")
# The most names that a sentence has, and the most characters of a name in it.
_MOST_NAMED: Final = 5
_LONGEST_NAME: Final = 40
# With more classes than this, labels are no words that somebody typed.
_MOST_CLASSES: Final = 10_000
# A warning has so many sentences; the others are counted.
_MOST_WARNED: Final = 3
# So many workers who may be one have a sentence of their own; the others are counted.
_MOST_WORKERS: Final = 3


class SlipWarning(UserWarning):
    """Warns in Python of what looks like a slip; the command line says it by itself."""


class Slip(NamedTuple):
    """What looks like a slip, and what to do about it.

    Attributes:
        found: What was found, with counts; no full stop is at its end.
        by_options: What an option of the command line does about it, or what else to do.
        by_arguments: The same for an argument in Python.
    """

    found: str
    by_options: str
    by_arguments: str

    @property
    def for_shell(self) -> str:
        """The sentence for users of the command line."""
        return f"{self.found}; {self.by_options}."

    @property
    def for_python(self) -> str:
        """The sentence for users of Python."""
        return f"{self.found}; {self.by_arguments}."


def class_slips(classes: pl.Series, counts: pl.Series) -> list[Slip]:
    """Return which classes may be slips, how often each is said and what to do; [] if there are none.

    Args:
        classes: The names of the classes.
        counts: How often each is said.

    >>> [slip.for_shell for slip in class_slips(pl.Series(["Yes", "no", "yes"]), pl.Series([2, 40, 50]))]
    ["'yes' (50) and 'Yes' (2) differ only in the case of letters; --fold-case makes one class of them."]
    """
    if not _is_text(classes) or not 1 < len(classes) <= _MOST_CLASSES:
        return []
    table = _folded(classes, counts).with_columns(number=pl.col("bare").cast(pl.Float64, strict=False))
    slips = []
    for (_,), group in table.group_by("folded", maintain_order=True):
        if group.height > 1:
            spaces, case = _differences(group)
            options = [option for option, needed in (("--strip", spaces), ("--fold-case", case)) if needed]
            arguments = [option for option, needed in (("strip=True", spaces), ("fold_case=True", case)) if needed]
            makes = f"{'make' if len(options) > 1 else 'makes'} one class of them"
            slips.append(
                Slip(
                    f"{_listed(group)} differ only in {_in_words(spaces, case)}",
                    f"{' '.join(options)} {makes}",
                    f"cw.read_labels(..., {', '.join(arguments)}) makes one class of them",
                )
            )
    numbers = table.filter(pl.col("number").is_finite() & (pl.col("folded").n_unique().over("number") > 1))
    for (_,), group in numbers.group_by("number", maintain_order=True):
        what = "write it in one"
        slips.append(Slip(f"{_listed(group)} are the same number, written in several ways", what, what))
    absent = table.filter(pl.col("folded").is_in(_NO_LABEL))
    if 0 < absent.height < table.height:
        values = absent["name"].head(_MOST_NAMED).to_list()
        named = " ".join(f"--missing {_quoted(name)}" for name in values)
        are, them = ("is a class", "it") if absent.height == 1 else ("are classes", "them")
        means = "if that means no label,"
        slips.append(
            Slip(
                f"{_listed(absent)} {are} here",
                f"{means} {named} {'leaves' if absent.height == 1 else 'leave'} {them} out",
                f"{means} missing={values!r} leaves {them} out",
            )
        )
    return slips


def worker_slips(workers: pl.Series, counts: pl.Series) -> list[Slip]:
    """Return which workers may be one whose name is written in several ways, and what to do; [] if there are none.

    Args:
        workers: The names of the workers.
        counts: How many labels each gave.

    >>> for slip in worker_slips(pl.Series(["ann", "Ann ", "bob"]), pl.Series([40, 2, 30])):
    ...     print(slip.for_shell)
    Workers 'ann' (40) and 'Ann ' (2) differ only in spaces and the case of letters, and count as different workers; if
    they are one, write the name in one way in the input (--strip and --fold-case are for labels alone).
    """
    if not _is_text(workers) or len(workers) < 2:
        return []
    table = _folded(workers, counts)
    alike = table.filter(pl.col("folded").is_duplicated())
    groups = [group for _, group in alike.group_by("folded", maintain_order=True)]
    write = "if they are one, write the name in one way in the input"
    slips = []
    for group in groups[:_MOST_WORKERS]:
        found = f"Workers {_listed(group)} differ only in {_in_words(*_differences(group))}"
        slips.append(
            Slip(
                f"{found}, and count as different workers",
                f"{write} (--strip and --fold-case are for labels alone)",
                f"{write} (strip and fold_case are for labels alone)",
            )
        )
    more = len(groups) - _MOST_WORKERS
    if more > 0:
        is_one = more == 1
        found = f"{more:,} more {'name of a worker is' if is_one else 'names of workers are'} written in several ways"
        one_way = "write it in one" if is_one else "write each in one"
        slips.append(Slip(found, one_way, one_way))
    return slips


def warn_of(slips: Sequence[Slip]) -> None:
    """Warn of slips, all in one warning, which names the line outside of this package that led here."""
    if not slips:
        return
    said = [slip.for_python for slip in slips[:_MOST_WARNED]]
    if len(slips) > _MOST_WARNED:
        said.append(f"There are {len(slips) - _MOST_WARNED:,} more; `slips` of the labels has all of them.")
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(" ".join(said), SlipWarning, stacklevel=level)


def _is_text(names: pl.Series) -> bool:
    return names.dtype in (pl.String, pl.Categorical, pl.Enum)


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
    if more:
        return f"{', '.join(named)} and {more} more"
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]


def _quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    return name if name.replace("/", "").replace(".", "").isalnum() else f"'{name}'"
