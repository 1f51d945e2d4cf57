"""The section "In short" for numeric labels: how far off values are, and whom to look at."""

from typing import Final

import numpy as np

from ...crowd.reading_report import several
from ...errors import shortened
from ..blocks import Block, Bullets, Paragraph, Verdict
from ..numeric_data import NumericReportData

# A 95 % interval that holds fewer true values than this is too narrow to be used.
_LEAST_COVERAGE: Final = 0.85


def gather(data: NumericReportData) -> list[Block]:
    """Make a verdict and two or three sentences."""
    labels = data.labels
    crowd = (
        f"{several(labels.n_workers, 'worker', 'workers')} gave {several(labels.n_labels, 'label', 'labels')} to "
        f"{several(labels.n_items, 'item', 'items')}."
    )
    said = _workers(data)
    return [_verdict(data), Paragraph(crowd, "intro"), *([Bullets(said)] if said else [])]


def _verdict(data: NumericReportData) -> Verdict:
    """Say how far off values are; whether that is near enough, only the reader knows."""
    if not data.has_errors:
        alone = "No item has two labels, so nothing says how far off a value is."
        return Verdict("gold", "Get more labels, or some true values (--truth)", [alone])
    half = data.result.high - data.result.values
    median, widest = f"{np.median(half):.4g}", f"{np.max(half):.4g}"
    width = (
        f"Half of the values have a 95% interval of \N{PLUS-MINUS SIGN} {median} or less; the widest is "
        f"\N{PLUS-MINUS SIGN} {widest}."
    )
    if not data.measured:
        assumed = "This assumes that workers do not share errors; some true values (`--truth`) would show it."
        return Verdict("review", f"Use the values if \N{PLUS-MINUS SIGN} {median} is near enough", [width, assumed])
    (_, errors), *others = data.measured.items()
    beside = "; ".join(f"{name} {one.rmse:.4g}" for name, one in others)
    measured = (
        f"On {several(errors.items, 'item', 'items')} of known value the root mean squared error is {errors.rmse:.4g}"
        f"{f' ({beside})' if beside else ''}, and {errors.coverage:.0%} of the 95% intervals hold the true value."
    )
    if errors.coverage < _LEAST_COVERAGE:
        return Verdict("review", "Do not rely on the intervals: workers share errors", [measured, width])
    return Verdict("ship", f"Ship if an error of {errors.rmse:.4g} is near enough", [measured, width])


def _workers(data: NumericReportData) -> list[str]:
    """Name the worker with the largest typical error, if that is far from the others'."""
    table = data.result.workers_frame().filter(data.result.workers_frame()["labels"] > 0)
    errors = table["error"].to_numpy()
    if not data.has_errors or len(errors) < 3 or not np.isfinite(errors).all():
        return []
    worst, usual = int(errors.argmax()), float(np.median(errors))
    if errors[worst] < 2 * usual:
        return ["No worker has twice the usual error."]
    name = shortened(str(table["worker"][worst]), 60)
    return [f"Worker {name} has the largest typical error: {errors[worst]:.4g}; the median worker has {usual:.4g}."]
