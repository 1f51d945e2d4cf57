"""Table 3: every method of the paper against majority vote, on its 19 datasets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .contestants import CONTESTANTS
from .evidence import SENTI, Evidence, paper_row, published
from .significance import SignedRanks

# The paper's means have four decimals: what they imply for one of 19 datasets is known up to this much.
_ROUNDING: Final = 19 * 0.00005
_DRAWS: Final = 1000


@dataclass(frozen=True)
class Row:
    """A method in Table 3.

    Attributes:
        method: Its name.
        measured: Its mean accuracy on the datasets that were measured.
        mean: The same with senti.
        senti: Its accuracy on senti; None if the table is without senti.
        source: "measured", "published" or "implied": what its mean in the paper leaves for senti.
        test: Against majority vote.
        reach: The smallest and the largest W within what is not known: the rounding of an implied accuracy, and, in 95
            of 100 cases, which seeds were drawn.
        paper: Its row in the paper's table.
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
        """Whether N_r and W are the paper's."""
        return self.paper is not None and (self.test.n, self.test.smaller) == (self.paper["n_r"], self.paper["w"])


def wilcoxon_table(evidence: Evidence) -> list[Row]:
    """The rows of all methods of the paper that were measured on the same datasets as majority vote."""
    datasets = evidence.datasets("paper")
    methods = evidence.methods(datasets, "paper")
    if "MV" not in methods:
        return []
    measured = {name: evidence.accuracy(name, datasets) for name in methods}
    # Eighteen are completed by what is known of the nineteenth; fewer stay as they are.
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
    """A method's accuracy on senti: as published, or what its mean in the paper leaves."""
    known = dict(published("senti").select("method", "accuracy").iter_rows())
    if method in known:
        return known[method], "published"
    row = paper_row(method)
    assert row is not None
    return 19 * row["mean_accuracy"] - sum(accuracies), "implied"


def _draws(seeds: Sequence[Sequence[float]]) -> list[list[float]]:
    """Means over as many seeds, drawn again and again from those that were run."""
    draws = np.random.default_rng(0)
    table = np.array(seeds)
    chosen = draws.integers(0, table.shape[1], (_DRAWS, *table.shape))
    means = np.take_along_axis(table[None].repeat(_DRAWS, axis=0), chosen, axis=2).mean(axis=2)
    return [list(map(float, row)) for row in means]
