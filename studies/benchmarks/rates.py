"""Coverage of the intervals of `rate` on panels of language models, beside gold alone and the judges' own rate.

    make study NAME=rates

Items of a crowd are drawn again and again with replacement, so that the share that truly passes is known, and some of
them are gold. One class passes, or it against the rest. Differences are of two systems on different items, and of two
on the same prompts: an answer of the second system is on average one of three quarters as likely the same as the first
one's, and passes more often. Needs CROWDWISE_DATA.
"""

import os
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.analysis.rates.estimates import (
    POWERED,
    Counts,
    Estimate,
    Sample,
    estimate,
    rogan_gladen,
    subtract,
    wilson_of,
)
from crowdwise.crowd.ids import codes_of
from crowdwise.crowd.votes import shares
from crowdwise.numerics import Array

_CROWDS: Final = (
    ("css_mrf", 0),
    ("judgebench", 0),
    ("llmbar", 0),
    ("llmbar_human", 0),
    ("css_wiki_politeness", 0),
    ("css_semeval_stance", 0),
    ("css_ibc", 0),
    ("css_emotion", 0),
)
_GOLD: Final = (10, 20, 30, 50, 100)
_ITEMS: Final = 400
# How often the second of two systems answers as well as the first, and how often it is made to pass besides.
_ALIKE: Final = 0.75
_BETTER: Final = 0.15


def _verdicts(folder: Path, passing: int) -> tuple[Array, Array]:
    """Return y and f for the items whose truth is known."""
    labels = cw.read_labels(folder / "label.csv", duplicates="first")
    truth = pl.read_csv(folder / "truth.csv")
    codes = codes_of(truth["item"], labels.names.items)
    known = codes >= 0
    (code,) = codes_of(pl.Series([passing]), labels.names.classes)
    return (truth["truth"].to_numpy() == passing)[known].astype(float), shares(labels)[codes[known], code]


def _sample(y: Array, f: Array, drawn: Array, gold: int) -> Sample:
    return Sample(float(f[drawn].mean()), len(drawn), y[drawn[:gold]], f[drawn[:gold]])


def _held(found: Estimate, true: float) -> tuple[float, float, float, float]:
    return found.low <= true <= found.high, found.high - found.low, abs(found.value - true), found.method == POWERED


def _second(y: Array, first: Array, rng: Any) -> Array:
    """Return the items that stand for the answers of a second system to the same prompts."""
    passes, fails = np.flatnonzero(y > 0), np.flatnonzero(y == 0)
    same = np.where(y[first] > 0, rng.choice(passes, len(first)), rng.choice(fails, len(first)))
    other = np.where(rng.random(len(first)) < _ALIKE, same, rng.integers(len(y), size=len(first)))
    return np.asarray(np.where(rng.random(len(first)) < _BETTER, rng.choice(passes, len(first)), other))


def measure(y: Array, f: Array, gold: int, draws: int) -> dict[str, Array]:
    """Return for each estimate: coverage, mean width, mean absolute error, and how often judges took part."""
    true = float(y.mean())
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        drawn = rng.integers(len(y), size=_ITEMS)
        sample = _sample(y, f, drawn, gold)
        here = estimate(sample)
        value, low, high = wilson_of(float(sample.truth.mean()), gold)
        rows.setdefault("rate", []).append(_held(here, true))
        rows.setdefault("gold only", []).append((low <= true <= high, high - low, abs(value - true), 0.0))
        rows.setdefault("judges", []).append((np.nan, 0.0, abs(sample.mean - true), 1.0))
        other = _sample(y, f, rng.integers(len(y), size=_ITEMS), gold)
        rows.setdefault("different items", []).append(_held(subtract(here, estimate(other)), 0.0))
        known = rng.integers(len(y), size=gold)  # other items
        good, passed = y[known] > 0, f[known] > 0.5
        if 0 < good.sum() < gold:
            of_good, of_bad = Counts(passed[good].sum(), good.sum()), Counts((~passed[~good]).sum(), (~good).sum())
            found = rogan_gladen(Counts((f[drawn] > 0.5).sum(), _ITEMS), of_good, of_bad)
            if found is not None:
                rows.setdefault("gold from elsewhere", []).append(_held(found, true))
        second = _second(y, drawn, rng)
        dy, df = y[second[:gold]] - y[drawn[:gold]], f[second[:gold]] - f[drawn[:gold]]
        paired = estimate(Sample(float((f[second] - f[drawn]).mean()), _ITEMS, dy, df), difference=True)
        difference = _BETTER * (1 - true)
        rows.setdefault("same prompts", []).append(_held(paired, difference))
        apart = subtract(estimate(_sample(y, f, second, gold)), here)
        rows.setdefault("same prompts, as if different", []).append(_held(apart, difference))
    return {name: np.array(values, float).mean(0) for name, values in rows.items()}


def main() -> None:
    """Print the means over crowds, and the lowest coverage; an argument is the number of draws."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    folder = Path(os.environ["CROWDWISE_DATA"]) / "judges"
    crowds = {name: _verdicts(folder / name, passing) for name, passing in _CROWDS}
    for name, (y, f) in crowds.items():
        print(f"{name:22} {len(y):5} items, {y.mean():.2f} pass, judges pass {f.mean():.2f}, R2 {_explained(y, f):.2f}")
    for gold in _GOLD:
        print(f"\n{gold} gold of {_ITEMS} items, {draws} draws: coverage (lowest), width, error, judges used")
        found = {name: measure(y, f, gold, draws) for name, (y, f) in crowds.items()}
        for kind in next(iter(found.values())):
            table = np.array([one[kind] for one in found.values()])
            held, wide, error, used = table.mean(0)
            print(f"{kind:30} {held:.3f} ({table[:, 0].min():.3f})  {wide:.3f}  {error:.3f}  {used:.0%}", flush=True)


def _explained(y: Array, f: Array) -> float:
    return float(np.corrcoef(y, f)[0, 1] ** 2)


if __name__ == "__main__":
    main()
