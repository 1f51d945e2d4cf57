"""`next_labels`: which items to ask about next, the crowd or an expert, and why."""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from ...crowd.labels import Labels
from ...crowd.numbering import inverse
from ...crowd.reading_report import several
from ...errors import CallError, DataError, shown
from ...methods.adjudicator import Adjudicator
from ...numerics import Array
from ...reading.read_truth import CHOSEN, RANDOM
from ...results.result import Result
from ...results.tables import as_html
from ..decisions import Decisions, decide
from ..explanation import find_name
from ..pairing import same_labels
from .experts import rank_for_expert
from .needs import require_in_memory, require_whole
from .reasons import reasons
from .strategies import Offers, Request, check_strategy, choose, draw

# How many labels are asked for at most of one item at once: what is learned from the first may make others needless.
_MOST_OF_ONE: Final = 3
_LARGEST: Final = 10**9
# The strategies by which an expert can be asked.
_FOR_EXPERTS: Final = ("expected", "uncertain")


@dataclass(frozen=True, eq=False)
class Asking:
    """Which items to ask about next.

    Attributes:
        ask: Who is asked: "crowd" or "expert".
        budget: How many labels may be asked for.
        labels: How many are asked for; fewer than the budget if there are not enough items.
        frame: One row per item (of strategy "best_worker" one per label), the most wanted first; see `to_frame`.
    """

    ask: str
    budget: int
    labels: int
    frame: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """Return the rows, the most wanted first.

        The columns are item, ask (how many labels to ask for), worker (who should be asked, if that matters), label
        and confidence (the answer so far), votes (how many labels there are), value and reason (in words). The value is
        what the strategy goes by: for "expected", how many right answers a label is expected to add; for "uncertain"
        and for an expert, the probability that the answer is wrong; null if it goes by nothing of the kind. With costs
        it is what a label is expected to save, or what the decision is expected to cost.

        For an expert there are two more: truth, which is empty and is where the expert writes the decision, and source,
        which says whether the item was drawn at random or chosen. Filled in, the table can be given as gold.
        """
        return self.frame

    @property
    def summary(self) -> str:
        """What is asked for, in words."""
        items = several(self.frame["item"].n_unique(), "item", "items")
        if self.ask == "expert":
            drawn = self.frame.filter(pl.col("source") == RANDOM).height
            how = f" ({drawn:,} of them drawn at random)" if 0 < drawn < self.frame.height else ""
            said = f"Let an expert decide {items}{how if drawn < self.frame.height else ', drawn at random'}."
        else:
            said = f"Ask for {several(self.labels, 'label', 'labels')} on {items}."
        if self.labels < self.budget:
            said += f" That is less than the budget of {self.budget:,}: no more items can be asked about."
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {"ask": self.ask, "budget": self.budget, "labels": self.labels, "items": self.frame.to_dicts()}

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentence and the table."""
        return as_html([self.summary], {"The most wanted first": self.frame})

    def __str__(self) -> str:
        return self.summary


def next_labels(
    labels: Labels,
    *,
    budget: int | None = None,
    random: int = 0,
    result: Result | None = None,
    ask: Literal["crowd", "expert"] = "crowd",
    worker: Any = None,
    strategy: str = "expected",
    per_item_max: int | None = None,
    seed: int = 0,
    costs: Any = None,
) -> Asking:
    """Find the items that most need another label of the crowd, or the decision of an expert.

    Args:
        labels: The labels so far, in memory.
        budget: How many labels to ask for; None for as many as `random`.
        random: How many of the items that an expert decides are drawn at random; they come first. Only random items
            measure accuracy and calibrate confidence.
        result: The result of a method on these labels; that of `Adjudicator` if None. Items that it was given as gold
            are not asked about.
        ask: Who is asked. An expert is right, and what it decides can be given to `fit` as gold.
        worker: The name of the worker who is asked; None for workers like those of the crowd. Items that this worker
            has labelled are left out.
        strategy: "expected" asks where labels are expected to make most answers right; "uncertain" where confidence is
            least; "best_worker" is "uncertain", and each label is to be given by the best worker who has not labelled
            the item.
        per_item_max: How many labels to ask for at most of one item; 3 if None, and 1 of one worker or an expert.
        seed: The seed of what is drawn at random.
        costs: What each decision costs where each class is true, as in `decide`; None if every error costs the same.

    Raises:
        CallError: An argument is not allowed, or there is no such worker.
        DataError: The labels are not in memory, or no item is left to ask about.

    >>> import crowdwise as cw
    >>> labels = cw.simulate(50, 10, labels_per_item=8, accuracy=0.9, seed=1).labels
    >>> next_labels(labels, budget=3).to_frame().select("item", "ask", "reason").rows()
    [('i29', 2, "4 'c1' against 4 'c2'"), ('i31', 1, "4 'c1' against 4 'c2'")]
    """
    require_in_memory(labels, "next_labels")
    most = check_request(budget, random, ask, worker, strategy, per_item_max, seed)
    budget = random if budget is None else budget
    found = Adjudicator().fit(labels, warn=False) if result is None else result
    labels = same_labels(found, labels)
    code = None if worker is None else find_name(labels.names.workers, worker, "worker")
    decisions = None if costs is None else decide(found, costs)
    request = request_for(found, labels, decisions, budget, min(most, budget), code, seed)
    if not request.open.any():
        who = "gold" if worker is None else f"gold or labelled by {shown(worker)}"
        raise DataError(f"Every item is {who} already, so there is nothing to ask about.")
    if ask == "expert":
        return _for_expert(request, strategy, random)
    return Asking(ask, budget, *_described(request, choose(strategy, request), strategy, None))


def _for_expert(request: Request, strategy: str, random: int) -> Asking:
    """Return the items that an expert should decide: those drawn at random, and then those chosen by the strategy."""
    drawn = draw(request._replace(budget=random))
    left = request.open.copy()
    left[drawn.items] = False
    rest = request._replace(open=left, budget=request.budget - len(drawn.items))
    chosen, told = rank_for_expert(rest) if strategy == "expected" else (choose(strategy, rest), None)
    tables = []
    for offers, why, source in ((drawn, None, RANDOM), (chosen, told, CHOSEN)):
        _, frame = _described(request, offers, strategy, why)
        tables.append(frame.with_columns(pl.lit(None, pl.String).alias("truth"), pl.lit(source).alias("source")))
    frame = pl.concat(tables)
    others = [name for name in frame.columns if name not in ("item", "truth", "source")]
    return Asking("expert", request.budget, frame.height, frame.select("item", "truth", "source", *others))


def check_request(
    budget: object,
    random: object,
    ask: object,
    worker: object,
    strategy: object,
    per_item_max: object,
    seed: object,
) -> int:
    """Check the arguments of `next_labels`, and return how many labels to ask for at most of one item.

    Raises:
        CallError: An argument is not allowed.
    """
    if budget is None and not random:
        raise CallError("Say how many labels to ask for: budget (--budget), or random (--random) for an expert.")
    require_whole("random", random, 0, _LARGEST)
    require_whole("budget", random if budget is None else budget, 1, _LARGEST)
    require_whole("seed", seed, 0, 10**18)
    check_strategy(strategy)
    if ask not in ("crowd", "expert"):
        raise CallError(f"ask={shown(ask)} is neither 'crowd' nor 'expert'.")
    if random and ask != "expert":
        raise CallError("random (--random) is for items that an expert decides: say ask='expert' (--ask expert).")
    if budget is not None and int(random) > int(budget):  # type: ignore[call-overload]  # they are whole numbers
        raise CallError(f"random={random} is more than budget={budget}, which counts them too.")
    if ask == "expert" and worker is not None:
        raise CallError("An expert is no worker of the crowd: leave out worker, or ask the crowd.")
    if ask == "expert" and strategy not in _FOR_EXPERTS:
        raise CallError(f"strategy={shown(strategy)} is not for an expert: use one of {', '.join(_FOR_EXPERTS)}.")
    if worker is not None and strategy == "best_worker":
        raise CallError("strategy='best_worker' chooses the workers itself: leave out worker.")
    single = ask == "expert" or worker is not None
    if per_item_max is None:
        return 1 if single else _MOST_OF_ONE
    require_whole("per_item_max", per_item_max, 1, 100)
    most = int(per_item_max)  # type: ignore[call-overload]  # it is a whole number
    if single and most > 1:
        raise CallError(f"per_item_max={most} makes no sense for one who is asked only once about an item.")
    return int(most)


def request_for(
    result: Result,
    labels: Labels,
    decisions: Decisions | None = None,
    budget: int = 1,
    most: int = 1,
    worker: int | None = None,
    seed: int = 0,
) -> Request:
    """Arrange what strategies look at in the order of the numbers of the items."""
    loss = 1 - result.confidence if decisions is None else decisions.to_frame()["expected_cost"].to_numpy()
    order = inverse(labels.numbering.item_numbers)
    may_be = np.ones(labels.n_items, bool) if result.gold is None else result.gold < 0
    if worker is not None:
        may_be[labels.item_of[labels.workers == worker]] = False
    arranged = may_be[order], loss[order], result.votes[order]
    costs = None if decisions is None else decisions.costs.matrix
    return Request(result, labels, *arranged, budget, most, worker, seed, costs)


def _described(request: Request, offers: Offers, strategy: str, told: list[str] | None) -> tuple[int, pl.DataFrame]:
    """Return how many labels are asked for, and their table."""
    labels, result = request.labels, request.result
    codes = inverse(labels.numbering.item_numbers)[offers.items]
    table = pl.DataFrame({"code": codes, "value": pl.Series(offers.values, nan_to_null=True)})
    if strategy == "best_worker":
        table = table.with_columns(_best_workers(result, labels, codes), ask=1)
    else:
        table = table.group_by("code", maintain_order=True).agg(pl.col("value").first(), ask=pl.len().cast(pl.Int64))
        if not np.isfinite(offers.values).all():
            table = table.with_columns(value=pl.lit(None, pl.Float64))
    if request.worker is not None:
        table = table.with_columns(pl.Series("worker", labels.names.workers.gather([request.worker] * table.height)))
    code = table["code"]
    why = told if told is not None else reasons(result, labels, code.to_list())
    frame = table.with_columns(
        labels.names.items.gather(code).alias("item"),
        result.labels.gather(code),
        pl.Series("confidence", result.confidence[code.to_numpy()]),
        pl.Series("votes", result.votes[code.to_numpy()]),
        pl.Series("reason", why, dtype=pl.String),
    )
    columns = ["item", "ask", *(["worker"] if "worker" in frame.columns else [])]
    shown_columns = frame.select(*columns, "label", "confidence", "votes", "value", "reason")
    return int(table["ask"].sum()), shown_columns


def _best_workers(result: Result, labels: Labels, codes: Array) -> pl.Series:
    """Name the best worker for each label who has not labelled the item, nor is asked about it already.

    It is null if all workers have labelled the item.
    """
    quality = np.nan_to_num(result.quality.value, nan=-np.inf)
    order = np.lexsort((labels.numbering.worker_numbers, -np.round(quality, 12))).tolist()
    taken: dict[int, set[int]] = {}
    chosen = []
    for item in codes.tolist():
        if item not in taken:
            taken[item] = set(labels.workers[labels.item_starts[item] : labels.item_starts[item + 1]].tolist())
        best = next((worker for worker in order if worker not in taken[item]), None)
        if best is not None:
            taken[item].add(best)
        chosen.append(best)
    return labels.names.workers.gather(pl.Series(chosen, dtype=pl.Int64)).alias("worker")
