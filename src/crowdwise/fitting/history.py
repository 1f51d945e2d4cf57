"""`add_history`: add to a crowd what a method counted in earlier labels."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ..caution import Caution, listed
from ..crowd.ids import codes_of
from ..crowd.item_sketch import share_in_common
from ..crowd.knowledge import PriorKnowledge
from ..crowd.protocol import Crowd
from ..errors import require_kind, shortened
from ..results.history import CONFIDENCE, LABEL_COUNTS, History, described, share_in_words
from ..results.recalibration import Recalibration


def add_history(method: Any, labels: Crowd, history: Any, decay: float) -> tuple[Crowd, PriorKnowledge, list[Caution]]:
    """Return the same labels with the classes of earlier ones, what was counted in those, and what to know about it.

    `history` is a `History` or the path of its file; its counts are multiplied by `decay`. Raises `DataError` if it is
    of another method, or of other parameters.
    """
    past = History.read(history) if isinstance(history, str | os.PathLike) else history
    require_kind("history", past, History, "a path or a History")
    past.require_method(described(method))
    cautions = _cautions(labels, past)
    classes = past.all_classes(labels.names.spelled_in(past.classes))
    if labels.names.classes.to_list() != classes.to_list():
        labels = labels.with_classes(classes)
    workers = labels.names.numbered(labels.numbering).workers
    faded = past.with_classes(classes).decayed(decay)
    arrays = faded.of_workers(workers)
    label_counts = np.moveaxis(arrays[LABEL_COUNTS], 0, -1) if LABEL_COUNTS in arrays else None
    taught = arrays.pop(CONFIDENCE, None)
    known = PriorKnowledge(
        earlier=arrays,
        other_workers=faded.without(workers),
        label_counts=label_counts,
        recalibration=None if taught is None else Recalibration.known(taught),
        followers=faded.followers_among(workers),
    )
    return labels, known, cautions


def with_classes(known: PriorKnowledge, classes: pl.Series) -> PriorKnowledge:
    """Return what is known beforehand with these classes, which are all of the crowd's and more."""
    others: History | None = known.other_workers
    if others is None or known.earlier is None:
        return known
    return replace(known, earlier=others.widened(known.earlier, classes), other_workers=others.with_classes(classes))


def _cautions(labels: Crowd, past: History) -> list[Caution]:
    """Return what is noteworthy about going on from a history with these labels."""
    cautions = []
    workers, classes = labels.names.workers, labels.names.classes
    if (codes_of(workers, past.workers) < 0).all():
        sentence = (
            f"The state knows none of the {len(workers):,} workers: it has {past.workers[0]!r}, for example, the "
            f"labels have {workers[0]!r}."
        )
        cautions.append(Caution("history", shortened(sentence), "Check that it is the state of these workers."))
    new = classes.filter(labels.names.codes_in(past.classes) < 0)
    if len(new):
        several = len(new) > 1
        sentence = (
            f"The state does not know the class{'es' if several else ''} {listed(new.to_list())}: no earlier label "
            f"counts as naming {'them' if several else 'it'}."
        )
        cautions.append(
            Caution(
                "history",
                sentence,
                f"Check that {'they are no misspelt classes' if several else 'it is no misspelt class'}.",
            )
        )
    share = share_in_common(labels.item_sketch(), past.items) if len(past.items) else 0.0
    if share:
        sentence = (
            f"{share_in_words(share)} of the items are in the state already, so what workers said about them counts "
            "twice."
        )
        advice = "Leave these items out, or use the state that was saved before them."
        cautions.append(Caution("history", sentence, advice))
    return cautions
