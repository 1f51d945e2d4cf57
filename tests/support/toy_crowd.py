"""A small crowd whose numbers in crowd-kit are known, and tables of answers, for the tests of compat.crowdkit."""

from typing import Any

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    DawidSkene,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)

TASKS, WORKERS = [f"t{i}" for i in range(1, 6)], [f"w{j}" for j in range(1, 6)]
SAID = ["no yes yes yes yes", "yes yes no yes no", "- yes no yes no", "yes no yes yes no", "no no no yes no"]
TRUTH = pd.Series(["yes", "yes", "no", "yes", "no"], pd.Index(TASKS, name="task"), name="agg_label")
GOLD = pd.Series({"t1": "yes", "t2": "yes"})
EVERY = [MajorityVote, Wawa, ZeroBasedSkill, DawidSkene, OneCoinDawidSkene, GLAD, MACE, KOS, MMSR]


def toy_answers() -> Any:
    """A table of five workers and five tasks."""
    rows = [
        (worker, task, label)
        for worker, said in zip(WORKERS, SAID, strict=True)
        for task, label in zip(TASKS, said.split(), strict=True)
        if label != "-"
    ]
    return pd.DataFrame(rows, columns=["worker", "task", "label"])


def frame(*rows: tuple[Any, ...]) -> Any:
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def crowd(seed: int = 1, n_tasks: int = 40, n_workers: int = 8, n_classes: int = 3) -> tuple[Any, Any]:
    """A table with mixed rows, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(n_classes, size=n_tasks)
    said = np.where(
        random.random((n_tasks, n_workers)) < 0.8, truth[:, None], random.integers(n_classes, size=(n_tasks, n_workers))
    )
    asked = np.argwhere(random.random(said.shape) < 0.7)
    rows = [(f"t{i}", f"w{j}", "abcdef"[said[i, j]]) for i, j in random.permutation(asked)]
    return frame(*rows), pd.Series({f"t{i}": "abcdef"[k] for i, k in enumerate(truth)})
