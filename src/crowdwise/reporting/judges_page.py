"""`judges_page`: writes an HTML page about judges and their panel."""

from os import PathLike

from .. import __version__
from ..analysis.panels.result import JudgesResult
from ..errors import require_extra
from ..output.targets import check_page
from ..output.writing import write_text
from .blocks import Code, Paragraph, Section


def judges_page(result: JudgesResult, path: str | PathLike[str], command: str = "") -> None:
    """Write an HTML page about judges and their panel; needs the extra `report`.

    Args:
        result: What `judges` returns.
        path: The file to write; its name ends in .html.
        command: The command that makes the page again, if there is one.
    """
    require_extra("report", "A page about judges")
    from .judge_blocks import change_blocks, pair_blocks, panel_blocks, position_blocks
    from .rendering import render

    check_page(path)
    cautions = [Paragraph(str(one), "warning") for one in result.cautions]
    made = [*([Code(command)] if command else []), Paragraph(f"crowdwise {__version__}.", "note")]
    changes = change_blocks(result)
    sections = [
        Section("panel", "The panel and its judges", [*cautions, *panel_blocks(result)], "Panel"),
        Section("pairs", "Who errs together", pair_blocks(result), "Pairs"),
        Section("position", "What is seen first", position_blocks(result), "Position"),
        *([Section("changes", "Who changes", changes, "Changes")] if changes else []),
        Section("made", "How it was made", made, "How it was made"),
    ]
    by = "items whose truth is known" if result.known else "items; no truth is known"
    lead = f"{len(result.names):,} judges on {result.items:,} {by}."
    write_text(path, render("Judges", "Judges", lead, sections))
