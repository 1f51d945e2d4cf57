"""The loops over all labels, compiled by Numba; they work on plain arrays.

Nearly all time is spent here. Kernels release the interpreter lock, so that several threads can run them at the same
time on different items.

All kernels take the labels in the same form: `workers[e]` and `labels[e]` are the worker and the class of label e. The
labels of item i are those from `item_starts[i]` up to, not including, `item_starts[i + 1]`; within an item they are
sorted by worker. Workers, items and classes are numbers from 0 on. In docstrings, the axes of an array are in brackets:
(workers, classes) is an array with a row for every worker and a column for every class.

A vote may name several classes; it then has a row for each. `continued[e]` is 1 if row e continues the vote of the row
before, and 0 if it begins a vote. `continued` is None if every vote names one class; Numba then leaves the code for it
out.
"""

from .agreement import agreements_with_others, pair_counts
from .bwa import average_variances, sweep_averages
from .bwa_two_sided import sweep_two_sided
from .compilation import Array
from .confusion_matrices import sweep_confusions
from .delimited import walk_rows
from .encoding import (
    KEEP_ALL,
    KEEP_FIRST,
    KEEP_LAST,
    KEEP_NONE,
    encode,
    group_by_item,
    hash_numbers,
    hash_text,
    make_slots,
    renumber,
    resolve_repeats,
    split_by_hash,
)
from .glad import ability_objective, marginal_objective, score_abilities
from .ibcc import sweep_messages
from .json_lines import walk_objects
from .kos import pass_messages, reply_messages
from .la import stream_votes
from .log_linear import fit_matrices, score_matrices
from .log_linear_tied import Tied, add_departures, fit_tied_items, fit_tied_workers, score_tied
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
    "Tied",
    "ability_objective",
    "add_departures",
    "agreements",
    "agreements_with_others",
    "average_variances",
    "best_two",
    "disagreement",
    "encode",
    "expected_right",
    "fit_matrices",
    "fit_tied_items",
    "fit_tied_workers",
    "group_by_item",
    "hash_numbers",
    "hash_text",
    "make_slots",
    "marginal_objective",
    "pair_counts",
    "pass_messages",
    "renumber",
    "reply_messages",
    "resolve_repeats",
    "score_abilities",
    "score_matrices",
    "score_tied",
    "split_by_hash",
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
    "walk_objects",
    "walk_rows",
]
