"""`judges`: how good judges are alone and as a panel, who is redundant, who changes, and what the order does."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import Caution, in_order, raise_once
from ...crowd.ids import codes_of
from ...crowd.labels import Labels
from ...crowd.protocol import is_crowd, require_crowd, require_single_votes
from ...crowd.read_options import ReadOptions
from ...crowd.times import dates
from ...errors import CallError, DataError, quoted
from ...families.dependence.pairs import is_quick_to_compare, pairs_refusal
from ...fitting.method import Method
from ...methods import as_method
from ...methods.adjudicator import Adjudicator
from ...numerics import Array
from ...reading.read_details import read_details
from ...reading.read_labels import read_options, read_with
from ...reading.read_truth import Truths, read_truths
from ...results.history import History
from ...results.intervals import wilson
from ..blocks import Dependence, blocks
from .best import Gain, best_judge, smallest_panel
from .drift import PERIODS, by_period, drift
from .measured import Measured, Panel, Without
from .positions import Positions, nothing_known, positions_by_column, positions_by_names
from .redundancy import redundancy
from .result import JudgesResult

# The panel is fitted without each judge if all of these fits have no more labels than this; with gold, each is several.
_MOST_FITTED: Final = 1_500_000
_FITS_WITH_GOLD: Final = 6
# Fewer items than this say little about a judge.
_FEW: Final = 30


def judges(
    labels: Any,
    *,
    truth: Any = None,
    gold: Any = None,
    history: Any = None,
    by: str | None = None,
    time: str | None = None,
    first: str | None = None,
    method: str | Method | None = None,
    warn: bool = True,
    **reading: Any,
) -> JudgesResult:
    """Say how good the judges of a panel are, such as language models, alone and together.

    Args:
        labels: What the judges said: labels in memory, a path, or a table.
        truth: The true labels of some items, which the panel is not told: a path, a table, or a mapping. Without it and
            without gold, everything is what would be if the panel were right, and is said so.
        gold: The true labels of some items, which the panel is told; each is measured without being told itself.
        history: What earlier labels taught: `result.history`, or a file that it was written to. Judges are compared
            with what they were then.
        by: The period of a curve for each judge: "day", "week", "month", "quarter" or "year".
        time: With `by`, the column of times; None to recognise it.
        first: The column that says which class the judge saw first. Rows of one judge on one item in two orders are
            two samples of the judge then.
        method: The method that makes the panel's answers; the default is that of `aggregate`.
        warn: Whether to raise cautions as warnings; they are in `cautions` all the same.
        reading: For a path or a table: the arguments of `read_labels`.

    Returns:
        Tables, sentences and cautions; see `JudgesResult`.

    Raises:
        CallError: An argument is not allowed.
        DataError: The labels cannot be used, or are not those of a panel.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 5, labels_per_item=5, accuracy=0.8, seed=2)
    >>> found = judges(crowd.labels, truth=crowd.truth)
    >>> found.judges.columns[:5], found.known
    (['judge', 'votes', 'measured', 'accuracy', 'low'], True)
    """
    if truth is not None and gold is not None:
        raise CallError("Give truth= (--truth) or gold= (--gold), not both: gold is measured without being told.")
    latest = reading.get("duplicates") == "latest"
    if time is not None and by is None and not latest:
        raise CallError("time= (--time-column) does nothing without by= (--by).")
    if latest:
        reading["time"] = time
    require_period(by)
    known, given = (None if one is None else read_truths(one) for one in (truth, gold))
    before = History.read(history) if history is not None and not isinstance(history, History) else history
    crowd, details = _read(labels, by, time, first, reading)
    chosen = Adjudicator() if method is None else as_method(method)
    found = judge_panel(crowd, chosen, truth=known, gold=given, history=before, details=details, by=by, first=first)
    if warn:
        raise_once(found.cautions)
    return found


def require_period(by: str | None) -> None:
    """Refuse what is no period."""
    if by is not None and by not in PERIODS:
        raise CallError(f"by={by!r} (--by) is not one of {', '.join(PERIODS)}.")


def extra_columns(by: str | None, time: str | None, first: str | None) -> dict[str, str | None]:
    """Return the columns that are read beside item, worker and label, by role."""
    return {**({} if by is None else {"time": time}), **({} if first is None else {"first": first})}


def judge_panel(
    crowd: Any,
    method: Method,
    *,
    truth: Truths | None = None,
    gold: Truths | None = None,
    history: History | None = None,
    details: pl.DataFrame | None = None,
    by: str | None = None,
    first: str | None = None,
) -> JudgesResult:
    """Return what `judges` does, of labels that are read already; `details` is what `read_details` returns."""
    require_crowd(crowd, "judges")
    require_single_votes(crowd, "judges")
    if not isinstance(crowd, Labels):
        raise CallError('judges takes labels in memory: read them with engine="memory".')
    if history is not None:
        method.require(history=True)
    panel = Panel.fitted(crowd, method, None if truth is None else truth.table, gold)
    cautions = [*(() if truth is None else truth.cautions), *panel.result.cautions, *crowd.cautions]
    found = describe(panel, cautions, positions=_positions(crowd, details, first), refit=True)
    if history is not None:
        alone = panel.result if gold is None else method.fit(crowd, warn=False)
        found = found.with_drift(drift(alone, history))
    if by is not None and details is not None:
        found = found.with_curve(_curve(panel, details, by, found.others), by)
    return found


def _read(
    labels: Any, by: str | None, time: str | None, first: str | None, reading: Mapping[str, Any]
) -> tuple[Any, pl.DataFrame | None]:
    """Return the labels, and every vote with other columns, if they are asked for."""
    if is_crowd(labels):
        asked = {"by": by, "first": first, **reading}
        for name in (name for name, value in asked.items() if value is not None):
            raise CallError(f"{name}= is for a path or a table, and these labels are read already.")
        return labels, None
    given = {name: value for name, value in reading.items() if value is not None}
    if first is not None:
        given.setdefault("duplicates", "samples")
    options: ReadOptions = read_options(**given)
    more = extra_columns(by, time, first)
    return read_with(options, labels, warn=False), read_details(labels, options, more) if more else None


def _positions(labels: Labels, details: pl.DataFrame | None, first: str | None) -> Positions:
    if first is not None and details is not None:
        found = positions_by_column(details)
        if not found.judges.height or not int(found.judges["first"].sum()):
            raise DataError(
                f"No label is one of those in the column {first!r}, which has to name the class that was seen first: "
                f"it has {quoted(details['first'].drop_nulls().first())}, for example, the labels have "
                f"{quoted(labels.names.classes[0])}."
            )
        return found
    return positions_by_names(labels) or nothing_known()


def describe(panel: Panel, cautions: Any = (), *, positions: Positions | None = None, refit: bool) -> JudgesResult:
    """Return what is found about a panel; `refit` says whether to fit it without each judge, if that is quick."""
    labels, measured = panel.labels, panel.measured
    if labels.n_workers < 2:
        raise DataError("One judge is no panel: there is nobody to compare it with.")
    work = labels.n_labels * labels.n_workers * (1 if panel.gold is None else _FITS_WITH_GOLD)
    can = refit and work <= _MOST_FITTED
    without = [panel.without(place) for place in range(labels.n_workers)] if can else None
    dependence = _dependence(labels)
    alike = () if dependence is None else [block.members["worker"] for block in dependence.blocks]
    best, pairs = best_judge(measured), redundancy(measured, panel.independent(alike), alike)
    smallest = smallest_panel(measured)
    members = () if smallest is None else smallest.judges
    table = _table(panel, measured, without, members)
    return JudgesResult(
        judges=table,
        pairs=pairs.pairs,
        positions=positions or positions_by_names(labels) or nothing_known(),
        known=measured.known,
        items=len(measured.items),
        method=panel.result.method.key or type(panel.result.method).__name__,
        best=best,
        redundancy=pairs,
        smallest=smallest,
        names=measured.judges,
        dependence=dependence,
        cautions=in_order([*cautions, *_cautions(measured, panel.gold)]),
        refitted=can,
        others=None if without is None else np.column_stack([one.answers for one in without]),
    )


def _dependence(labels: Labels) -> Dependence | None:
    cannot = pairs_refusal(labels.n_workers, labels.n_classes) or not is_quick_to_compare(labels)
    return None if cannot else blocks(labels)


def _cautions(measured: Measured, gold: Truths | None) -> list[Caution]:
    found = []
    if measured.known and len(measured.items) < _FEW:
        found.append(
            Caution(
                "few items",
                f"Judges are measured by {len(measured.items):,} items, which say little about any of them.",
                f"Let an expert decide at least {_FEW}, better 100, that are drawn at random.",
            )
        )
    if gold is not None and gold.table.height > len(measured.items):
        found.append(
            Caution(
                "gold",
                f"Judges are measured by {len(measured.items):,} of {gold.table.height:,} gold items: by those that "
                "were drawn at random and have labels.",
            )
        )
    return found


def _table(panel: Panel, measured: Measured, without: list[Without] | None, members: tuple[int, ...]) -> pl.DataFrame:
    """Return one row per judge; `JudgesResult` describes the columns."""
    right, votes = measured.right, measured.votes
    if measured.known:
        accuracy, low, high = wilson(np.nansum(right, axis=0), votes)
    else:
        quality = panel.result.quality
        accuracy = quality.value[panel.order]
        ends = (quality.low, quality.high)
        low, high = (np.full(len(accuracy), np.nan) if end is None else end[panel.order] for end in ends)
    behind = measured.panel[:, None] - right
    gains = [Gain.of(column) if votes[place] else None for place, column in enumerate(behind.T)]
    losses = [
        None if without is None else Gain.of(measured.panel - without[place].panel) for place in range(len(votes))
    ]
    columns: dict[str, Any] = {
        "judge": measured.judges,
        "votes": np.bincount(panel.labels.workers, minlength=len(votes))[panel.order],
        "measured": votes,
        "accuracy": accuracy,
        "low": low,
        "high": high,
    }
    for name, values in (("gain", gains), ("loss", losses)):
        for end in ("value", "low", "high"):
            column = [None if one is None else getattr(one, end) for one in values]
            columns[name if end == "value" else f"{name}_{end}"] = pl.Series(column, dtype=pl.Float64)
    if without is None:
        agreed = compared = np.zeros(len(votes), np.int64)
        changed = np.full(len(votes), np.nan)
    else:
        agreed, compared, changed = (
            np.array([getattr(one, name) for one in without]) for name in ("agreed", "compared", "changed")
        )
    for name, share in zip(("agreement", "agreement_low", "agreement_high"), wilson(agreed, compared), strict=True):
        columns[name] = np.where(compared > 0, share, np.nan)
    columns["changed"] = changed
    table = pl.DataFrame(columns)
    table = table.with_columns(pl.col(pl.Float64).fill_nan(None))
    known = pl.col("measured") > 0
    table = table.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in ("accuracy", "low", "high"))
    needed = np.isin(np.arange(len(votes)), members)
    table = table.with_columns(pl.Series("in_smallest", needed))
    return table.sort("accuracy", descending=True, nulls_last=True, maintain_order=True)


def _curve(panel: Panel, details: pl.DataFrame, by: str, others: Array | None) -> pl.DataFrame:
    labels, measured = panel.labels, panel.measured
    answers = np.repeat(panel.result.answers[:, None], labels.n_workers, axis=1)
    if others is not None:
        answers[:, panel.order] = others
    codes = panel.result.names.codes_in(labels.names.classes)
    answers = np.where(answers >= 0, codes[answers], -1)
    truth = np.full(labels.n_items, -1)
    if measured.known:
        certain = measured.chance.max(axis=1) > 0
        items = codes_of(measured.items, labels.names.items)
        truth[items[certain]] = codes[measured.chance.argmax(axis=1)[certain]]
    return by_period(details, dates(details["time"]), by, labels.names, answers, truth)
