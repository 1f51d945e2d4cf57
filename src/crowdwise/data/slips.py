"""`slips`: classes that look like one class, written in several ways, or like no label at all."""

from typing import Final

import polars as pl

from ..errors import shortened

# What people write where they give no label, in lower case.
_NO_LABEL: Final = ("na", "n/a", "n.a.", "nan", "none", "null", "nil", "-", "--", "?", "unknown", "missing", "blank")
# The most classes that a sentence names, and the most characters of a name in it.
_MOST_NAMED: Final = 5
_LONGEST_NAME: Final = 40
# With more classes than this, labels are no words that somebody typed.
_MOST_CLASSES: Final = 10_000


def slips(counted: pl.DataFrame) -> list[str]:
    """Return sentences about classes that may be slips, how often each is said and what to do; [] if there are none.

    Args:
        counted: The classes (label) and how often each is said (len).

    >>> slips(pl.DataFrame({"label": ["Yes", "no", "yes"], "len": [2, 40, 50]}))
    ["'yes' (50) and 'Yes' (2) differ only in the case of letters; --fold-case makes one class of them."]
    """
    if counted["label"].dtype != pl.String or not 1 < counted.height <= _MOST_CLASSES:
        return []
    table = counted.sort("len", "label", descending=[True, False]).with_columns(
        bare=pl.col("label").str.strip_chars(),
        folded=pl.col("label").str.strip_chars().str.to_lowercase(),
        number=pl.col("label").str.strip_chars().cast(pl.Float64, strict=False),
    )
    sentences = []
    for (_,), group in table.group_by("folded", maintain_order=True):
        if group.height > 1:
            spaces = group["label"].str.to_lowercase().n_unique() > 1
            case = group["bare"].n_unique() > 1
            differences = [what for what, is_one in (("spaces", spaces), ("the case of letters", case)) if is_one]
            options = [option for option, needed in (("--strip", spaces), ("--fold-case", case)) if needed]
            makes = f"{' '.join(options)} {'make' if len(options) > 1 else 'makes'} one class of them"
            sentences.append(f"{_listed(group)} differ only in {' and '.join(differences)}; {makes}.")
    numbers = table.filter(pl.col("number").is_finite() & (pl.col("folded").n_unique().over("number") > 1))
    for (_,), group in numbers.group_by("number", maintain_order=True):
        sentences.append(f"{_listed(group)} are the same number, written in several ways; write it in one.")
    absent = table.filter(pl.col("folded").is_in(_NO_LABEL))
    if 0 < absent.height < table.height:
        named = " ".join(f"--missing {_quoted(name)}" for name in absent["label"].head(_MOST_NAMED).to_list())
        are, leave = ("is a class", "leaves it") if absent.height == 1 else ("are classes", "leave them")
        sentences.append(f"{_listed(absent)} {are} here; if that means no label, {named} {leave} out.")
    return sentences


def _listed(group: pl.DataFrame) -> str:
    """Return classes in words, each with how often it is said."""
    named = [
        f"{shortened(repr(name), _LONGEST_NAME)} ({count:,})"
        for name, count in group.select("label", "len").head(_MOST_NAMED).rows()
    ]
    more = group.height - len(named)
    if more:
        return f"{', '.join(named)} and {more} more"
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]


def _quoted(name: str) -> str:
    """Return a name as a shell takes it."""
    return name if name.replace("/", "").replace(".", "").isalnum() else f"'{name}'"
