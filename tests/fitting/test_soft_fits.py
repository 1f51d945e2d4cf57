"""Fits of votes with a probability and a weight: likelihood, sharpness, engines, explanations."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.soft_votes import plain, sharpened
from crowdwise.fitting.engines.base import open_engine
from crowdwise.fitting.sharpness import count_sharpness, learn_sharpness

from ..support.judges import Judges, simulate_judges

METHODS = [cw.MajorityVote(), cw.BWA(), cw.DawidSkene(), cw.LearningFromCrowds(), cw.Adjudicator()]
by_name = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.key)


@pytest.fixture(scope="module")
def judges() -> Judges:
    return simulate_judges(250, 6, 2, seed=4, share=0.8)


@pytest.fixture(scope="module")
def labels(judges: Judges) -> Any:
    return cw.read_labels(judges.rows, probability="p")


def log_loss(result: Any, truth: Any) -> float:
    found = result.probabilities[np.arange(len(result.names.items)), truth[result.names.items.to_numpy()]]
    return float(-np.log(found).mean())


@by_name
def test_votes_of_one_are_plain_votes(method: Any) -> None:
    crowd = cw.simulate(150, 8, classes=3, seed=2).labels
    ones = replace(crowd, soft=plain(crowd.labels, 3))  # what reading never makes, as it recognises plain votes
    expected, found = method.fit(crowd), method.fit(ones)
    assert np.allclose(found.scores, expected.scores, rtol=0, atol=1e-12)
    assert np.allclose(found.probabilities, expected.probabilities, rtol=0, atol=1e-12)
    why, expected_why = (
        cw.explain(fit, votes, crowd.names.items[3]) for fit, votes in ((found, ones), (expected, crowd))
    )
    assert why.remedy == expected_why.remedy


@by_name
def test_log_loss_is_below_that_of_rounded_votes(method: Any, labels: Any, judges: Judges) -> None:
    soft, rounded = method.fit(labels, warn=False), method.fit(replace(labels, soft=None), warn=False)
    assert log_loss(soft, judges.truth) < log_loss(rounded, judges.truth)


@pytest.mark.parametrize(
    ("items", "judges", "classes", "signal", "share"),
    [(400, 7, 3, 0.6, 0.5), (100, 30, 2, 0.3, 0.9), (150, 8, 8, 0.7, 0.7), (500, 20, 3, 0.7, 0.12)],
    ids=["weak", "dense", "eight classes", "sparse"],
)
def test_weak_judges_who_state_probabilities_say_more_than_rounded(
    items: int, judges: int, classes: int, signal: float, share: float
) -> None:
    crowd = simulate_judges(items, judges, classes, seed=3, share=share, signal=signal)
    stated = cw.read_labels(crowd.rows, probability="p")
    soft, rounded = (cw.Adjudicator().fit(one, warn=False) for one in (stated, replace(stated, soft=None)))
    assert soft.convergence.converged  # flat votes begin with flat classes, which took EM long
    assert log_loss(soft, crowd.truth) < log_loss(rounded, crowd.truth) - 0.02


def test_the_learned_sharpness_is_the_simulated_one() -> None:
    judges = simulate_judges(600, 6, 3, seed=8)
    labels = cw.read_labels(judges.rows, probability="p")
    table = cw.LearningFromCrowds().fit(labels, warn=False).workers_frame()
    learned = np.log(table["sharpness"].to_numpy() / judges.sharpness[table["worker"].to_numpy()])
    assert np.abs(learned).max() < 0.35
    overconfident = table.filter(pl.col("sharpness") < 0.6)
    assert overconfident.height
    assert (overconfident["stated"] > overconfident["inferred"] + 0.05).all()


@by_name
def test_the_order_of_rows_does_not_matter(method: Any, judges: Judges) -> None:
    rows = judges.rows.with_columns(w=pl.col("item") % 3 + 0.5)
    tables = [
        method.fit(
            cw.read_labels(rows.sample(fraction=1, shuffle=True, seed=seed), probability="p", weight="w"), warn=False
        )
        .to_frame(scores=True)
        .sort("item")
        for seed in (1, 2)
    ]
    assert tables[0].equals(tables[1])


@by_name
def test_on_disk_it_is_the_same(method: Any, judges: Judges, tmp_path: Path) -> None:
    rows = judges.rows.with_columns(w=pl.col("item") % 3 + 0.5)
    results = [
        method.fit(cw.read_labels(rows, probability="p", weight="w", engine=engine), warn=False)
        for engine in ("memory", "disk")
    ]
    items = [one.to_frame(probabilities=True).sort("item").drop("label", "runner_up") for one in results]
    workers = [one.workers_frame().sort("worker").drop("worker") for one in results]
    for first, second in (items, workers):
        assert first.columns == second.columns
        assert np.allclose(first.to_numpy().astype(float), second.to_numpy().astype(float), atol=1e-9, equal_nan=True)


@by_name
def test_explanations_add_up(method: Any, labels: Any) -> None:
    result = method.fit(labels, warn=False)
    for item in (0, 17):
        why = cw.explain(result, labels, item)
        place = result.names.items.index_of(item)
        best, second = (result.scores[place, result.ranking[rank][place]] for rank in (0, 1))
        expected = np.log(best) - np.log(second) if why.scale == "log odds" else best - second
        assert why.difference == pytest.approx(expected, abs=1e-9)


@by_name
def test_gold_is_taken(method: Any, labels: Any, judges: Judges) -> None:
    gold = {item: int(judges.truth[item]) for item in range(0, 250, 5)}
    result = method.fit(labels, gold=gold, warn=False)
    frame = result.to_frame().filter("gold")
    assert (frame["label"].to_numpy() == judges.truth[frame["item"].to_numpy()]).all()


def test_a_weight_is_how_often_a_worker_says_it() -> None:
    # A count is a power of the likelihood: a judge of weight 3 is three judges with the same parameters.
    said = {"item": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": list("xxyyxy"), "n": [3, 1, 1, 1, 2, 1]}
    weighted = cw.read_labels(pl.DataFrame(said), weight="n")
    repeated = pl.DataFrame(said).select(pl.all().repeat_by("n").list.explode())
    repeated = repeated.with_columns(
        worker=pl.col("worker") + pl.int_range(pl.len()).over("item", "worker").cast(pl.String)
    )
    votes = cw.MajorityVote()
    assert np.array_equal(votes.fit(weighted).scores, votes.fit(cw.read_labels(repeated.drop("n"))).scores)


def test_votes_of_no_weight_say_nothing() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2], ["a", "b", "c"], ["x", "y", "y"], weight=[1, 1, 0])
    result = cw.MajorityVote().fit(labels)
    assert np.allclose(result.scores, 0.5)
    assert result.names.workers.to_list() == ["a", "b", "c"]


@by_name
def test_votes_of_no_weight_do_not_stop_a_method(method: Any) -> None:
    # Dawid-Skene learns that "y" is impossible for a worker whose other votes weigh nothing: 0 times -inf is nothing.
    rows = [(1, "a", "x", 0), (1, "b", "y", 0), (2, "a", "x", 1), (2, "b", "x", 1)]
    table = pl.DataFrame(rows, schema=["item", "worker", "label", "n"], orient="row")
    result = method.fit(cw.read_labels(table, weight="n"), warn=False)
    assert np.isfinite(result.probabilities).all()
    assert result.labels[1] == "x"


def small() -> Any:
    """Three judges and three items in two classes."""
    rows = [(i, w) for i in range(3) for w in range(3)]
    p = [0.9, 0.7, 0.6, 0.8, 0.55, 0.75, 0.95, 0.65, 0.85]
    labels = cw.Labels.from_arrays(
        [i for i, _ in rows], [w for _, w in rows], [0, 0, 1, 1, 0, 1, 0, 1, 1], probability=p, weight=[1, 2, 0.5] * 3
    )
    return labels.numbered


def test_the_likelihood_is_that_of_brute_force() -> None:
    labels = small()
    power, accuracy, shares = np.array([0.5, 1.5, 2.0]), np.array([0.9, 0.7, 0.6]), np.array([0.6, 0.4])
    found = count_sharpness(labels, power, accuracy, shares).log_likelihood[0]
    chances = sharpened(labels.soft[:, :-1], power[labels.workers])
    total = 0.0
    for truths in itertools.product(range(2), repeat=3):
        joint = np.prod(shares[list(truths)])
        for row, (item, worker) in enumerate(zip(labels.item_of, labels.workers, strict=True)):
            right = np.where(np.arange(2) == truths[item], accuracy[worker], 1 - accuracy[worker])
            joint *= (chances[row] @ right) ** labels.soft[row, -1]
        total += joint
    assert found == pytest.approx(np.log(total), abs=1e-12)


@pytest.mark.parametrize("method", [cw.DawidSkene(), cw.Adjudicator()], ids=["ds", "adjudicator"])
def test_the_methods_have_the_likelihood_of_brute_force(method: Any) -> None:
    labels = small()
    with open_engine(method, labels) as engine:
        ending = method.iterate(engine, None)
        workers = ending.workers
        counts, _ = engine.sweep(workers)
    if isinstance(method, cw.DawidSkene):
        found, types = (
            counts.log_likelihood[0],
            [(np.exp(workers.log_prior)[k], workers.matrices[:, k]) for k in range(2)],
        )
    else:
        found = counts.totals[1]
        said = np.exp(workers.log_said(np.arange(3)))
        types = [(np.exp(one), said[:, s]) for s, one in enumerate(workers.log_prior)]
    total = 0.0
    for item in range(3):
        rows = np.flatnonzero(labels.item_of == item)
        of_types = [
            prior * np.prod([(labels.chances[r] @ of_workers[labels.workers[r]]) ** labels.soft[r, -1] for r in rows])
            for prior, of_workers in types
        ]
        total += np.log(sum(of_types))
    assert found == pytest.approx(total, abs=1e-9)


def test_likelihoods_grow_while_sharpness_is_learned() -> None:
    judges = simulate_judges(200, 4, 2, seed=1)
    labels = cw.read_labels(judges.rows, probability="p").numbered
    start = np.ones(4), np.full(4, 0.8), np.full(2, 0.5)
    learned = learn_sharpness(labels)
    before = count_sharpness(labels, *start).log_likelihood[0]
    assert count_sharpness(labels, learned, np.full(4, 0.95), start[2]).log_likelihood[0] > before
