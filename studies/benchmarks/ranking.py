"""Coverage of the intervals of `rank` on simulated panels, and its speed beside evalica and choix.

    make study NAME=ranking

Times are seconds of the processor. The first argument is the number of simulations; others name settings, by what they
begin with.
"""

import sys
from dataclasses import replace
from importlib.util import find_spec
from time import process_time
from typing import Any, Final

import numpy as np
import polars as pl

from crowdwise import rank
from crowdwise.ranking.simulation import Panel, simulate_comparisons

_SETTINGS: Final = {
    "no item effects": Panel(),
    "item sd .7": Panel(item_sd=0.7),
    "item sd 1.5": Panel(item_sd=1.5),
    "30 prompts x 10 pairs, sd 1": Panel(prompts=30, pairs=10, item_sd=1.0),
    "80 votes in all": Panel(prompts=20, pairs=2, votes=2),
    "judge x object sd .5": Panel(item_sd=0.7, judge_sd=0.5),
    "5 judges": Panel(judges=5, item_sd=0.7),
    "8 one-sided of 20": Panel(item_sd=0.7, one_sided=8),
    "4 adversarial of 20": Panel(item_sd=0.7, adversarial=4),
    "8 spammers of 20": Panel(item_sd=0.7, spammers=8),
    "6 copies of 20": Panel(item_sd=0.7, copies=6),
    "13 prompts x 40 pairs": Panel(prompts=13, pairs=40, item_sd=0.7),
    "1 judge": Panel(judges=1, votes=1, pairs=20, item_sd=0.7),
    "40 objects": Panel(objects=40, item_sd=0.7),
}


def coverage(panel: Panel, simulations: int, first_seed: int) -> tuple[float, float, float]:
    """Return the share of differences in their intervals, the mean width, and how often all rank ranges hold.

    The truth is what the same judges give on 40 times as many new prompts.
    """
    held, widths, ranks = [], [], []
    for seed in range(first_seed, first_seed + simulations):
        parameters = panel.parameters(seed)
        found = rank(simulate_comparisons(panel, parameters, 10_000 + seed), warn=False)
        many = replace(panel, prompts=40 * panel.prompts)
        truth = rank(simulate_comparisons(many, parameters, 20_000 + seed), warn=False).objects
        theta = dict(truth.select("object", "theta").iter_rows())
        place = dict(truth.select("object", "rank").iter_rows())
        pairs = found.pairs
        difference = pl.Series([theta[a] - theta[b] for a, b in pairs.select("a", "b").iter_rows()])
        # An end that is not known holds.
        held.append(((pairs["low"] <= difference) & (difference <= pairs["high"])).fill_null(True).to_numpy())
        widths.append((pairs["high"] - pairs["low"]).drop_nulls().to_numpy())
        ranges = found.objects.select("object", "rank_low", "rank_high").iter_rows()
        ranks.append(all(low <= place[name] <= high for name, low, high in ranges))
    return float(np.mean(held)), float(np.concatenate(widths).mean()), float(np.mean(ranks))


def speed() -> list[tuple[str, float]]:
    """Return the processor seconds of `rank`, of its parts, and of evalica and choix, on 10^6 votes."""
    from crowdwise.ranking.fit import fit
    from crowdwise.ranking.intervals import uncertainty

    panel = Panel(objects=100, judges=500, prompts=10_000, pairs=10, votes=10, ties=False)
    table = simulate_comparisons(panel, panel.parameters(0), 1)
    start = process_time()
    result = rank(table, warn=False)
    rows = [("crowdwise rank, from a table", process_time() - start)]
    for name, work in (
        ("the fit alone", lambda: fit(result.votes)),
        ("the plain fit alone", lambda: fit(result.votes, plain=True)),
        ("intervals alone", lambda: uncertainty(result.votes, result.fit)),
    ):
        rows.append((name, _seconds(work)))
    first, second = result.votes.first, result.votes.second
    won = np.where(result.votes.outcome > 0, first, second), np.where(result.votes.outcome > 0, second, first)
    rows += _peers(table, np.stack(won, axis=1))
    return rows


def _peers(table: pl.DataFrame, winners: Any) -> list[tuple[str, float]]:
    rows = []
    if find_spec("evalica"):
        import evalica

        words = {"left": evalica.Winner.X, "right": evalica.Winner.Y}
        left, right = table["left"].to_list(), table["right"].to_list()
        said = [words[one] for one in table["winner"]]
        rows.append(("evalica bradley_terry", _seconds(lambda: evalica.bradley_terry(left, right, said))))
    if find_spec("choix"):
        import choix

        data = [(int(won), int(lost)) for won, lost in winners]
        rows.append(("choix ilsr_pairwise", _seconds(lambda: choix.ilsr_pairwise(100, data, alpha=1e-6))))
    return rows


def _seconds(work: Any) -> float:
    start = process_time()
    work()
    return process_time() - start


def main() -> None:
    """Print both tables; see above."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    asked = tuple(sys.argv[2:])
    for name, seconds in [] if asked else speed():
        print(f"{name:34} {seconds:8.2f} s", flush=True)
    print(f"\nCoverage of 95 % intervals of differences; {simulations} simulations")
    for name, panel in _SETTINGS.items():
        if asked and not name.startswith(asked):
            continue
        held, width, ranks = coverage(panel, simulations, 1000)
        print(f"{name:34} {held:.3f}  width {width:.2f}  all ranks {ranks:.3f}", flush=True)


if __name__ == "__main__":
    main()
