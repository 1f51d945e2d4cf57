"""`fit_with_gold`: fit a method where the classes of some items are known, and find out what these say about it.

Items of known class are clamped to it (see engines/base.py), so what workers said about them shows how good they are.
The method is measured, and confidence is fitted, by cross-validation in five folds: by the items that it was not told.

Gold may have a column `source`. Only items that were drawn at random measure the method and calibrate confidence.
Chosen items only show how good workers are. Without the column, all count as random.

Known classes also decide between solutions (solutions.py), and count once where they look chosen
(disputes.py), unless the user gave a weight.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import polars as pl

from ..caution import Caution
from ..crowd.ids import codes_of
from ..crowd.knowledge import NOTHING_KNOWN, PriorKnowledge
from ..crowd.labels import Labels
from ..crowd.numbering import hash_ranks, inverse
from ..crowd.protocol import Crowd
from ..crowd.reading_report import several
from ..crowd.votes import shares
from ..errors import DataError, quoted, shortened
from ..numerics import Array
from ..reading.read_truth import RANDOM, read_truths
from ..results.gold import GoldCheck, Share, clearly_better
from ..results.in_parts import Inferred
from ..results.quality import accuracies_by, quality_by
from ..results.recalibration import Recalibration
from ..results.result import Quality
from .disputes import lower_agreement
from .engines.base import count_labels
from .history import with_classes
from .iterations import Counter, Progress
from .solutions import Choice, Solutions

# How many items each item of known class counts as by default; docs/how-to/gold.md says how it was chosen.
GOLD_WEIGHT: Final = 5.0
# Items of known class are left out in so many groups, one group at a time.
_FOLDS: Final = 5


class _Gold:
    """A crowd with items of known class, and with what else is known; the method may have several solutions."""

    def __init__(self, labels: Crowd, gold: Any, known: PriorKnowledge, method: Any = None) -> None:
        given = read_truths(gold)
        read, self.cautions = given.table, given.cautions
        self._known = known
        table = read.filter(pl.Series(_count_rows(labels, read, _has_labels) > 0))
        if table.height == 0:
            raise DataError(
                f"The gold shares no item with the labels: it has {quoted(read['item'][0])}, for example, the "
                f"labels have {quoted(labels.first_item())}."
            )
        classes, truths = _all_classes(labels.names.classes, labels.names.spelled(table["truth"]))
        self.remarks = _remarks(labels.names.classes, classes, read, table)
        if len(classes) > labels.n_classes:
            known = self._known = with_classes(known, classes)
        self._crowd = labels if len(classes) == labels.n_classes else labels.with_classes(classes)
        codes = codes_of(truths, classes)
        random = pl.lit(True) if "source" not in table.columns else pl.col("source") == RANDOM
        self._table = table.select("item", random.alias("random")).with_columns(pl.Series("code", codes))
        self._may_count_once = known.gold_weight == GOLD_WEIGHT
        agreed = lower_agreement(self._crowd, self._table) if self._may_count_once else None
        if agreed is not None:
            self._known = replace(known, gold_weight=1.0)
        if agreed is not None and self._table["random"].all():
            self.remarks.append(
                f"Gold items are more disputed than others (their most frequent answer has {agreed[0]:.0%} of the "
                f"votes, elsewhere {agreed[1]:.0%}), so they do not look drawn at random: each counts as one item and "
                f"not as {GOLD_WEIGHT:g}, and how many are found says little about other items."
            )
        # Solutions are of these labels in these classes alone.
        plain = method is not None and known.earlier is None and self._crowd is labels
        self._solutions = Solutions(method, method.solutions(labels) if plain else [])

    @cached_property
    def _choice(self) -> Choice:
        """The solution that all known classes speak for."""
        return self._solutions.choose(self._crowd.with_known(self._table, self._known))

    @cached_property
    def all(self) -> Crowd:
        """The crowd with all known classes."""
        return self._begun(self._table, self._choice, self._known)

    def _begun(self, table: pl.DataFrame, choice: Choice, known: PriorKnowledge) -> Crowd:
        """The crowd with these known classes, and with the workers of the solution that they speak for."""
        if choice.best == 0:
            return self._crowd.with_known(table, known)
        # Gold that decides between solutions has done its work, and is mostly chosen for it.
        weight = 1.0 if self._may_count_once else known.gold_weight
        workers = self._solutions.workers[choice.best]
        return self._crowd.with_known(table, replace(known, initial_workers=workers, gold_weight=weight))

    def about_solutions(self) -> list[str]:
        """Return a sentence if the known classes speak for another solution than the method's own; else none."""
        best, right = self._choice
        items = several(self._table.height, "gold item", "gold items")
        sentence = (
            f"The labels have several explanations, and gold supports another one than the votes do: without gold it "
            f"has {int(right[best]):,} of {items} right, the usual one {int(right[0]):,}. It is used here."
        )
        return [sentence] if best else []

    def check(self, fit: Callable[[Crowd], Inferred]) -> GoldCheck | None:
        """Measure a method by known classes of random items, each of which it does not know; None if there are few."""
        random = self._table.filter("random")
        chosen = self._table.filter(~pl.col("random"))
        folds = min(_FOLDS, random.height)
        if folds < 2:
            return None
        fold = hash_ranks(random["item"]) % folds  # so it depends on names alone, and folds are alike in size
        found, truths, right = [], [], []
        codes = random["code"].to_numpy()
        majority = _count_rows(self._crowd, random, partial(_majority_wins, codes=codes))
        # Confidence is fitted to probabilities as they are, and to earlier gold at the same time.
        earlier, known = self._known.recalibration, replace(self._known, recalibration=None)
        for number in range(folds):
            others = pl.concat([random.filter(pl.Series(fold != number)), chosen])
            rest = self._begun(others, self._solutions.choose(self._crowd.with_known(others, known)), known)
            asked = random.filter(pl.Series(fold == number))
            result = fit(rest).about(asked["item"])
            items, classes = codes_of(asked["item"], result.names.items), asked["code"].to_numpy()
            found.append(result.probabilities[items])
            truths.append(classes)
            right.append(result.wins(items, classes))
        in_folds = np.argsort(fold, kind="stable")
        measured = random.select("item")[in_folds].with_columns(right=np.concatenate(right))
        return GoldCheck(
            items=random.height,
            accuracy=Share.of(np.concatenate(right)),
            majority=Share.of(majority),
            prefers_majority=clearly_better(majority[in_folds], np.concatenate(right)),
            recalibration=Recalibration.fit(np.concatenate(found), np.concatenate(truths), earlier),
            measured=measured,
        )


def _count_rows(crowd: Crowd, gold: pl.DataFrame, count: Callable[[Labels, Array], Array]) -> Array:
    """(gold items), what `count` finds for every row of gold, and 0 for those without labels.

    `count` takes the labels of some of these items, and the numbers of their rows. It returns a number for each.
    """
    rows = gold.select("item", pl.int_range(pl.len(), dtype=pl.Int64).alias("code"))
    found = partial(_count_part, len(rows), count)
    (values,) = count_labels(crowd.with_known(rows, NOTHING_KNOWN), found, "looking at gold")
    return np.asarray(values)


def _count_part(size: int, count: Callable[[Labels, Array], Array], labels: Labels) -> tuple[Array]:
    values = np.zeros(size)
    if labels.gold is not None:
        items = np.flatnonzero(labels.gold >= 0)
        values[labels.gold[items]] = count(replace(labels.select(items), gold=None), labels.gold[items])
    return (values,)


def _has_labels(labels: Labels, rows: Array) -> Array:
    return np.ones(len(rows))


def _majority_wins(labels: Labels, rows: Array, codes: Array) -> Array:
    """(items), whether most votes name the class; 1/m if m classes are tied and it is one of them."""
    share = shares(labels)
    winners = share == share.max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(winners[np.arange(len(rows)), codes[rows]] / winners.sum(axis=1))


def fit_with_gold(
    method: Any,
    fit: Callable[[Crowd, Progress | None], Inferred],
    labels: Crowd,
    gold: Any,
    known: PriorKnowledge,
    progress: Progress | None,
) -> tuple[Inferred, list[Caution]]:
    """Fit a method to labels, some of whose items have a known class, and return what to know about these, too.

    `gold` is a path, a table, or a mapping from item to class; `known` is what else is known beforehand. Raises
    `DataError` if the gold cannot be used.
    """
    counter = None if progress is None else Counter(progress)
    given = _Gold(labels, gold, known, method)
    remarks = [Caution("gold", shortened(sentence)) for sentence in [*given.remarks, *given.about_solutions()]]
    cautions = [*given.cautions, *remarks]
    result = fit(given.all, counter)
    check = given.check(lambda crowd: fit(crowd, counter))
    if check is None:
        return result, cautions
    crowd = given.all
    if isinstance(crowd, Labels) and result.method.measures_accuracy:
        return result.checked(check, partial(_quality, method.calibrated_as, crowd, check.items)), cautions
    return result.checked(check, None), cautions


def _quality(calibrated_as: str, labels: Labels, gold: int, probabilities: Array) -> Quality:
    """Return the quality of the workers by probabilities (items, classes); sums do not depend on the order of rows."""
    numbering = labels.numbering
    found = accuracies_by(labels.numbered, probabilities[inverse(numbering.item_numbers)])
    return quality_by(calibrated_as, found, found, labels.known.label_counts, gold).reordered(numbering.worker_numbers)


def check_gold(labels: Crowd, gold: Any) -> None:
    """Raise `DataError` if gold cannot be used with these labels."""
    _Gold(labels, gold, PriorKnowledge())


def _all_classes(named: pl.Series, given: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return all classes in the order of their values, and the known classes in a type that can be compared with them.

    Raises `DataError` if a class that no label names cannot be of the type of those that labels name.
    """
    if (codes_of(given, named) >= 0).all():
        return named, given
    try:
        truths = given.cast(named.dtype)
    except pl.exceptions.PolarsError as problem:
        new = given.filter(codes_of(given, named) < 0)
        raise DataError(
            f"The gold names {quoted(new[0])}, which no label names and which is no {named.dtype} as the labels are."
        ) from problem
    new = truths.filter(codes_of(truths, named) < 0).unique()
    return (pl.concat([named, new]).sort() if len(new) else named), truths


def _remarks(named: pl.Series, classes: pl.Series, read: pl.DataFrame, used: pl.DataFrame) -> list[str]:
    """Return sentences about gold that is used otherwise than its user may think."""
    remarks = []
    if read.height > used.height:
        first = read.join(used, on="item", how="anti")["item"][0]
        remarks.append(
            f"{read.height - used.height:,} of {read.height:,} gold items have no label; first: {quoted(first)}."
        )
    new = classes.filter(codes_of(classes, named) < 0)
    if len(new):
        listed = ", ".join(quoted(name) for name in new.head(5).to_list()) + (" ..." if len(new) > 5 else "")
        are = "it is a class" if len(new) == 1 else "they are classes"
        folded = {str(name).strip().lower() for name in named.to_list()}
        twin = next((name for name in new.to_list() if str(name).strip().lower() in folded), None)
        hint = (
            ""
            if twin is None
            else f" {quoted(twin)} differs from a label only in spaces or the case of its letters: "
            "strip=True (--strip) and fold_case=True (--fold-case) read both alike."
        )
        remarks.append(f"No label names {listed}; gold does, so {are}.{hint}")
    return remarks
