"""`remember`: add to a crowd what a method counted in earlier labels."""

import os
from typing import Any

import numpy as np

from ..caution import Caution
from ..data.crowd import Crowd
from ..data.ids import codes_of
from ..data.knowledge import Known
from ..errors import CallError, DataError, require_kind, shortened, shown
from ..results.history import EVIDENCE, History


def check_decay(decay: float) -> None:
    """Raise `CallError` if earlier counts cannot be multiplied by this."""
    if isinstance(decay, bool) or not isinstance(decay, int | float) or not 0 < decay <= 1:
        raise CallError(f"decay={shown(decay)} has to be a number above 0 and at most 1.")


def remember(method: Any, labels: Crowd, history: Any, decay: float) -> tuple[Crowd, Known, list[Caution]]:
    """Return the same labels with the classes of earlier ones, what was counted in those, and what to know about it.

    Args:
        method: The method that counted them.
        labels: The labels.
        history: A `History`, or the path of a file with one.
        decay: What the earlier counts are multiplied by.

    Raises:
        DataError: The history is of another method, of other parameters, or of other classes.
    """
    past = History.read(history) if isinstance(history, str | os.PathLike) else history
    require_kind("history", past, History, "a path or a History")
    past.require_method(repr(method))
    unknown = labels.names.classes.filter(codes_of(labels.names.classes, past.classes) < 0)
    if len(unknown):
        listed = ", ".join(map(repr, past.classes.head(5).to_list())) + (" ..." if len(past.classes) > 5 else "")
        raise DataError(
            f"The labels name {len(unknown):,} classes that the state does not know; first: {unknown[0]!r}. Its "
            f"classes are {listed}."
        )
    if labels.names.classes.to_list() != past.classes.to_list():
        labels = labels.with_classes(past.classes)
    workers = labels.names.numbered(labels.numbering).workers
    cautions = []
    if (codes_of(workers, past.workers) < 0).all():
        sentence = (
            f"The state knows none of the {len(workers):,} workers: it has {past.workers[0]!r}, for example, the "
            f"labels have {labels.names.workers[0]!r}."
        )
        cautions.append(Caution("history", shortened(sentence), "Check that it is the state of these workers."))
    faded = past.decayed(decay)
    arrays = faded.of_workers(workers)
    evidence = np.moveaxis(arrays[EVIDENCE], 0, -1) if EVIDENCE in arrays else None
    return labels, Known(past=arrays, absent=faded.without(workers), evidence=evidence), cautions
