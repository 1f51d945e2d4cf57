"""`wilcoxon_table`: Table 3, which tests every method of the paper against majority vote on 19 datasets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .contestants import CONTESTANTS
from .evidence import SENTI, Evidence, paper_row, published
from .significance import SignedRanks

# The paper gives means over 19 datasets with four decimals. An accuracy that is computed from such a mean may be wrong
# by this much.
_ROUNDING: Final = 19 * 0.00005
# How many times the seeds are drawn again to find how much W depends on them.
_DRAWS: Final = 1000


@dataclass(frozen=True)
class Row:
    """A method in Table 3.

    Attributes:
        method: The name of the method.
        measured: Its mean accuracy on the datasets that were measured.
        mean: Its mean accuracy on these datasets and on senti.
        senti: Its accuracy on senti if it was not measured; None if the table does not add senti.
        source: Where the accuracy on senti is from. "measured": it was measured, or the table does not add senti.
            "published": it is published. "implied": it follows from the method's mean in the paper.
        test: The test against majority vote.
        reach: The smallest and the largest W that are possible, given the rounding of an implied accuracy and the
            random choice of seeds (95 % of the draws).
        paper: The row of the method in the paper's table.
    """

    method: str
    measured: float
    mean: float
    senti: float | None
    source: str
    test: SignedRanks
    reach: tuple[float, float]
    paper: dict[str, Any] | None

    @property
    def matches(self) -> bool:
        """Whether N_r and W are the same as in the paper."""
        return self.paper is not None and (self.test.n, self.test.smaller) == (self.paper["n_r"], self.paper["w"])


def wilcoxon_table(evidence: Evidence) -> list[Row]:
    """Return the rows of all methods of the paper that were measured; [] if majority vote was not."""
    datasets = evidence.datasets("paper")
    methods = evidence.methods(datasets, "paper")
    if "MV" not in methods:
        return []
    measured = {name: evidence.accuracy(name, datasets) for name in methods}
    # If all datasets but senti were measured, the accuracy on senti is added from what is published.
    complete = len(datasets) == 18 and SENTI not in datasets
    baseline_senti = _senti("MV", measured["MV"])[0]
    rows = []
    for name in methods:
        value, source = _senti(name, measured[name]) if complete else (None, "measured")

        def test(accuracies: Sequence[float], senti: float | None) -> SignedRanks:
            if senti is None:
                return SignedRanks.of(accuracies, measured["MV"])
            return SignedRanks.of([*accuracies, senti], [*measured["MV"], baseline_senti])

        everything = [*measured[name], *([] if value is None else [value])]
        possible = [test(measured[name], value).smaller]
        if source == "implied":
            assert value is not None
            possible += [test(measured[name], value + step).smaller for step in (-_ROUNDING, _ROUNDING)]
        if CONTESTANTS[name].seeds > 1:
            drawn = []
            for draw in _draws(evidence.by_seed(name, datasets)):
                senti = _senti(name, draw)[0] if source == "implied" else value
                drawn.append(test(draw, senti).smaller)
            possible += [float(bound) for bound in np.percentile(drawn, [2.5, 97.5], method="nearest")]
        rows.append(
            Row(
                name,
                float(np.mean(measured[name])),
                float(np.mean(everything)),
                value,
                source,
                test(measured[name], value),
                (min(possible), max(possible)),
                paper_row(name),
            )
        )
    return rows


def _senti(method: str, accuracies: Sequence[float]) -> tuple[float, str]:
    """Return a method's accuracy on senti, and its source: "published" or "implied".

    If it is not published, it follows from the method's mean in the paper and its accuracies on the other 18 datasets.
    """
    known = dict(published("senti").select("method", "accuracy").iter_rows())
    if method in known:
        return known[method], "published"
    row = paper_row(method)
    assert row is not None
    return 19 * row["mean_accuracy"] - sum(accuracies), "implied"


def _draws(seeds: Sequence[Sequence[float]]) -> list[list[float]]:
    """Draw the seeds again, with replacement, and return the mean accuracies on the datasets for every draw.

    Args:
        seeds: For every dataset, the accuracies of all seeds.
    """
    random = np.random.default_rng(0)
    table = np.array(seeds)
    chosen = random.integers(0, table.shape[1], (_DRAWS, *table.shape))
    means = np.take_along_axis(table[None].repeat(_DRAWS, axis=0), chosen, axis=2).mean(axis=2)
    return [list(map(float, row)) for row in means]
