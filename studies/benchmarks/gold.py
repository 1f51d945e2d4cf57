"""What gold is worth: accuracy and confidence on the other items of real crowds, and how often gold should count.

    make study NAME=gold

For every development crowd, some items are drawn whose truth is given to a method, and all others measure it: without
gold, with gold that counts so many times, and by crowd-kit's Dawid-Skene with the same gold, if crowd-kit is installed.
Numbers are means over families of crowds. The weight that a family would get if it were chosen on all other families
says how much the choice hangs on single crowds. Needs CROWDWISE_DATA. Writes docs/studies/gold.csv.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.crowd.ids import codes_of
from crowdwise.reading.read_truth import read_truth
from studies.calibrate.crowds import crowds, family

_WEIGHTS: Final = (1, 5, 10)
_GOLD: Final = (20, 50, 100)
_SEEDS: Final = 1
# Larger crowds, and one with slow fits, are left out: six fits for every weight, size and seed take long there.
_MOST_LABELS: Final = 12_000
_SLOW: Final = ("vision16", "factcheck6")
_DEFAULT: Final = 5


def main() -> None:
    """Measure all crowds, and print the means."""
    rows: list[dict[str, Any]] = []
    for name, folder in crowds(Path(os.environ["CROWDWISE_DATA"])).items():
        labels = cw.read_labels(folder / "label.csv", duplicates="all")
        if labels.n_labels > _MOST_LABELS or name in _SLOW:
            continue
        truth = read_truth(folder / "truth.csv")
        truth = truth.filter(pl.Series(codes_of(truth["item"], labels.names.items) >= 0))
        rows += [row for count in _GOLD if truth.height >= 2 * count for row in _measure(name, labels, truth, count)]
        print(name, flush=True)
    table = pl.DataFrame(rows)
    table.write_csv("docs/studies/gold.csv", float_precision=4)
    measured = [name for name in table.columns if name not in ("crowd", "family", "gold", "seed")]
    by_family = table.group_by("gold", "family").agg(pl.col(measured).mean())
    with pl.Config(tbl_cols=30, tbl_width_chars=200, float_precision=4):
        print(by_family.group_by("gold").agg(pl.len().alias("families"), pl.col(measured).mean()).sort("gold"))
    print("weight chosen without each family:", _chosen(by_family))


def _measure(name: str, labels: cw.Labels, truth: pl.DataFrame, count: int) -> list[dict[str, Any]]:
    """Return a row for every draw of so many gold items."""
    rows = []
    method = cw.Adjudicator()
    without = method.fit(labels)
    for seed in range(_SEEDS):
        gold = truth.sample(count, seed=seed)
        rest = truth.join(gold, on="item", how="anti")
        row: dict[str, Any] = {"crowd": name, "family": family(name), "gold": count, "seed": seed}
        row["without"] = cw.accuracy(without, rest)
        for weight in _WEIGHTS:
            result = method.fit(labels, gold=gold, gold_weight=weight)
            row[f"weight_{weight}"] = cw.accuracy(result, rest)
            if weight == _DEFAULT:
                row["over_without"] = abs(cw.overconfidence(without, rest))
                row["over"] = abs(cw.overconfidence(result, rest))
                row["log_loss_without"], row["log_loss"] = cw.log_loss(without, rest), cw.log_loss(result, rest)
                expected, found = result.expected_accuracy, row[f"weight_{weight}"]
                row["interval_holds"] = float(expected.low <= found <= expected.high)
        row["ds"] = cw.accuracy(cw.DawidSkene().fit(labels, gold=gold), rest)
        if find_spec("crowdkit") is not None:
            row["crowdkit_ds"] = _crowdkit(labels, gold, rest)
        rows.append(row)
    return rows


def _crowdkit(labels: cw.Labels, gold: pl.DataFrame, rest: pl.DataFrame) -> float:
    """Return the accuracy of crowd-kit's Dawid-Skene with the same gold."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    names = labels.names
    votes = pd.DataFrame(
        {
            "task": names.items.cast(pl.String).gather(labels.item_of).to_list(),
            "worker": names.workers.cast(pl.String).gather(labels.workers).to_list(),
            "label": names.classes.cast(pl.String).gather(labels.labels).to_list(),
        }
    )
    known = pd.Series(gold["truth"].cast(pl.String).to_list(), index=gold["item"].cast(pl.String).to_list())
    answers = DawidSkene().fit_predict(votes, known)
    asked = answers.reindex(rest["item"].cast(pl.String).to_list()).to_numpy()
    return float(np.mean(asked == rest["truth"].cast(pl.String).to_numpy()))


def _chosen(by_family: pl.DataFrame) -> dict[str, int]:
    """Return, for every weight, how many families it would be chosen for on the others."""
    weights = [f"weight_{weight}" for weight in _WEIGHTS]
    found: dict[str, int] = dict.fromkeys(weights, 0)
    for left_out in by_family["family"].unique():
        others = by_family.filter(pl.col("family") != left_out).select(pl.col(weights).mean()).row(0)
        found[weights[int(np.argmax(others))]] += 1
    return found


if __name__ == "__main__":
    main()
