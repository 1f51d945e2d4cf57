"""Hostile values for every parameter of every method."""

import math
from typing import Final

from crowdwise.fitting.parameters import parameters_of
from crowdwise.methods import METHODS

from ..answers import read_table
from ..area import Area, Case
from ..rule import Verdict, judge
from ..running import in_process

_VALUES: Final = (
    *("nan", "inf", "-inf", "-1", "0", "-0.0", "1", "2", "0.5", "1e308", "-1e308", "1e-320", "5e-324", "1e400"),
    *("9" * 50, f"-{'9' * 50}", f"0.{'0' * 400}1", "9" * 5000, "1_0", "0x10", "1e1", "\u00b2", "\uff11", "1,5", " 1 "),
    *("", " ", "None", "none", "true", "False", "majorty", "[red]", "\x1b[31m", "\x00", "1;2", "=1", "é" * 300),
)


def attack(case: Case) -> Verdict:
    """Set parameters to hostile values, and look at every number that comes out."""
    random = case.random
    key = random.choice([key for key in METHODS if parameters_of(METHODS[key])])
    names = random.sample(list(parameters_of(METHODS[key])), 1)
    settings = [f"{name}={random.choice(_VALUES)}" for name in names]
    classes = random.randint(1, min(3, METHODS[key]().limits().most_classes or 3))
    rows = [f"i{i},w{j},c{random.randrange(classes)}" for i in range(8) for j in range(5) if case.chance(0.8)]
    (case.here / "labels.csv").write_text("\n".join(["item,worker,label", *(rows or ["i,w,c"])]))
    items, workers = case.here / "truth.parquet", case.here / "workers.parquet"
    options = [option for setting in settings for option in ("--set", setting)]
    run = in_process(case, "aggregate", "labels.csv", "-q", "-m", key, *options, "-o", items, "--workers", workers)
    verdict = judge(run, {str(items), str(workers)})
    if verdict == "right":
        for path, columns in ((items, ("score",)), (workers, ("labels", "quality", "agreement"))):
            for row in read_table(path):
                for column in columns:
                    if not math.isfinite(row[column]):
                        raise run.fail(f"{column} in {path.name} is {row[column]}")
    return verdict


AREA = Area("parameters", "hostile values for every parameter of every method", attack, tested=200)
