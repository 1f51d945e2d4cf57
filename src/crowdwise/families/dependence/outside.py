r"""`explained_by_outsiders`: how much members of a block would agree if they had only the truth in common with others.

Items often come in batches. In some batches all workers agree more often, because the items are easier, or because the
classes are more evenly spread there. Workers who met in such a batch look like copies of each other, if they are
compared with how they are elsewhere. So it is asked what the truth explains on the very items that they share:

$$ e = c_{in, out}^2 / c_{out} $$

where c_in,out is the correlation of members with workers outside of their block, and c_out that of workers outside with
each other. If workers have only the truth in common, and correlate with it by a in the block and by b outside, these
are a b and b^2, and e is a^2, which is how members should correlate with each other.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from .pairs import pairs_of_votes

# What is divided by is at least this.
_LEAST: Final = 0.01


class OutsideCounts(NamedTuple):
    """How workers outside of blocks agree with members and with each other; counts of disjoint sets of items add up.

    Only items that members share and that have two votes from outside count, each as often as members are compared.
    `counts` (blocks, 3) is how many comparisons of members there are, and how many of as many comparisons agree if
    members are compared with workers outside, and if workers outside are compared with each other.
    """

    counts: Array
    inside: Array  # (blocks, classes), in how many of these comparisons the member says the class
    outside: Array  # (blocks, classes), in how many of them the worker outside says the class


def count_outside(labels: Labels, blocks: Sequence[Array]) -> OutsideCounts:
    """Compare members of blocks with workers outside on these items, which may be a part of a crowd."""
    block_of = np.full(labels.n_workers, -1)
    for number, members in enumerate(blocks):
        block_of[members] = number
    block, n_classes = block_of[labels.workers], labels.n_classes
    inside = np.flatnonzero(block >= 0)
    found = OutsideCounts(*(np.zeros((len(blocks), columns)) for columns in (3, n_classes, n_classes)))
    for e, f in pairs_of_votes(labels.item_starts, labels.item_of[inside]):
        mine, e = inside[e[0] : e[-1] + 1], e - e[0]
        same_block = block[f] == block[mine[e]]
        # For every vote of a member: the other members' votes on the item, and those from outside by class.
        compared = np.bincount(e, same_block & (labels.workers[f] != labels.workers[mine[e]]), len(mine))
        said = np.bincount(e * n_classes + labels.labels[f], ~same_block, len(mine) * n_classes).reshape(-1, n_classes)
        counted = (compared > 0) & (said.sum(axis=1) >= 2)
        mine, compared, said = mine[counted], compared[counted], said[counted]
        own, others = labels.labels[mine], said.sum(axis=1)
        with_members = compared * said[np.arange(len(mine)), own] / others
        with_others = compared * (said * (said - 1)).sum(axis=1) / (others * (others - 1))
        np.add.at(found.counts, block[mine], np.column_stack([compared, with_members, with_others]))
        np.add.at(found.inside, (block[mine], own), compared)
        np.add.at(found.outside, block[mine], (compared / others)[:, None] * said)
    return found


def explained_by_outsiders(counts: OutsideCounts) -> Array:
    """Return (blocks) e in the formula, from 0 to 1; 0 if no item that members share has two votes from outside."""
    compared = np.maximum(counts.counts[:, 0], 1.0)
    inside, outside = counts.inside / compared[:, None], counts.outside / compared[:, None]
    spread_inside, spread_outside = (np.maximum(1.0 - (said**2).sum(axis=1), _LEAST) for said in (inside, outside))
    agreed = counts.counts[:, 1:] / compared[:, None]
    across = (agreed[:, 0] - (inside * outside).sum(axis=1)) / np.sqrt(spread_inside * spread_outside)
    among = (agreed[:, 1] - (outside**2).sum(axis=1)) / spread_outside
    explained: Array = np.maximum(across, 0.0) ** 2 / np.maximum(among, _LEAST)
    return np.minimum(explained, 1.0)
