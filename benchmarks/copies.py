"""Copies in small panels: the default beside majority vote. `python -m benchmarks.copies`.

It prints the table of "Copies in small panels" in docs/adjudicator.md. All panels are simulated.
"""

import warnings
from typing import Final, NamedTuple

import numpy as np

import crowdwise as cw
from crowdwise.kernels import Array

_ITEMS: Final = 400
_SEEDS: Final = range(10)
_RATES: Final = (0.9, 0.93, 0.95, 0.97, 0.99)


class Panel(NamedTuple):
    """A panel: the accuracies of independent workers, the number of classes, and whom copies copy."""

    name: str
    accuracies: tuple[float, ...]
    classes: int
    copied: tuple[int, ...]


_RISING: Final = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
PANELS: Final = (
    Panel("5 of .75, 3 classes", (0.75,) * 5, 3, (0,)),
    Panel("7 of .8, 2 classes", (0.8,) * 7, 2, (0,)),
    Panel("7 from .6 to .9, the worst is copied", _RISING, 2, (0,)),
    Panel("7 from .6 to .9, the best is copied", _RISING, 2, (6,)),
    Panel("7 of .7, 4 classes", (0.7,) * 7, 4, (0,)),
    Panel("7 of .6, 10 classes", (0.6,) * 7, 10, (0,)),
    Panel("12 of .75, 2 classes", (0.75,) * 12, 2, (0,)),
    Panel("7 of .8, five copies of one", (0.8,) * 7, 2, (0,) * 5),
    Panel("7 of .8, three blocks of three", (0.8,) * 7, 2, (0, 0, 1, 1, 2, 2)),
    Panel("7 of .8, no copy", (0.8,) * 7, 2, ()),
)


def simulate(panel: Panel, rate: float, seed: int) -> tuple[cw.Labels, dict[int, int]]:
    """Simulate a panel whose copies say the same as those whom they copy at a rate, and any other class otherwise."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, panel.classes, _ITEMS)

    def repeat(said: Array, rate: float) -> Array:
        same = random.random(_ITEMS) < rate
        return np.where(same, said, (said + random.integers(1, panel.classes, _ITEMS)) % panel.classes)

    votes = [repeat(truth, accuracy) for accuracy in panel.accuracies]
    votes += [repeat(votes[one], rate) for one in panel.copied]
    items, workers = np.tile(np.arange(_ITEMS), len(votes)), np.repeat(np.arange(len(votes)), _ITEMS)
    labels = cw.Labels.from_arrays(items, workers, np.concatenate(votes))
    return labels, dict(enumerate(truth.tolist()))


def measure(panel: Panel, rate: float) -> list[float]:
    """Return the mean accuracies of majority vote, of every worker counted for itself and of the default.

    Then by how much the default is below majority vote at worst, and the share of copies that it leaves out.
    """
    rows = []
    for seed in _SEEDS:
        labels, truth = simulate(panel, rate, seed)
        default = cw.Adjudicator().fit(labels)
        found = cw.MajorityVote().fit(labels), cw.Adjudicator(copies="separate").fit(labels), default
        left_out = float((default.workers.follows >= 0).sum()) / max(len(panel.copied), 1)
        rows.append([*(float(cw.accuracy(result, truth)) for result in found), left_out])
    table = np.array(rows)
    return [*table[:, :3].mean(axis=0), float((table[:, 2] - table[:, 0]).min()), float(table[:, 3].mean())]


def main() -> None:
    """Print a row of the table for each panel and rate."""
    warnings.simplefilter("ignore", UserWarning)
    print("|panel|rate of the copy|majority vote|separate|default|default at worst|left out|\n|-|-|-|-|-|-|-|")
    for panel in PANELS:
        for rate in _RATES if panel.copied else (1.0,):
            vote, separate, default, worst, left_out = measure(panel, rate)
            shown = f"{rate:.0%}" if panel.copied else "none"
            print(
                f"|{panel.name}|{shown}|{vote:.3f}|{separate:.3f}|{default:.3f}|{worst:+.3f}|{left_out:.0%}|",
                flush=True,
            )


if __name__ == "__main__":
    main()
