"""`cautions`: says in sentences why the confidence of a result cannot be trusted, where that is so."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..data.crowd import Crowd, require_crowd
from ..data.labels import Labels
from ..errors import shortened
from ..inference import dependence
from ..results.calibration import is_calibrated
from ..results.inferred import Inferred
from .blocks import Block, blocks
from .deciders import deciders
from .pairing import require_result

# With fewer items, too little is known of the workers, and the share of right labels is a matter of chance.
_FEWEST_ITEMS: Final = 50


def cautions(result: Inferred, labels: Crowd, dependent: Sequence[Block] | None = None) -> list[str]:
    """Return sentences that say why the confidence of a result cannot be trusted; [] if nothing speaks against it.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        dependent: The blocks of workers who are not independent; None to look for them, if that is quick.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 2], ["ann", "ann"], ["cat", "dog"])
    >>> for sentence in cautions(cw.MajorityVote().fit(labels), labels):
    ...     print(sentence)
    Confidence is rough: there are 2 items, and fewer than 50 say little about workers.
    Confidence is a guess: there is one worker, so nothing shows how good the labels are.
    """
    require_result(result)
    require_crowd(labels, "cautions")
    sentences = []
    if labels.n_items < _FEWEST_ITEMS:
        items = "is 1 item" if labels.n_items == 1 else f"are {labels.n_items} items"
        sentences.append(
            f"Confidence is rough: there {items}, and fewer than {_FEWEST_ITEMS} say little about workers."
        )
    if labels.n_workers == 1:
        sentences.append("Confidence is a guess: there is one worker, so nothing shows how good the labels are.")
    elif labels.n_labels == labels.n_items:
        sentences.append("Confidence is a guess: no item has two labels, so nothing shows how good the labels are.")
    if labels.n_classes == 1:
        sentences.append("Confidence says nothing: all labels name one class.")
    sentences += _dependent(result, labels, dependent)
    if result.gold_check is None and not is_calibrated(result.method.calibrated_as):
        sentences.append(
            f"Confidence is not calibrated: nobody fitted a constant for {result.method.calibrated_as}, so it is what "
            "the scores say by themselves."
        )
    return sentences


def is_quick_to_compare(labels: Crowd) -> bool:
    """Whether comparing all workers with each other takes little time, in memory."""
    return isinstance(labels, Labels) and dependence.is_quick_to_compare(labels)


def _dependent(result: Inferred, labels: Crowd, dependent: Sequence[Block] | None) -> list[str]:
    """What to say about workers who are not independent; blocks are looked for in small crowds only."""
    sentences = []
    counted = result.workers.counted_as
    if counted is None:
        counted = np.ones(labels.n_workers)
    if (counted < 1).any():
        names = [shortened(str(name), 60) for name in labels.names.workers.filter(counted < 1).to_list()]
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
        sentences.append(f"These workers say the same as others, so they count for less than one each: {shown}.")
    if dependent is None and not is_quick_to_compare(labels):
        return [*sentences, _not_looked_at(labels)]
    all_blocks = blocks(labels).blocks if dependent is None else dependent
    sentences += [str(one) for one in deciders(result, labels, all_blocks)] if isinstance(labels, Labels) else []
    in_full = set(labels.names.workers.filter(counted == 1).to_list())
    found = [block for block in all_blocks if in_full.issuperset(block.members["worker"].to_list())]
    if found:
        members = sum(block.members.height for block in found)
        what = "a block that agrees" if len(found) == 1 else f"{len(found):,} blocks that agree"
        sentences.append(
            f"Confidence may be too high: {members:,} of {labels.n_workers:,} workers are in {what} more often than "
            "independent workers would; see `crowdwise blocks`."
        )
    return sentences


def _not_looked_at(labels: Crowd) -> str:
    """Say that workers were not compared, and what does it, or, where that would be refused too, why not."""
    what = "Whether workers are independent was not looked at"
    if labels.set_valued:
        return f"{what}: votes that name several classes are not compared."
    refusal = dependence.pairs_refusal(labels.n_workers, labels.n_classes)
    return f"{what}. {refusal}" if refusal else f"{what}; `crowdwise blocks` does."
