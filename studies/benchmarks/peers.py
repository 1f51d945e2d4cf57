"""Compares the methods that crowd-kit has too: speed, accuracy and answers; run by `make study NAME=peers`.

It runs in its own environment, `.venv-peers`, because crowd-kit needs an older scikit-learn. docs/studies/peers.md says
where and why the answers differ.
"""

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import crowdwise as cw

from .listing_ratio import tuples
from .timing import seconds, show

Answers = dict[Any, Any]


class Pair(NamedTuple):
    """One method in both libraries.

    Attributes:
        ours: The method of crowdwise.
        theirs: A function that makes the method of crowd-kit, given its module. That module is imported only when it is
            needed, because importing it takes seconds.
        without: Datasets that are left out: the method refuses them, or crowd-kit needs many minutes for them.
    """

    ours: Any
    theirs: Callable[[Any], Any]
    without: tuple[str, ...] = ()


PAIRS = {
    "Wawa": Pair(cw.Wawa(), lambda kit: kit.Wawa()),
    "zero-based skill": Pair(cw.ZeroBasedSkill(), lambda kit: kit.ZeroBasedSkill()),
    "one-coin": Pair(cw.OneCoin(), lambda kit: kit.OneCoinDawidSkene()),
    "Dawid-Skene": Pair(cw.DawidSkene(), lambda kit: kit.DawidSkene()),
    "GLAD": Pair(cw.GLAD(), lambda kit: kit.GLAD()),
    "MACE": Pair(cw.MACE(), lambda kit: kit.MACE()),
    "M-MSR": Pair(cw.MMSR(), lambda kit: kit.MMSR(random_state=0), without=("prod",)),
    "KOS": Pair(cw.KOS(), lambda kit: kit.KOS(random_state=0), without=("CF", "web", "simulated")),
}
# Datasets that are small enough for crowd-kit's GLAD. Some have two classes and some have more, and on some of them the
# methods disagree.
DATASETS = ("bird", "rte", "ZC_us", "CF", "web", "prod")


def speed() -> None:
    """Print how much faster crowdwise is: Dawid-Skene, MACE and GLAD, each with the ratio that it should reach."""
    kit = _crowd_kit()
    crowd = cw.simulate(1_000_000, 20_000, 5, labels_per_item=6, seed=1).labels
    frame = _frame(crowd)
    theirs = _per_iteration(lambda n: kit.DawidSkene(n_iter=n, tol=0).fit(frame), 1, 3)
    ours = _per_iteration(lambda n: cw.DawidSkene(max_iterations=n, tolerance=0).fit(crowd), 5, 25)
    _ratio("Dawid-Skene, an iteration on 6 million labels", theirs, ours, ">= 30 x")

    fact = _read("fact")
    if fact is None:
        show("GLAD and MACE on fact", "not measured", "set CROWDWISE_DATA to the folder that holds paper/")
        return
    frame = _frame(fact)
    theirs = _once(lambda: kit.MACE().fit(frame))
    _ratio("MACE on fact, 10 x 50 iterations / one start", theirs, seconds(lambda: cw.MACE().fit(fact), 3), ">= 50 x")
    theirs = _per_iteration(lambda n: kit.MACE(n_restarts=1, n_iter=n).fit(frame), 5, 15)
    ours = _per_iteration(lambda n: cw.MACE(max_iterations=n, tolerance=0).fit(fact), 5, 25)
    _ratio("MACE on fact, an iteration", theirs, ours)
    # Only one iteration, because crowd-kit needs many minutes until it converges. It has at most 25 steps of conjugate
    # gradients in both libraries; in crowdwise only without priors, because with priors GLAD has another optimiser.
    theirs = _once(lambda: kit.GLAD(n_iter=1).fit(frame))
    ours = seconds(lambda: cw.GLAD(prior=False, max_iterations=1).fit(fact), 3)
    _ratio("GLAD on fact, one iteration", theirs, ours, ">= 50 x")
    _ratio("GLAD on fact, one iteration / to the end", theirs, seconds(lambda: cw.GLAD().fit(fact), 3))


def answers() -> None:
    """Print, for each method and dataset, the accuracy and seconds of both libraries and how often answers agree.

    Each library breaks ties in its own way.
    """
    kit = _crowd_kit()
    crowds = {name: (labels, _truth(name)) for name in DATASETS if (labels := _read(name)) is not None}
    simulated = cw.simulate(1000, 50, 4, seed=1)
    crowds["simulated"] = simulated.labels, dict(simulated.truth.iter_rows())
    warm_up = cw.simulate(100, 10, 2, seed=1).labels
    print(f"\n{'':<18}{'':<11}{'accuracy':>17}{'same':>8}{'seconds':>18}")
    print(f"{'method':<18}{'crowd':<11}{'crowdwise':>10}{'kit':>7}{'answer':>8}{'crowdwise':>11}{'kit':>7}", flush=True)
    for name, pair in PAIRS.items():
        pair.ours.fit(warm_up)  # compiles the kernels
        for crowd, (labels, truth) in crowds.items():
            if crowd in pair.without:
                continue
            started = time.perf_counter()
            result = pair.ours.fit(labels)
            ours_took = time.perf_counter() - started
            mine = dict(zip(labels.names.items, result.labels, strict=True))
            frame = _frame(labels)
            started = time.perf_counter()
            codes = pair.theirs(kit).fit_predict(frame)
            theirs_took = time.perf_counter() - started
            theirs = {labels.names.items[i]: labels.names.classes[k] for i, k in codes.items()}
            same = np.mean([theirs[item] == answer for item, answer in mine.items()])
            accuracies = f"{_right(mine, truth):>10.4f}{_right(theirs, truth):>7.4f}"
            print(f"{name:<18}{crowd:<11}{accuracies}{same:>8.4f}{ours_took:>11.3f}{theirs_took:>7.2f}", flush=True)


# The classes of crowd-kit that crowdwise has under the same name, with options. Where both would stop at different
# points, tol=-1 lets both do all iterations; where crowd-kit needs minutes, they are few.
DROP_IN: list[tuple[str, dict[str, Any]]] = [
    ("MajorityVote", {}),
    ("Wawa", {}),
    ("ZeroBasedSkill", {"n_iter": 20}),
    ("OneCoinDawidSkene", {"n_iter": 20, "tol": -1}),
    ("DawidSkene", {"n_iter": 20, "tol": -1}),
    ("DawidSkene", {}),
    ("MACE", {"n_restarts": 1}),
    ("KOS", {}),
    ("MMSR", {"n_iter": 5}),
    ("GLAD", {"n_iter": 1, "m_step_max_iter": 5}),
]


def drop_in(largest: int = 200_000) -> None:
    """Print the seconds of crowd-kit's classes and of ours with the same names, on the same pandas tables.

    Args:
        largest: How many labels the simulated crowd has.
    """
    from crowdwise.compat.crowdkit import aggregation as ours

    theirs = _crowd_kit()
    simulated = cw.simulate(largest // 5, 200, 2, labels_per_item=5, seed=1).labels
    crowds = {f"{largest:,} simulated labels": simulated, "fact": _read("fact")}
    warm_up = _frame(cw.simulate(100, 10, 2, seed=1).labels)
    print(f"\n{'class':<40}{'crowd':<27}{'crowd-kit':>10}{'crowdwise':>11}{'ratio':>8}{'same answer':>13}")
    for name, options in DROP_IN:
        getattr(ours, name)(**options).fit_predict(warm_up)  # compiles the kernels
        for crowd, labels in crowds.items():
            if labels is None or (name == "KOS" and labels.n_classes > 2):
                continue
            frame = _frame(labels)
            getattr(ours, name)(**options).fit_predict(frame)  # compiles them for these classes
            seconds_of, answers = [], []
            for library in (theirs, ours):
                started = time.perf_counter()
                answers.append(getattr(library, name)(**options).fit_predict(frame))
                seconds_of.append(time.perf_counter() - started)
            same = (answers[0].reindex(answers[1].index) == answers[1]).mean()
            said = f"{name}({', '.join(f'{key}={value}' for key, value in options.items())})"
            took = f"{seconds_of[0]:>10.2f}{seconds_of[1]:>11.3f}{seconds_of[0] / seconds_of[1]:>7.0f}x"
            print(f"{said:<40}{crowd:<27}{took}{same:>13.4f}", flush=True)


def _crowd_kit() -> Any:
    # pandas and scikit-learn warn about how crowd-kit calls them.
    warnings.simplefilter("ignore")
    from crowdkit import aggregation

    return aggregation


def _frame(labels: cw.Labels) -> Any:
    import pandas

    return pandas.DataFrame(tuples(labels), columns=["task", "worker", "label"])


def _read(name: str) -> cw.Labels | None:
    path = Path(os.environ.get("CROWDWISE_DATA", "")) / "paper" / name / "label.csv"
    # If a worker gave an item several labels, only the first is kept, because the methods of crowd-kit differ in what
    # they do with the others.
    return cw.read_labels(path, duplicates="first") if path.exists() else None


def _truth(name: str) -> Answers:
    return dict(pl.read_csv(Path(os.environ["CROWDWISE_DATA"]) / "paper" / name / "truth.csv").iter_rows())


def _right(answers: Answers, truth: Answers) -> float:
    return float(np.mean([answers[item] == label for item, label in truth.items() if item in answers]))


def _once(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _per_iteration(fit: Callable[[int], Any], few: int, many: int) -> float:
    """Return the seconds per iteration: the difference between many and few iterations, divided by their number."""
    fit(few)
    return (_once(lambda: fit(many)) - _once(lambda: fit(few))) / (many - few)


def _ratio(what: str, theirs: float, ours: float, wanted: str = "") -> None:
    show(f"{what}: crowd-kit / crowdwise", f"{theirs:.2f} s / {ours:.4f} s = {theirs / ours:.0f} x", wanted)


if __name__ == "__main__":
    speed()
    answers()
    drop_in()
