"""`provenance`: where the label of every item comes from: all votes, an inference, or a decision."""

from typing import Any

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from .decisions import Decisions
from .pairing import require_order, require_result, same_labels

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
        label, else "inferred".

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 2, 2, 3], ["a", "b", "a", "b", "a"], ["x", "x", "y", "x", "y"])
    >>> provenance(cw.MajorityVote().fit(labels, gold={3: "x"}), labels)["provenance"].to_list()
    ['unanimous', 'inferred', 'decided']
    """
    require_order(result)
    found: Any = result.result if isinstance(result, Decisions) else result
    require_result(found)
    labels = same_labels(found, labels)
    table: pl.DataFrame = result.to_frame()
    answers = labels.names.class_codes(table["label"])
    named = np.bincount(labels.item_of, weights=labels.labels == answers[labels.item_of], minlength=labels.n_items)
    unanimous = named == np.diff(labels.item_starts)
    decided = np.zeros(labels.n_items, bool) if found.gold is None else found.gold >= 0
    origin = np.where(decided, DECIDED, np.where(unanimous, UNANIMOUS, INFERRED))
    return table.select("item").with_columns(pl.Series("provenance", origin.tolist(), dtype=pl.String))
