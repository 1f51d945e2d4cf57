"""The columns of a table that say how probable a worker calls a label, and how much a vote weighs."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, TypeAlias

import polars as pl

from ..crowd.ids import has_value
from ..crowd.read_options import ReadOptions
from ..crowd.soft_votes import SOFT_ROLES, as_numbers
from ..errors import DataError, did_you_mean, quoted
from .columns import PROBABILITY_NAMES, PROBABILITY_PREFIXES, WEIGHT_NAME, may_be_soft, spelled_as
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
    roles: Sequence[str] = SOFT_ROLES,
) -> SoftColumns:
    """Return the columns of probabilities and weights: those that the user names, or those with a usual name.

    `found` has the columns of item, worker and label, and `sample` returns some rows of the columns that it is given.
    A column with a usual name is taken only if its values look like it.

    Raises:
        DataError: There is no column that the user names.
    """
    if not may_be_soft(names, options) or not {"item", "worker"} <= found.keys():
        return SoftColumns({})
    taken = {role: getattr(options, role) for role in roles if getattr(options, role) is not None}
    for role, name in taken.items():
        if name not in names:
            raise DataError(f"{where} has no column {name!r} for the {role}.{did_you_mean(name, list(names))}")
    remarks = []
    looks: tuple[tuple[str, tuple[str, ...], Look], ...] = (
        ("probability", PROBABILITY_NAMES, _looks_like_probability),
        ("weight", (WEIGHT_NAME,), _looks_like_weight),
    )
    for role, aliases, looks_like in looks:
        usual = (name for alias in aliases for name in names if spelled_as(name, alias))
        free = [name for name in usual if name not in {*found.values(), *taken.values()} and names.count(name) == 1]
        for name in free if role in roles and role not in taken else []:
            rows = sample(list(dict.fromkeys([*found.values(), name])))
            looked = None if rows is None else _look_at(rows, found, name, looks_like)
            if looked is not None:
                remark, is_taken = looked
                taken |= {role: name} if is_taken else {}
                remarks.append(remark)
                break
    return SoftColumns(taken, tuple(remarks))


# What to say of a column of numbers x beside item, worker and label, which has a usual name, and whether it is taken;
# None if there is nothing to say.
Look: TypeAlias = Callable[[pl.DataFrame, Mapping[str, str], str], tuple[str, bool] | None]


def _look_at(rows: pl.DataFrame, found: Mapping[str, str], name: str, look: Look) -> tuple[str, bool] | None:
    """Look at the rows that have a label, and a value in the column of this name."""
    rows = rows.filter(has_value(rows[found["label"]])) if "label" in found else rows
    rows = rows.with_columns(as_numbers(name, rows.schema[name]).alias("x"))
    text = rows.filter(pl.col("x").is_nan())[name]
    if len(text):
        return f"Column {name!r} is not used: {quoted(text[0])} is no number.", False
    rows = rows.drop_nulls("x")
    return look(rows, found, name) if rows.height else None


def _looks_like_probability(rows: pl.DataFrame, found: Mapping[str, str], name: str) -> tuple[str, bool] | None:
    item, worker, label = (found[role] for role in ("item", "worker", "label"))
    p = rows["x"]
    if (p == 1.0).all():
        return None
    unused, option = f"Column {name!r} is not used: ", f"--probability-column {name}"
    low, high = float(p.min()), float(p.max())  # type: ignore[arg-type]
    if low < 0 or high > 1:
        hint = ""
        if high <= 0:
            hint = f" If they are logarithms, say {option} --log."
        elif low >= 0 and 2 < high <= 100:
            hint = f" If they are per cent, divide them by 100 and say {option}."
        return f"{unused}its values go from {low:g} to {high:g}, and probabilities from 0 to 1.{hint}", False
    if p.is_in([0.0, 1.0]).all():
        return f"{unused}all its values are 0 or 1. If it is the probability of the label, say {option}.", False
    votes = rows.unique().group_by(item, worker).agg(pl.len().alias("rows"), pl.col("x").sum())
    several, alone = votes.filter(pl.col("rows") > 1), votes.filter(pl.col("rows") == 1)
    guessing = 1 / max(rows[label].n_unique(), 2)
    below = float((alone["x"] < guessing).mean() or 0.0)  # type: ignore[arg-type]
    if ((several["x"] - 1).abs() > _ROUNDED).any():
        return f"{unused}its values for one worker and item do not add up to 1.", False
    if below > _BELOW_GUESSING:
        return (
            f"{unused}{below:.0%} of its values are below what guessing gives. If it is the probability of the label "
            f"beside it, say {option}.",
            False,
        )
    mean = float(p.mean() or 0.0)  # type: ignore[arg-type]
    return (
        f"Column {name!r} is taken as the probability that the worker gives to the label ({mean:.2f} on average): "
        "votes count by it; --votes hard ignores it.",
        True,
    )


def _looks_like_weight(rows: pl.DataFrame, found: Mapping[str, str], name: str) -> tuple[str, bool] | None:
    """A weight is from 0 to 1, or a count; what is the same for all votes of each item is rather of the item."""
    w = rows["x"]
    if (w == 1.0).all():
        return None
    unused, option = f"Column {name!r} is not used: ", f"--weight-column {name}"
    low, high = float(w.min()), float(w.max())  # type: ignore[arg-type]
    if low < 0 or (high > 1 and not (w == w.round()).all()):
        of = f"its values, from {low:g} to {high:g}, are neither counts nor from 0 to 1"
        return f"{unused}{of}. If votes count by it, say {option}.", False
    of_items = (
        rows.group_by(found["item"]).agg(pl.len().alias("rows"), pl.col("x").n_unique()).filter(pl.col("rows") > 1)
    )
    if of_items.height and (of_items["x"] == 1).all():
        return f"{unused}it is the same for all votes of an item. If votes count by it, say {option}.", False
    return (
        f"Column {name!r} is taken as how often a vote counts, from {low:g} to {high:g}; --votes hard ignores it.",
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


def long_form_of_classes(
    table: Table, found: Mapping[str, str], classes: Mapping[str, str], remarks: tuple[str, ...], rounded: bool
) -> Long:
    """Return a table with a column for each class as one with a row for each item, worker and class.

    With `rounded`, it has a row for each item and worker, whose label is the most probable class.
    """
    words, said = described(classes, rounded)
    columns = {f"class {name}": column for name, column in sorted(classes.items())}
    lazy = table.pick({**found, **columns})
    if rounded:
        schema = lazy.collect_schema()
        values = pl.concat_list(as_numbers(name, schema[name]).fill_nan(None) for name in columns)
        best = pl.lit(pl.Series("label", sorted(classes))).gather(values.list.arg_max())
        return Long(lazy.select(*found, best.alias("label")), {**found, "label": words["label"]}, (said,))
    long = lazy.unpivot(index=list(found), on=list(columns), variable_name="label", value_name="probability")
    label = pl.when(pl.col("probability").cast(pl.String) != "").then(pl.col("label").str.strip_prefix("class "))
    lazy = long.with_columns(label.alias("label"))
    return Long(lazy.select(*found, "label", "probability"), {**found, **words}, (said, *remarks))


def described(classes: Mapping[str, str], rounded: bool) -> tuple[dict[str, str], str]:
    """Say what stands for the columns of labels and probabilities, if each class has a column; and that it has one."""
    listed = ", ".join(list(classes.values())[:3]) + (", ..." if len(classes) > 3 else "")
    words = {"label": f"the names of {len(classes):,} columns", "probability": listed}
    said = f"The probabilities of {len(classes):,} classes are in columns of their own ({listed})."
    return words, f"{said} The most probable class is the label." if rounded else said
