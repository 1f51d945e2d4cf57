"""What the decisions of an expert are worth, by plan: replayed on real crowds with known truth.

    make bench-review

A plan such as random:30,settle:10,worst says which items are decided, one by one, and the truth file answers. After
some decisions it is measured how far the expected accuracy of the other items is from their accuracy, how many answers
are right, and how probable the true classes were. Numbers are means over draws, crowds and families of crowds, in this
order. Crowds with many labels or classes are left out, because of the time that it takes: about 15 minutes on two
processors. Needs CROWDWISE_DATA. Writes docs/studies/review.csv.
"""

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw
from crowdwise.crowd.ids import codes_of
from studies.calibrate.crowds import crowds, family

from .expert import CHECKPOINTS, Expert

PLANS: Final = (
    *("random", "settle:10,random", "random:30,worst", "random:30,settle:10,worst"),
    *("settle:10,random:30,worst", "settle:10,worst", "worst"),
)
_DRAWS: Final = 2
_MOST_LABELS: Final = 12_000
_MOST_CLASSES: Final = 20
# At most so many crowds of a family, because all of them together weigh as much as one.
_MOST_OF_FAMILY: Final = 2
_MEASURES: Final = (
    *("error", "holds", "accuracy", "undecided", "undecided_before"),
    *("log_loss", "log_loss_before"),
)


def main() -> None:
    """Replay all plans on all crowds, print the means, and write all rows."""
    folder = Path(os.environ.get("CROWDWISE_DATA", ""))
    if not (folder / "paper").is_dir():
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    table = measure(folder)
    table.write_csv("docs/studies/review.csv", float_precision=4)
    whole = table.filter(pl.col("decisions").max().over("crowd") == CHECKPOINTS[-1])
    print(f"\n{_means(whole)}\n\nOnly crowds whose labels can be read in several ways:\n")
    print(_means(whole.filter("several_readings")))


def measure(data: Path) -> pl.DataFrame:
    """Return a row for every crowd, draw, plan and checkpoint."""
    os.environ["CROWDWISE_THREADS"] = "1"  # of the processes, which are as many as processors
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        tasks = {pool.submit(_replayed, name, folder): name for name, folder in _chosen(data)}
        for done, task in enumerate(as_completed(tasks), 1):
            rows += task.result()
            print(f"{done} of {len(tasks)}: {tasks[task]}", file=sys.stderr, flush=True)
    order = pl.col("plan").cast(pl.Enum(PLANS))
    return pl.DataFrame(rows).sort("crowd", "draw", order, "decisions")


def _chosen(data: Path) -> list[tuple[str, Path]]:
    """Return some crowds of every family: those that can be read in several ways, and then the first ones by name.

    Those with many classes, whose fits are slow, come first, so that no process waits for them in the end.
    """
    found = []
    for name, folder in crowds(data).items():
        expert = _read(folder)
        if expert is not None:
            found.append((not expert.several_readings, name, folder, expert.labels.n_classes))
    taken: Counter[str] = Counter()
    chosen = []
    for _, name, folder, classes in sorted(found):
        taken[family(name)] += 1
        if taken[family(name)] <= _MOST_OF_FAMILY:
            chosen.append((-classes, name, folder))
    return [(name, folder) for _, name, folder in sorted(chosen)]


def _read(folder: Path) -> Expert | None:
    """Read a crowd and its truth; None if it has too many labels or classes."""
    labels = cw.read_labels(folder / "label.csv", duplicates="all")
    if labels.n_labels > _MOST_LABELS or labels.n_classes > _MOST_CLASSES:
        return None
    truth = cw.read_truth(folder / "truth.csv")
    codes = codes_of(truth["item"], labels.names.items)
    items = labels.names.items.gather(codes[codes >= 0])  # in the data type of the labels
    return Expert(labels, truth.filter(pl.Series(codes >= 0)).with_columns(items.alias("item")))


def _replayed(name: str, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of one crowd."""
    expert = _read(folder)
    assert expert is not None
    about = {"crowd": name, "family": family(name), "several_readings": expert.several_readings}
    return [
        about | {"draw": draw, "plan": plan} | found
        for draw in range(_DRAWS)
        for plan in PLANS
        for found in expert.replay(plan, draw)
    ]


def _means(table: pl.DataFrame) -> str:
    """Return the means over families as a table in Markdown, a row for every plan and checkpoint."""
    by = ["plan", "decisions"]
    families = table
    for group in (["family", "crowd"], ["family"]):
        families = families.group_by(*group, *by).agg(pl.col(_MEASURES).mean())
    lost = (pl.col("undecided") < pl.col("undecided_before") - 1e-9).sum().alias("lost")
    means = families.group_by(by).agg(pl.col(_MEASURES).mean(), lost, pl.len().alias("families"))
    lines = [
        "| plan | decisions | error of confidence | 80 % interval holds | accuracy | undecided items | the same before "
        "| families that lost | log loss | the same before |",
        "|-|" + "-:|" * 9,
    ]
    rows = means.sort(pl.col("plan").cast(pl.Enum(PLANS)), "decisions").iter_rows(named=True)
    lines += [_line(row) for row in rows if row["decisions"] or row["plan"] == PLANS[0]]
    return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    cells = [
        f"`{row['plan']}`" if row["decisions"] else "",
        str(row["decisions"]),
        f"{row['error']:.3f}",
        f"{row['holds']:.0%}",
        *(f"{100 * row[name]:.1f}" for name in ("accuracy", "undecided", "undecided_before")),
        f"{row['lost']} of {row['families']}",
        *(f"{row[name]:.3f}" for name in ("log_loss", "log_loss_before")),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
