"""Copies in small panels: the default beside majority vote. `make study NAME=copies`.

It prints the table of "Copies in small panels" in docs/explanation/adjudicator.md. All panels are simulated.
"""

import warnings
from typing import Final, NamedTuple

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array

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


def measure(panel: Panel, rate: float) -> str:
    """Return the mean accuracies of majority vote, of every worker counted for itself and of the default, in words.

    In brackets, which share of the copies the default leaves out.
    """
    rows = []
    for seed in _SEEDS:
        labels, truth = simulate(panel, rate, seed)
        default = cw.Adjudicator().fit(labels)
        found = cw.MajorityVote().fit(labels), cw.Adjudicator(copies="separate").fit(labels), default
        followers = float((default.workers.follows >= 0).sum())
        rows.append([*(float(cw.accuracy(result, truth)) for result in found), followers])
    *accuracies, followers = np.mean(rows, axis=0)
    shown = " ".join(f"{accuracy:.3f}" for accuracy in accuracies)
    return f"{shown} ({followers / len(panel.copied):.0%})" if panel.copied else shown


def main() -> None:
    """Print a row of the table for each panel."""
    warnings.simplefilter("ignore", UserWarning)
    print(f"|panel|{'|'.join(f'copy of {rate:.0%}' for rate in _RATES)}|\n|-{'|-' * len(_RATES)}|")
    for panel in PANELS:
        cells = [measure(panel, rate) if panel.copied or rate == _RATES[0] else "" for rate in _RATES]
        print(f"|{panel.name}|{'|'.join(cells)}|", flush=True)


if __name__ == "__main__":
    main()
