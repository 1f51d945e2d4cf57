"""Ten items that tell readings apart, given as gold: what they are worth. `make study NAME=readings`.

It prints the numbers of "Gold decides between readings" in docs/how-to/gold.md: simulated panels, and real crowds if
CROWDWISE_DATA names the folder that has them.
"""

import os
import warnings
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw

from .panels import panel

_PANELS: Final = 6
_ITEMS: Final = 400
_REAL: Final = (
    *("judges/judgebench", "judges/llmbar", "judges/llmbar_human", "extra/ducks"),
    *("judges/igakuqa", "judges/css_flute", "extra/states_1a", "extra/age"),
)


def with_ten_items(labels: cw.Labels, truth: dict[Any, Any]) -> list[float]:
    """Return four accuracies on the items that are not gold; [] if the labels allow one reading only.

    They are of majority vote, of the default, and of the default and `copies=once` with the ten items as gold.
    """
    plain = cw.Adjudicator().fit(labels)
    rivals = cw.rivals(plain, labels)
    if rivals is None:
        return []
    gold = {item: truth[item] for item in rivals.settling.to_list() if item in truth}
    rest = {item: known for item, known in truth.items() if item not in gold}
    once = cw.Adjudicator(copies="once")
    found = cw.MajorityVote().fit(labels), plain, cw.Adjudicator().fit(labels, gold=gold), once.fit(labels, gold=gold)
    return [float(cw.accuracy(result, rest)) for result in found]


def show(name: str, accuracies: list[float]) -> None:
    """Print the accuracies of one crowd."""
    said = "  ".join(f"{value:.3f}" for value in accuracies)
    print(f"{name:14} {said or 'one reading'}")


def main() -> None:
    """Print a line for each panel and each real crowd."""
    warnings.simplefilter("ignore", UserWarning)
    print("crowd          majority vote, default, default with gold, copies=once with gold")
    for seed in range(_PANELS):
        show(f"panel {seed}", with_ten_items(*panel(7, copied=True, seed=seed, n_items=_ITEMS)))
    folder = os.environ.get("CROWDWISE_DATA")
    for name in _REAL if folder else ():
        files = Path(str(folder)) / name
        truth = dict(pl.read_csv(files / "truth.csv").rows())
        show(files.name, with_ten_items(cw.read_labels(files / "label.csv"), truth))


if __name__ == "__main__":
    main()
