"""Tests of the pool of answer, votes and latent class: its bounds, its guards, and what it promises."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.votes import votes_by_class
from crowdwise.results.calibration import EPSILON, MOST_CLASSES, pool_weights, pooled, votes_alone
from tests.support.structured import simulate

WEIGHTS = pool_weights("adjudicator")


def test_the_formula_by_hand() -> None:
    a, v, q = np.array([[0.7, 0.2, 0.1]]), np.array([[3, 1, 0]]), np.array([[0.9, 0.1, 0.0]])
    s = (v + 1 / 3) / 5
    u = 0.26 * (np.log(a) + np.log(s)) + 0.53 / 2 * np.log(np.maximum(q, 1e-6))
    expected = 0.99 * np.exp(u) / np.exp(u).sum() + 0.01 / 3
    np.testing.assert_allclose(pooled((a, v, q), 4.0, WEIGHTS), expected)


def test_a_dense_panel_cannot_confirm_itself() -> None:
    """All votes agree; the more votes an item of the crowd has, the less their independence counts."""
    sure = []
    for n in (4, 25, 100):
        parts = np.array([[0.9, 0.1]]), np.array([[n, 0]]), np.array([[1.0, 0.0]])
        sure.append(pooled(parts, n, WEIGHTS)[0, 0])
        assert sure[-1] <= 1 - EPSILON / 2
    assert sure[1] > sure[2]


@pytest.mark.parametrize("n_classes", [2, 5, 30])
def test_one_more_vote_for_the_leading_class_never_lowers_it(n_classes: int) -> None:
    random = np.random.default_rng(1)
    a, q = random.dirichlet(np.ones(n_classes), 200), random.dirichlet(np.full(n_classes, 0.2), 200)
    v = random.poisson(2, a.shape)
    before = pooled((a, v, q), 10.0, WEIGHTS)
    items, best = np.arange(200), before.argmax(axis=1)
    v[items, best] += 1
    assert (pooled((a, v, q), 10.0, WEIGHTS)[items, best] > before[items, best]).all()


def test_many_classes_do_not_outweigh_the_label() -> None:
    random = np.random.default_rng(0)
    for n_classes in (17, 40, 5000):
        v = np.zeros((3, n_classes), int)
        v[:, :2] = [[3, 0], [2, 1], [0, 0]]
        a = random.dirichlet(np.full(n_classes, 0.05), 3)
        a[:, 0] += 1
        a /= a.sum(axis=1, keepdims=True)
        q = np.where(v > 0, v, 0.0)
        q[2] = 1 / n_classes
        q /= q.sum(axis=1, keepdims=True)
        p = pooled((a, v, q), 3.0, WEIGHTS)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert p[0, 0] > 0.6  # three of three votes
        order = np.argsort(a[0])
        assert (np.diff(p[0][order][v[0][order] == 0]) >= -1e-15).all()


def test_the_guard_for_many_classes_begins_after_sixteen() -> None:
    """One more class, which nobody named, hardly changes anything: equal classes stay together."""
    found = []
    for n_classes in (MOST_CLASSES, MOST_CLASSES + 1):
        v = np.zeros((1, n_classes), int)
        v[0, :2] = 3, 1
        a = np.full((1, n_classes), 1e-3)
        a[0, 0] = 1 - a[0, 1:].sum()
        q = np.full((1, n_classes), 1e-9)
        q[0, :2] = 0.9, 0.1
        p = pooled((a, v, q), 4.0, WEIGHTS)[0]
        assert np.ptp(p[2:]) < 1e-15
        found.append(p)
    assert found[1][2:].sum() <= found[0][2:].sum() * 1.2


def test_without_a_second_vote_votes_alone_count() -> None:
    labels = cw.Labels.from_arrays(range(30), np.arange(30) % 5, ["x", "y", "z"] * 10)
    result = cw.Adjudicator().fit(labels)
    np.testing.assert_allclose(result.confidence, (1 + 0.98 / 3) / 1.98)
    np.testing.assert_allclose(result.scores, votes_alone(votes_by_class(labels)))
    why = cw.explain(result, labels, 0)
    assert why.difference == pytest.approx(np.log(result.scores[0].max() / np.delete(result.scores[0], 0).max()))


def test_without_a_second_vote_gold_and_history_count_all_the_same() -> None:
    """Workers who are known to be good are believed more than those who are known to be bad."""
    crowd = cw.simulate(400, 2, 2, labels_per_item=2, accuracy=0.9, seed=1)
    good = pl.DataFrame({"item": range(200), "worker": "good", "label": ["c1", "c2"] * 100})
    bad = pl.DataFrame({"item": range(200, 400), "worker": "bad", "label": ["c1", "c2"] * 100})
    truth = {i: "c1" if (i % 2 == 0) == (i < 200) else "c2" for i in range(400) if i % 4 < 2}
    labels = cw.Labels.from_frame(pl.concat([good, bad]))
    assert not cw.Adjudicator().fit(labels, gold=truth).workers.lone
    past = cw.Adjudicator().fit(crowd.labels).history
    again = cw.Labels.from_frame(crowd.rows.unique("item", maintain_order=True))
    assert cw.Adjudicator().fit(again).workers.lone
    assert not cw.Adjudicator().fit(again, history=past).workers.lone


def test_the_density_is_that_of_the_whole_crowd_on_disk_too(tmp_path: Path) -> None:
    """Items have from one to nine labels, in the order of their names, so that parts differ."""
    rows = simulate(400, 20, 3, 9, seed=2).labels
    frame = pl.DataFrame({"item": rows.item_of, "worker": rows.workers, "label": rows.labels})
    kept = frame.filter(pl.int_range(pl.len()).over("item") <= pl.col("item") // 50)
    kept.write_parquet(tmp_path / "votes.parquet")
    memory = cw.Adjudicator().fit(cw.Labels.from_frame(kept))
    with cw.read_labels(tmp_path / "votes.parquet", engine="disk", workdir=tmp_path) as labels:
        disk = cw.Adjudicator().fit(labels)
        assert memory.workers.density == disk.workers.density == kept.height / 400
        found = disk.to_frame(probabilities=True).sort("item")
    expected = memory.to_frame(probabilities=True).sort("item")
    np.testing.assert_allclose(found["probability_0"], expected["probability_0"], atol=1e-9)


@pytest.mark.parametrize("read_out", ["answer", "latent"])
def test_an_explanation_adds_up_to_the_lead(read_out: str) -> None:
    crowd = simulate(100, 12, 3, 6, seed=4)
    result = cw.Adjudicator(read_out).fit(crowd.labels)  # type: ignore[arg-type]
    limited = 0
    for i in range(100):
        why = cw.explain(result, crowd.labels, result.names.items[i])
        lead = np.log(why.score / why.runner_up_score)
        assert why.prior + float(why.votes["contribution"].to_numpy().sum()) + why.limit == pytest.approx(
            lead, abs=1e-9
        )
        assert why.steps()["end"][-1] == pytest.approx(why.difference)
        limited += why.limit < -1e-3
    assert (limited > 0) == (read_out == "answer")


def test_votes_that_are_left_out_are_no_part_of_the_pool() -> None:
    """A copy of a worker is found to follow it; answers are as sure as without the copy."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 400)
    said = [np.where(random.random(400) < 0.8, truth, 1 - truth) for _ in range(7)]
    said.append(np.where(random.random(400) < 0.97, said[0], 1 - said[0]))
    items = np.tile(np.arange(400), 8)
    labels = cw.Labels.from_arrays(items, np.repeat(np.arange(8), 400), np.concatenate(said))
    result = cw.Adjudicator().fit(labels)
    assert (result.workers.follows >= 0).sum() == 1
    assert result.workers.density == 7
    why = cw.explain(result, labels, 0)
    assert why.prior + float(why.votes["contribution"].to_numpy().sum()) + why.limit == pytest.approx(why.difference)
    assert why.difference == pytest.approx(np.log(why.score / why.runner_up_score), abs=1e-9)
