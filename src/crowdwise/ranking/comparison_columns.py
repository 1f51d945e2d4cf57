"""`comparison_columns` and `score_columns`: which columns are the prompt, the judge, the objects and the verdict."""

from collections.abc import Mapping, Sequence
from typing import Final

from ..errors import CallError, DataError, did_you_mean
from ..sources.columns import COMPARED, spelled_as, underscored

ROLES: Final = ("item", "judge", "left", "right", "winner")
SCORE_ROLES: Final = ("item", "judge", "object", "score")
# Pairs of columns in which the winner is named first, so that there is no column of winners; and one whose order is not
# that in which judges saw them.
CHOSEN: Final = (("chosen_model", "rejected_model"), ("chosen", "rejected"))
ALPACA: Final = ("generator_1", "generator_2")
# The columns of the two objects, in the order in which they are looked for.
PAIRS: Final = (*COMPARED, ("first", "second"))
# One column for each outcome, with 1 in one of them.
ONE_HOT: Final = {"left_won": "winner_model_a", "right_won": "winner_model_b", "tied": "winner_tie"}
PROMPTS: Final = ("prompt", "question", "item", "task", "instruction", "example")
_PAIR_IDS: Final = ("pair", "id", "sample")
_WINNERS: Final = ("winner", "label", "verdict", "preference", "choice", "result", "outcome")
_JUDGES: Final = ("judge", "worker", "annotator", "rater", "user", "performer", "evaluator", "grader", "labeler")
_OBJECTS: Final = ("object", "system", "model", "generator", "candidate", "variant")
# Exports of Toloka have these before the names of columns, and a column with what became of an assignment.
_TOLOKA: Final = ("input:", "output:", "assignment:")
_TOLOKA_WORKER: Final = "ASSIGNMENT:worker_id"
_STATUS: Final = "ASSIGNMENT:status"
# What columns are for, in messages.
_SAID: Final = {"left": "first object (left)", "right": "second object (right)", "winner": "winner"}
_SCORES: Final = ("score", "rating", "grade", "points", "value", "label")


def pair_of(found: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of the columns of both objects, as `PAIRS` has them."""
    return _folded(found.get("left", "")), _folded(found.get("right", ""))


def comparison_columns(columns: Sequence[str], named: Mapping[str, str | None], where: str) -> dict[str, str]:
    """Return the columns by role: those that the user names, and others with usual names.

    Raises:
        CallError: A role does not exist.
        DataError: A column is missing.
    """
    found = _named(columns, named, where, ROLES)
    folded = {_folded(name): name for name in reversed(columns)}
    if "left" not in found and "right" not in found:
        pair = next((pair for pair in PAIRS if set(pair) <= folded.keys()), None) or _sides(folded)
        if pair is not None:
            found |= {"left": folded[pair[0]], "right": folded[pair[1]]}
    _add_usual(found, columns, {"winner": _WINNERS, "judge": _JUDGES, "item": (*PROMPTS, *_PAIR_IDS)})
    needed = ["left", "right", "winner"]
    if pair_of(found) in CHOSEN and named.get("winner") is None:
        found.pop("winner", None)
        needed.remove("winner")
    elif "winner" not in found and {"winner_model_a", "winner_model_b"} <= folded.keys():
        found |= {role: folded[name] for role, name in ONE_HOT.items() if name in folded}
        needed.remove("winner")
    if not {"left", "right"} & found.keys():
        _refuse_others(columns, where)
    _require(found, needed, columns, where, "comparisons")
    if _TOLOKA_WORKER in columns and _STATUS in columns:
        found["status"] = _STATUS
    return {role: found[role] for role in (*ROLES, *ONE_HOT, "status") if role in found}


def _folded(column: str) -> str:
    """Return the name of a column in small letters, with underscores, and without what Toloka puts before it."""
    name = underscored(column)
    return next((name.removeprefix(before) for before in _TOLOKA if name.startswith(before)), name)


def _sides(folded: Mapping[str, str]) -> tuple[str, str] | None:
    """Return two columns such as image_left and image_right; None if there are none, or several."""
    others = {name: name.replace("left", "right", 1) for name in folded if "left" in name}
    pairs = [pair for pair in others.items() if pair[1] in folded]
    return pairs[0] if len(pairs) == 1 else None


def score_columns(columns: Sequence[str], named: Mapping[str, str | None], where: str) -> dict[str, str]:
    """Return the columns of scores by role, as `comparison_columns` does."""
    found = _named(columns, named, where, SCORE_ROLES)
    usual = {"score": _SCORES, "judge": _JUDGES, "object": _OBJECTS, "item": (*PROMPTS, *_PAIR_IDS)}
    _add_usual(found, columns, usual)
    _require(found, ["item", "object", "score"], columns, where, "scores")
    return {role: found[role] for role in SCORE_ROLES if role in found}


def _named(columns: Sequence[str], named: Mapping[str, str | None], where: str, roles: Sequence[str]) -> dict[str, str]:
    found = {role: name for role, name in named.items() if name is not None}
    for role, name in found.items():
        if role not in roles:
            raise CallError(f"{role}= (--{role}-column) does nothing here; the columns are {', '.join(roles)}.")
        if name not in columns:
            raise DataError(f"{where} has no column {name!r} for the {role}.{did_you_mean(name, list(columns))}")
    return found


def _add_usual(found: dict[str, str], columns: Sequence[str], usual: Mapping[str, Sequence[str]]) -> None:
    """Add columns with usual names for the roles that have none."""
    for role, aliases in usual.items():
        free = [name for name in columns if name not in found.values()]
        name = next((name for alias in aliases for name in free if spelled_as(_folded(name), alias)), None)
        if role not in found and name is not None:
            found[role] = name


def _refuse_others(columns: Sequence[str], where: str) -> None:
    """Raise `DataError` if a table without two objects in a row looks like one of another kind."""
    scored: dict[str, str] = {}
    _add_usual(scored, columns, {"score": _SCORES, "object": _OBJECTS})
    if scored.keys() == {"score", "object"} and not spelled_as(scored["score"], "label"):
        raise DataError(
            f"{where} has one object a row, in column {scored['object']!r}, and its score, in {scored['score']!r}: "
            "rank these with scores=True (--from-scores)."
        )


def _require(found: Mapping[str, str], roles: Sequence[str], columns: Sequence[str], where: str, what: str) -> None:
    absent = [role for role in roles if role not in found]
    if absent:
        said = " or the ".join(_SAID.get(role, role) for role in absent)
        listed = ", ".join(map(repr, columns[:20]))
        names = ", ".join(f"{role}= (--{role}-column)" for role in absent)
        raise DataError(
            f"{where} has no column that looks like the {said} of {what}; its columns are {listed}. "
            f"Name {'it' if len(absent) == 1 else 'each'} with {names}."
            f"{'' if found else ' If there is no line of column names, add one.'}"
        )
