"""`rank`: the order of objects by comparisons of two of them, by judges who differ."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..caution import listed, raise_once
from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, require_kind
from ..parallel import require_threads
from .fit import fit
from .guards import is_against
from .intervals import uncertainty
from .read_comparisons import read_comparisons
from .redundancy import redundancy
from .result import RankResult, make_result

# Every two objects have a covariance.
_MOST_OBJECTS: Final = 5000


def rank(
    comparisons: Any,
    *,
    item: str | None = None,
    judge: str | None = None,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    scores: bool = False,
    object: str | None = None,
    score: str | None = None,
    plain: bool = False,
    drop_against: bool = False,
    sheet: str | None = None,
    query: str | None = None,
    table: str | None = None,
    encoding: str | None = None,
    storage: Mapping[str, Any] | None = None,
    warn: bool = True,
) -> RankResult:
    """Rank objects, such as language models, from comparisons of two at a time.

    Args:
        comparisons: A path, a table in memory, or anything else that `read_labels` takes, with a comparison a row:
            columns item (the prompt), judge, left, right and winner (left, right, tie, or the name of the object); or
            model_a, model_b and winner; or chosen and rejected; or a log of FastChat, arena-hard, alpaca_eval,
            promptfoo (select-best) or Label Studio (pairwise).
        item: The column of prompts, if its name is not a usual one; likewise those that follow.
        judge: The column of judges.
        left: The column of the object that was seen first.
        right: The column of the other one.
        winner: The column of verdicts.
        scores: Whether every row is a judge's score of one object. Scores are compared within a judge and a prompt.
        object: With `scores`, the column of objects.
        score: With `scores`, the column of scores.
        plain: Treat all judges alike: the Bradley-Terry model with Davidson's ties. Otherwise
            judges differ in how well they tell objects apart, in whether they prefer the first, and in how often they
            call a tie.
        drop_against: Leave out the judges who clearly prefer what the others do not, and fit once more. Otherwise
            their votes count reversed.
        sheet: As in `read_labels`, like those that follow.
        query: The query of a database.
        table: The table of a database.
        encoding: How text is stored.
        storage: Options of a cloud storage.
        warn: Whether to raise cautions as warnings; they are in `cautions` all the same.

    Returns:
        The order of the objects with intervals, the judges, and what every pair would score.

    Raises:
        CallError: An option is not allowed.
        DataError: The comparisons cannot be read or used.

    >>> import polars as pl
    >>> votes = pl.DataFrame({"prompt": [1, 1, 2, 2], "judge": ["ann", "bob"] * 2, "left": ["x", "y", "x", "x"],
    ...                       "right": ["y", "x", "y", "y"], "winner": ["x", "x", "tie", "x"]})
    >>> rank(votes, warn=False).objects["object"].to_list()
    ['x', 'y']
    """
    require_threads()
    for name, flag in (("plain", plain), ("scores", scores), ("drop_against", drop_against), ("warn", warn)):
        require_kind(name, flag, bool, "True or False")
    columns = {"item": item, "judge": judge, "left": left, "right": right, "winner": winner}
    columns |= {"object": object, "score": score}
    for name, column in columns.items():
        require_kind(name, column, str | None, "the name of a column, or None")
    if plain and drop_against:
        raise CallError("drop_against= (--drop-against) does nothing with plain= (--plain), where judges are equal.")
    given = {"sheet": sheet, "query": query, "table": table, "encoding": encoding, "storage": storage}
    asked = ReadOptions.of(**{name: value for name, value in given.items() if value is not None})
    votes = read_comparisons(comparisons, asked, columns, scores=scores)
    if len(votes.objects) > _MOST_OBJECTS:
        raise DataError(
            f"There are {len(votes.objects):,} objects, and at most {_MOST_OBJECTS:,} can be ranked at once: rank "
            "groups of them. If the columns have texts, name the columns of what wrote them."
        )
    found = fit(votes, plain=plain)
    against = np.flatnonzero(is_against(found))
    if drop_against and len(against):
        names = listed(votes.judges.gather(against).to_list())
        votes = votes.without(against, f"Left out, because they are against the panel: {names}.")
        found = fit(votes)
    baseline = found if plain else fit(votes, plain=True)
    result = make_result(votes, found, baseline, uncertainty(votes, found), redundancy(votes, found))
    if warn:
        raise_once(result.cautions)
    return result
