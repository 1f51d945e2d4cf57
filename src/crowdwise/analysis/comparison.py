"""`compare`: runs several methods on the same labels and measures their accuracy and time."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

import polars as pl

from ..caution import Caution, in_order, listed, raise_once
from ..crowd.labels import Labels
from ..crowd.protocol import require_crowd
from ..crowd.reading_report import several
from ..errors import CallError, DataError, quoted
from ..fitting.gold import GOLD_WEIGHT, check_gold
from ..fitting.method import Method
from ..fitting.parameters import check_weight
from ..methods import METHODS, as_method
from ..numerics.twins import kernels_only
from ..progress import working
from ..reading.read_truth import read_truths
from ..results.ending import RAN_OUT
from ..results.intervals import wilson
from ..results.result import Result
from .calibration_measures import measures
from .evaluation import hits, match
from .ordinal import Ordinal
from .ordinal_errors import errors_of

# Every method first runs on this many items, so that the measured time does not include the compilation of its kernels.
_WARM_UP_ITEMS: Final = 50
# The columns that need a truth.
_AGAINST_TRUTH: Final = ("accuracy", "low", "high", "log_loss", "brier", "overconfidence")
# Those that need ordered classes too.
_OF_ORDERED: Final = ("mae", "quadratic_kappa")
# polars would leave out methods in the middle of a long table, and what was measured last.
_ALL_SHOWN: Final[dict[str, Any]] = {"tbl_rows": -1, "tbl_cols": -1, "tbl_width_chars": 160}


def warm_up(method: Method, labels: Labels) -> None:
    """Fit a method to a few items, with the kernels that all labels will need."""
    with nullcontext() if labels.is_small else kernels_only():
        method.fit(labels.slice(0, min(labels.n_items, _WARM_UP_ITEMS)), warn=False)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Sequence[dict[str, Any]]):
    """What several methods make of the same labels; a sequence of rows, one for each method.

    Attributes:
        rows: What was measured of each method; see `compare`.
        items: The items.
        answers: The labels that each method inferred, in the order of the items; not of methods that refused.
    """

    rows: list[dict[str, Any]]
    items: pl.Series
    answers: Mapping[str, pl.Series]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __repr__(self) -> str:
        with pl.Config(**_ALL_SHOWN):
            return str(self.to_frame())

    def _repr_html_(self) -> str:
        """What a notebook shows: the rows as a table."""
        with pl.Config(**_ALL_SHOWN):
            return self.to_frame()._repr_html_()

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a table."""
        return pl.DataFrame(self.rows, infer_schema_length=None)

    def disagreements(self) -> pl.DataFrame:
        """Return how many answers each pair of methods disagrees on, the most first: method, other, items and share."""
        rows = [
            (one, other, int((self.answers[one] != self.answers[other]).sum()))
            for one, other in combinations(self.answers, 2)
        ]
        table = pl.DataFrame(rows, schema={"method": pl.String, "other": pl.String, "items": pl.Int64}, orient="row")
        share = pl.col("items") / max(len(self.items), 1)
        return table.with_columns(share=share).sort("items", descending=True, maintain_order=True)

    def sentences(self) -> list[str]:
        """Return which method is best, as far as that is known, or how far the methods agree."""
        ran = [row for row in self.rows if row["seconds"] is not None]
        if not ran:
            return ["No method takes these labels."]
        count = several(len(self.items), "item", "items")
        measured = [row for row in ran if row.get("accuracy") is not None]
        if measured:
            return [_most_accurate(measured)]
        if len(ran) == 1:
            return [f"{quoted(ran[0]['method'])} inferred the labels of {count}."]
        unknown = "Which method is right is unknown without known truths: --truth FILE measures accuracy."
        by_gold = [row for row in ran if row.get("gold_accuracy") is not None]
        if by_gold:
            best = max(by_gold, key=lambda row: row["gold_accuracy"])
            unknown = (
                f"On gold items that it was not given, {quoted(best['method'])} is right most often: "
                f"{best['gold_accuracy']:.1%}."
            )
        differing = self.disputed().height
        if not differing:
            return [f"{len(ran):,} methods give the same answers to all {count}.", unknown]
        return [
            f"{len(ran):,} methods agree on {len(self.items) - differing:,} of {count}; on {differing:,} "
            f"({differing / len(self.items):.1%}) they do not all say the same.",
            unknown,
        ]

    def disputed(self) -> pl.DataFrame:
        """Return the items on which methods disagree, those with the most different answers first.

        The columns are item, answers (how many different ones there are) and one for each method.
        """
        table = pl.DataFrame([self.items.alias("item"), *(label.alias(key) for key, label in self.answers.items())])
        keys = list(self.answers)
        different = pl.concat_list([pl.col(key).cast(pl.String) for key in keys]).list.n_unique() if keys else pl.lit(0)
        found = table.with_columns(answers=different).filter(pl.col("answers") > 1)
        return found.sort("answers", descending=True, maintain_order=True).select("item", "answers", *keys)


def _most_accurate(rows: list[dict[str, Any]]) -> str:
    """Say which method is the most accurate, and which others may be as good."""
    best = max(rows, key=lambda row: row["accuracy"])
    near = [row["method"] for row in rows if row is not best and row["accuracy"] >= best["low"]]
    others = "" if len(rows) == 1 else " No other method is within this interval."
    if near:
        others = f" Within this interval {'is' if len(near) == 1 else 'are'} {listed(map(quoted, near))} too."
    most = f"most accurate of {len(rows):,} methods" if len(rows) > 1 else "only method"
    return (
        f"The {most} is {quoted(best['method'])}: {best['accuracy']:.1%} of the items with a known truth are right "
        f"(95 % interval {best['low']:.1%} to {best['high']:.1%}).{others}"
    )


def compare(
    labels: Labels,
    methods: Mapping[str, Method] | Sequence[str | Method] | None = None,
    truth: Any = None,
    begin: Callable[[str], None] = lambda _: None,
    *,
    gold: Any = None,
    gold_weight: float = GOLD_WEIGHT,
    asked: Ordinal | None = None,
) -> Comparison:
    """Run every method on the labels and measure it.

    Args:
        labels: The labels.
        methods: The methods, each with a key that names it; or a list of methods, or of keys of methods with their
            defaults; None for all.
        truth: The true labels, if some are known: a path, a table, or a mapping from item to class.
        begin: A function that is called with the key of each method before it runs.
        gold: The true labels of some items, which the methods are given; items in both are not compared with the truth.
        gold_weight: How many items each of these counts as.
        asked: How classes are ordered; None if they are not.

    Returns:
        A `Comparison`: one row per method, and which answers differ. The columns are method (its key), accuracy,
        low, high (the ends of a 95 % interval of the accuracy), log_loss, brier, overconfidence (of the calibrated
        probabilities), mae and quadratic_kappa (for ordered classes, of the labels of least expected distance; see
        `Errors`), seconds (without compilation), iterations, ties and ending. Without a truth, the rows begin with
        seconds. With gold there also is gold_accuracy: how often the method is right on gold items that it does not
        know (see `GoldCheck`). If a method refuses the labels, its values are None, and ending is the reason.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(50, 10, seed=1)
    >>> [row["method"] for row in compare(crowd.labels, {"mv": cw.MajorityVote()}, crowd.truth)]
    ['mv']
    """
    require_crowd(labels, "compare")
    chosen = _chosen(methods)
    check_weight(gold_weight)
    known = None if gold is None else read_truths(gold)
    if known is not None:
        check_gold(labels, known)
    rows, answers = [], {}
    about_gold: list[Caution] = []
    with working("comparing methods") as told:
        for done, (key, method) in enumerate(chosen.items()):
            begin(key)
            told(done / len(chosen))
            row, result = _measure(labels, method, truth, known, gold_weight, asked)
            rows.append({"method": key, **row})
            if result is not None:
                answers[key] = result.labels
                about_gold += [caution for caution in result.cautions if caution.kind == "gold"]
    raise_once(in_order(about_gold))
    return Comparison(rows, labels.names.items, answers)


def _chosen(methods: Mapping[str, Method] | Sequence[str | Method] | None) -> Mapping[str, Method]:
    """Return the methods by their keys."""
    if isinstance(methods, str | Method):
        methods = [methods]
    if isinstance(methods, Mapping):
        return {key: as_method(method, f"The method {key!r}") for key, method in methods.items()}
    every = [as_method(one, "One of the methods") for one in (METHODS if methods is None else methods)]
    chosen = {one.key or type(one).__name__: one for one in every}
    if len(chosen) < len(every):
        raise CallError('A method is there twice: give every one a name, as in {"one": cw.BWA(), "other": ...}.')
    return chosen


def _measure(
    labels: Labels, method: Method, truth: Any, gold: Any, gold_weight: float, asked: Ordinal | None
) -> tuple[dict[str, Any], Result | None]:
    """Return the row of a method, and its result; None if it refuses the labels."""
    against_truth = _AGAINST_TRUTH if asked is None else (*_AGAINST_TRUTH, *_OF_ORDERED)
    row: dict[str, Any] = dict.fromkeys(against_truth) if truth is not None else {}
    row |= {} if gold is None else {"gold_accuracy": None}
    row |= {"seconds": None, "iterations": None, "ties": None, "ending": None}
    with suppress(CallError, DataError):  # a few items can be too few for a method that takes all of them
        warm_up(method, labels)
    try:
        started = time.perf_counter()
        result = method.fit(labels, gold=gold, gold_weight=gold_weight, warn=False)
        row["seconds"] = time.perf_counter() - started
    except (CallError, DataError) as refusal:
        row["ending"] = str(refusal)
        return row, None
    if result.gold_check is not None:
        row["gold_accuracy"] = result.gold_check.accuracy.value
    if truth is not None:
        known = match(result, truth)
        right = hits(result, known)
        row["accuracy"], row["low"], row["high"] = map(float, wilson(right.sum(), len(right)))
        row |= asdict(measures(result, known))
        if asked is not None:
            decided = errors_of(result, truth, asked).decided
            row |= {name: getattr(decided, name) for name in _OF_ORDERED}
    row["iterations"] = result.convergence.iterations
    row["ties"] = int(result.ties.sum())
    row["ending"] = "converged" if result.convergence.converged else RAN_OUT
    return row, result
