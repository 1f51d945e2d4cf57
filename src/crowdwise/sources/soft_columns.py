"""The columns of a table that say how probable a worker calls a label, and how much a vote weighs."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import polars as pl

from ..crowd.ids import has_value
from ..crowd.read_options import ReadOptions
from ..crowd.soft_votes import as_numbers
from ..errors import DataError, did_you_mean
from .columns import PROBABILITY_NAMES, PROBABILITY_PREFIXES, may_be_soft, spelled_as
from .nested import Long
from .table import Table

# A column is not taken unasked if a larger share of its values is below what guessing gives, or by how much the rows
# of a vote may miss one.
_BELOW_GUESSING: Final = 0.05
_ROUNDED: Final = 0.02


class SoftColumns(NamedTuple):
    """The columns by role, and what to say of them."""

    found: dict[str, str]
    remarks: tuple[str, ...] = ()


def soft_columns(
    names: Sequence[str],
    found: Mapping[str, str],
    options: ReadOptions,
    sample: Callable[[list[str]], pl.DataFrame | None],
    where: str,
) -> SoftColumns:
    """Return the columns of probabilities and weights: those that the user names, or a probability by its usual name.

    `found` has the columns of item, worker and label, and `sample` returns some rows of the columns that it is given.

    Raises:
        DataError: There is no column that the user names.
    """
    if not may_be_soft(names, options) or not {"item", "worker", "label"} <= found.keys():
        return SoftColumns({})
    given = {role: getattr(options, role) for role in ("probability", "weight") if getattr(options, role) is not None}
    for role, name in given.items():
        if name not in names:
            raise DataError(f"{where} has no column {name!r} for the {role}.{did_you_mean(name, list(names))}")
    if "probability" in given:
        return SoftColumns(given)
    for alias in PROBABILITY_NAMES:
        for name in names:
            if spelled_as(name, alias) and name not in found.values() and list(names).count(name) == 1:
                rows = sample(list(dict.fromkeys([*found.values(), name])))
                taken = None if rows is None else _looks_like_probability(rows, found, name)
                if taken is not None:
                    remark, is_taken = taken
                    return SoftColumns(given | ({"probability": name} if is_taken else {}), (remark,))
    return SoftColumns(given)


def _looks_like_probability(rows: pl.DataFrame, found: Mapping[str, str], name: str) -> tuple[str, bool] | None:
    """Return what to say of a column with a usual name, and whether it is taken; None if it is something else."""
    item, worker, label = (found[role] for role in ("item", "worker", "label"))
    rows = (
        rows.filter(has_value(rows[label])).with_columns(as_numbers(name, rows.schema[name]).alias("p")).drop_nulls("p")
    )
    p = rows["p"]
    if not len(p) or p.is_nan().any() or not p.is_between(0, 1).all() or p.is_in([0.0, 1.0]).all():
        return None
    votes = rows.unique().group_by(item, worker).agg(pl.len().alias("rows"), pl.col("p").sum())
    several, alone = votes.filter(pl.col("rows") > 1), votes.filter(pl.col("rows") == 1)
    guessing = 1 / max(rows[label].n_unique(), 2)
    below = float((alone["p"] < guessing).mean() or 0.0)  # type: ignore[arg-type]
    if ((several["p"] - 1).abs() > _ROUNDED).any():
        return f"Column {name!r} is not used: its values for one worker and item do not add up to 1.", False
    if below > _BELOW_GUESSING:
        return (
            f"Column {name!r} is not used: {below:.0%} of its values are below what guessing gives. If it is the "
            f"probability of the label beside it, say --probability-column {name}.",
            False,
        )
    mean = float(p.mean() or 0.0)  # type: ignore[arg-type]
    return (
        f"Column {name!r} is taken as the probability that the worker gives to the label ({mean:.2f} on average): "
        "votes count by it; --votes hard ignores it.",
        True,
    )


def class_columns(names: Sequence[str], options: ReadOptions, has_label: bool) -> dict[str, str]:
    """Return the columns that are the probability of one class each, by the name of the class; empty if there are none.

    The user names them by a pattern such as "p_*", or by their names with commas between them.
    """
    named = options.probability
    if named is None:
        for prefix in () if has_label or options.label is not None else PROBABILITY_PREFIXES:
            some = {name.removeprefix(prefix): name for name in names if name.startswith(prefix) and name != prefix}
            if len(some) > 1:
                return some
        return {}
    if named in names:
        return {}
    if "*" in named:
        before, _, after = named.partition("*")
        some = {name[len(before) : len(name) - len(after)]: name for name in names if fnmatchcase(name, named)}
    else:
        some = {name: name for name in map(str.strip, named.split(","))}
    return some if len(some) > 1 and set(some.values()) <= set(names) else {}


def long_form_of_classes(table: Table, found: Mapping[str, str], classes: Mapping[str, str]) -> Long:
    """Return a table with a column for each class as one with a row for each item, worker and class."""
    columns = {f"class {name}": column for name, column in classes.items()}
    lazy = table.pick({**found, **columns})
    long = lazy.unpivot(index=list(found), on=list(columns), variable_name="label", value_name="probability")
    label = pl.when(pl.col("probability").cast(pl.String) != "").then(pl.col("label").str.strip_prefix("class "))
    lazy = long.with_columns(label.alias("label"))
    words, said = described(classes)
    return Long(lazy.select(*found, "label", "probability"), {**found, **words}, (said,))


def described(classes: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Say what stands for the columns of labels and probabilities, if each class has a column; and that it has one."""
    listed = ", ".join(map(repr, list(classes.values())[:3])) + (", ..." if len(classes) > 3 else "")
    words = {"label": f"the names of {len(classes):,} columns", "probability": "their values"}
    return words, f"The probabilities of {len(classes):,} classes are in columns of their own ({listed})."
