"""`read_comparisons`: who said which of two objects is better, from tables and logs of any format."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from ..analysis.panels.positions import TIES
from ..crowd.encoding import typed
from ..crowd.ids import has_value, text
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import several
from ..errors import DataError, quoted
from ..numerics import Array
from ..reading.registry import open_inputs
from ..sources.columns import spelled_as
from ..sources.input import Input
from ..sources.rows import open_rows
from .comparison_columns import ALPACA, CHOSEN, ONE_HOT, PROMPTS, ROLES, comparison_columns, pair_of, score_columns
from .comparison_logs import LOGS, Log, Vote
from .comparisons import BY_ITEM, BY_PROMPT, BY_VOTE, FIRST, SECOND, TIE, Comparisons

Named: TypeAlias = Mapping[str, str | None]
# What tables say for the first, the second and neither, in small letters; the names of both columns besides.
_FIRST: Final = ("left", "first", "a", "model_a", "1", "1.0", "model_1", "model_x", "a>b", "a>>b", "b<a", "b<<a")
_SECOND: Final = ("right", "second", "b", "model_b", "2", "2.0", "model_2", "model_y", "b>a", "b>>a", "a<b", "a<<b")
_TIES: Final = ("tie", "tied", "both", "both_good", "bothgood", "neither", "a=b", "b=a")
# How judges are told to write a verdict: [[A]], [[A>B]] or, for a tie, [[C]].
_BRACKETED: Final = r"^\[+\s*(.*?)\s*\]+$"
_TIE_IN_BRACKETS: Final = r"^\[+\s*c\s*\]+$"
# A tie for a reason: tie (inconsistent), tie (bothbad).
_TIE_BECAUSE: Final = r"^tie_?\(.*\)$"
# What became of assignments of Toloka that count.
_ACCEPTED: Final = ("approved", "submitted", "")
_TRUE: Final = ("1", "1.0", "true", "yes")
# If so many decided votes are all for the first, the table names winners first, and not what was seen first.
_MANY: Final = 20
# More comparisons than this are not made of scores.
_MOST_PAIRS: Final = 200_000_000
# The columns of a table besides those that are named by role: whether a cell has a value, the row, and the file.
_HAS: Final = "\0has "
_ROW: Final = "\0row"
_FILE: Final = "\0file"
_UNKNOWN: Final = 9


class _Table(NamedTuple):
    """Rows with one comparison each, as text, in columns named by role.

    Attributes:
        rows: The rows.
        found: The name of each column in the input.
        ordered: Whether the left object is what the judge saw first, as far as the format says.
    """

    rows: pl.DataFrame
    found: Mapping[str, str]
    ordered: bool


def read_comparisons(source: Any, options: ReadOptions, named: Named, *, scores: bool = False) -> Comparisons:
    """Read comparisons; `named` has the columns that the user names, by role.

    Args:
        source: What `read_labels` takes.
        options: How it is read.
        named: The names of columns, by the roles of `ROLES`, or of `SCORE_ROLES` for scores.
        scores: Whether rows are scores of one object each; these are compared within a judge and a prompt.

    Raises:
        CallError: An option is not allowed.
        DataError: The input cannot be read or used; the message has the first row that is to blame.
    """
    tables: list[_Table] = []
    remarks: list[str] = []
    for entry in open_inputs(source, options):
        log = None if scores else next((log for log in LOGS if entry.is_file and log.recognises(entry)), None)
        if log is not None:
            tables.append(_of_log(entry, log, named))
            remarks.append(f"{entry.name} is read as {log.name}.")
            continue
        find = score_columns if scores else comparison_columns

        def roles(columns: Sequence[str], find: Callable[..., Any] = find, where: str = entry.name) -> Any:
            return find(columns, named, where)

        opened = open_rows(entry, roles, options)
        remarks += opened.remarks
        tables.append(_as_text(opened.collect(), opened.found, entry.name))
    if len({frozenset(table.found) for table in tables}) > 1:
        raise DataError("These files have different columns: read files of one kind.")
    rows, found = pl.concat([table.rows for table in tables]), tables[0].found
    ordered = all(table.ordered for table in tables)
    said = list(dict.fromkeys(remarks))
    if scores:
        rows = _pairs_of_scores(rows)
        found = {role: found.get(role, "score") for role in ROLES if role != "judge" or "judge" in found}
        said.append(f"Scores were compared within a judge and a prompt: {rows.height:,} comparisons.")
    return _encoded(rows, found, None if scores else ordered, said)


def _as_text(table: pl.DataFrame, found: Mapping[str, str], name: str) -> _Table:
    texts = [text(pl.col(one), table.schema[one]).alias(one) for one in table.columns]
    filled = [has_value(table[one]).alias(f"{_HAS}{one}") for one in table.columns]
    rows = table.select(*texts).with_columns(*filled).with_row_index(_ROW, 1)
    pair = pair_of(found)
    ordered = pair != ALPACA and pair not in CHOSEN
    return _Table(rows.with_columns(pl.lit(name).alias(_FILE)), dict(found), ordered)


def _of_log(entry: Input, log: Log, named: Named) -> _Table:
    votes = list(log.read(entry, named))
    if not votes:
        raise DataError(f"{entry.name} has no comparison of two objects: there is nothing to rank.")
    table = pl.DataFrame(votes, schema=dict.fromkeys(Vote._fields, pl.String), orient="row")
    return _as_text(table, {role: role for role in ROLES}, entry.name)._replace(ordered=log.ordered)


def _pairs_of_scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a comparison for every two objects that a judge scored on one prompt; several scores are averaged."""
    for role in ("item", "object", "score"):
        _refuse(rows, ~rows[f"{_HAS}{role}"], f"the {role} is empty", "Fill it in, or leave the row out.")
    number = rows["score"].str.strip_chars().cast(pl.Float64, strict=False)
    _refuse(rows, ~number.is_finite().fill_null(False), "the score {score} is no number", "Write numbers.")
    judge = pl.col("judge") if "judge" in rows.columns else pl.lit("all").alias("judge")
    given = rows.select("item", judge, "object", number.alias("score"), _ROW, _FILE)
    each = given.group_by("item", "judge", "object", maintain_order=True).agg(
        pl.col("score").mean(), pl.col(_ROW).first(), pl.col(_FILE).first()
    )
    sizes = each.group_by("item", "judge").len()["len"].cast(pl.Int64)
    if int((sizes * (sizes - 1) // 2).sum()) > _MOST_PAIRS:
        raise DataError(f"These scores give more than {_MOST_PAIRS:,} comparisons: rank a part of the prompts.")
    both = each.join(each.drop(_ROW, _FILE), on=["item", "judge"], suffix="_other").filter(
        pl.col("object") < pl.col("object_other")
    )
    if not both.height:
        raise DataError("No judge scored two objects on one prompt: there is nothing to compare.")
    better = pl.col("score") - pl.col("score_other")
    winner = pl.when(better > 0).then(pl.lit("left")).when(better < 0).then(pl.lit("right")).otherwise(pl.lit("tie"))
    filled = [pl.lit(value=True).alias(f"{_HAS}{role}") for role in ROLES]
    sides = pl.col("object").alias("left"), pl.col("object_other").alias("right")
    return both.select("item", "judge", *sides, winner.alias("winner"), *filled, _ROW, _FILE)


def _refuse(table: pl.DataFrame, bad: pl.Series, problem: str, instead: str) -> None:
    """Raise `DataError` if a row is bad; in `problem`, {left} and the like stand for what the first of them has."""
    rows = table.filter(bad)
    if rows.height:
        row = rows.row(0, named=True)
        shown = {name: quoted(value) for name, value in row.items() if not name.startswith("\0")}
        many = "" if rows.height == 1 else f" ({rows.height:,} rows are like this)"
        raise DataError(f"{row[_FILE]}, row {row[_ROW]:,}: {problem.format(**shown)}{many}. {instead}")


def _encoded(table: pl.DataFrame, found: Mapping[str, str], ordered: bool | None, said: list[str]) -> Comparisons:
    """Return rows, whose columns are text named by role, as comparisons. `ordered` is None for scores."""
    if "status" in found:
        refused = ~table["status"].str.to_lowercase().is_in(_ACCEPTED).fill_null(True)
        if refused.any():
            many = several(int(refused.sum()), "assignment that was", "assignments that were")
            said.append(f"{many} not accepted, such as {quoted(table['status'].filter(refused)[0])}, left out.")
            table = table.filter(~refused)
    for role in (one for one in ROLES if one in found and one != "winner"):
        column = quoted(found[role]).replace("{", "{{").replace("}", "}}")
        _refuse(table, ~table[f"{_HAS}{role}"], f"column {column} is empty", "Fill it in, or leave the row out.")
    same = table["left"] == table["right"]
    _refuse(table, same, "{left} is compared with itself", "Leave such rows out.")
    if "winner" in found:
        blank = int((~table[f"{_HAS}winner"]).sum())
        if blank:
            table = table.filter(table[f"{_HAS}winner"])
            said.append(several(blank, "row without a winner was dropped.", "rows without a winner were dropped."))
        if not table.height:
            raise DataError("No row has a winner; there is nothing to rank.")
    outcome = _outcomes(table, found)
    words = "Winners are left, right, tie, or the name of one of the two objects."
    shown = "{winner}" if "winner" in found else "of the row"
    _refuse(
        table, pl.Series(outcome == _UNKNOWN), f"the winner {shown} is neither {{left}} nor {{right}} nor a tie", words
    )
    decided = outcome[outcome != TIE]
    if ordered and len(decided) >= _MANY and len(set(decided.tolist())) == 1:
        ordered = False
        said.append("The winner is always in the same column, so that column does not say what judges saw first.")
    if ordered is False:
        said.append("It is not known which object judges saw first: position is left out.")
    objects, (first, second) = _codes([table["left"], table["right"]])
    if not ordered:  # the lower name is first, whoever won
        swapped = first > second
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        outcome = np.where(swapped, -outcome, outcome)
    if "judge" in found:
        judges, (judge,) = _codes([table["judge"]])
    else:
        said.append("There is no column of judges: all votes are taken as those of one.")
        judges, judge = pl.Series("judge", ["all"]), np.zeros(table.height, np.int64)
    prompt, cluster = np.arange(table.height), BY_VOTE
    if "item" in found:
        _, (codes,) = _codes([table["item"]])
        prompt, cluster = codes, _cluster(found["item"], codes, first, second)
    if cluster == BY_VOTE:
        said.append(
            "No column says which votes are on the same prompt: every row is taken as a prompt of its own, and "
            "intervals are too narrow if rows share prompts. Name the column with item= (--item-column)."
        )
    arrays = (judge, first, second, outcome.astype(np.int64), prompt)
    return Comparisons(objects, judges, *arrays, cluster=cluster, ordered=bool(ordered), remarks=tuple(said)).in_order()


def _cluster(column: str, codes: Array, first: Array, second: Array) -> str:
    """Return what a column says of the votes that share a value of it: that they are on one prompt, or on one item."""
    if any(spelled_as(column, alias) for alias in PROMPTS):
        return BY_PROMPT
    if len(np.unique(codes)) == len(codes):
        return BY_VOTE
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs = np.unique(np.stack([codes, low, high]), axis=1).shape[1]
    return BY_ITEM if pairs == len(np.unique(codes)) else BY_PROMPT


def _outcomes(table: pl.DataFrame, found: Mapping[str, str]) -> Array:
    """Return what every row says; `_UNKNOWN` where it says nothing that is known. Names of objects go before words."""
    if "winner" not in found and not ONE_HOT.keys() & found.keys():  # the left one was chosen
        return np.full(table.height, FIRST, np.int8)
    if "winner" not in found:
        is_one = {role: pl.col(role).str.to_lowercase().is_in(_TRUE) for role in ONE_HOT if role in found}
        is_tie = is_one.get("tied", pl.lit(value=False))
        chosen = _cases((is_one["left_won"], FIRST), (is_one["right_won"], SECOND), (is_tie, TIE))
    elif pair_of(found) == ALPACA:  # 1 is the first, 2 the second, 1.5 and 0 neither
        number = pl.col("winner").cast(pl.Float64, strict=False)
        chosen = _cases(
            ((number == 0) | (number == 1.5), TIE),
            (number.is_between(1, 1.5), FIRST),
            (number.is_between(1.5, 2), SECOND),
        )
    else:
        winner = pl.col("winner")
        said = winner.str.strip_chars().str.to_lowercase()
        word = said.str.replace(_BRACKETED, "${1}").str.replace_all(r"[\s-]+", "_")
        is_tie = (
            said.is_in(TIES) | word.is_in(_TIES) | word.str.contains(_TIE_BECAUSE) | said.str.contains(_TIE_IN_BRACKETS)
        )
        chosen = _cases(
            (winner == pl.col("left"), FIRST),
            (winner == pl.col("right"), SECOND),
            (is_tie, TIE),
            (word.is_in([*_FIRST, pair_of(found)[0]]), FIRST),
            (word.is_in([*_SECOND, pair_of(found)[1]]), SECOND),
        )
    return table.select(chosen.alias("said"))["said"].to_numpy()


def _cases(*cases: tuple[pl.Expr, int]) -> pl.Expr:
    """Return the value of the first case that holds, else `_UNKNOWN`."""
    chosen = pl.lit(_UNKNOWN)
    for holds, value in reversed(cases):
        chosen = pl.when(holds).then(pl.lit(value)).otherwise(chosen)
    return chosen.cast(pl.Int8)


def _codes(columns: Sequence[pl.Series]) -> tuple[pl.Series, list[Array]]:
    """Return the names in columns, in order, and the codes of every row of each; whole numbers are numbers."""
    names = pl.concat([column.alias("name") for column in columns]).unique()
    order = typed(names, True).arg_sort()
    names = names.gather(order)
    table = pl.DataFrame({"name": names}).with_row_index("code")
    codes = [
        pl.DataFrame({"name": column}).join(table, on="name", how="left", maintain_order="left")["code"]
        for column in columns
    ]
    return typed(names, True), [code.cast(pl.Int64).to_numpy() for code in codes]
