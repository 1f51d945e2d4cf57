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

from .agreement import agreements_with_others, pair_counts, spread_counts
from .belief_propagation import judge_labels
from .bwa import average_variances, sweep_averages
from .bwa_two_sided import sweep_two_sided
from .compilation import Array, machine_code_folder
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
from .json_arrays import to_lines
from .json_lines import walk_objects
from .kos import pass_messages, reply_messages
from .la import stream_votes
from .log_linear import fit_matrices, score_matrices
from .log_linear_tied import Tied, add_departures, fit_tied_items, fit_tied_workers, score_tied
from .mmsr import trimmed_ratios
from .named_classes import targets_of
from .named_pulls import read_named_out, sweep_named_pulls
from .numbers import sweep_means, sweep_medians, sweep_without_wild
from .pairs import (
    compare_outside,
    compare_workers,
    correlate_workers,
    cross_tabulate,
    expect_agreement,
    fit_common_truth,
    leave_out_followers,
)
from .posteriors import sweep_coins
from .ptbcc import sweep_prototypes
from .pulls import SMALLEST_CHANCE, filled_pairs, read_out, sweep_pulls
from .small_matrices import solve
from .structured_logits import step_logits
from .tables import columns, zeros
from .votes import (
    agreement_counts,
    agreements,
    best_two,
    disagreement,
    expected_right,
    said_by_others,
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
    "SMALLEST_CHANCE",
    "Array",
    "Tied",
    "ability_objective",
    "add_departures",
    "agreement_counts",
    "agreements",
    "agreements_with_others",
    "average_variances",
    "best_two",
    "columns",
    "compare_outside",
    "compare_workers",
    "correlate_workers",
    "cross_tabulate",
    "disagreement",
    "encode",
    "expect_agreement",
    "expected_right",
    "filled_pairs",
    "fit_common_truth",
    "fit_matrices",
    "fit_tied_items",
    "fit_tied_workers",
    "group_by_item",
    "hash_numbers",
    "hash_text",
    "judge_labels",
    "leave_out_followers",
    "machine_code_folder",
    "make_slots",
    "marginal_objective",
    "pair_counts",
    "pass_messages",
    "read_named_out",
    "read_out",
    "renumber",
    "reply_messages",
    "resolve_repeats",
    "said_by_others",
    "score_abilities",
    "score_matrices",
    "score_tied",
    "solve",
    "split_by_hash",
    "spread_counts",
    "step_logits",
    "stream_votes",
    "sweep_averages",
    "sweep_coins",
    "sweep_confusions",
    "sweep_means",
    "sweep_medians",
    "sweep_messages",
    "sweep_named_pulls",
    "sweep_prototypes",
    "sweep_pulls",
    "sweep_two_sided",
    "sweep_votes",
    "sweep_without_wild",
    "targets_of",
    "to_lines",
    "trimmed_ratios",
    "vote_shares",
    "votes_per_item",
    "votes_per_worker",
    "walk_objects",
    "walk_rows",
    "zeros",
]
