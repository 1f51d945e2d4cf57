"""`check_method`: checks that a method does what users rely on; for everybody who writes a method.

    from crowdwise.testing import check_method

    check_method(MyMethod())

No test framework is needed. If a check fails, it raises an `AssertionError` that says what is wrong, for the first case
that was found.
"""

import pickle
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import numpy as np
import polars as pl

from .analysis import accuracy
from .crowd.labels import Labels, Numbers
from .crowd.protocol import Crowd
from .crowd.simulation import simulate, simulate_numbers
from .errors import CallError, DataError
from .fitting.method import Method, Reference
from .fitting.parameters import parameters_of
from .numerics import Array
from .reading.read_labels import read_labels, read_numbers
from .results.in_parts import Inferred
from .results.result import Result

# Rows of labels: each is an item, a worker, and the class that the worker said.
Rows: TypeAlias = Sequence[tuple[str, str, str]]

# How many random crowds a check tries. A crowd is a set of labels by several workers.
_CROWDS: Final = 15


def check_method(method: Any) -> None:
    """Run every check in `CHECKS` on a method; on a method for numbers, every check in `NUMERIC_CHECKS`.

    Args:
        method: An instance of a method, with the parameters that it is to be checked with.

    Raises:
        AssertionError: The method fails a check; the message says which one and why.

    >>> import crowdwise as cw
    >>> check_method(cw.MajorityVote())
    """
    for name, check in (NUMERIC_CHECKS if getattr(method, "numeric", False) else CHECKS).items():
        try:
            check(method)
        except Exception as problem:  # a broken method may raise anything
            said = str(problem) if isinstance(problem, AssertionError) else f"{type(problem).__name__}: {problem}"
            raise AssertionError(f"{method!r} breaks the contract, {name.replace('_', ' ')}: {said}") from problem


def is_a_value(method: Any) -> None:
    """A method is a frozen dataclass with key, summary and paper; it can be hashed, pickled, and made from its repr."""
    _require(not isinstance(method, type), "it is a class; pass an instance, such as MyMethod()")
    _require(isinstance(method, Method), "it does not derive from crowdwise.fitting.method.Method")
    frozen = getattr(type(method), "__dataclass_params__", None)
    _require(frozen is not None and frozen.frozen, "it can be changed: make it a frozen dataclass")
    _require(isinstance(method.key, str) and method.key != "", "its class has no key")
    _require(isinstance(method.summary, str) and method.summary != "", "its class has no summary")
    _require(isinstance(method.paper, Reference), "its class names no paper")
    _require(pickle.loads(pickle.dumps(method)) == method, "a pickled copy differs")
    _require(hash(method) == hash(replace(method)), "equal methods have different hashes")
    _require(eval(repr(method), {type(method).__name__: type(method)}) == method, "its repr makes another method")


def refuses_parameters_that_make_no_sense(method: Any) -> None:
    """A parameter of the wrong type, or outside its bounds, is refused with a message that names it."""
    kind: Any = type(method)
    for name, declared in parameters_of(kind).items():
        _require(declared.meaning != "", f"{name} does not say what it means: declare it by `parameter`")
        for value in (object(), float("nan"), float("inf"), -(10.0**9), "no such choice"):
            if declared.accepts(value):
                continue
            try:
                replace(method, **{name: value})
            except CallError as refusal:
                _require(name in str(refusal), f"the refusal of {name}={value!r} does not name it: {refusal}")
                continue
            raise AssertionError(f"{name}={value!r} is accepted")


def ignores_the_order_of_rows(method: Any) -> None:
    """The same rows in another order give the same tables and learned parameters, to the last bit."""
    for number, rows in enumerate(_crowds(method)):
        shuffled = random.Random(number).sample(rows, len(rows))
        require_same_bits(fit(method, rows), fit(method, shuffled))


def ignores_names(method: Any) -> None:
    """If items, workers and classes get other names, which sort in another order, their scores stay the same.

    Methods that start at random are not checked: what they draw depends on the order of the names.
    """
    if method.starts_at_random:
        return
    for rows in _crowds(method):
        renamed = fit(method, [(turned(i), turned(j), turned(k)) for i, j, k in rows])
        require_same(fit(method, rows), turned_back(renamed))


def gives_finite_scores_and_whole_tables(method: Any) -> None:
    """Scores are finite and in the range of their scale; tables have all items and workers, in order of appearance."""
    for rows in _crowds(method):
        require_whole(rows, fit(method, rows))


def believes_a_unanimous_crowd(method: Any) -> None:
    """Where all workers say the same class, that is the answer."""
    classes = min(3, _most_classes(method))
    result = fit(method, [(f"i{i}", f"w{j}", f"c{i % classes}") for i in range(9) for j in range(4)])
    _require(result.labels.to_list() == [f"c{i % classes}" for i in range(9)], "an answer is not what all said")
    _require(not result.ties.any(), "there are ties where all agree")


def sees_through_a_contrary_worker(method: Any) -> None:
    """If nine workers always agree and the tenth always says the opposite, the tenth has the lowest quality."""
    rows = [(f"i{i}", f"w{j}", "black" if (i % 2 == 0) == (j < 9) else "white") for i in range(12) for j in range(10)]
    result = fit(method, rows)
    _require(result.labels.to_list() == ["black", "white"] * 6, "an answer is not what nine of ten said")
    quality = dict(zip(result.names.workers, result.quality.value, strict=True))
    _require(min(quality, key=lambda worker: quality[worker]) == "w9", "the contrary worker is not the worst")


def manages_small_and_odd_crowds(method: Any) -> None:
    """With a single label, worker, item or class, and with many classes, the answers are those of majority vote."""
    crowds: Mapping[str, Rows] = {
        "one label": [("i0", "w0", "c0")],
        "one worker": [(f"i{i}", "w0", f"c{i % 2}") for i in range(5)],
        "one item": [("i0", f"w{j}", "c0" if j else "c1") for j in range(5)],
        "one class": [(f"i{i}", f"w{j}", "c0") for i in range(3) for j in range(3)],
        "a worker with a single label": [(f"i{i}", f"w{j}", "c0") for i in range(4) for j in range(3)]
        + [("i0", "w9", "c1")],
        "fifty classes": [(f"i{i}", f"w{j}", f"c{i}") for i in range(50) for j in range(3)],
    }
    for name, rows in crowds.items():
        labels = Labels.from_frame(table(rows))
        if labels.n_classes > _most_classes(method):
            _require_refused(method, labels, f"classes, and here are {labels.n_classes}")
            continue
        result = method.fit(labels)
        _require(bool(np.isfinite(result.scores).all()), f"a score is not finite with {name}")
        counts = table(rows).group_by("item", "label").len().sort("item", "len", descending=True)
        majority = dict(counts.group_by("item").first().select("item", "label").iter_rows())
        answers = dict(zip(result.names.items, result.labels, strict=True))
        _require(answers == majority, f"with {name}, the answer is not that of majority vote")


def manages_a_class_that_nobody_named(method: Any) -> None:
    """A class that nobody named does not win, and an item whose true class nobody named counts as answered wrongly."""
    rows = [("i0", "w0", "c0"), ("i0", "w1", "c0"), ("i1", "w0", "c1"), ("i1", "w1", "c0")]
    part = Labels.from_frame(table(rows)).slice(0, 1)
    result = method.fit(part)
    _require(result.labels.to_list() == ["c0"], "a class that nobody named in a slice wins there")
    _require(result.scores.shape == (1, part.n_classes), "a class that nobody named in a slice has no score")
    known = {"i0": "c0", "i1": "never said"}
    right = accuracy(fit(method, [("i0", "w0", "c0"), ("i1", "w0", "c1")]), known)
    _require(right == 0.5, "a true class that nobody named does not count as wrong")


def takes_or_refuses_votes_for_several_classes(method: Any) -> None:
    """A vote that names several classes counts as one vote, or is refused with a message that says what to do."""
    rows = [("i0", "w0", "c0"), ("i0", "w0", "c1"), ("i0", "w1", "c0")]
    labels = Labels.from_frame(table(rows), duplicates="set")
    if not method.limits().takes_sets:
        _require_refused(method, labels, 'duplicates="first", "last", "all" or "drop"')
        return
    result = method.fit(labels)
    _require(result.votes.tolist() == [2], "a vote for two classes does not count as one vote")
    _require(result.labels.to_list() == ["c0"], "the class that all votes name does not win")


def on_threads(count: int) -> AbstractContextManager[Any]:
    """Let methods use so many threads for a while.

    CROWDWISE_THREADS is not changed for that: threads of polars look at environment variables at any time, and a
    program can crash where these change meanwhile.
    """
    return patch("crowdwise.parallel._asked_for", return_value=str(count))


def gives_the_same_bits_on_any_number_of_threads(method: Any) -> None:
    """Scores, quality and objective are the same to the last bit, however many threads there are."""
    labels = simulate(5000, 40, min(3, _most_classes(method)), seed=3).labels
    results = []
    with patch("crowdwise.parallel._SLICE", 1000):
        for threads in (1, 2, 7):
            with on_threads(threads):
                result = method.fit(labels)
                results.append((result.scores, result.quality.value, result.convergence.objective))
    for scores, quality, objective in results[1:]:
        _require(np.array_equal(scores, results[0][0]), "scores depend on the number of threads")
        _require(np.array_equal(quality, results[0][1]), "quality depends on the number of threads")
        _require(objective == results[0][2], "the objective depends on the number of threads")


def gives_the_same_answers_in_any_slices(method: Any) -> None:
    """The slices that the items are cut into change a score by no more than rounding."""
    labels = simulate(3000, 40, min(5, _most_classes(method)), seed=4).labels
    whole = method.fit(labels)
    with patch("crowdwise.parallel._SLICE", 100):
        _require_close(method.fit(labels).scores, whole.scores, 1e-9, "a score depends on the slices")


def gives_the_same_answers_on_disk(method: Any) -> None:
    """A method that can run on disk gives the same results there as in memory."""
    if "disk" not in method.limits().places:
        return
    rows = simulate(400, 20, min(3, _most_classes(method)), seed=2).rows.sample(fraction=1, shuffle=True, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        rows.write_parquet(path)
        labels: Crowd = read_labels(path, engine="disk", memory="60KB", workdir=folder)
        try:
            require_same_found(method.fit(labels), method.fit(Labels.from_frame(rows)))
        finally:
            labels.close()


def reports_every_iteration(method: Any) -> None:
    """`progress` is called once after every iteration, with the number of the iteration."""
    seen: list[int] = []
    result = method.fit(simulate(100, 10, seed=1).labels, progress=lambda number, _: seen.append(number))
    expected = list(range(1, result.convergence.iterations + 1))
    _require(seen == expected, f"progress was called with {seen} in {len(expected)} iterations")


def explains_its_scores_exactly(method: Any) -> None:
    """If a method says what each vote adds to the scores, the sums are the scores."""
    if method.limits().unexplained:
        return
    labels = simulate(60, 8, min(3, _most_classes(method)), seed=5).labels
    result = method.fit(labels)
    for i in range(labels.n_items):
        one = labels.slice(i, i + 1)
        added = method.contributions(one, i, result.workers)
        scores = added.scores(one.labels.astype(np.int64))
        _require_close(scores, result.scores[i], 1e-6, f"contributions do not add up on item {i}")


def gives_results_that_can_be_pickled(method: Any) -> None:
    """A result can be pickled, as it is when it is sent to another process, and the copy has the same table."""
    result = fit(method, [("i0", "w0", "c0"), ("i0", "w1", "c1"), ("i1", "w0", "c1")])
    copy = pickle.loads(pickle.dumps(result))
    _require(copy.to_frame().equals(result.to_frame()), "a pickled copy of a result has another table")


# All checks, by name.
CHECKS: Final[Mapping[str, Callable[[Any], None]]] = {
    check.__name__: check
    for check in (
        is_a_value,
        refuses_parameters_that_make_no_sense,
        ignores_the_order_of_rows,
        ignores_names,
        gives_finite_scores_and_whole_tables,
        believes_a_unanimous_crowd,
        sees_through_a_contrary_worker,
        manages_small_and_odd_crowds,
        manages_a_class_that_nobody_named,
        takes_or_refuses_votes_for_several_classes,
        gives_the_same_bits_on_any_number_of_threads,
        gives_the_same_answers_in_any_slices,
        gives_the_same_answers_on_disk,
        reports_every_iteration,
        explains_its_scores_exactly,
        gives_results_that_can_be_pickled,
    )
}


def ignores_the_order_of_numbers(method: Any) -> None:
    """The same rows of numbers in another order give the same tables, to the last bit."""
    for number, rows in enumerate(_numeric_crowds()):
        shuffled = rows.sample(fraction=1, shuffle=True, seed=number)
        require_same_numbers(method.fit(Numbers.from_frame(rows)), method.fit(Numbers.from_frame(shuffled)), 0.0)


def follows_units(method: Any) -> None:
    """Numbers in another unit give values, intervals and workers in that unit.

    The unit is a quarter, by which computers divide without rounding: medians may jump where rounding decides.
    """
    for rows in _numeric_crowds():
        moved = method.fit(Numbers.from_frame(rows.with_columns(label=0.25 * pl.col("label"))))
        expected = method.fit(Numbers.from_frame(rows))
        for one, other, what in (
            (4 * moved.values, expected.values, "values do not follow the unit"),
            (16 * moved.variance, expected.variance, "intervals do not follow the unit"),
            (4 * moved.errors.bias, expected.errors.bias, "biases do not follow the unit"),
            (4 * moved.errors.spread, expected.errors.spread, "spreads do not follow the unit"),
            (moved.errors.quality, expected.errors.quality, "quality depends on the unit"),
        ):
            _require_close(one, other, 1e-6, what)


def gives_finite_values_and_whole_tables(method: Any) -> None:
    """Values are finite and inside their intervals; tables have all items and workers, in order of appearance."""
    for rows in _numeric_crowds():
        result = method.fit(Numbers.from_frame(rows))
        items, workers = result.to_frame(), result.workers_frame()
        _require(items.columns == ["item", "value", "low", "high", "votes"], f"the columns are {items.columns}")
        _require(items["item"].equals(rows["item"].unique(maintain_order=True)), "items are not all there, in order")
        _require(workers["worker"].equals(rows["worker"].unique(maintain_order=True)), "workers are not all there")
        _require(items["votes"].sum() == workers["labels"].sum() == rows.height, "labels are not all counted")
        _require(bool(items["value"].is_finite().all()), "a value is not finite")
        if rows.height == items.height:
            _require(items["low"].null_count() == items.height, "there is an interval, but no item has two labels")
            continue
        for table, name, low, high in (
            (items, "value", "low", "high"),
            *((workers, name, f"{name}_low", f"{name}_high") for name in ("bias", "spread", "quality")),
        ):
            inside = (table[low] <= table[name]) & (table[name] <= table[high])
            _require(inside.null_count() == 0 and bool(inside.all()), f"a {name} is outside its own interval")
        _require(bool(workers["quality"].is_between(0, 1).all()), "a quality is not between 0 and 1")


def believes_numbers_that_all_say(method: Any) -> None:
    """Where all workers say the same number, that is the value, and all workers are of the best quality."""
    result = method.fit(Numbers.from_arrays(*zip(*((i, j, i * 1.5) for i in range(9) for j in range(4)), strict=True)))
    _require_close(result.values, np.arange(9) * 1.5, 1e-6, "a value is not what all said")
    _require(bool((result.errors.quality > 1 - 1e-6).all()), "a worker who agrees with all is not of the best quality")


def sees_who_is_off(method: Any) -> None:
    """A worker who answers too high has the largest bias, and one who guesses has the lowest quality."""
    crowd = simulate_numbers(300, 10, bias=0.0, likeness=1e6, workload=0.0, seed=1).rows
    noise = pl.Series(np.random.default_rng(1).normal(0.0, 30.0, crowd.height))
    high, guesses = pl.col("worker") == "w01", pl.col("worker") == "w02"
    said = pl.col("label") + pl.when(high).then(6.0).otherwise(0.0) + pl.when(guesses).then(noise).otherwise(0.0)
    workers = method.fit(Numbers.from_frame(crowd.with_columns(label=said))).workers_frame()
    biased = workers.filter(pl.col("worker") != "w02").sort("bias")["worker"][-1]
    _require(biased == "w01", f"{biased} has the largest bias, and not the worker who answers too high")
    _require(workers.sort("quality")["worker"][0] == "w02", "the worker who guesses is not of the lowest quality")


def takes_numbers_only(method: Any) -> None:
    """Classes and gold are refused in a sentence."""
    numbers = Numbers.from_arrays([1, 1], ["a", "b"], [1.0, 2.0])
    for labels, more, words in (
        (Labels.from_arrays([1], ["a"], [1]), {}, "takes numbers"),
        (numbers, {"gold": {1: 1.0}}, "gold is for classes"),
        (numbers, {"history": "state"}, "history is for classes"),
    ):
        try:
            method.fit(labels, **more)
        except CallError as refusal:
            _require(words in str(refusal), f"a refusal does not say {words!r}: {refusal}")
            continue
        raise AssertionError(f"accepted, and should be refused with the words {words!r}")


def gives_the_same_numbers_on_any_number_of_threads(method: Any) -> None:
    """Values and workers are the same to the last bit, however many threads there are."""
    numbers = simulate_numbers(5000, 40, seed=3).numbers
    results = []
    with patch("crowdwise.parallel._SLICE", 1000):
        for threads in (1, 2, 7):
            with on_threads(threads):
                results.append(method.fit(numbers))
    for result in results[1:]:
        require_same_numbers(result, results[0], 0.0)


def gives_the_same_numbers_on_disk(method: Any) -> None:
    """A method that can run on disk gives the same values and workers there as in memory."""
    if "disk" not in method.limits().places:
        return
    rows = simulate_numbers(400, 20, wild=0.02, seed=2).rows.sample(fraction=1, shuffle=True, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.parquet"
        rows.write_parquet(path)
        numbers: Crowd = read_numbers(path, engine="disk", memory="60KB", workdir=folder)
        try:
            require_same_numbers(method.fit(numbers), method.fit(Numbers.from_frame(rows)), 1e-9)
        finally:
            numbers.close()


def reports_every_iteration_on_numbers(method: Any) -> None:
    """`progress` is called once after every iteration, and results can be pickled."""
    seen: list[int] = []
    result = method.fit(simulate_numbers(100, 10, seed=1).numbers, progress=lambda number, _: seen.append(number))
    _require(seen == list(range(1, result.convergence.iterations + 1)), f"progress was called with {seen}")
    copy = pickle.loads(pickle.dumps(result))
    _require(copy.to_frame().equals(result.to_frame()), "a pickled copy of a result has another table")


# All checks of methods for numbers, by name.
NUMERIC_CHECKS: Final[Mapping[str, Callable[[Any], None]]] = {
    check.__name__: check
    for check in (
        is_a_value,
        refuses_parameters_that_make_no_sense,
        ignores_the_order_of_numbers,
        follows_units,
        gives_finite_values_and_whole_tables,
        believes_numbers_that_all_say,
        sees_who_is_off,
        takes_numbers_only,
        gives_the_same_numbers_on_any_number_of_threads,
        gives_the_same_numbers_on_disk,
        reports_every_iteration_on_numbers,
    )
}


def require_same_numbers(one: Any, other: Any, tolerance: float) -> None:
    """Refuse two results of numeric methods on the same labels if they differ by more than the tolerance."""
    for first, second, name in (
        (one.to_frame(), other.to_frame(), "item"),
        (one.workers_frame(), other.workers_frame(), "worker"),
    ):
        first, second = first.sort(name), second.sort(name)
        _require(first.schema == second.schema, f"the columns are {first.schema} and {second.schema}")
        if tolerance == 0:
            _require(first.equals(second), f"numbers differ:\n{first}\n{second}")
            continue
        _require(first[name].equals(second[name]), f"the {name}s differ")
        numbers = [column for column in first.columns if column != name]
        # Differences of nearly equal numbers, such as small biases, keep few digits: the others say what is small.
        close = np.allclose(first.select(numbers), second.select(numbers), tolerance, tolerance, equal_nan=True)
        _require(close, f"numbers differ:\n{first}\n{second}")
    _require(one.convergence.iterations == other.convergence.iterations, "the number of iterations differs")


def _numeric_crowds() -> list[pl.DataFrame]:
    """Small and odd crowds of numbers, and one that is not small."""
    drawn = random.Random(7)
    crowds = [
        [(0, 0, 2.5)],
        [(i, 0, float(i)) for i in range(5)],
        [(0, j, float(j * j)) for j in range(5)],
        [(0, j, 3.0) for j in range(4)],
        [(i, j, 3.0) for i in range(3) for j in range(3)],
        [(i, j, i + 0.1 * j) for i in range(4) for j in range(3)] + [(0, 9, 1e6)],
        [(i, j, float(100 * j)) for i in range(3) for j in range(2)],
    ]
    for _ in range(_CROWDS):
        pairs = [(i, j) for i in range(drawn.randint(1, 8)) for j in range(drawn.randint(1, 6))]
        chosen = drawn.sample(pairs, drawn.randint(1, len(pairs)))
        crowds.append([(i, j, round(drawn.gauss(10.0 * i, 3.0), 1)) for i, j in chosen])
    named = [[(f"i{i}", f"w{j}", value) for i, j, value in crowd] for crowd in crowds]
    tables = [pl.DataFrame(crowd, ["item", "worker", "label"], orient="row") for crowd in named]
    return [*tables, simulate_numbers(200, 15, wild=0.03, seed=8).rows]


def table(rows: Rows) -> pl.DataFrame:
    """The rows as a table with the columns item, worker and label."""
    return pl.DataFrame(list(rows), schema=["item", "worker", "label"], orient="row")


def fit(method: Any, rows: Rows) -> Result:
    """The result of a method on these rows."""
    result: Result = method.fit(Labels.from_frame(table(rows)))
    return result


def require_whole(rows: Rows, result: Result) -> None:
    """Refuse a result with scores outside the range of their scale, or with tables in which something is missing."""
    _require(bool(np.isfinite(result.scores).all()), f"a score is not finite for {list(rows)}")
    if result.scale != "margin":
        within = (result.scores >= 0).all() and (result.scores <= 1 + 1e-12).all()
        _require(bool(within), f"a score is not between 0 and 1 for {list(rows)}")
    if result.scale == "probability":
        _require_close(result.scores.sum(axis=1), np.ones(len(result.votes)), 1e-9, "probabilities do not add up to 1")
    _require_calibrated(result)
    items = result.to_frame(scores=True)
    _require(items["item"].to_list() == list(dict.fromkeys(i for i, _, _ in rows)), "items are not all there, in order")
    _require(items["votes"].sum() == len(rows), "votes are not all counted")
    workers = result.workers_frame()
    _require(workers["worker"].to_list() == list(dict.fromkeys(j for _, j, _ in rows)), "workers are not all there")
    _require(bool(np.isfinite(workers["quality"].to_numpy()).all()), "a quality is not finite")
    if result.quality.low is not None and result.quality.high is not None:
        inside = (result.quality.low <= result.quality.value) & (result.quality.value <= result.quality.high)
        _require(bool(inside.all()), "a quality is outside its own interval")


def _require_calibrated(result: Result) -> None:
    """Refuse probabilities that do not add up to one or name another label, and an expected accuracy without bounds."""
    sums = result.probabilities.sum(axis=1)
    _require_close(sums, np.ones(len(sums)), 1e-9, "calibrated probabilities do not add up to 1")
    within = (result.confidence >= 0).all() and (result.confidence <= 1).all()
    _require(bool(within), "a confidence is not between 0 and 1")
    largest = result.probabilities.max(axis=1)
    _require_close(result.confidence, largest, 1e-6, "a label is not the class with the largest probability")
    expected = result.expected_accuracy
    ends = (expected.low, expected.low_80, expected.value, expected.high_80, expected.high)
    known = [end for end in ends if end is not None]
    _require(len(known) in (1, 5), f"the intervals are incomplete: {expected}")
    in_order = all(one <= other + 1e-12 for one, other in zip([0.0, *known], [*known, 1.0], strict=True))
    _require(in_order, f"the interval is out of order: {expected}")


def require_same_bits(one: Result, other: Result) -> None:
    """Refuse two results of the same labels, in any order and on any threads, if a number differs, even by rounding."""
    for first, second in zip(_tables_by_name(one), _tables_by_name(other), strict=True):
        _require(first.equals(second), f"numbers differ:\n{first}\n{second}")
    _require(asdict(one.convergence) == asdict(other.convergence), "the convergence differs")
    _require(one.expected_accuracy == other.expected_accuracy, "the expected accuracy differs")


def _tables_by_name(result: Result) -> list[pl.DataFrame]:
    """Return the tables of a result and what was learned, each sorted by the names of items or workers."""
    workers = result.workers_frame()
    trust, confusion = result.workers.trust(), result.workers.confusion
    if trust is not None:
        workers = workers.with_columns(trust=trust.value)
    if confusion is not None:
        workers = workers.with_columns(confusion=confusion.reshape(len(confusion), -1))
    return [result.to_frame(scores=True, probabilities=True).sort("item"), workers.sort("worker")]


def require_same(one: Result, other: Result) -> None:
    """Refuse two results of the same labels if scores, ties, answers or quality differ by more than rounding.

    Items, workers and classes are compared by name, in whatever order they are.
    """
    first, second = _scores_by_name(one), _scores_by_name(other)
    _require(first.keys() == second.keys(), "items or classes differ")
    names = list(first)
    _require_close(
        np.array([first[name] for name in names]), np.array([second[name] for name in names]), 1e-6, "scores"
    )
    ties = dict(zip(one.names.items, one.ties, strict=True))
    _require(ties == dict(zip(other.names.items, other.ties, strict=True)), "ties differ")
    answers = dict(zip(other.names.items, other.labels, strict=True))
    for item, label in zip(one.names.items, one.labels, strict=True):
        # If classes are tied, the answer is the first of them by name, so with other names it may be another.
        _require(ties[item] or answers[item] == label, f"the answer to {item} differs")
    if not one.ties.any():  # quality is computed from the answers, which may differ where there are ties
        qualities = dict(zip(other.names.workers, other.quality.value, strict=True))
        for worker, quality in zip(one.names.workers, one.quality.value, strict=True):
            _require(abs(quality - qualities[worker]) < 1e-6, f"the quality of {worker} differs")


def require_same_found(found: Inferred, memory: Result, tolerance: float = 1e-9) -> None:
    """Refuse a result from disk or a cluster if it differs from that in memory; scores may differ by the tolerance."""
    one, other = (result.to_frame(scores=True, probabilities=True).sort("item") for result in (found, memory))
    _require(one.schema == other.schema, f"the table has {one.schema} and in memory {other.schema}")
    same = one.select("item", "label", "votes").equals(other.select("item", "label", "votes"))
    _require(same, "items, answers or votes differ")
    tied = memory.names.items.filter(pl.Series(memory.ties))
    untied = ~one["item"].is_in(tied.implode())
    _require(one.filter(untied)["runner_up"].equals(other.filter(untied)["runner_up"]), "runners-up differ")
    numbers = [name for name in one.columns if name.startswith(("score", "confidence", "probability"))]
    _require_close(one.select(numbers).to_numpy(), other.select(numbers).to_numpy(), tolerance, "scores differ")
    _require(found.tie_count == memory.tie_count, "the number of ties differs")
    _require(found.scale == memory.scale, "the scale of the scores differs")
    first, second = (np.array(astuple(result.expected_accuracy), float) for result in (found, memory))
    _require_close(first, second, tolerance, "the expected accuracy differs")
    _require(found.method == memory.method, "the method differs")
    _require(found.convergence.iterations == memory.convergence.iterations, "the number of iterations differs")
    workers, expected = found.workers_frame(), memory.workers_frame()
    columns = ["worker", "labels", "agreement"]
    _require(workers.select(columns).equals(expected.select(columns)), "workers, their labels or agreement differ")
    for name in ("quality", "quality_low", "quality_high"):
        _require_close(
            workers[name].to_numpy().astype(float), expected[name].to_numpy().astype(float), 1e-7, f"{name} differs"
        )


def _crowds(method: Any) -> list[list[tuple[str, str, str]]]:
    """Small random crowds, the same in every call, with no more classes than the method takes."""
    drawn = random.Random(7)
    crowds = []
    for _ in range(_CROWDS):
        classes = drawn.randint(1, min(4, _most_classes(method)))
        pairs = [(i, j) for i in range(drawn.randint(1, 8)) for j in range(drawn.randint(1, 6))]
        chosen = drawn.sample(pairs, drawn.randint(1, len(pairs)))
        crowds.append([(f"i{i}", f"w{j}", f"c{drawn.randrange(classes)}") for i, j in chosen])
    # Faults that grow with the iterations show in crowds that are not small.
    larger = simulate(200, 15, min(3, _most_classes(method)), accuracy=0.6, seed=8).rows
    return [*crowds, larger.rows()]


def turned(name: str) -> str:
    """Return another name, so that names sort in the opposite order; applied twice, it returns the name itself."""
    digits = name[1:]
    return f"{name[0]}{10 ** len(digits) - 1 - int(digits):0{len(digits)}d}"


def turned_back(result: Result) -> Result:
    """The result with the names that items, workers and classes had before `turned` changed them."""
    names = result.names
    before = {role: getattr(names, role).map_elements(turned, pl.String) for role in ("items", "workers", "classes")}
    return replace(result, names=replace(names, **before))


def _scores_by_name(result: Result) -> dict[tuple[Any, Any], float]:
    """The score of every pair of an item's name and a class's name."""
    classes, items = result.names.classes.to_list(), result.names.items.to_list()
    return {(i, k): float(result.scores[a, b]) for a, i in enumerate(items) for b, k in enumerate(classes)}


def _most_classes(method: Any) -> int:
    """How many classes the method takes; a large number if there is no limit."""
    most = method.limits().most_classes
    return 1000 if most is None else int(most)


def _require(condition: bool, sentence: str) -> None:
    """Raise an error with this sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


def _require_close(one: Array, other: Array, tolerance: float, sentence: str) -> None:
    """Raise an error with this sentence if two arrays differ by more than the tolerance, relative to the second."""
    close = np.isclose(one, other, rtol=tolerance, atol=min(tolerance, 1e-9), equal_nan=True)
    if not close.all():
        away = float(np.abs(np.asarray(one) - np.asarray(other))[~close].max())
        raise AssertionError(f"{sentence}: by up to {away:.2g}")


def _require_refused(method: Any, labels: Labels, words: str) -> None:
    """Raise an error unless the method refuses these labels with a message that has these words."""
    try:
        method.fit(labels)
    except DataError as refusal:
        _require(words in str(refusal), f"a refusal does not say {words!r}: {refusal}")
        return
    raise AssertionError(f"labels are accepted that should be refused with the words {words!r}")
