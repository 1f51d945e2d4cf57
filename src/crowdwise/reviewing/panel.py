"""What stands beside the item on the page: what the decisions so far say about all answers. All numbers are a fit's."""

import math
from typing import Any, Final

import numpy as np
import polars as pl

from ..analysis.changes import changed_answers
from ..analysis.numeric_evaluation import numeric_errors
from ..analysis.recommendation import recommend
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..results.expected_accuracy import ExpectedAccuracy
from ..results.numeric_result import NumericResult
from ..results.result import Result
from .plan import Phase

# So many changed answers, and so many workers, are named.
_CHANGED: Final = 10
_WORKERS: Final = 5
# A worker's quality has moved if it changed by this.
_MOVED: Final = 0.005
# Answers that are as sure as this can be accepted without looking at them.
_ACCEPTED: Final = 0.9
# The next decisions that are looked at.
AHEAD: Final = 10


def about_fit(before: Result, result: Result, labels: Labels, phase: Phase | None, ahead: Any) -> dict[str, Any]:
    """Return what a fit says.

    Args:
        before: The fit without any decision.
        result: The fit.
        labels: The labels.
        phase: The phase of the plan that is under way; None at the end of the plan.
        ahead: The codes of the next items.
    """
    expected = result.expected_accuracy
    check = result.gold_check
    return {
        "accuracy": None
        if check is None
        else {
            "value": check.accuracy.value,
            "low": check.accuracy.low,
            "high": check.accuracy.high,
            "items": check.items,
            "sentence": str(check),
        },
        "expected": {
            "value": expected.value,
            "low": expected.low_80,
            "high": expected.high_80,
            "sentence": f"About {_percent(expected.value)} of the answers that nobody decided are right: "
            f"{expected.interval}.",
        },
        "accept": _accept(result),
        "changed": _changed(before, result),
        "workers": _moved(before, result),
        "next": _next(result, phase, np.asarray(ahead, np.int64)),
        "stop": _stop(result, labels),
    }


def about_numbers(result: NumericResult, truths: pl.DataFrame) -> dict[str, Any]:
    """Return what random decisions say about inferred numbers; the columns of `truths` are item, truth and source."""
    random = truths.filter(pl.col("source") == "random").select("item", "truth")
    sentence = "Decide random items: they show how far the inferred numbers are from the truth."
    if random.height:
        errors = numeric_errors(result, random)
        inside = "" if math.isnan(errors.coverage) else f"; {errors.coverage:.0%} lie in the 95 % interval"
        sentence = (
            f"On {several(errors.items, 'random item', 'random items')} the inferred numbers are off by "
            f"{errors.mae:.4g} on average{inside}."
        )
    return {
        "accuracy": None,
        "expected": {"value": None, "low": None, "high": None, "sentence": sentence},
        "accept": "",
        "changed": {"count": 0, "first": []},
        "workers": [],
        "next": "",
        "stop": "Decisions measure numbers, and do not change them: `aggregate --numeric --truth` takes the file.",
    }


def _accept(result: Result) -> str:
    """Say how many answers can be accepted as they are, and how many of these are expected to be wrong."""
    is_open = np.ones(len(result.confidence), bool) if result.gold is None else result.gold < 0
    confidence = result.confidence[is_open]
    sure = confidence[confidence >= _ACCEPTED]
    if len(sure) == 0:
        return f"No answer is {_percent(_ACCEPTED)} sure or more."
    wrong = (1 - sure).sum()
    return (
        f"{several(len(sure), 'answer is', 'answers are')} {_percent(_ACCEPTED)} sure or more: if you accept "
        f"{'it' if len(sure) == 1 else 'them all'}, expect about {wrong:,.{0 if wrong >= 10 else 1}f} errors. "
        f"{several(len(confidence) - len(sure), 'is', 'are')} less sure."
    )


def _changed(before: Result, result: Result) -> dict[str, Any]:
    """Return how many answers to items that nobody decided are others than before, and the first of them."""
    found = changed_answers(before, result)
    first = found.head(_CHANGED).select(pl.col("item", "before", "now").cast(pl.String))
    return {"count": found.height, "first": first.to_dicts()}


def _moved(before: Result, result: Result) -> list[dict[str, Any]]:
    """Return the workers whose quality changed most."""
    then, now = before.quality.value, result.quality.value
    size = np.nan_to_num(np.abs(now - then))
    codes = [int(code) for code in np.argsort(-size, kind="stable")[:_WORKERS] if size[code] >= _MOVED]
    names = result.names.workers
    return [{"worker": str(names[code]), "before": float(then[code]), "now": float(now[code])} for code in codes]


def _next(result: Result, phase: Phase | None, ahead: Any) -> str:
    """Say what the next ten decisions are expected to bring."""
    if phase is None or len(ahead) == 0:
        return "The plan is at its end."
    if phase.source == "settle":
        return "The next decisions settle which reading of the labels is right."
    expected = result.expected_accuracy
    confidence = result.confidence if result.gold is None else result.confidence[result.gold < 0]
    total, items, count = float(confidence.sum()), len(confidence), len(ahead)
    if phase.source == "random":
        gold = 0 if result.recalibration is None else result.recalibration.items
        after = ExpectedAccuracy.of(
            total * (items - count) / items, items - count, result.method.calibrated_as, gold + count
        )
        if expected.low_80 is None or after.low_80 is None:
            return ""
        return (
            f"{several(count, 'more random item narrows', 'more random items narrow')} the range of the share right "
            f"from {_range(expected)} to about {_range(after)}."
        )
    wrong = float((1 - result.confidence[ahead]).sum())
    return (
        f"About {wrong:.1f} of the next {count} answers are wrong, by confidence. Deciding these leaves about "
        f"{max(items - total - wrong, 0):,.0f} of {items - count:,} other answers wrong."
    )


def _stop(result: Result, labels: Labels) -> str:
    """Say when to stop."""
    advice = recommend(result, labels)
    if advice.kind == "enough":
        return f"You can stop: {advice.effect}."
    if advice.kind == "measure":
        return f"Decide {several(advice.decisions, 'more random item', 'more random items')}: {advice.effect}."
    what = several(advice.decisions, "least sure item", "least sure items")
    return f"Enough random items are decided. You can stop, or decide the {what}: {advice.effect}."


def _range(accuracy: ExpectedAccuracy) -> str:
    return f"{_percent(accuracy.low_80 or 0.0)[:-2]} to {_percent(accuracy.high_80 or 1.0)}"


def _percent(share: float) -> str:
    return f"{math.floor(100 * share + 0.5)} %"
