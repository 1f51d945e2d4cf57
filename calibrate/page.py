"""Writes the page docs/calibration.md, its table as CSV, and the figure; the text is from a template."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw
from crowdwise.analysis.calibration_measures import CalibrationMeasures

from .coverage_section import DOCS, ENVIRONMENT, section
from .figures import diagrams
from .fitting import CALIBRATES_ITSELF, Fitted, by_family, own_temperature

_TEMPLATE: Final = Path(__file__).parent / "page.md.jinja"
# What is measured of every crowd; the table has the mean of it over the families.
_MEASURES: Final[Mapping[str, Callable[[CalibrationMeasures], float]]] = {
    "log_loss": lambda of: of.log_loss,
    "brier": lambda of: of.brier,
    "overconfidence": lambda of: of.overconfidence,
    "absolute_overconfidence": lambda of: abs(of.overconfidence),
}


def write_page(fitted: Mapping[str, Fitted], docs: Path = DOCS) -> None:
    """Write calibration.md, calibration.csv and images/calibration.svg in a folder."""
    table = left_out_table(fitted)
    (docs / "images").mkdir(parents=True, exist_ok=True)
    table.write_csv(docs / "calibration.csv", float_precision=4)
    diagrams(fitted).save(docs / "images" / "calibration.svg")
    (docs / "calibration.md").write_text(render(table, fitted), encoding="utf-8")


def left_out_table(fitted: Mapping[str, Fitted]) -> pl.DataFrame:
    """Return one row per method: its constant, and what was measured with constants fitted to other families.

    A measure has two columns: `_before` for scores as they are, and `_after` for confidence.
    """
    rows: list[dict[str, Any]] = []
    for name, one in fitted.items():
        row: dict[str, Any] = {"method": name, "form": one.constant.form, "constant": one.constant.value}
        row |= {"spread": one.constant.spread, "crowds": len(one.crowds), "families": len(set(one.families))}
        before = [crowd.measures(crowd.uncalibrated) for crowd in one.crowds]
        after = [crowd.measures(crowd.calibrated(value)) for crowd, value in zip(one.crowds, one.left_out, strict=True)]
        row["accuracy"] = by_family(one.families, [float(crowd.measured.hits.mean()) for crowd in one.crowds])
        for measure, of in _MEASURES.items():
            row[f"{measure}_before"] = by_family(one.families, [of(found) for found in before])
            row[f"{measure}_after"] = by_family(one.families, [of(found) for found in after])
        rows.append(row | {"coverage": one.coverage})
    return pl.DataFrame(rows)


def render(table: pl.DataFrame, fitted: Mapping[str, Fitted]) -> str:
    """Return the text of the page in Markdown."""
    largest = max(fitted.values(), key=lambda one: len(one.crowds))
    families: dict[str, list[str]] = {}
    for crowd in largest.crowds:
        families.setdefault(crowd.measured.family, []).append(crowd.measured.crowd)
    temperature, itself = cw.Adjudicator().temperature, fitted.get(CALIBRATES_ITSELF)
    power = 1.0 if itself is None else own_temperature([crowd.measured for crowd in itself.crowds])
    return ENVIRONMENT.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        rows=table.sort("log_loss_after").to_dicts(),
        n_crowds=len(largest.crowds),
        families=families,
        temperature=temperature,
        fitted_temperature=temperature * power,
        coverage=section(),
        lowest_coverage=min(one.coverage for one in fitted.values()),
    )
