"""Votes with a probability and a weight: a vote is a distribution over the classes, and counts as often as it weighs.

They are stored as one array (labels, classes + 1): the probability of every class, and the weight. The label of such a
vote is its most probable class, so that all that looks at labels alone sees the votes rounded.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..errors import DataError, quoted
from ..numerics import Array
from .encoding import starts_pair

# The columns of a table of votes that make them soft.
SOFT_ROLES: Final = ("probability", "weight")
# By how much probabilities of one vote may miss one, which are written with few digits; they are divided by their sum.
_ROUNDED: Final = 0.02


class SoftRows(NamedTuple):
    """What rows say besides a label: the probability of the label, and the weight; each None if no row says it."""

    probability: Array | None
    weight: Array | None

    @classmethod
    def of(cls, table: pl.DataFrame) -> "SoftRows | None":
        """Return the columns of a table; None if it has neither. An empty cell is a plain vote."""
        found = [table[role].fill_null(1.0).to_numpy() if role in table.columns else None for role in SOFT_ROLES]
        return cls(*found) if any(one is not None for one in found) else None

    def rows(self, chosen: Array) -> "SoftRows":
        """Return some rows."""
        return SoftRows(*(None if one is None else one[chosen] for one in self))

    @property
    def order(self) -> Array:
        """An order of the rows that depends on their values alone."""
        keys = [one for one in self if one is not None]
        return np.lexsort(keys)


class Unsound(NamedTuple):
    """The rows of one worker and item that make no vote: how many such pairs there are, and the first of them."""

    pairs: int
    item: int
    worker: int
    labels: tuple[int, ...]
    total: float


class SoftVotes(NamedTuple):
    """Votes that rows were merged to, sorted by item and worker.

    Attributes:
        items, workers, labels: The codes of every vote.
        soft: (votes, classes + 1), the probability of every class, and the weight.
        repeated: How many rows repeat another one exactly.
        unsound: What cannot be a vote and is not among the votes; None if all can.
    """

    items: Array
    workers: Array
    labels: Array
    soft: Array
    repeated: int
    unsound: Unsound | None


def merge_rows(
    items: Array, workers: Array, labels: Array, rows: SoftRows, n_classes: int, *, apart: bool = False
) -> SoftVotes:
    """Make one vote of the rows of every worker and item, whose probabilities have to add up to one.

    A row that is alone says the probability of its label, and the others share the rest evenly. With `apart`, every
    row is a vote of its own. Rows that repeat another one exactly are left out.
    """
    p = np.ones(len(items)) if rows.probability is None else rows.probability
    w = np.ones(len(items)) if rows.weight is None else rows.weight
    order = np.lexsort((w, p, labels, workers, items))
    items, workers, labels, p, w = (one[order] for one in (items, workers, labels, p, w))
    new = starts_pair(items, workers)
    same = ~new
    same[1:] &= (labels[1:] == labels[:-1]) & (p[1:] == p[:-1]) & (w[1:] == w[:-1])
    items, workers, labels, p, w = (one[~same] for one in (items, workers, labels, p, w))
    new = (new | apart)[~same]
    starts, vote = np.flatnonzero(new), np.cumsum(new) - 1
    sizes = np.diff(starts, append=len(items))
    chances = np.zeros((len(starts), n_classes))
    np.add.at(chances, (vote, labels.astype(np.int64)), p)
    alone = sizes == 1
    rest = (1.0 - p[starts[alone]]) / max(n_classes - 1, 1)
    chances[alone] = rest[:, None] if n_classes > 1 else 0.0
    chances[alone, labels[starts[alone]]] = p[starts[alone]] if n_classes > 1 else 1.0
    total = chances.sum(axis=1)
    weights = np.maximum.reduceat(w, starts), np.minimum.reduceat(w, starts)
    sound = alone | ((np.abs(total - 1.0) <= _ROUNDED) & (weights[0] == weights[1]))
    unsound = None
    if not sound.all():
        first = int(np.flatnonzero(~sound)[0])
        said = tuple(labels[starts[first] : starts[first] + sizes[first]].tolist())
        of_first = int(items[starts[first]]), int(workers[starts[first]])
        unsound = Unsound(int((~sound).sum()), *of_first, said, float(total[first]))
    chances[~alone] /= np.where(total > 0, total, 1.0)[~alone, None]
    best = chances.argmax(axis=1)
    named = labels[starts]
    tied = chances[np.arange(len(starts)), named] == chances[np.arange(len(starts)), best]
    best = np.where(tied & alone, named, best).astype(labels.dtype)
    kept = starts[sound]
    soft = np.column_stack([chances, w[starts]])[sound]
    return SoftVotes(items[kept], workers[kept], best[sound], soft, int(same.sum()), unsound)


def is_plain(soft: Array) -> Array:
    """(votes), whether each is as one without probability and weight."""
    return np.asarray((soft[:, :-1].max(axis=1, initial=0.0) == 1.0) & (soft[:, -1] == 1.0))


def with_more_classes(soft: Array, codes: Array, n_classes: int) -> Array:
    """The same votes where each class has another code, and there may be more classes."""
    found = np.zeros((len(soft), n_classes + 1))
    found[:, codes], found[:, -1] = soft[:, :-1], soft[:, -1]
    return found


def plain(labels: Array, n_classes: int) -> Array:
    """Plain votes as soft ones."""
    return np.column_stack([np.eye(n_classes)[labels], np.ones(len(labels))])


def sharpened(chances: Array, power: Array) -> Array:
    """(votes, classes), probabilities to the power of their worker, which add up to one again."""
    moved = power != 1.0
    if not moved.any():
        return chances
    with np.errstate(divide="ignore"):
        logarithms = power[moved, None] * np.log(chances[moved])
    found = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    sharp = chances.copy()
    sharp[moved] = found / found.sum(axis=1, keepdims=True)
    return sharp


def as_numbers(name: str, dtype: pl.DataType, logarithm: bool = False) -> pl.Expr:
    """A column as numbers: text that is none becomes NaN, which is refused later; empty cells stay empty."""
    number = pl.col(name).cast(pl.Float64, strict=False)
    if not dtype.is_numeric():
        text = pl.col(name).cast(pl.String).str.strip_chars()
        number = pl.when(text != "").then(text.cast(pl.Float64, strict=False).fill_null(float("nan")))
    return (number.exp() if logarithm else number).alias(name)


def unusable(table: pl.DataFrame) -> dict[str, pl.Series]:
    """Return, for each soft column of a table, which rows have a value that cannot be used."""
    found: dict[str, pl.Series] = {}
    for role in SOFT_ROLES:
        if role in table.columns:
            value = table[role]
            wrong = value.is_nan() | (value < 0) | value.is_infinite()
            found[role] = (wrong | (value > 1) if role == "probability" else wrong).fill_null(False)
    return found


def refuse_unusable(role: str, count: int, rows: int, first: str, column: str, logarithm: bool) -> None:
    """Raise `DataError` for values of a soft column; `first` says which is the first, in words."""
    what = "probabilities are numbers from 0 to 1" if role == "probability" else "weights are numbers from 0 on"
    how = ""
    if role == "probability":
        how = (
            ", whose logarithms are at most 0 (--log)"
            if logarithm
            else ": say --log if they are logarithms, divide per cent by 100"
        )
    raise DataError(
        f"{count:,} of {rows:,} rows have no {role} that can be used in column {column!r}; first: {first}. "
        f'{what.capitalize()}{how}, or read the votes without: votes="hard" (--votes hard).'
    )


def first_row(given: dict[str, Any], before: int, role: str) -> str:
    """Say which row has a value that cannot be used: its values, and how many rows are before it."""
    others = ", ".join(f"{name} {quoted(given[name])}" for name in ("item", "worker", "label"))
    return f"row {before + 1} ({others}) has {given[role]}"
