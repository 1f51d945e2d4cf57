"""The section "Judges": the panel beside its best judge, where workers are few and dense."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis.panels.judges import describe
from ...analysis.panels.measured import Panel
from ...crowd.labels import Labels
from ...reading.read_truth import Truths
from ..blocks import Blocks
from ..judge_blocks import judge_blocks
from ..report_data import ReportData

# A panel has so many judges, who have labels on so many of the items each.
_JUDGES: Final = range(3, 41)
_LEAST_ITEMS: Final = 20
_DENSE: Final = 0.7
# The panel is fitted without each judge if these fits have no more labels than this.
_MOST_FITTED: Final = 100_000


def gather(data: ReportData) -> Blocks | None:
    """Say how good the judges are, alone and together; None if these are no panel."""
    labels, result = data.labels, data.result
    if not _is_panel(labels):
        return None
    gold = None
    if data.truth is None and result.gold is not None and result.gold_check is not None:
        known = np.flatnonzero(result.gold >= 0)
        truth = result.names.classes.gather(result.gold[known])
        gold = Truths(pl.DataFrame({"item": labels.names.items.gather(known), "truth": truth}))
    refit = gold is None and result.gold is None and labels.n_labels * labels.n_workers <= _MOST_FITTED
    quick = refit and result.method.key in ("adjudicator", "mv")
    return judge_blocks(describe(Panel(labels, result, data.truth, gold), refit=quick))


def _is_panel(labels: Labels) -> bool:
    """Whether workers are few, and each has labels on most items."""
    if labels.n_workers not in _JUDGES or labels.n_items < _LEAST_ITEMS or labels.set_valued:
        return False
    cells = labels.item_of * np.int64(labels.n_workers) + labels.workers
    return bool(labels.n_labels >= _DENSE * labels.n_items * labels.n_workers and len(np.unique(cells)) == len(cells))
