"""The tables of the page, as text in Markdown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

import crowdwise as cw

from .contestants import CONTESTANTS
from .evidence import Evidence, published
from .significance import Ranking, SignedRanks, holm, level, normal_p
from .wilcoxon_table import Row

_COUNTS = ("items", "workers", "classes", "labels", "truths")


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in Markdown; the first column is aligned to the left, all others to the right.

    >>> print(markdown(["method", "accuracy"], [["MV", 0.5]]))
    | method | accuracy |
    |:---|---:|
    | MV | 0.5 |
    """
    rule = [":---", *["---:"] * (len(header) - 1)]
    lines = [header, rule, *rows]
    return "\n".join(f"|{'|'.join(line)}|" if line is rule else f"| {' | '.join(map(str, line))} |" for line in lines)


def dataset_counts(evidence: Evidence) -> tuple[str, int]:
    """Return Table 2 with a comparison to the paper's, and the number of datasets that have all of its counts.

    The counts are those of the catalog. They hold for the data, because loading refuses a dataset with other counts.
    """
    paper = {row["dataset"]: row for row in published("table_2").iter_rows(named=True)}
    rows, equal = [], 0
    for name in evidence.datasets("paper"):
        dataset, theirs = cw.datasets.CATALOG[name], paper[name]
        counts = [getattr(dataset, count) for count in _COUNTS]
        same = counts == [theirs[count] for count in _COUNTS]
        equal += same
        per = [f"{dataset.labels / dataset.items:.2f}", f"{dataset.labels / dataset.workers:.2f}"]
        verdict = "equal" if same else "; ".join(f"{count} {theirs[count]:,}" for count in _COUNTS)
        rows.append([f"`{name}`", *(f"{count:,}" for count in counts), *per, verdict])
    return markdown(["dataset", *_COUNTS, "labels / item", "labels / worker", "the paper's"], rows), equal


def accuracy_matrix(evidence: Evidence, datasets: Sequence[str], methods: Sequence[str]) -> str:
    """Return the table of accuracies in percent, one row per method.

    The best accuracy on each dataset is bold. There is a dash if a method refuses a dataset.
    """
    means = evidence.means.filter(pl.col("dataset").is_in(datasets), pl.col("method").is_in(methods))
    values: dict[tuple[str, str], float | None] = {row[:2]: row[2] for row in means.iter_rows()}
    table = [[values.get((method, dataset)) for dataset in datasets] for method in methods]
    for row in table:
        row.append(None if None in row else float(np.mean(row)))  # type: ignore[arg-type]  # no value is None here
    best = [max((value for value in column if value is not None), default=-1.0) for column in zip(*table, strict=True)]
    rows = []
    for method, row in zip(methods, table, strict=True):
        rows.append([method, *(_percent(value, top) for value, top in zip(row, best, strict=True))])
    return markdown(["method", *(f"`{dataset}`" for dataset in datasets), "mean"], rows)


def _percent(value: float | None, best: float) -> str:
    if value is None:
        return "-"
    return f"**{100 * value:.2f}**" if value > best - 1e-9 else f"{100 * value:.2f}"


def released_comparison(evidence: Evidence) -> str:
    """Return the table of how far each method is from the accuracies of its released implementation."""
    rows = []
    for method in CONTESTANTS:
        theirs = published("accuracies").filter(pl.col("method") == method)
        ours = evidence.accuracies.filter(pl.col("method") == method).group_by("dataset").agg(pl.mean("accuracy"))
        both = theirs.join(ours, on="dataset", suffix="_ours").drop_nulls("accuracy_ours")
        if both.height == 0:
            continue
        both = both.with_columns((pl.col("accuracy_ours") - pl.col("accuracy")).alias("off"))
        within = both.filter(pl.col("off").abs() <= pl.col("tolerance") + 1e-9).height
        exact = both.filter(pl.col("off").abs() < 1e-6).height
        worst = both.sort(pl.col("off").abs(), "dataset").row(-1, named=True)
        largest = f"{100 * worst['off']:+.2f} on `{worst['dataset']}`" if abs(worst["off"]) >= 1e-6 else "none"
        rows.append([method, both.height, exact, within, largest])
    return markdown(["method", "datasets", "equal", "within its tolerance", "largest difference, points"], rows)


def elsewhere(evidence: Evidence) -> str:
    """Return the table of accuracies beside those that other papers print, of methods that the paper does not have."""
    means = {row[:2]: row[2] for row in evidence.means.iter_rows()}
    rows = []
    for method, dataset, theirs, source in published("elsewhere").iter_rows():
        ours = means.get((method, dataset))
        if ours is not None:
            difference = round(100 * (ours - theirs), 2) + 0.0  # no minus before zero
            cells = f"{100 * ours:.2f}", f"{100 * theirs:g}", f"{difference:+.2f}"
            rows.append([method, f"`{dataset}`", *cells, source])
    return markdown(["method", "dataset", "here", "published", "difference", "by"], rows) if rows else ""


def as_the_paper_did(rows: Sequence[Row]) -> str:
    """Return Table 3 beside the paper's, with the smaller rank sum and the normal approximation, as in the paper."""
    marks = {"measured": "", "published": "", "implied": "≈"}
    header = ["method", "mean, measured", "senti", "mean, all", "N_r", "W", "within", "level", "p"]
    lines: list[list[Any]] = []
    for row in rows:
        theirs = row.paper or {}
        mean = f"{row.mean:.4f}" if row.source != "implied" else "-"
        senti = "" if row.senti is None else f"{marks[row.source]}{row.senti:.4f}"
        line: list[Any] = [row.method, f"{row.measured:.4f}", senti, mean]
        if row.method == "MV":
            lines.append([*line, "", "", "", "", "", f"{theirs['mean_accuracy']:.4f}", "", "", "", ""])
            continue
        test = row.test
        low, high = row.reach
        within = f"{low:g} to {high:g}" if low < high else ""
        line += [
            test.n,
            f"{test.smaller:g}",
            within,
            level(test.n, test.smaller),
            f"{normal_p(test.n, test.smaller):.4f}",
        ]
        stars = {None: "", 0.1: "*", 0.05: "**", 0.025: "***"}[theirs["significance"]]
        line += [f"{theirs['mean_accuracy']:.4f}", theirs["n_r"], theirs["w"], stars, f"{theirs['p']:.4f}"]
        lines.append(line)
    return markdown(
        [*header, "paper: mean", "N_r", "W", "level", "p"], [[_escaped(cell) for cell in line] for line in lines]
    )


def as_it_should_be(rows: Sequence[Row]) -> str:
    """Return Table 3 with W-, the sum of the ranks where the method is worse, and the exact p."""
    lines: list[list[Any]] = []
    for row in rows:
        if row.method != "MV":
            test = row.test
            stars = "".join("*" for bound in (0.1, 0.05, 0.025) if test.exact_p <= bound)
            same = "" if test.minus == test.smaller else f"{test.plus:g} is the smaller sum"
            lines.append([row.method, test.n, f"{test.minus:g}", _escaped(stars), f"{test.exact_p:.4f}", same])
    return markdown(["method", "N_r", "W₋", "level", "exact p", ""], lines)


def all_methods(evidence: Evidence, datasets: Sequence[str], ranking: Ranking) -> str:
    """Return the table of all methods: mean accuracy, average rank, tests against majority vote, and seconds."""
    methods = list(ranking.average)
    baseline = evidence.accuracy("MV", datasets)
    tests = {name: SignedRanks.of(evidence.accuracy(name, datasets), baseline) for name in methods}
    others = [name for name in methods if name != "MV"]
    adjusted = dict(zip(others, holm([tests[name].exact_p for name in others]), strict=True))
    seconds = (
        evidence.seconds.filter(pl.col("dataset").is_in(datasets)).group_by("method", "dataset").agg(pl.mean("seconds"))
    )
    totals: dict[str, float] = dict(seconds.group_by("method").agg(pl.sum("seconds")).iter_rows())
    rows = []
    for name in methods:
        difference = np.round(np.subtract(evidence.accuracy(name, datasets), baseline), 9)
        score = f"{int((difference > 0).sum())} / {int((difference == 0).sum())} / {int((difference < 0).sum())}"
        against = ["", ""] if name == "MV" else [score, f"{adjusted[name]:.4f}"]
        mean = float(np.mean(evidence.accuracy(name, datasets)))
        rows.append([name, f"{100 * mean:.2f}", f"{ranking.average[name]:.2f}", *against, f"{totals[name]:.2f}"])
    header = [
        "method",
        "mean, %",
        "average rank",
        "better / same / worse than MV",
        "Holm's p",
        "seconds",
    ]
    return markdown(header, rows)


def _escaped(cell: Any) -> str:
    """Escape the asterisks, which mean emphasis in Markdown."""
    return str(cell).replace("*", r"\*")
