"""Degenerate and many-class crowds for every method: finite scores, the same bits in any order and on any threads."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

import crowdwise as cw
from crowdwise.testing import on_threads, require_same_bits, require_same_found, require_whole, table
from tests.support.cases import EVERY

from ..area import Area, Case
from ..rule import Failure, TooLongFailure, Verdict
from ..running import time_limit

Rows = list[tuple[str, str, str]]


def _sparse(case: Case, items: int, workers: int, classes: int) -> Rows:
    """Any pairs of items and workers, any classes."""
    pairs = [(i, j) for i in range(items) for j in range(workers)]
    chosen = case.random.sample(pairs, case.random.randint(1, min(len(pairs), 300)))
    return [(f"i{i}", f"w{j}", f"c{case.random.randrange(classes)}") for i, j in chosen]


def _apart(case: Case, items: int, workers: int, classes: int) -> Rows:
    """Two crowds that share nothing."""
    left, right = (_sparse(case, items, workers, classes) for _ in range(2))
    return left + [(f"j{i}", f"x{j}", f"d{k}") for i, j, k in right]


def _lonely(case: Case, items: int, workers: int, classes: int) -> Rows:
    """A worker for every label."""
    return [(f"i{n % items}", f"w{n}", f"c{case.random.randrange(classes)}") for n in range(items * min(workers, 5))]


def _of_one_mind(case: Case, items: int, workers: int, classes: int) -> Rows:
    """Everybody agrees."""
    return [(f"i{i}", f"w{j}", f"c{i % classes}") for i in range(items) for j in range(min(workers, 8))]


def _never_agreeing(case: Case, items: int, workers: int, classes: int) -> Rows:
    """Nobody agrees with anybody."""
    return [(f"i{i}", f"w{j}", f"c{(i + j) % classes}") for i in range(items) for j in range(min(workers, classes, 8))]


def _copies(case: Case, items: int, workers: int, classes: int) -> Rows:
    """Workers that all say the same, and one that never does."""
    said = [case.random.randrange(classes) for _ in range(items)]
    rows = [(f"i{i}", f"w{j}", f"c{k}") for i, k in enumerate(said) for j in range(min(workers, 8))]
    return rows + [(f"i{i}", "contrary", f"c{(k + 1) % classes}") for i, k in enumerate(said)]


def _every_class_once(case: Case, items: int, workers: int, classes: int) -> Rows:
    """As many classes as labels."""
    pairs = [(i, j) for i in range(items) for j in range(min(workers, 6))]
    return [(f"i{i}", f"w{j}", f"c{n % classes}") for n, (i, j) in enumerate(pairs)]


_SHAPES: Final[tuple[Callable[[Case, int, int, int], Rows], ...]] = (
    _sparse,
    _sparse,
    _sparse,
    _apart,
    _lonely,
    _of_one_mind,
    _never_agreeing,
    _copies,
    _every_class_once,
)


def attack(case: Case) -> Verdict:
    """Fit a method to a crowd, to the same rows shuffled, on other threads, and on disk."""
    random = case.random
    key = random.choice(list(EVERY))
    method = EVERY[key]
    items, workers = random.choice(((1, 1), (1, 20), (15, 1), (8, 6), (20, 8), (40, 15)))
    classes = min(random.choice((1, 2, 2, 3, 5, 17, 20)), method.limits().most_classes or 1000)
    rows = random.choice(_SHAPES)(case, items, workers, classes)
    rows = list({(i, j): (i, j, k) for i, j, k in rows}.values())
    if len({k for _, _, k in rows}) > (method.limits().most_classes or 1000):
        return "refused"  # the contract holds how that is said
    try:
        with time_limit(), np.errstate(all="raise", under="ignore"):
            return _check(case, method, rows)
    except TooLongFailure as failure:
        raise TooLongFailure(f"{key} on {len(rows)} labels over {classes} classes {failure}") from failure
    except AssertionError as failure:
        raise Failure(f"{key} on {len(rows)} labels over {classes} classes: {failure}") from failure
    except cw.DataError as refusal:
        raise Failure(f"{key} refused {len(rows)} labels over {classes} classes: {refusal}") from refusal


def _check(case: Case, method: Any, rows: Rows) -> Verdict:
    """Hold a method to what users rely on, on one crowd."""
    result = method.fit(cw.Labels.from_frame(table(rows)))
    require_whole(rows, result)
    shuffled = case.random.sample(rows, len(rows))
    require_same_bits(result, method.fit(cw.Labels.from_frame(table(shuffled))))
    with on_threads(3):
        require_same_bits(result, method.fit(cw.Labels.from_frame(table(rows))))
    if "disk" in method.limits().places and case.chance(0.3):
        path = case.here / "votes.parquet"
        table(rows).write_parquet(path)
        labels = cw.read_labels(path, engine="disk", memory="20KB", workdir=case.temporary)
        try:
            require_same_found(method.fit(labels), result)
        finally:
            labels.close()
    return "right"


AREA = Area("methods", "every method on odd crowds, shuffled, on threads, on disk", attack, tested=200, weight=50)
