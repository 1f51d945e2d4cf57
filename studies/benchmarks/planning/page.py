"""Writes what was measured into docs/studies/planning.md: tables between two marks, and figures."""

from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from scipy.stats import wilcoxon

from crowdwise.analysis.planning.plan import LEARNING

from . import experts, replaying
from .figures import curves
from .measuring import STARTS

DOCS: Final = Path(__file__).parents[3] / "docs" / "studies"
_MARKS: Final = ("<!-- measured: begin -->", "<!-- measured: end -->")


def write_page(measured: pl.DataFrame, docs: Path = DOCS) -> None:
    """Write the tables, the figures, and all rows as planning.csv."""
    measured.write_csv(docs / "planning.csv", float_precision=5)
    page = docs / "planning.md"
    before, rest = page.read_text(encoding="utf-8").split(_MARKS[0])
    after = rest.split(_MARKS[1])[1]
    tables = [_crowd_table(measured, start) for start in STARTS]
    text = "\n\n".join([*tables, _experts(measured), _gains(measured)])
    page.write_text(f"{before}{_MARKS[0]}\n\n{text}\n\n{_MARKS[1]}{after}", encoding="utf-8")
    _draw(measured, docs / "images")


def _areas(measured: pl.DataFrame, start: int) -> pl.DataFrame:
    """Return one row per family, and a column with the area of each strategy."""
    runs = (
        measured.filter(pl.col("kind") == "crowd", pl.col("start") == start)
        .sort("step")
        .group_by("crowd", "family", "seed", "strategy", maintain_order=True)
        .agg("accuracy")
        .with_columns(area=pl.col("accuracy").map_elements(lambda one: replaying.area(list(one)), pl.Float64))
    )
    by_crowd = runs.group_by("crowd", "family", "strategy").agg(pl.col("area").mean())
    by_family = by_crowd.group_by("family", "strategy").agg(pl.col("area").mean())
    return by_family.pivot(on="strategy", index="family", values="area").sort("family")


def _crowd_table(measured: pl.DataFrame, start: int) -> str:
    areas = _areas(measured, start)
    labels = "one label" if start == 1 else f"{start} labels"
    lines = [
        f"From {labels} of every item, {areas.height} families:",
        "",
        "| strategy | area | over random | wins/losses | worst | over least confidence | wins/losses | p |",
        "|-|-:|-:|-:|-:|-:|-:|-:|",
    ]
    for name in replaying.STRATEGIES:
        cells = [f"`{name}`" if name != "ActiveLab" else name, f"{100 * _mean(areas[name]):.2f}"]
        chance = (areas[name] - areas["random"]).to_numpy()
        doubt = (areas[name] - areas["uncertain"]).to_numpy()
        cells += ["", "", ""] if name == "random" else [_points(chance), _record(chance), f"{100 * chance.min():+.1f}"]
        p = "" if name == "uncertain" else f"{wilcoxon(doubt).pvalue:.3f}"
        cells += ["", "", ""] if name == "uncertain" else [_points(doubt), _record(doubt), p]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _experts(measured: pl.DataFrame) -> str:
    """Return the table of what is right after an expert has decided some items."""
    counts = " | ".join(map(str, experts.GOLD))
    lines = [
        "An expert decides items of one half. The accuracy of the other half, of all items that are not gold, and of "
        f"the half asked about, with gold counted as right, after {', '.join(map(str, experts.GOLD))} gold items:",
        "",
        f"| strategy | {' | '.join(f'{part}: {counts}' for part in experts.PARTS)} |",
        "|-|" + "-:|" * (len(experts.PARTS) * len(experts.GOLD)),
    ]
    for name in experts.STRATEGIES:
        cells = [f"`{name}`"]
        for part in experts.PARTS:
            means = _family_means(measured.filter(pl.col("kind") == f"expert, {part}", pl.col("strategy") == name))
            cells += [f"{100 * _mean(means.filter(pl.col('step') == count)['accuracy']):.2f}" for count in experts.GOLD]
        lines.append(f"| {' | '.join(cells)} |")
    families = measured.filter(pl.col("kind") == "expert, rest")["family"].n_unique()
    return "\n".join([*lines, "", f"These are means of {families} families."])


def _gains(measured: pl.DataFrame) -> str:
    """Say how the simulated gains of `plan` compare with real ones; the factor is fitted without that family."""
    means = _family_means(measured.filter(pl.col("kind") == "gain"))
    table = means.pivot(on="strategy", index="family", values="accuracy").sort("family")
    simulated, real = table["simulated"].to_numpy(), table["real"].to_numpy()
    total = real.sum() - real, simulated.sum() - simulated
    missed = np.abs(simulated * total[0] / total[1] - real)
    by_mean = np.abs(total[0] / (len(real) - 1) - real)
    return (
        f"From three labels of an item to six, {table.height} families gained {100 * real.mean():.2f} points, where "
        f"{100 * simulated.mean():.2f} were simulated: {real.mean() / simulated.mean():.2f} times as much (`plan` "
        f"takes {LEARNING:g}). With this factor fitted to the other families, the gain of a family is missed by "
        f"{100 * missed.mean():.2f} points in the mean. To expect of every family the mean gain of the others misses "
        f"it by {100 * by_mean.mean():.2f}."
    )


def _draw(measured: pl.DataFrame, images: Path) -> None:
    """Draw the figures."""
    crowd = _strategy_means(measured.filter(pl.col("kind") == "crowd"), "start")
    titles = {"1": "From one label of every item", "2": "From two labels of every item"}
    share = pl.col("step") * 50 / replaying.STEPS
    spent = "labels spent, in per cent of those held back"
    curves(crowd.with_columns(step=share), spent, "accuracy", titles).save(images / "planning.svg")
    expert = _strategy_means(measured.filter(pl.col("kind").str.starts_with("expert")), "kind")
    titles = {
        "expert, other half": "The half not asked about",
        "expert, half asked": "The half asked about, gold counted as right",
    }
    curves(expert, "items that an expert decided", "accuracy", titles).save(images / "planning-experts.svg")


def _strategy_means(rows: pl.DataFrame, panel: str) -> pl.DataFrame:
    """Return the means over the families for each panel, strategy and step."""
    by = ["strategy", "step", "panel"]
    parts = rows.with_columns(panel=pl.col(panel).cast(pl.String))
    return _family_means(parts, "panel").group_by(by).agg(pl.col("accuracy").mean()).sort(by)


def _family_means(rows: pl.DataFrame, *more: str) -> pl.DataFrame:
    """Return the means of crowds and then of families, for each strategy and step."""
    by = ["family", "strategy", "step", *more]
    mean = pl.col("accuracy").mean()
    return rows.group_by("crowd", *by).agg(mean).group_by(by).agg(mean).sort(by)


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean())


def _points(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return f"{100 * differences.mean():+.2f}"


def _record(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return f"{(differences > 1e-9).sum()}/{(differences < -1e-9).sum()}"
