"""The columns of a table that hold the item, the worker and the label; and refusals of tables of another kind."""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from ..crowd.read_options import ReadOptions
from ..errors import DataError, did_you_mean, require_kind

# The names that other tools use for each role. Letter case does not matter; earlier names are preferred.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "item": ("item", "task", "question", "object", "example"),
    "worker": ("worker", "annotator", "rater", "user", "performer"),
    "label": ("label", "answer", "response", "value", "vote"),
    "truth": ("truth", "gold", "label", "answer", "response", "value"),
    "time": ("time", "timestamp", "created_at", "updated_at", "completed_at", "submitted_at", "date", "datetime"),
}
# Names that other columns often have too. One is taken only if no other column of the table may have the same role.
_JUDGED: Final = ("verdict", "rating", "class")
_WEAKER: Final[Mapping[str, tuple[str, ...]]] = {
    "item": ("id", "sample", "unit", "case", "document", "doc", "prompt", "image", "record"),
    "worker": ("judge", "model", "coder", "labeler", "labeller", "reviewer", "evaluator", "grader", "assessor"),
    "label": (*_JUDGED, "category", "choice", "judgment", "judgement", "grade", "decision", "score"),
    "truth": ("ground_truth", "true_label", "gold_label", "correct", "expected", "target", *_JUDGED),
    "time": ("submit_time", "submittime", "created", "updated", "submitted", "completed", "answered_at", "labeled_at"),
}
# Names of columns with several classes in a cell, besides the plurals of those with one.
_SETS: Final = ("tags", "tag", "classes", "categories", "choices", "topics")
# Names of columns with seconds, in small letters and without anything but letters.
_SECONDS: Final = ("seconds", "worktimeinseconds", "durationinseconds", "leadtime", "worktime", "timespent", "duration")
# Columns that name the item of a table with a row for each item, if there is no usual name for it. The last one is what
# pandas calls an index without name.
_ITEM_NAMES: Final = ("id", "uid", "index", "idx", "__index_level_0__")
ROW_NUMBERS: Final = "the number of the row, from 0"
NO_NAMES: Final[Mapping[str, str]] = {}
# An error message lists at most this many columns.
_MOST_LISTED: Final = 20
_LOOKS_LIKE: Final = "has no column that looks like the "
# Longer names are not compared with what was given, which would take long.
_LONGEST_GUESS: Final = 100
# Columns that say where a span begins and ends; offsets are smaller than the number of seconds since 1970.
_SPANS: Final = (("start", "end"), ("start_offset", "end_offset"), ("begin", "end"), ("start_char", "end_char"))
_LARGEST_OFFSET: Final = 1e9
# Columns of two things that are compared, in the order in which they are looked for: names of systems before texts.
# Those of the first pair may have other meanings too.
COMPARED: Final = (
    ("left", "right"),
    ("model_a", "model_b"),
    ("model_1", "model_2"),
    ("model_x", "model_y"),
    ("generator_1", "generator_2"),
    ("system_a", "system_b"),
    ("object_a", "object_b"),
    ("item_a", "item_b"),
    ("item_1", "item_2"),
    ("left_item", "right_item"),
    ("chosen_model", "rejected_model"),
    ("response_a", "response_b"),
    ("output_a", "output_b"),
    ("answer_a", "answer_b"),
    ("chosen", "rejected"),
)
# Columns of logs whose games are comparisons.
_GAMES: Final = {"arena-hard": {"model", "games"}, "FastChat": {"model_1", "g1_winner"}}


# The usual names of the probability of the label beside it, and what the columns of one class each begin with.
PROBABILITY_NAMES: Final = ("probability", "prob", "confidence", "score")
PROBABILITY_PREFIXES: Final = ("probability_", "prob_", "p_")
WEIGHT_NAME: Final = "weight"


class OtherTableError(DataError):
    """A table is of another kind than one class per vote."""


class GamesError(OtherTableError):
    """A table is a log of comparisons, whatever its values are."""


def recognise(
    columns: Sequence[str],
    given: Mapping[str, str | None],
    where: str,
    named_by: Mapping[str, str] = NO_NAMES,
) -> dict[str, str]:
    """Find the column for each role: the one that the user names, or the first one with a usual name for that role.

    `given` has the name of the column for each role, or None to recognise it; `where` is the name of the table; and
    `named_by` has the option of the command line that names the column for a role, where it is not --role-column.

    Raises:
        DataError: A role has no column, two columns of one name, or the column of another role.

    >>> recognise(["Task", "annotator", "answer"], {"item": None, "worker": None, "label": None}, "the table")
    {'item': 'Task', 'worker': 'annotator', 'label': 'answer'}
    """
    may_compare = "label" in given and given.get("item", "") is None  # the user names no column of items
    found, problems = {}, {}
    left = [column for column in columns if column not in given.values()]  # a column that is named has that one role
    for role, name in given.items():
        try:
            found[role] = _find(columns if name is not None or not _may_be(left, role) else left, role, name)
        except DataError as problem:
            problems[role] = str(problem)
    if problems and may_compare:
        refuse_comparisons(columns, where, has_item=False)
    if problems:
        raise DataError(_all_problems(columns, problems, given, where, named_by))
    if may_compare:
        refuse_comparisons(columns, where, has_item=True)
    for role, column in found.items():
        if columns.count(column) > 1:
            raise DataError(f"{where} has {columns.count(column):,} columns {column!r}; rename all but one.")
        other = next(first for first, name in found.items() if name == column)
        if other != role:
            raise DataError(f"{where} has one column {column!r} for both the {other} and the {role}.")
    return found


def _folded(column: str) -> str:
    """Return the name of a column in small letters, without spaces around it and without a byte-order mark."""
    return column.strip().lstrip("\ufeff").lower()


def underscored(column: str) -> str:
    """Return the name of a column in small letters, with underscores between its words.

    >>> underscored("Model A"), underscored("chosen-model")
    ('model_a', 'chosen_model')
    """
    return re.sub(r"[\s-]+", "_", _folded(column))


def _spellings(alias: str) -> tuple[str, ...]:
    return alias, f"{alias}_id", f"{alias}id", f"{alias} id"


def spelled_as(column: str, alias: str, plural: bool = False) -> bool:
    """Return whether a column has a usual name; with `plural`, also that of several, as lists have.

    >>> spelled_as("Annotator_ID", "annotator"), spelled_as("annotators", "annotator", plural=True)
    (True, True)
    """
    folded = _folded(column)
    spellings = _spellings(alias)
    return folded in spellings or (plural and folded in [f"{spelling}s" for spelling in spellings])


def sets_column(names: Sequence[str]) -> str | None:
    """Return the column of sets of classes, if its name is that of several labels, such as "labels" or "tags"."""
    if any(spelled_as(name, alias) for alias in (*ALIASES["label"], *_WEAKER["label"]) for name in names):
        return None
    plurals = (name for alias in ALIASES["label"] for name in names if spelled_as(name, alias, plural=True))
    return next(iter([*plurals, *(name for usual in _SETS for name in names if _folded(name) == usual)]), None)


def item_column(names: Sequence[str], given: str | None, where: str) -> str | None:
    """Return the column of items of a table with a row for each item: the given one, or one with a usual name."""
    if given is not None:
        if given not in names:
            raise DataError(f"{where} has no column {given!r} for the item.")
        return given
    return next((name for alias in (*ALIASES["item"], *_ITEM_NAMES) for name in names if spelled_as(name, alias)), None)


def _find(columns: Sequence[str], role: str, name: str | None) -> str:
    """Return the column for one role; `name` is the column that the user names, or None.

    Raises `DataError` with the end of a sentence that begins with the name of the table.
    """
    if name is not None:
        require_kind(role, name, str, "the name of a column, or None")
        if name in columns:
            return name
        raise DataError(f"has no column {name!r} for the {role}")
    folded = {_folded(column): column for column in reversed(columns)}
    usual, weaker = (
        [folded[spelling] for alias in names[role] for spelling in _spellings(alias) if spelling in folded]
        for names in (ALIASES, _WEAKER)
    )
    if usual:
        return usual[0]
    from .languages import means

    weaker += [column for column in columns if column not in weaker and means(column, role)]
    if role == "label" and not weaker:
        weaker = [column for column in columns if means(column, "value")]
    if len(weaker) == 1:
        return weaker[0]
    if weaker:
        raise DataError(f"has {' and '.join(map(repr, weaker))}, each of which may be the {role}")
    raise DataError(f"{_LOOKS_LIKE}{role}")


def _may_be(columns: Sequence[str], role: str) -> bool:
    """Return whether some of these columns may be the one for a role."""
    try:
        _find(columns, role, None)
    except DataError as problem:
        return not str(problem).startswith(_LOOKS_LIKE)
    return True


def _all_problems(
    columns: Sequence[str],
    problems: Mapping[str, str],
    given: Mapping[str, str | None],
    where: str,
    named_by: Mapping[str, str],
) -> str:
    """Return the message about all roles without a column: what is wrong, which columns there are, what to do."""
    listed = ", ".join(map(repr, columns[:_MOST_LISTED]))
    if len(columns) > _MOST_LISTED:
        listed += f" and {len(columns) - _MOST_LISTED} more"
    short = {_folded(column): column for column in columns if len(column) <= _LONGEST_GUESS}
    unknown = [role for role, problem in problems.items() if problem.startswith(_LOOKS_LIKE)]
    hints = [did_you_mean(name, list(short.values())) for role in problems if (name := given[role]) is not None]
    close = [
        repr(column)
        for role in unknown
        for name, column in short.items()
        if difflib.get_close_matches(name, ALIASES[role], 1, 0.75)
    ]
    hints += [f" Did you mean {' and '.join(close[: len(unknown)])}?"] if close else []
    more = []
    from .languages import means

    known = {alias for aliases in ALIASES.values() for alias in aliases}
    if unknown and not any(hints) and not known & set(short) and not any(means(c, r) for c in columns for r in ALIASES):
        more.append(" If there is no line of column names, add one.")
    if "worker" in unknown:
        more.append(" If each file has the answers of one worker, say --worker-from file.")
    said = [problem for role, problem in problems.items() if role not in unknown]
    if len(unknown) == 1:
        said.append(f"{_LOOKS_LIKE}{unknown[0]} ({' or '.join(ALIASES[unknown[0]])})")
    elif unknown:
        said.append(f"{_LOOKS_LIKE}{', the '.join(unknown[:-1])} or the {unknown[-1]}")
    options = [
        f"{_in_python(role)} ({named_by.get(role, f'--{role}-column')})" for role in problems if given[role] is None
    ]
    more.insert(0, f" Name {'it' if len(options) == 1 else 'each'} with {', '.join(options)}." if options else "")
    return f"{where} {', and '.join(said)}; its columns are {listed}.{''.join(dict.fromkeys(hints))}{''.join(more)}"


def _in_python(role: str) -> str:
    """Return how a column is named in Python; only `read_truth` takes the columns of truths."""
    return "truth= of cw.read_truth" if role == "truth" else f"{role}="


def refuse_comparisons(columns: Sequence[str], where: str, has_item: bool) -> None:
    """Raise `OtherTableError` if the columns of a table are those of comparisons of two things.

    Call this where the user did not name the column of items; `has_item` says whether one was recognised.
    """
    for name, needed in _GAMES.items():
        if set(columns) >= needed:
            raise GamesError(f"{where} looks like judgments of {name}: rank these with `crowdwise rank` (cw.rank).")
    pair = _pair(columns, COMPARED[1:] if has_item else COMPARED)
    if pair is not None:
        raise OtherTableError(
            f"{where} looks like comparisons of two things, in columns {pair[0]!r} and {pair[1]!r}: rank these "
            "with `crowdwise rank` (cw.rank). To infer which of the two is better in each pair, name the column of "
            "pairs with item= (--item-column) and that of the winner with label= (--label-column)."
        )


def refuse_spans(columns: Sequence[str], first_rows: Callable[[list[str]], pl.DataFrame | None], where: str) -> None:
    """Raise `OtherTableError` if columns of a table say where labelled spans begin and end.

    Call this where the user did not name the column of labels. `first_rows` returns some rows of the columns that it
    is given, or None if they cannot be read.
    """
    pair = _pair(columns, _SPANS)
    sample = None if pair is None else first_rows(list(pair))
    if pair is None or sample is None:
        return
    start, end = (sample[name].cast(pl.Int64, strict=False) for name in pair)
    are_integers = all(sample[name].dtype.is_integer() or sample[name].dtype == pl.String for name in pair)
    complete = sample.drop_nulls().height
    is_span = ((start >= 0) & (start <= end) & (end < _LARGEST_OFFSET)).fill_null(False)
    if complete and are_integers and is_span.sum() == complete:
        raise OtherTableError(
            f"{where} looks like spans, which begin and end where columns {pair[0]!r} and {pair[1]!r} say: labels of "
            "different spans of an item are not votes on the same thing. Make an item of each span or token that "
            "workers labelled. If these columns are something else, name the column of labels with "
            "label= (--label-column)."
        )


def _pair(columns: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the columns with the names of the first of these pairs that there is; None if there is none."""
    named = {underscored(column): column for column in columns}
    return next(((named[first], named[second]) for first, second in pairs if {first, second} <= named.keys()), None)


def may_be_soft(names: Sequence[str], options: ReadOptions) -> bool:
    """Return whether votes may have a probability or a weight: a column is called so, or the user names one."""
    if options.votes == "hard" or options.numeric:
        return False
    named = options.probability is not None or options.weight is not None
    if not named and (options.policy not in ("error", "all", "samples", "drop") or options.multi == "each"):
        return False
    return named or any(
        name.startswith(PROBABILITY_PREFIXES)
        or any(spelled_as(name, alias) for alias in (*PROBABILITY_NAMES, WEIGHT_NAME))
        for name in names
    )


def seconds_column(columns: Sequence[str]) -> str | None:
    """Return the column that says how long a worker took; None if there is none.

    >>> seconds_column(["item", "worker", "label", "WorkTimeInSeconds"])
    'WorkTimeInSeconds'
    """
    plain = {"".join(filter(str.isalpha, name.lower())): name for name in reversed(columns)}
    return next((plain[name] for name in _SECONDS if name in plain), None)


def has_any(names: Sequence[str], *roles: str) -> bool:
    """Return whether some column has a usual name for one of these roles."""
    return any(spelled_as(name, alias) for name in names for role in roles for alias in ALIASES[role])
