"""Writes the page docs/studies/confidence.md, its tables as CSV, and the figure; the text is from a template."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from crowdwise.analysis.calibration_measures import CalibrationMeasures
from crowdwise.results.calibration import LEVELS

from .coverage_section import DOCS, ENVIRONMENT, section
from .figures import diagrams
from .fitting import Fitted, by_family

_TEMPLATE: Final = Path(__file__).parent / "page.md.jinja"
# What is measured of every crowd; the table has the mean of it over the families.
_MEASURES: Final[Mapping[str, Callable[[CalibrationMeasures], float]]] = {
    "log_loss": lambda of: of.log_loss,
    "brier": lambda of: of.brier,
    "overconfidence": lambda of: of.overconfidence,
    "absolute_overconfidence": lambda of: abs(of.overconfidence),
}


def write_page(fitted: Mapping[str, Fitted], docs: Path = DOCS) -> None:
    """Write confidence.md, confidence.csv, confidence_by_crowd.csv and images/confidence.svg in a folder."""
    table = left_out_table(fitted)
    (docs / "images").mkdir(parents=True, exist_ok=True)
    table.write_csv(docs / "confidence.csv", float_precision=4)
    by_crowd(fitted).write_csv(docs / "confidence_by_crowd.csv", float_precision=4)
    diagrams(fitted).save(docs / "images" / "confidence.svg")
    (docs / "confidence.md").write_text(render(table, fitted), encoding="utf-8")


def by_crowd(fitted: Mapping[str, Fitted]) -> pl.DataFrame:
    """Return one row per method and crowd: what was measured with constants fitted to other families."""
    rows: list[dict[str, Any]] = []
    for name, one in fitted.items():
        for crowd, outcome in zip(one.crowds, one.outcomes, strict=True):
            row = {"method": name, "crowd": crowd.measured.crowd, "family": crowd.measured.family}
            over, loss = outcome.measures.overconfidence, outcome.measures.log_loss
            rows.append(row | {"accuracy": float(outcome.hits.mean()), "overconfidence": over, "log_loss": loss})
    return pl.DataFrame(rows)


def left_out_table(fitted: Mapping[str, Fitted]) -> pl.DataFrame:
    """Return one row per method: its constant, and what was measured with constants fitted to other families.

    A measure has two columns: `_before` for scores as they are, and `_after` for confidence.
    """
    rows: list[dict[str, Any]] = []
    for name, one in fitted.items():
        weights = one.constant.weights
        constants = f"{one.constant.value:.4g}" if weights is None else f"{weights.alpha:g} {weights.gamma:g}"
        row: dict[str, Any] = {"method": name, "form": one.constant.form, "constant": constants}
        row |= {f"spread_{level}": spread for level, spread in one.constant.spreads.items()}
        row |= {"crowds": len(one.crowds), "families": len(set(one.families))}
        before = [crowd.uncalibrated.measures for crowd in one.crowds]
        after = [outcome.measures for outcome in one.outcomes]
        row["accuracy"] = by_family(one.families, [float(outcome.hits.mean()) for outcome in one.outcomes])
        for measure, of in _MEASURES.items():
            row[f"{measure}_before"] = by_family(one.families, [of(found) for found in before])
            row[f"{measure}_after"] = by_family(one.families, [of(found) for found in after])
        row |= {f"log_loss_{form}": one.tried.get(form) for form in ("probability", "evidence")}
        rows.append(row | {f"coverage_{level}": share for level, share in one.coverage.items()})
    return pl.DataFrame(rows)


def render(table: pl.DataFrame, fitted: Mapping[str, Fitted]) -> str:
    """Return the text of the page in Markdown."""
    largest = max(fitted.values(), key=lambda one: len(one.crowds))
    families: dict[str, list[str]] = {}
    for crowd in largest.crowds:
        families.setdefault(crowd.measured.family, []).append(crowd.measured.crowd)
    return ENVIRONMENT.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        rows=table.sort("log_loss_after").to_dicts(),
        n_crowds=len(largest.crowds),
        families=families,
        coverage=section(),
        lowest_coverage={level: min(one.coverage[level] for one in fitted.values()) for level in LEVELS},
        pool=fitted.get("adjudicator"),
    )
