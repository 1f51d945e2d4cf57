"""Measures every method on every dataset; writes choosing.csv and the table of choosing.md in docs/studies.

python -m studies.benchmarks.choosing        # replaces the part of docs/studies/choosing.md between the two marks

The datasets are in the folder that CROWDWISE_DATA names.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import wilcoxon

import crowdwise as cw
from crowdwise.analysis.comparison import compare
from studies.calibrate.crowds import crowds, family

_PAGE = Path(__file__).parents[2] / "docs" / "studies" / "choosing.md"
_MARKS = ("<!-- measured: begin -->", "<!-- measured: end -->")

_METHODS: dict[str, Any] = {key: method() for key, method in cw.METHODS.items()} | {
    "adjudicator read_out=latent": cw.Adjudicator("latent"),
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
    paths = [folder / "label.csv" for folder in crowds(folder).values()]
    if not paths:
        sys.exit("Set CROWDWISE_DATA to the folder that holds paper/, extra/ and judges/.")
    rows = []
    for number, path in enumerate(paths, 1):
        print(f"{number} of {len(paths)}: {path.parent.name}", flush=True)
        rows += _measure(path)
    measured = pl.DataFrame(rows, infer_schema_length=None)
    votes = measured.filter(pl.col("method") == "mv").select("dataset", majority="accuracy")
    measured = measured.join(votes, on="dataset").with_columns(gain=pl.col("accuracy") - pl.col("majority"))
    before, rest = _PAGE.read_text().split(_MARKS[0])
    after = rest.split(_MARKS[1])[1]
    _PAGE.write_text(f"{before}{_MARKS[0]}\n\n{_overall(measured)}\n\n{_MARKS[1]}{after}")
    _by_property(measured).write_csv(_PAGE.with_name("choosing.csv"), float_precision=1)


def _measure(path: Path) -> list[dict[str, Any]]:
    """Return one row for each method on one dataset; `path` is its file of labels."""
    separate, sets = (cw.read_labels(path, duplicates=policy) for policy in ("all", "set"))
    facts = {
        "dataset": path.parent.name,
        "family": family(path.parent.name),
        "labels per item": separate.n_labels / separate.n_items,
        "classes": separate.n_classes,
        "share of the largest class": float(np.bincount(separate.labels).max() / separate.n_labels),
        "labels per worker": float(np.median(np.bincount(separate.workers))),
    }
    truth = path.with_name("truth.csv")
    rows: list[dict[str, object]] = []
    for key, method in _METHODS.items():
        # BWA with its default parameters gets votes that name several classes, as in its paper.
        labels = sets if key == "bwa" else separate
        rows += compare(labels, {key: method}, truth)
    return [facts | row for row in rows]


def _overall(measured: pl.DataFrame) -> str:
    """Return the table of all methods over all families, the most accurate one first."""
    families = _by_family(measured, ["accuracy", "gain", "log_loss", "overconfidence"])
    seconds = dict(measured.group_by("method").agg(pl.col("seconds").sum()).iter_rows())
    lines = [
        "| method | accuracy | gain over mv | wins | losses | worst | p | log loss | over | abs over | seconds |",
        "|-|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|",
    ]
    order = families.group_by("method").agg(pl.col("gain").mean()).sort("gain", descending=True)["method"]
    count = families["family"].n_unique()
    for method in order:
        rows = families.filter(pl.col("method") == method).drop_nulls("gain")
        gain = rows["gain"].to_numpy()
        p = "" if method == "mv" else f"{wilcoxon(gain).pvalue:.3f}"
        cells = [
            f"`{method}`",
            f"{_mean(rows, 'accuracy'):.4f}" if rows.height == count else "",
            f"{100 * gain.mean():+.2f}",
            f"{(gain > 1e-9).sum()}",
            f"{(gain < -1e-9).sum()}",
            f"{100 * gain.min():+.1f}",
            p,
            f"{_mean(rows, 'log_loss'):.3f}",
            f"{_mean(rows, 'overconfidence'):+.3f}",
            f"{np.abs(rows['overconfidence'].to_numpy()).mean():.3f}",
            f"{seconds[method]:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_family(measured: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Return the means of the crowds of each family, for every method."""
    return measured.group_by("method", "family", maintain_order=True).agg(pl.col(columns).mean())


def _mean(rows: pl.DataFrame, column: str) -> float:
    return float(rows[column].to_numpy().mean())


def _by_property(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the mean gains over majority vote, in percentage points, for both groups of each property."""
    families = _by_family(measured, ["gain"])
    table = families.group_by("method").agg(pl.col("gain").mean()).sort("gain", descending=True).select("method")
    for name, (edge, below, above) in _PROPERTIES.items():
        for words, side in ((below, pl.col(name) < edge), (above, pl.col(name) >= edge)):
            part = _by_family(measured.filter(side), ["gain"])
            title = f"{name}: {words} ({part['family'].n_unique()})"
            gains = part.group_by("method").agg((100 * pl.col("gain").mean()).alias(title))
            table = table.join(gains, on="method", how="left", maintain_order="left")
    return table


if __name__ == "__main__":
    main()
