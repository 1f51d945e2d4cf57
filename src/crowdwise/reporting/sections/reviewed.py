"""The section "Reviewed": who decided items, what that changed, and how often the answers are right, as measured."""

from typing import Any, Final

import polars as pl

from ...analysis.changes import changed_answers
from ...crowd.reading_report import several
from ...reading.decision_log import CANNOT_TELL, DECIDED, SOURCES, UNCLEAR, VOTES, settled, standing
from ...results.result import Result
from ..blocks import Block, Code, Heading, Paragraph, Table, Tile, Tiles
from ..cells import number, text
from ..report_data import ReportData

# So many of the answers that changed are listed.
_LISTED: Final = 20


def gather(data: ReportData) -> list[Block] | None:
    """Make the main numbers, a table of the reviewers and one of the answers that changed; None without a review."""
    if data.reviewed is None:
        return None
    entries = standing(data.reviewed)
    held, differ = settled(entries)
    changed = _changed(data)
    return [
        Paragraph(_in_words(entries, held.height, len(differ)), "intro"),
        Tiles([Tile("Decided items", f"{held.height:,}", _sources(held)), *_measured(data.result), *_count(changed)]),
        Heading("Reviewers"),
        _reviewers(entries),
        *_answers(changed),
        Heading("To go on"),
        Code(f"crowdwise review {data.source}"),
    ]


def _in_words(entries: pl.DataFrame, decided: int, differ: int) -> str:
    """Say how many items were decided, and what did not become a decision."""
    who = several(entries["reviewer"].n_unique(), "reviewer", "reviewers")
    sentences = [f"{who} decided {several(decided, 'item', 'items')}, which are given and not inferred here."]
    unknown = int((entries["action"] == CANNOT_TELL).sum())
    if unknown:
        sentences.append(f"On {several(unknown, 'item', 'items')} they could not tell.")
    if differ:
        sentences.append(f"They decided {several(differ, 'item', 'items')} differently, which count for nothing.")
    seen = int(((entries["visible"] == VOTES) & (entries["action"] == DECIDED)).sum())
    sentences.append(
        f"The votes were visible before {several(seen, 'decision', 'decisions')}."
        if seen
        else "The votes were hidden until each decision was made."
    )
    unclear = int((entries["guideline"] == UNCLEAR).sum())
    if unclear:
        sentences.append(f"The guideline was called unclear for {several(unclear, 'item', 'items')}.")
    return " ".join(sentences)


def _sources(held: pl.DataFrame) -> str:
    """Say how the decided items were picked."""
    counts = dict(held.group_by("source").len().iter_rows())
    random = int(counts.get("random", 0))
    return f"{random:,} drawn at random, {held.height - random:,} chosen"


def _measured(result: Result) -> list[Tile]:
    """Make the tile of the accuracy that the random decisions measure; none if there are fewer than two."""
    check = result.gold_check
    if check is None:
        return []
    share = check.accuracy
    remark = f"{share.low:.0%} to {share.high:.0%}, on {check.items:,} random items, each inferred as if not known"
    return [Tile("Measured accuracy", f"{share.value:.1%}", remark, strong=True)]


def _changed(data: ReportData) -> pl.DataFrame | None:
    """Return the answers that are others than without the decisions; None if earlier labels are known, too."""
    result: Any = data.result
    if result.known.earlier is not None:
        return None
    return changed_answers(result.method.fit(data.labels, warn=False), result)


def _count(changed: pl.DataFrame | None) -> list[Tile]:
    if changed is None:
        return []
    return [Tile("Other answers that changed", f"{changed.height:,}", "Against a fit without the decisions")]


def _reviewers(entries: pl.DataFrame) -> Table:
    """Make the table of the reviewers."""
    rows = []
    for (name,), mine in entries.sort("reviewer", maintain_order=True).group_by("reviewer", maintain_order=True):
        decided = mine.filter(pl.col("action") == DECIDED)
        by_source = [int((decided["source"] == source).sum()) for source in SOURCES]
        seconds: Any = mine["seconds"].cast(pl.Float64, strict=False).median()
        counts = [decided.height, mine.height - decided.height, *by_source]
        rows.append([text(name or "unnamed"), *(number(count) for count in counts), number(seconds, ".1f")])
    columns = ["Reviewer", "#Decided", "#Could not tell", "#Random", "#Settling", "#Worst", "#Seconds (median)"]
    return Table("reviewers", columns, rows)


def _answers(changed: pl.DataFrame | None) -> list[Block]:
    """Make the table of the answers that changed; none if none did."""
    if changed is None or changed.height == 0:
        return []
    rows = [
        [text(item), text(before), text(now), number(sure, ".2f")]
        for item, before, now, sure in changed.head(_LISTED).iter_rows()
    ]
    left = changed.height - len(rows)
    said = f"{several(left, 'more answer is', 'more answers are')} not listed." if left else ""
    return [
        Heading("Answers to other items that the decisions changed, the surest first"),
        Table("changed answers", ["Item", "Before", "Now", "#Confidence"], rows, said),
    ]
