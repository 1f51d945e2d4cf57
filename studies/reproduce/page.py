"""Writes the page docs/studies/reproduce.md: the text is from a template, the numbers are from the results."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from jinja2 import Environment, StrictUndefined

from . import figures, tables
from .evidence import SENTI, Evidence, published
from .significance import Ranking, SignedRanks
from .wilcoxon_table import Row, wilcoxon_table

_TEMPLATE: Final = Path(__file__).parent / "page.md.jinja"

# Methods are ranked only if there are at least this many methods and this many datasets.
_MIN_FOR_RANKING: Final = 3


def write_page(out: Path) -> None:
    """Write the figures to `out`/reproduce, where the results are, and the page to `out`/reproduce.md."""
    evidence = Evidence.read(out / "reproduce")
    draw(evidence, out / "reproduce")
    (out / "reproduce.md").write_text(render(evidence), encoding="utf-8")


def render(evidence: Evidence) -> str:
    """Return the text of the page in Markdown."""
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(_facts(evidence))


def draw(evidence: Evidence, folder: Path) -> None:
    """Save the figures in a folder."""
    datasets = evidence.datasets("paper")
    methods = evidence.methods(datasets, "paper")
    shown = evidence.accuracies.filter(pl.col("method").is_in(methods), pl.col("dataset").is_in(datasets))
    accuracies = shown.group_by("method", "dataset", maintain_order=True).agg(pl.mean("accuracy"))
    times = evidence.seconds.filter(pl.col("method").is_in(methods), pl.col("dataset").is_in(datasets))
    seconds = times.group_by("method", "dataset", maintain_order=True).agg(pl.mean("seconds"))
    figures.save(figures.sensitivity(_sensitivity(evidence)), folder, "figure_2")
    figures.save(figures.running_times(seconds), folder, "figure_3")
    figures.save(figures.accuracies(accuracies), folder, "figure_4")
    rankings = {title: ranking for title, (ranking, _) in _rankings(evidence).items()}
    if rankings:
        figures.save(figures.ranks(rankings), folder, "ranks")


def _facts(evidence: Evidence) -> dict[str, Any]:
    datasets = evidence.datasets("paper")
    counts, equal = tables.dataset_counts(evidence)
    rows = wilcoxon_table(evidence)
    tested = [row for row in rows if row.method != "MV"]
    extra = evidence.datasets("extra")
    rankings = _rankings(evidence)
    sensitivity = _sensitivity(evidence)
    best = sensitivity.sort("accuracy", "prior_strength").group_by("prior").last()
    settled = sensitivity.filter(pl.col("prior_strength") >= 10)["accuracy"]
    return {
        "datasets": datasets,
        "extra": extra,
        "with_senti": SENTI in datasets,
        "completed": any(row.source != "measured" for row in rows),
        "comparable": len(datasets) >= 18,
        "missing_methods": [
            name for name in published("table_3")["method"] if name not in {row.method for row in rows}
        ],
        "table_2": counts,
        "equal": equal,
        "paper_accuracies": tables.accuracy_matrix(evidence, datasets, [row.method for row in rows]),
        "elsewhere": tables.elsewhere(evidence),
        "released": tables.released_comparison(evidence),
        "paper_test": tables.as_the_paper_did(rows),
        "right_test": tables.as_it_should_be(rows),
        "matching": [row.method for row in tested if row.matches],
        "differing": [row for row in tested if not row.matches],
        "losers": _losers(),
        "worse": [row for row in tested if row.test.minus > row.test.smaller],
        "tests": {row.method: row for row in rows},
        "other_seeds": crh_with_other_seeds(rows, evidence),
        "settled": (settled.min(), settled.max()),
        "best_strength": {row["prior"]: row for row in best.iter_rows(named=True)},
        "rankings": {
            title: (ranking, tables.all_methods(evidence, names, ranking))
            for title, (ranking, names) in rankings.items()
        },
    }


def _losers() -> list[dict[str, Any]]:
    """Return the rows of the paper's Table 3 of methods whose mean accuracy is below that of majority vote.

    For these methods the printed W is W+, not W-. The rows have W- and its exact p in addition.
    """
    table = published("table_3")
    baseline = table.filter(pl.col("method") == "MV")["mean_accuracy"][0]
    rows = []
    for row in table.filter(pl.col("mean_accuracy") < baseline).iter_rows(named=True):
        total = row["n_r"] * (row["n_r"] + 1) // 2
        ranks = SignedRanks(np.arange(1.0, row["n_r"] + 1), total - row["w"], row["w"])
        rows.append(row | {"printed": row["w"], "total": total, "minus": total - row["w"], "exact_p": ranks.exact_p})
    return rows


def _rankings(evidence: Evidence) -> dict[str, tuple[Ranking, list[str]]]:
    """Rank the methods that were measured on all datasets of a collection.

    Returns:
        For each collection, by its title: the ranking and the names of its datasets.
    """
    rankings = {}
    for collection, title in {"paper": "datasets of the paper", "extra": "further crowds"}.items():
        datasets = evidence.datasets(collection)
        methods = evidence.methods(datasets)
        if min(len(datasets), len(methods)) >= _MIN_FOR_RANKING:
            ranking = Ranking.of({name: evidence.accuracy(name, datasets) for name in methods})
            rankings[f"{len(datasets)} {title}"] = ranking, datasets
    return rankings


def _sensitivity(evidence: Evidence) -> pl.DataFrame:
    return evidence.sensitivity.group_by("prior", "prior_strength", maintain_order=True).agg(pl.mean("accuracy"))


def crh_with_other_seeds(rows: list[Row], evidence: Evidence) -> SignedRanks | None:
    """Test CRH against majority vote, with the accuracies of its released implementation for ten other seeds.

    Returns:
        The test; None if CRH or one of the datasets was not measured.
    """
    values: dict[str, float] = dict(published("crh_ten_other_seeds").iter_rows())
    known = {row.method: row for row in rows}
    datasets = list(values)
    if set(datasets) != set(evidence.datasets("paper")) or "CRH" not in known:
        return None
    paper = known["CRH"].paper
    assert paper is not None
    assert known["MV"].senti is not None
    senti = 19 * paper["mean_accuracy"] - sum(values.values())
    baseline = [*evidence.accuracy("MV", datasets), known["MV"].senti]
    return SignedRanks.of([*values.values(), senti], baseline)
