"""Compiled loops over plain arrays: the only hot code.

Kernels know nothing of labels, names or methods. Axes: items are rows of a compressed sparse row layout, the
labels of item i are `item_starts[i]` to `item_starts[i + 1]`, within an item sorted by worker. They release the
interpreter lock, so that slices of items run on threads.

`continued` marks the rows that continue the vote of the row before: one worker naming several classes for one item. It
is None where there are none, and Numba then compiles the question away.
"""

from .agreement import agreements_with_others, pair_counts
from .bwa import average_variances, sweep_averages
from .bwa_two_sided import sweep_two_sided
from .compilation import Array
from .confusion_matrices import sweep_confusions
from .encoding import (
    KEEP_ALL,
    KEEP_FIRST,
    KEEP_LAST,
    KEEP_NONE,
    deal,
    encode,
    group_by_item,
    make_slots,
    resolve_repeats,
)
from .glad import ability_objective, marginal_objective, score_abilities
from .ibcc import sweep_messages
from .kos import pass_messages, reply_messages
from .la import stream_votes
from .log_linear import fit_matrices, score_matrices
from .mmsr import trimmed_ratios
from .posteriors import sweep_coins
from .ptbcc import sweep_prototypes
from .votes import (
    agreements,
    best_two,
    disagreement,
    expected_right,
    sweep_votes,
    vote_shares,
    votes_per_item,
    votes_per_worker,
)

__all__ = [
    "KEEP_ALL",
    "KEEP_FIRST",
    "KEEP_LAST",
    "KEEP_NONE",
    "Array",
    "ability_objective",
    "agreements",
    "agreements_with_others",
    "average_variances",
    "best_two",
    "deal",
    "disagreement",
    "encode",
    "expected_right",
    "fit_matrices",
    "group_by_item",
    "make_slots",
    "marginal_objective",
    "pair_counts",
    "pass_messages",
    "reply_messages",
    "resolve_repeats",
    "score_abilities",
    "score_matrices",
    "stream_votes",
    "sweep_averages",
    "sweep_coins",
    "sweep_confusions",
    "sweep_messages",
    "sweep_prototypes",
    "sweep_two_sided",
    "sweep_votes",
    "trimmed_ratios",
    "vote_shares",
    "votes_per_item",
    "votes_per_worker",
]
