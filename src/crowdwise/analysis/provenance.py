"""`provenance`: where the label of every item comes from: all votes, an inference, or a decision."""

from typing import Any

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..numerics import Array
from .decisions import Decisions
from .pairing import require_order, require_result, same_labels
from .set_result import SetResult

UNANIMOUS = "unanimous"
INFERRED = "inferred"
DECIDED = "decided"


def provenance(result: Any, labels: Labels) -> pl.DataFrame:
    """Return where the label of every item comes from.

    Args:
        result: The result of a method, or the decisions by costs or an order that are made of one.
        labels: The labels that the method was fitted to, in memory.

    Returns:
        The columns item and provenance: "decided" if the class was given as gold, "unanimous" if all votes name the
        label, else "inferred". Of sets of classes: "decided" if all classes that somebody named for the item were given
        as gold, "unanimous" if every worker named exactly the set.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 2, 2, 3], ["a", "b", "a", "b", "a"], ["x", "x", "y", "x", "y"])
    >>> provenance(cw.MajorityVote().fit(labels, gold={3: "x"}), labels)["provenance"].to_list()
    ['unanimous', 'inferred', 'decided']
    """
    if isinstance(result, SetResult):
        return _of_sets(result)
    require_order(result)
    found: Any = result.result if isinstance(result, Decisions) else result
    require_result(found)
    labels = same_labels(found, labels)
    table: pl.DataFrame = result.to_frame()
    answers = labels.names.class_codes(table["label"])
    named = np.bincount(labels.item_of, weights=labels.labels == answers[labels.item_of], minlength=labels.n_items)
    unanimous = named == np.diff(labels.item_starts)
    decided = np.zeros(labels.n_items, bool) if found.gold is None else found.gold >= 0
    return _frame(table["item"], decided, unanimous)


def _of_sets(found: SetResult) -> pl.DataFrame:
    sets = found.sets
    of, n_items = sets.item_of, len(sets.items)
    questions = np.bincount(of, minlength=n_items)
    agreed = found.chosen & (sets.named_by_question() == sets.answers_per_item[of])
    known = np.zeros(len(of), bool) if found.result.gold is None else found.result.gold >= 0
    decided = (questions > 0) & (np.bincount(of, known, n_items) == questions)
    return _frame(sets.items, decided, np.bincount(of, agreed, n_items) == questions)


def _frame(items: pl.Series, decided: Array, unanimous: Array) -> pl.DataFrame:
    origin = np.where(decided, DECIDED, np.where(unanimous, UNANIMOUS, INFERRED))
    return pl.DataFrame([items.alias("item"), pl.Series("provenance", origin.tolist(), dtype=pl.String)])
