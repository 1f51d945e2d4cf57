"""The section "Order": labels of least expected distance, for ordered classes, and how far they are from the truth."""

from typing import Final

from ...analysis.ordinal import Ordinal
from ...analysis.ordinal_errors import Errors, errors_of
from ..blocks import Block, Cell, Heading, Paragraph, Table
from ..cells import number, text
from ..report_data import ReportData
from .costs import differing, tiles

_HOW_TO_READ: Final = (
    "Mean absolute error: how far a label is from the truth, on average; the root of the mean square counts large "
    "errors more. Quadratic kappa (Cohen's, with quadratic weights) is 1 if all labels are right, and 0 if they are no "
    "nearer to the truth than random labels."
)


def gather(data: ReportData) -> list[Block] | None:
    """Make the expected distances, the labels that are not the most probable ones, and errors; None if not ordered."""
    if data.ordinal is None or data.decisions is None:
        return None
    return [
        Paragraph(_what_is_decided(data.ordinal), "intro"),
        tiles(data.decisions),
        *_against_truth(data, data.ordinal),
        *differing(data.decisions),
    ]


def _what_is_decided(ordinal: Ordinal) -> str:
    what = ordinal.measure.replace("_", " ")
    scale = (
        "Classes are numbers" if ordinal.order is None else "Classes are one step apart, in the order that was given"
    )
    return (
        f"{scale}. Each item gets the label of least expected {what} from the truth, by the calibrated probabilities "
        "of the classes. The other sections are about the most probable labels."
    )


def _against_truth(data: ReportData, ordinal: Ordinal) -> list[Block]:
    """Make the table of how far labels are from the truth; nothing if no truth is known."""
    if data.truth is None:
        return []
    of_method = errors_of(data.result, data.truth, ordinal)
    rows = [
        _row(f"Least expected {ordinal.measure.replace('_', ' ')}", of_method.decided),
        _row("Most probable", of_method.most_probable),
        _row("Majority vote", errors_of(data.majority, data.truth, ordinal).most_probable),
    ]
    table = Table("errors", ["Labels", "#Mean absolute error", "#Root mean square error", "#Quadratic kappa"], rows)
    return [Heading("How far from the truth"), table, Paragraph(_HOW_TO_READ, "note")]


def _row(name: str, errors: Errors) -> list[Cell]:
    values = errors.mae, errors.rmse, errors.quadratic_kappa
    return [text(name), *(number(value, ".3f") for value in values)]
