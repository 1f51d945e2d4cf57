"""Panels of a few judges who all label everything: which methods follow one of them? `make study NAME=panels`."""

from typing import Any

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array

_METHODS: dict[str, Any] = {
    "mv": cw.MajorityVote(),
    "ds": cw.DawidSkene(),
    "bwa": cw.BWA(),
    "adjudicator": cw.Adjudicator(),
}
_PANELS = 20
_ITEMS = 1000
_ACCURACY = 0.8
_COPY = 0.97


def panel(judges: int, copied: bool, seed: int, n_items: int = _ITEMS) -> tuple[cw.Labels, dict[int, int]]:
    """Simulate judges of two classes, all equally good, perhaps with a near copy of the first; and the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n_items)
    votes: list[Array] = [np.where(random.random(n_items) < _ACCURACY, truth, 1 - truth) for _ in range(judges)]
    if copied:
        votes.append(np.where(random.random(n_items) < _COPY, votes[0], 1 - votes[0]))
    items = np.repeat(np.arange(n_items), len(votes))
    workers = np.tile([f"judge {number}" for number in range(len(votes))], n_items)
    return cw.Labels.from_arrays(items, workers, np.array(votes).T.ravel()), dict(enumerate(truth.tolist()))


def main() -> None:
    """Print the accuracy of each method on each kind of panel."""
    for judges, copied in ((3, False), (7, True)):
        found = dict.fromkeys(_METHODS, 0.0)
        for seed in range(_PANELS):
            labels, truth = panel(judges, copied, seed)
            for key, method in _METHODS.items():
                found[key] += cw.accuracy(method.fit(labels), truth) / _PANELS
        what = f"{judges} judges{' and a copy' if copied else ''}"
        print(what, *(f"{key} {100 * value:.1f}" for key, value in found.items()), sep="  ")


if __name__ == "__main__":
    main()
