"""What `judges` says of panels of language models, against truth that it did not see: `make study NAME=judges`.

1. Items are cut in two at random. One half names the best judge and says how much better the panel is; the other half
   tells whether that holds. Labels of both halves make the panel's answers, which are not told any truth.
2. Without truth: how often the named judge is among the best, and which pairs seem to err together, beside those that
   do by all truth; and simulated panels of judges who err independently, where no pair does.
3. Drift: one half is before and the other now. Nobody changed; then three of five votes of one judge, at random, become
   votes for any class, at random.

Needs CROWDWISE_DATA.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.analysis.panels.best import best_judge
from crowdwise.analysis.panels.drift import drift
from crowdwise.analysis.panels.judges import describe
from crowdwise.analysis.panels.measured import Measured, Panel
from crowdwise.numerics import Array
from crowdwise.reading.read_truth import read_truths
from crowdwise.results.intervals import paired

_RANDOM_VOTES: Final = 0.6
_PAIR: Final = ["one", "other"]
_METHOD: Final = cw.Adjudicator()


def _crowds(folder: Path) -> Iterator[tuple[str, Path]]:
    for crowd in sorted((folder / "judges").iterdir()):
        yield crowd.name, crowd


def _part(measured: Measured, items: Array) -> Measured:
    return replace(
        measured,
        items=measured.items.gather(items),
        said=measured.said[items],
        chance=measured.chance[items],
        answers=measured.answers[items],
        panel=measured.panel[items],
    )


def halves(measured: Measured, draws: int) -> dict[str, float]:
    """Return how often what one half of the items says of the best judge holds on the other half."""
    count = len(measured.items)
    held = allowed = naive = clear = same = corrected = plain = 0.0
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(count)
        found = best_judge(_part(measured, order[: count // 2]))
        other = _part(measured, order[count // 2 :])
        behind = (other.panel - other.right[:, found.judge])[~np.isnan(other.right[:, found.judge])]
        there, low, high = paired(behind)
        gain = found.gain
        held += gain.low <= there <= gain.high
        up, down = np.hypot(gain.high - gain.value, there - low), np.hypot(gain.value - gain.low, high - there)
        allowed += gain.value - down <= there <= gain.value + up
        raw, end = gain.value - found.optimism, gain.high - found.optimism
        up, down = np.hypot(end - raw, there - low), np.hypot(raw - gain.low, high - there)
        naive += raw - down <= there <= raw + up
        corrected += gain.value - there
        plain += raw - there
        if gain.low > 0 or gain.high < 0:
            clear += 1
            same += (there > 0) == (gain.low > 0)
    means = {
        "held": held,
        "held, both by chance": allowed,
        "held, flattered": naive,
        "off": corrected,
        "off, flattered": plain,
    }
    return {**{name: value / draws for name, value in means.items()}, "clear": clear, "same sign": same}


def _redundancy(labels: cw.Labels, truth: Any = None) -> tuple[set[tuple[Any, ...]], float]:
    """Return the pairs that err together, and the effective number of judges."""
    method = cw.MajorityVote() if truth is not None else _METHOD
    found = describe(Panel.fitted(labels, method, None if truth is None else truth.table, None), refit=False)
    return set(found.pairs.filter("together").select(_PAIR).rows()), found.redundancy.effective or 1.0


def independent(seed: int) -> cw.Labels:
    """Return the labels of 4 to 10 judges who err independently, of 2, 3 or 5 classes."""
    rng = np.random.default_rng(seed)
    judges, items, classes = int(rng.integers(4, 11)), int(rng.choice([100, 200, 500])), int(rng.choice([2, 3, 5]))
    truth = rng.integers(0, classes, items)
    right = rng.random((items, judges)) < rng.uniform(0.55, 0.95, judges)
    said = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, classes, (items, judges))) % classes)
    names = np.repeat(np.arange(items), judges), np.tile(np.arange(judges), items)
    return cw.Labels.from_arrays(*names, said.ravel())


def _drifts(rows: pl.DataFrame, seed: int) -> tuple[bool, bool, bool]:
    """Return whether anybody is marked if nobody changed; and if one did, whether it is, and whether another is."""
    rng = np.random.default_rng(seed)
    items = rows["item"].unique().sort()
    first = items.gather(rng.permutation(len(items))[: len(items) // 2])
    before, now = (rows.filter(pl.col("item").is_in(first.implode()) == half) for half in (True, False))
    history = _METHOD.fit(cw.Labels.from_frame(before), warn=False).history
    judge = rng.choice(rows["worker"].unique().sort().to_numpy())
    classes = rows["label"].unique().sort().to_numpy()
    turned = pl.Series(rng.random(now.height) < _RANDOM_VOTES) & (now["worker"] == judge)
    changed = now.with_columns(
        label=pl.when(turned).then(pl.Series(rng.choice(classes, now.height))).otherwise("label")
    )
    assert history is not None
    marked = []
    for table in (now, changed):
        found = drift(_METHOD.fit(cw.Labels.from_frame(table), warn=False), history)
        marked.append(set(found.filter("changed")["judge"]))
    return bool(marked[0]), str(judge) in marked[1], bool(marked[1] - {str(judge)})


def main() -> None:
    """Print all three; arguments are the numbers of halves, of simulated panels and of cuts for drift."""
    draws, simulated, cuts = (int(one) for one in (sys.argv[1:] + ["200", "100", "6"][len(sys.argv) - 1 :])[:3])
    rows, hits, false, missed, regret, named = [], 0, 0, 0, [], 0
    drifted: list[tuple[bool, bool, bool]] = []
    worth: list[tuple[float, float]] = []
    for name, folder in _crowds(Path(os.environ["CROWDWISE_DATA"])):
        labels = cw.read_labels(folder / "label.csv", duplicates="first", warn=False)
        truth = read_truths(folder / "truth.csv")
        measured = Panel.fitted(labels, _METHOD, truth.table, None).measured
        rows.append(
            {"crowd": name, "judges": labels.n_workers, "items": len(measured.items), **halves(measured, draws)}
        )
        if labels.n_workers > 40:
            continue
        accuracy = np.nanmean(measured.right, axis=0)
        believed = describe(Panel.fitted(labels, _METHOD, None, None), refit=False)
        place = measured.judges.to_list().index(believed.best_name)
        regret.append(float(accuracy.max() - accuracy[place]))
        named += accuracy[place] == accuracy.max()
        without = set(believed.pairs.filter("together").select(_PAIR).rows())
        with_truth, effective = _redundancy(labels, truth)
        worth.append((believed.redundancy.effective or 1.0, effective))
        hits += len(with_truth & without)
        false += len(without - with_truth)
        missed += len(with_truth - without)
        votes = pl.read_csv(folder / "label.csv").with_columns(pl.col("worker").cast(pl.String))
        votes = votes.unique(["item", "worker"], keep="first", maintain_order=True)
        drifted += [_drifts(votes, seed) for seed in range(cuts)]
    table = pl.DataFrame(rows)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200, float_precision=3):
        print(table)
    held = [name for name in table.columns if name.startswith("held")]
    print({name: (round(table[name].mean(), 3), round(table[name].min(), 3)) for name in held})  # type: ignore[arg-type]
    same, clear = int(table["same sign"].sum()), int(table["clear"].sum())
    print(f"where the interval excludes zero: {same} of {clear} have the sign on the other half")
    print(f"without truth: the best is named in {named} of {len(regret)}; the named is {np.mean(regret):.3f} worse")
    print(f"pairs: {hits} found and {missed} missed of those that err together by truth, {false} others")
    both = np.array(worth)
    off = both[:, 0] - both[:, 1]
    ends = f"off by {off.min():.1f} to {off.max():.1f}"
    print(f"worth in independent judges: {both.mean(0).round(2)} without and with truth, {ends}")
    panels = [independent(seed) for seed in range(simulated)]
    seen = [_redundancy(labels) for labels in panels]
    print(f"independent judges: pairs are named in {sum(bool(pairs) for pairs, _ in seen)} of {simulated} panels")
    share = np.mean([number / labels.n_workers for (_, number), labels in zip(seen, panels, strict=True)])
    print(f"and they are said to be worth {share:.2f} of their number")
    nobody, one, another = np.mean(drifted, axis=0)
    print(f"drift, {len(drifted)} cuts: nobody changed, marked {nobody:.3f}; who did {one:.3f}; others {another:.3f}")


if __name__ == "__main__":
    main()
