"""The section of docs/studies/confidence.md about the intervals of workers' quality, from docs/studies/coverage.csv."""

from pathlib import Path
from typing import Final

import polars as pl
from jinja2 import Environment, StrictUndefined

DOCS: Final = Path(__file__).parents[2] / "docs" / "studies"
COVERAGE: Final = DOCS / "coverage.csv"
ENVIRONMENT: Final = Environment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
_TEMPLATE: Final = Path(__file__).parent / "coverage.md.jinja"
# The section is between these lines of the page.
_BEGIN, _END = "<!-- coverage: made by python -m studies.calibrate.coverage -->\n", "<!-- end of coverage -->\n"


def section() -> str:
    """Return the section, with the lines that it is between."""
    table = pl.read_csv(COVERAGE)
    means = table.group_by("kind", "method", maintain_order=True).agg(
        pl.len().alias("families"), pl.col("workers").sum(), pl.selectors.float().mean()
    )
    text = ENVIRONMENT.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        means=means.to_dicts(),
        mean={(row["kind"], row["method"]): row for row in means.to_dicts()},
    )
    return _BEGIN + text + _END


def write_section() -> None:
    """Replace the section of the page."""
    path = DOCS / "confidence.md"
    head, _, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    path.write_text(head + section() + rest.partition(_END)[2], encoding="utf-8")
