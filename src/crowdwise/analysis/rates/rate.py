"""`rate`: how many items truly pass, for every system and for the differences between them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, Unpack

import numpy as np
import polars as pl

from ...caution import Caution, in_order, listed, raise_once
from ...crowd.ids import as_series, codes_of
from ...crowd.read_options import ReadKeywords, ReadOptions, shows_options
from ...crowd.reading_report import several
from ...crowd.votes import shares
from ...errors import CallError, DataError, did_you_mean, quoted, require_kind
from ...fitting.disputes import lower_agreement
from ...numerics import Array
from ...parallel import require_threads
from ...reading.read_labels import read_options
from .estimates import Counts, Estimate, Sample, estimate, rogan_gladen, subtract
from .judged import Gold, Judged, read_gold, read_judged
from .result import RateResult, make_result, nothing

# An interval with less gold is rough; simulations have 30 and more.
_FEW_GOLD: Final = 30
# Two systems are compared on the same prompts if at least this share of the prompts of both, and of their gold, is
# the same.
_SAME: Final = 0.5


@shows_options
def rate(
    labels: Any,
    passing: Any,
    *,
    gold: Any = None,
    system: str | None = None,
    gold_labels: Any = None,
    these_items: bool = False,
    warn: bool = True,
    **options: Unpack[ReadKeywords],
) -> RateResult:
    """Estimate the share of items that truly pass, from labels of judges and the truth of some random items.

    Judges are wrong more often in one direction than in the other, so the share of items that they pass is not the
    share that truly passes, and no number of judges or items mends that. Some items whose truth is known do, if they
    were drawn at random (prediction-powered inference); the judges then make the interval narrower than gold alone.

    Args:
        labels: Labels, a table, or a path, as in `aggregate`.
        passing: The label that means that an item passes, or several.
        gold: The truth of items that were drawn at random, as in `read_truth`. Of a column `source`, only the rows
            "random" count. None to learn how many are needed for which interval.
        system: The column of systems, to rate each; prompts may be the same. Gold then has this column too, or its
            items belong to one system each.
        gold_labels: Labels of the same judges on the items of `gold`, if these are other items than those of `labels`.
            Then error rates of the judges are taken from there (Rogan and Gladen), which is right only if judges err
            there as they do here, and makes wide intervals.
        these_items: Whether the share is asked of these items alone, and not of all that they are a sample of.
        warn: Whether to raise cautions as warnings; they are in `cautions` all the same.
        options: The options of `read_labels`, such as item, worker, label and duplicates.

    Raises:
        CallError: An argument is not allowed.
        DataError: The labels or the gold cannot be used.

    >>> votes = pl.DataFrame({"item": range(60), "worker": ["judge"] * 60, "label": ["yes", "yes", "no"] * 20})
    >>> truth = {number: "yes" if number % 3 == 0 else "no" for number in range(0, 60, 2)}
    >>> print(rate(votes, "yes", gold=truth, warn=False))
    33% of items truly pass (16 to 50). The judges pass 67%.
    """
    require_threads()
    asked = read_options(**options)
    result = rate_with(asked, labels, passing, gold, system, gold_labels, these_items=these_items)
    if warn:
        raise_once(result.cautions)
    return result


def rate_with(
    options: ReadOptions,
    labels: Any,
    passing: Any,
    gold: Any = None,
    system: str | None = None,
    gold_labels: Any = None,
    *,
    these_items: bool = False,
    gold_keywords: Mapping[str, Any] | None = None,
) -> RateResult:
    """Do what `rate` does, with options that are checked already; `gold_keywords` are arguments of `read_truth`."""
    require_kind("these_items", these_items, bool, "True or False")
    require_kind("system", system, str | None, "the name of a column, or None")
    names = _passing(passing)
    if gold_labels is not None and gold is None:
        raise CallError("gold_labels= (--gold-labels) does nothing without gold= (--gold).")
    judged = read_judged(labels, options, system)
    keywords = gold_keywords or {}
    if gold_labels is not None:
        calibrating = read_judged(gold_labels, options, None)
        elsewhere = read_gold(calibrating, gold, keywords, elsewhere=True)
        _require_named(names, [judged, calibrating], elsewhere)
        return _by_error_rates(judged, calibrating, elsewhere, names)
    known = None if gold is None else read_gold(judged, gold, keywords)
    _require_named(names, [judged], known)
    judged_share = _shares(judged, names)
    if known is None:
        return nothing(judged, judged_share)
    return _rated(judged, judged_share, known, names, these_items=these_items)


def _passing(passing: Any) -> pl.Series:
    several = isinstance(passing, Sequence | np.ndarray | pl.Series) and not isinstance(passing, str)
    names = as_series("passing", list(passing) if several else [passing])
    if not len(names) or names.null_count():
        raise CallError("passing= (--pass) names the label of items that pass, such as 'yes'.")
    return names


def _require_named(names: pl.Series, judged: Sequence[Judged], gold: Gold | None) -> None:
    """Raise `DataError` if nobody names one of the classes that pass."""
    known = [one.labels.names.classes for one in judged] + ([] if gold is None else [gold.truth])
    folded = judged[0].labels.names.folded
    for place, name in enumerate(names):
        if all((codes_of(names[place : place + 1], classes.unique(), folded) < 0).all() for classes in known):
            classes = known[0].cast(pl.String).to_list()
            raise DataError(
                f"No label is {quoted(name)}, which passing= (--pass) names; labels are {listed(map(quoted, classes))}."
                f"{did_you_mean(str(name), classes)}"
            )


def _about_judges(judged: Judged, calibrating: Judged) -> list[Caution]:
    """Return a caution if the error rates are of other judges than those who judge here."""
    here, there = (one.labels.names.workers for one in (judged, calibrating))
    found = []
    for mine, other, where in ((here, there, "among the labels of the gold"), (there, here, "here")):
        missing = mine.filter(pl.Series(codes_of(mine, other) < 0))
        if len(missing):
            said = f"{listed(map(quoted, missing.head(3)))}{' and others have' if len(missing) > 3 else ''}"
            has = "" if len(missing) > 3 else " has" if len(missing) == 1 else " have"
            found.append(f"{said}{has} no label {where}")
    if not found:
        return []
    said = f"{', and '.join(found)}, so error rates are of other judges than those who judge here."
    return [Caution("gold", said, "Give labels of the same judges.")]


def _about_words(judged: Judged, gold: Gold, passing: pl.Series) -> list[Caution]:
    """Return a caution if gold names classes that no judge does; raise `DataError` if it names no other."""
    names = judged.labels.names
    unknown = (names.class_codes(gold.truth) < 0) & (codes_of(gold.truth, passing, names.folded) < 0)
    if not unknown.any():
        return []
    other = gold.truth.filter(pl.Series(unknown))
    words = listed(map(quoted, other.unique().sort()))
    if unknown.all():
        raise DataError(
            f"The gold says {words}, and the labels say {listed(map(quoted, names.classes))}: name the classes of the "
            "gold as the labels do."
        )
    are = several(len(other), "gold item is", "gold items are")
    said = f"{are} {words}, which no judge says, and count as not passing."
    return [Caution("gold", said, "Leave out those that nobody could decide, and spell the others as the labels do.")]


def _shares(judged: Judged, passing: pl.Series) -> Array:
    """(items), the share of the votes on each item that pass it."""
    names = judged.labels.names
    passes = codes_of(names.classes, passing, names.folded) >= 0
    return np.asarray(shares(judged.labels)[:, passes].sum(1).clip(0, 1))


def _truth(judged: Judged, gold: Gold, passing: pl.Series) -> Array:
    return (codes_of(gold.truth, passing, judged.labels.names.folded) >= 0).astype(np.float64)


def _rated(judged: Judged, share: Array, gold: Gold, passing: pl.Series, *, these_items: bool) -> RateResult:
    truth = _truth(judged, gold, passing)
    of_gold = judged.system[gold.item]
    samples, estimates = [], []
    for code in range(len(judged.systems)):
        its, known = judged.system == code, of_gold == code
        sample = Sample(float(share[its].mean()), int(its.sum()), truth[known], share[gold.item[known]])
        samples.append(sample)
        estimates.append(estimate(sample, these_items=these_items) if known.any() else None)
    differences = [
        (one, other, *found)
        for one, other in combinations(range(len(judged.systems)), 2)
        if (found := _difference(judged, share, gold, truth, (one, other), estimates, these_items=these_items))
    ]
    about = [*_about_words(judged, gold, passing), *_about_gold(judged, gold, samples)]
    cautions = in_order([*judged.labels.cautions, *gold.cautions, *about])
    return make_result(judged, samples, estimates, differences, cautions, gold.remarks, these_items=these_items)


def _difference(
    judged: Judged,
    share: Array,
    gold: Gold,
    truth: Array,
    systems: tuple[int, int],
    estimates: Sequence[Estimate | None],
    *,
    these_items: bool,
) -> tuple[Estimate, int, int, bool] | None:
    """Return the difference of two systems, the items and gold items that it is of, and whether these are the same."""
    one, other = (estimates[system] for system in systems)
    if one is None or other is None:
        return None
    tables = []
    for system in systems:
        its, known = np.flatnonzero(judged.system == system), judged.system[gold.item] == system
        of_gold = gold.item[known]
        every = pl.DataFrame({"prompt": judged.prompt.gather(its), "f": share[its]})
        some = pl.DataFrame({"prompt": judged.prompt.gather(of_gold), "f": share[of_gold], "y": truth[known]})
        tables.append((every, some))
    items, golds = ([table[part].height for table in tables] for part in (0, 1))
    both, known_both = (
        tables[0][part].join(tables[1][part], on="prompt", suffix="_other", maintain_order="left") for part in (0, 1)
    )
    if both.height < _SAME * min(items) or known_both.height < max(_SAME * min(golds), 2):
        return subtract(one, other), sum(items), sum(golds), False
    y, f = (known_both[name].to_numpy() - known_both[f"{name}_other"].to_numpy() for name in ("y", "f"))
    mean = float((both["f"] - both["f_other"]).to_numpy().mean())
    found = estimate(Sample(mean, both.height, y, f), these_items=these_items, difference=True)
    return found, both.height, known_both.height, True


def _about_gold(judged: Judged, gold: Gold, samples: Sequence[Sample]) -> list[Caution]:
    found = []
    table = pl.DataFrame({"item": judged.labels.names.items.gather(gold.item)}).with_columns(code=pl.lit(0))
    agreed = None if gold.marked else lower_agreement(judged.labels, table)
    if agreed is not None:
        said = (
            f"Gold items are more disputed than others (their most frequent answer has {agreed[0]:.0%} of the votes, "
            f"elsewhere {agreed[1]:.0%}), so they do not look drawn at random, and the rates are of items like these."
        )
        found.append(
            Caution("gold", said, "Draw gold at random: `crowdwise next labels.csv --ask expert --random 50`.")
        )
    few = [place for place, one in enumerate(samples) if len(one.truth) < _FEW_GOLD]
    if few:
        least = min(len(samples[place].truth) for place in few)
        if judged.column is None:
            there = "There is only 1 gold item" if least == 1 else f"There are only {least} gold items"
        else:
            has = "has" if len(few) == 1 else "have"
            there = f"{listed(judged.systems.gather(few))} {has} fewer than {_FEW_GOLD} gold items"
        said = f"{there}, so intervals are wide and rough."
        found.append(Caution("few items", said, "Draw more."))
    return found


def _by_error_rates(judged: Judged, calibrating: Judged, gold: Gold, passing: pl.Series) -> RateResult:
    truth = _truth(calibrating, gold, passing) > 0
    verdict = _shares(calibrating, passing)[gold.item] > 0.5
    of_good, of_bad = (
        Counts(float(verdict[truth].sum()), int(truth.sum())),
        Counts(float((~verdict[~truth]).sum()), int((~truth).sum())),
    )
    if not of_good.of or not of_bad.of:
        raise DataError("The gold has to have items that pass and items that do not: error rates are of both.")
    passed = _shares(judged, passing) > 0.5
    samples, estimates = [], []
    for code in range(len(judged.systems)):
        its = passed[judged.system == code]
        found = rogan_gladen(Counts(float(its.sum()), len(its)), of_good, of_bad)
        if found is None:
            raise DataError(
                f"On the gold, judges pass {of_good.yes:.0f} of {of_good.of} items that truly pass and "
                f"{of_bad.of - of_bad.yes:.0f} of {of_bad.of} that do not: their verdicts do not tell these apart."
            )
        samples.append(Sample(float(its.mean()), len(its), truth.astype(np.float64), verdict.astype(np.float64)))
        estimates.append(found)
    about = [*_about_words(calibrating, gold, passing), *_about_judges(judged, calibrating)]
    cautions = in_order([*judged.labels.cautions, *gold.cautions, *about])
    said = "Rates by error rates from elsewhere are right only if judges err here as they do there."
    return make_result(judged, samples, estimates, [], cautions, (*gold.remarks, said), these_items=False)
