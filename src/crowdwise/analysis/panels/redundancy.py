r"""How far judges err together: the effective number of judges, and which pairs have the most in common.

With J judges whose errors correlate by rho in the mean of all pairs,

    n_eff = J / (1 + (J - 1) max(rho, 0))

Where the true class is known, an error is 1 or 0. Where it is not, e is the chance of an error by what the panel
believes, and two judges of one item are both wrong with the chance e if they agree, and max(e_1 + e_2 - 1, 0) if not.
The panel believes less than the votes of independent judges would allow, because judges mostly err together. So two
good judges, who agree often, seem to err together even if they do not: a pair counts only if it also does by what one
would believe if all erred independently (Dawid and Skene), or if both are in one block of judges who agree too often.
Of 100 simulated panels of independent judges, the panel's belief alone names pairs in 80, with this in none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

import numpy as np
import polars as pl

from ...numerics import Array
from ...results.intervals import NORMAL
from .measured import Measured

# Two judges are compared on at least so many items.
LEAST_SHARED: Final = 10
# Pairs err together if their correlation is above the mean of all pairs, in so many of 100 panels without such pairs.
_LEVEL: Final = 0.05
# The most judges whose pairs are compared.
_MOST_JUDGES: Final = 2_000


@dataclass(frozen=True, eq=False)
class Redundancy:
    """How far judges err together.

    Attributes:
        correlation: The mean correlation of the errors of two judges; None if no two can be compared.
        effective: How many judges who err independently would be worth as much; None if that is not known.
        pairs: One row per pair of judges that can be compared, those that err together most first: one, other, shared
            (items with votes of both), correlation, low, high (its 95 % interval), both_wrong (the share of items on
            which both are wrong), by_chance (the share if they erred independently), same_wrong (of the items on which
            both are wrong, the share on which they say the same) and together (whether they err together more than
            the panel does in the mean, after Bonferroni's correction for all pairs; where no class is known, also by
            what one would believe if judges erred independently).
        not_compared: How many pairs share too few items, or have a judge who is always right or always wrong.
    """

    correlation: float | None
    effective: float | None
    pairs: pl.DataFrame
    not_compared: int


def redundancy(measured: Measured, independent: Measured | None = None, blocks: Sequence[pl.Series] = ()) -> Redundancy:
    """Compare the errors of every two judges on the items that both have votes on.

    Args:
        measured: What judges said of items whose class is known or believed.
        independent: The same with what one would believe if judges erred independently; None if classes are known.
        blocks: The judges of each block who agree too often to be independent.
    """
    found = _redundancy(measured)
    if independent is None or not found.pairs.height:
        return found
    also = _redundancy(independent).pairs.filter("together").select("one", "other")
    confirmed = set(also.rows()).union(*(permutations(block, 2) for block in blocks))
    both = pl.Series([pair in confirmed for pair in found.pairs.select("one", "other").rows()], dtype=pl.Boolean)
    return replace(found, pairs=found.pairs.with_columns(together=pl.col("together") & both))


def _redundancy(measured: Measured) -> Redundancy:
    judges = len(measured.judges)
    voted = (measured.said >= 0).astype(float)
    wrong = np.where(voted > 0, 1.0 - measured.right, 0.0)
    first, second = np.triu_indices(judges, 1)
    if judges > _MOST_JUDGES:
        return Redundancy(None, None, _table(measured, *(np.zeros(0, np.int64),) * 2, np.zeros((6, 0))), len(first))
    shared = voted.T @ voted
    errors = wrong.T @ voted  # [j, k], of j on the items of both
    alike, both = _both_wrong(measured, wrong)
    n = np.maximum(shared, 1)
    mean, other = errors / n, errors.T / n
    spread = np.sqrt(np.maximum(mean * (1 - mean) * other * (1 - other), 0.0))
    can = (shared >= LEAST_SHARED) & (spread > 1e-9)
    rho = np.where(can, (both / n - mean * other) / np.where(can, spread, 1.0), np.nan)
    rho = np.clip(rho, -1.0, 1.0)
    some = can[first, second]
    first, second = first[some], second[some]
    if not len(first):
        return Redundancy(None, None, _table(measured, first, second, np.zeros((6, 0))), int((~some).sum()))
    average = float(rho[first, second].mean())
    values = [shared, rho, both / n, mean * other, alike / np.maximum(both, 1e-12)]
    columns = np.stack([one[first, second] for one in values] + [np.full(len(first), average)])
    effective = judges / (1 + (judges - 1) * max(average, 0.0))
    return Redundancy(average, effective, _table(measured, first, second, columns), int((~some).sum()))


def _both_wrong(measured: Measured, wrong: Array) -> tuple[Array, Array]:
    """Return two arrays (judges, judges): on how many items both are expected to be wrong and say the same; and all."""
    judges, same, both = wrong.shape[1], np.zeros((wrong.shape[1],) * 2), np.zeros((wrong.shape[1],) * 2)
    for j in range(judges):
        mine = measured.said[:, j] >= 0
        said, theirs = measured.said[mine, j, None], measured.said[mine]
        agree = said == theirs
        e, f = wrong[mine, j, None], wrong[mine]
        believed = np.where(agree, e, np.maximum(e + f - 1.0, 0.0)) * (theirs >= 0)
        together = e * f if measured.known else believed
        same[j], both[j] = (together * agree).sum(axis=0), together.sum(axis=0)
    return same, both


def _table(measured: Measured, first: Array, second: Array, columns: Array) -> pl.DataFrame:
    from scipy.special import ndtri  # imported here because importing it takes long

    shared, rho, both, chance, same, average = columns
    most = 1 - 0.5 / np.maximum(shared, 1)  # half an item on which they differ: no interval of width 0
    scale = np.arctanh(np.clip(rho, -most, most))
    error = 1 / np.sqrt(np.maximum(shared - 3, 1))
    strict = -float(ndtri(_LEVEL / max(2 * len(first), 1)))
    table = pl.DataFrame(
        {
            "one": measured.judges.gather(first),
            "other": measured.judges.gather(second),
            "shared": shared.astype(np.int64),
            "correlation": rho,
            "low": np.minimum(np.tanh(scale - NORMAL * error), rho),
            "high": np.maximum(np.tanh(scale + NORMAL * error), rho),
            "both_wrong": both,
            "by_chance": chance,
            "same_wrong": pl.Series(np.where(both > 0, same, np.nan)).fill_nan(None),
            "together": np.tanh(scale - strict * error) > np.maximum(average, 0.0),
        }
    )
    return table.sort("correlation", descending=True, maintain_order=True)
