"""Measures every method on every dataset and writes the tables in docs/choosing.md.

python -m benchmarks.choosing        # replaces the part of docs/choosing.md between the two marks

The datasets are in the folder that CROWDWISE_DATA names.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.analysis.comparison import compare

_PAGE = Path(__file__).parent.parent / "docs" / "choosing.md"
_MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")

_METHODS: dict[str, Any] = {key: method() for key, method in cw.METHODS.items()} | {
    "la passes=1": cw.LightweightAggregation(passes=1),
    "ibcc inference=variational": cw.IBCC("variational"),
    "hierarchical form=full": cw.Hierarchical("full"),
    "hierarchical form=one_coin": cw.Hierarchical("one_coin"),
    "bwa weights=per_label": cw.BWA(weights="per_label"),
    "bwa link=logistic": cw.BWA(link="logistic"),
}
# Properties of a dataset that are known without its truth. Each divides the datasets into two groups: (the value
# between the groups, the name of the group below it, the name of the group above it).
_PROPERTIES = {
    "labels per item": (6.0, "under 6", "6 and more"),
    "classes": (2.5, "2", "more"),
    "share of the largest class": (0.6, "under 60 %", "60 % and more"),
    "labels per worker": (20.0, "under 20", "20 and more"),
}


def main() -> None:
    """Measure all methods on all datasets and write the tables."""
    folder = Path(os.environ.get("CROWDWISE_DATA", ""))
    paths = sorted(path for part in ("paper", "extra") for path in folder.glob(f"{part}/*/label.csv"))
    if not paths:
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/ and extra/.")
    rows = []
    for number, path in enumerate(paths, 1):
        print(f"{number} of {len(paths)}: {path.parent.name}", flush=True)
        rows += _measure(path)
    measured = pl.DataFrame(rows, infer_schema_length=None)
    votes = measured.filter(pl.col("method") == "mv").select("dataset", majority="accuracy")
    measured = measured.join(votes, on="dataset").with_columns(gain=pl.col("accuracy") - pl.col("majority"))
    before, rest = _PAGE.read_text().split(_MARKS[0])
    after = rest.split(_MARKS[1])[1]
    tables = f"{_overall(measured)}\n\n{_by_property(measured)}"
    _PAGE.write_text(f"{before}{_MARKS[0]}\n\n{tables}\n\n{_MARKS[1]}{after}")


def _measure(path: Path) -> list[dict[str, Any]]:
    """Return one row for each method on one dataset; `path` is its file of labels."""
    separate, sets = (cw.read_labels(path, duplicates=policy) for policy in ("all", "set"))
    facts = {
        "dataset": path.parent.name,
        "part": path.parent.parent.name,
        "labels per item": separate.n_labels / separate.n_items,
        "classes": separate.n_classes,
        "share of the largest class": float(np.bincount(separate.labels).max() / separate.n_labels),
        "labels per worker": float(np.median(np.bincount(separate.workers))),
    }
    truth = path.with_name("truth.csv")
    rows = []
    for key, method in _METHODS.items():
        # BWA with its default parameters gets votes that name several classes, as in its paper.
        labels = sets if key == "bwa" else separate
        rows += compare(labels, {key: method}, truth)
    return [facts | row for row in rows]


def _overall(measured: pl.DataFrame) -> str:
    """Return the table of all methods over all datasets, the largest gain over majority vote first."""
    mean = pl.col("accuracy").mean()
    table = measured.group_by("method", maintain_order=True).agg(
        pl.when(pl.col("accuracy").is_null().any()).then(None).otherwise(mean).alias("all"),
        *(pl.col("accuracy").filter(pl.col("part") == part).mean().alias(part) for part in ("paper", "extra")),
        gain=pl.col("gain").mean(),
        spread=pl.col("gain").std(),
        wins=(pl.col("gain") > 1e-9).sum(),
        losses=(pl.col("gain") < -1e-9).sum(),
        worst=pl.col("gain").min(),
        seconds=pl.col("seconds").sum(),
    )
    counts = {part: measured.filter(pl.col("part") == part)["dataset"].n_unique() for part in ("paper", "extra")}
    lines = [
        f"| method | mean of the paper's {counts['paper']} | mean of {counts['extra']} others | gain over mv "
        "| spread | wins | losses | worst | seconds |",
        "|-|-:|-:|-:|-:|-:|-:|-:|-:|",
    ]
    for row in table.sort("gain", descending=True).iter_rows(named=True):
        whole = row["all"] is not None
        means = [f"{row[part]:.4f}" if whole else "" for part in ("paper", "extra")]
        lines.append(
            f"| `{row['method']}` | {means[0]} | {means[1]} | {100 * row['gain']:+.2f} "
            f"| {100 * row['spread']:.1f} | {row['wins']} | {row['losses']} "
            f"| {100 * row['worst']:+.1f} | {row['seconds']:.1f} |"
        )
    return "\n".join(lines)


def _by_property(measured: pl.DataFrame) -> str:
    """Return the table of mean gains over majority vote, in percentage points, for both groups of each property."""
    columns: dict[str, pl.DataFrame] = {}
    sizes = []
    for name, (edge, below, above) in _PROPERTIES.items():
        for words, side in ((below, pl.col(name) < edge), (above, pl.col(name) >= edge)):
            part = measured.filter(side)
            sizes.append(f"{name}: {words} ({part['dataset'].n_unique()})")
            columns[sizes[-1]] = part.group_by("method").agg(gain=100 * pl.col("gain").mean())
    order = measured.group_by("method").agg(gain=pl.col("gain").mean()).sort("gain", descending=True)["method"]
    lines = ["| method | " + " | ".join(sizes) + " |", "|-|" + "-:|" * len(sizes)]
    for method in order:
        gains = [dict(table.iter_rows()).get(method) for table in columns.values()]
        lines.append(f"| `{method}` | " + " | ".join("" if gain is None else f"{gain:+.1f}" for gain in gains) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
