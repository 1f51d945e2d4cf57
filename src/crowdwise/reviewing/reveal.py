"""What the page shows after a decision: what the crowd said, who agrees with the expert, and why the answer was so."""

from typing import Any, Final

import numpy as np
import polars as pl

from ..analysis.explanation import Explanation, explain_code, refuse_unexplained
from ..crowd.labels import Labels
from ..crowd.reading_report import several
from ..errors import CallError, quoted
from ..results.numeric_result import NumericResult
from ..results.result import Result

# So many votes are shown at most.
_MOST_VOTES: Final = 50


def reveal(result: Result, labels: Labels, code: int, truth: str | None) -> dict[str, Any]:
    """Return what was said about an item; `truth` is what the expert decided, None if they could not tell.

    Args:
        result: The last fit, which need not know the decision.
        labels: The labels, with the classes of the result.
        code: The code of the item.
        truth: The class that the expert decided, as text.
    """
    why = _why(result, labels, code)
    votes = why.votes if why is not None else _votes(labels, code)
    workers, said = (votes[name].cast(pl.String).to_list() for name in ("worker", "said"))
    adds = [None] * len(said) if why is None else votes["contribution"].to_list()
    answer_code = int(result.answers[code])  # of one item: a column for all takes time in a large crowd
    answer, confidence = _classes(labels, np.array([answer_code]))[0], float(result.probabilities[code, answer_code])
    agreeing = None if truth is None else sum(one == truth for one in said)
    shown = [
        {"worker": worker, "said": one, "agrees": one == truth, "contribution": _finite(added)}
        for worker, one, added in list(zip(workers, said, adds, strict=True))[:_MOST_VOTES]
    ]
    return {
        "you": truth,
        "answer": answer,
        "confidence": confidence,
        "agrees": answer == truth,
        "sentence": _sentence(answer, confidence, said, agreeing),
        "votes": shown,
        "left_out": max(len(said) - _MOST_VOTES, 0),
        **_evidence(why),
    }


def reveal_numbers(result: NumericResult, labels: Labels, code: int, truth: str | None) -> dict[str, Any]:
    """Return the numbers that were given to an item, and the inferred one."""
    rows = slice(int(labels.item_starts[code]), int(labels.item_starts[code + 1]))
    names = labels.names.workers.gather(labels.workers[rows]).cast(pl.String).to_list()
    value, low, high = (float(part[code]) for part in (result.values, result.low, result.high))
    interval = f" (95 % interval {low:.6g} to {high:.6g})" if np.isfinite(low) else ""
    given = sorted(zip(labels.labels[rows].tolist(), names, strict=True))
    return {
        "you": truth,
        "answer": f"{value:.6g}",
        "confidence": None,
        "agrees": truth is not None and low <= float(truth) <= high,
        "sentence": f"The crowd's answer was {value:.6g}{interval}, from {several(len(given), 'label', 'labels')}.",
        "votes": [
            {"worker": name, "said": f"{one:.6g}", "agrees": False, "contribution": None}
            for one, name in given[:_MOST_VOTES]
        ],
        "left_out": max(len(given) - _MOST_VOTES, 0),
        **_evidence(None),
    }


def votes_without_names(labels: Labels, code: int, seed: int) -> list[dict[str, Any]]:
    """Return how many votes each class, or number, has, in an order that says nothing."""
    rows = slice(int(labels.item_starts[code]), int(labels.item_starts[code + 1]))
    values, counts = np.unique(labels.labels[rows], return_counts=True)
    names = [f"{value:.6g}" for value in values] if labels.numeric else _classes(labels, values)
    found = [{"said": name, "count": int(count)} for name, count in zip(names, counts, strict=True)]
    order = np.random.default_rng([seed, code]).permutation(len(found))
    return [found[place] for place in order]


def _classes(labels: Labels, codes: Any) -> list[str]:
    return labels.names.classes.gather(codes.astype(np.int64)).cast(pl.String).to_list()


def _why(result: Result, labels: Labels, code: int) -> Explanation | None:
    """Return the explanation of the answer; None if the method has none."""
    try:
        refuse_unexplained(result)
        return explain_code(result, labels, code)
    except CallError:
        return None


def _votes(labels: Labels, code: int) -> pl.DataFrame:
    rows = slice(int(labels.item_starts[code]), int(labels.item_starts[code + 1]))
    names = labels.names
    said = names.classes.gather(labels.labels[rows].astype(np.int64))
    return pl.DataFrame({"worker": names.workers.gather(labels.workers[rows]), "said": said})


def _sentence(answer: str, confidence: float, said: list[str], agreeing: int | None) -> str:
    """Say what the answer was, how sure, and how many votes name it and the expert's decision."""
    named = sum(one == answer for one in said)
    total = several(len(said), "vote", "votes")
    sentence = f"The crowd's answer was {quoted(answer)}, {100 * confidence:.0f} % sure; {named} of {total} "
    sentence += "names it." if named == 1 else "name it."
    if agreeing is None:
        return sentence
    return f"{sentence} {agreeing} of {len(said)} {'agrees' if agreeing == 1 else 'agree'} with you."


def _evidence(why: Explanation | None) -> dict[str, Any]:
    """Return the terms of the explanation besides the votes."""
    if why is None or why.gold:
        return dict.fromkeys(("scale", "axis", "prior", "limit", "difference", "remedy"))
    return {
        "scale": why.scale,
        "axis": why.axis,
        "prior": _finite(why.prior),
        "limit": _finite(why.limit),
        "difference": _finite(why.difference),
        "remedy": why.remedy,
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
