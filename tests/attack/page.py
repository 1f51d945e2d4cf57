"""Write the table of an attack into a page of the docs, between its two marks."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import crowdwise as cw

from .area import command
from .driver import Tally

_BEGIN: Final = "<!-- attack: made by `make attack` -->"
_END: Final = "<!-- end of attack -->"


def write_table(page: Path, tally: Tally) -> None:
    """Replace what is between the two marks of a page by the table. Raises `ValueError` if there are no marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{page} lacks the marks {_BEGIN} and {_END}")
    page.write_text(f"{before}{_BEGIN}\n\n{_table(tally)}\n\n{_END}{after}", encoding="utf-8")


def _table(tally: Tally) -> str:
    """The table as Markdown, with a sentence about when it was made."""
    cases = sum(count.cases for count in tally.counts.values())
    lines = [
        f"`make attack N={cases}`, {datetime.now(UTC):%Y-%m-%d}, crowdwise {cw.__version__}, two processes, "
        f"{tally.seconds / 60:,.0f} minutes:",
        "",
        "| area | what is tried | cases | right answers | refusals | failures |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [f"| {' | '.join(row)} |" for row in tally.rows()]
    if tally.failures:
        lines += ["", "Failures:", ""]
        # The commands say the reasons, in which there are paths of this machine.
        lines += [f"- `{command(area, seed)}`" for area, seed, _ in tally.failures[:100]]
    return "\n".join(lines)
