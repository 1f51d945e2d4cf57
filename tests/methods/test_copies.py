"""Tests of followers: who copies whom is decided by evidence, on every engine, in any order of rows, and it is said."""

from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.methods.adjudicator.copies import Copies
from crowdwise.methods.adjudicator.copying import log_followed
from crowdwise.numerics import Array
from crowdwise.testing import on_threads, require_same_found
from tests.support.engines import Engine

RISING: Final = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def panel(
    seed: int, accuracies: Any, classes: int = 2, copied: tuple[int, ...] = (), rate: float = 0.97, n_items: int = 400
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Simulate independent workers, and one copy of each of those whom `copied` names; returns rows and truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, n_items)

    def repeat(said: Array, rate: float) -> Array:
        same = random.random(n_items) < rate
        return np.where(same, said, (said + random.integers(1, classes, n_items)) % classes)

    votes = [repeat(truth, accuracy) for accuracy in accuracies]
    votes += [repeat(votes[one], rate) for one in copied]
    rows = [(f"i{i}", f"w{j}", int(said)) for j, one in enumerate(votes) for i, said in enumerate(one)]
    frame = pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")
    return frame, {f"i{i}": int(true) for i, true in enumerate(truth)}


def followers(result: Any) -> dict[str, str]:
    """Who follows whom, by name."""
    names, follows = result.names.workers, result.workers.follows
    return {names[int(one)]: names[int(follows[one])] for one in np.flatnonzero(follows >= 0)}


# Accuracies of the seeds 0 to 3, from the specification.
GOLDEN: Final = {
    "a copy of one of seven equals": ([0.8] * 7, 2, (0,), [0.965, 0.96, 0.95, 0.9625]),
    "a copy of the worst": (RISING, 2, (0,), [0.9575, 0.9575, 0.945, 0.955]),
    "a copy of the best": (RISING, 2, (6,), [0.9575, 0.9575, 0.945, 0.955]),
    "a copy of one of twelve": ([0.75] * 12, 2, (0,), [0.97, 0.96, 0.9625, 0.97]),
    "four classes": ([0.7] * 7, 4, (0,), [0.94, 0.955, 0.955, 0.9725]),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_panels(case: str) -> None:
    accuracies, classes, copied, expected = GOLDEN[case]
    pair = {f"w{copied[0]}", f"w{len(accuracies)}"}
    for seed, accuracy in enumerate(expected):
        rows, truth = panel(seed, accuracies, classes, copied)
        labels = cw.Labels.from_frame(rows)
        result = cw.Adjudicator().fit(labels)
        # The numbers are of the adjudicator's answers; the pool with votes and latent classes may change an item.
        answers = result.workers.answers(labels)[0].argmax(axis=1)
        right = np.mean([result.names.classes[int(one)] == truth[i] for i, one in zip(truth, answers, strict=True)])
        assert right == pytest.approx(accuracy, abs=1e-9)
        assert float(cw.accuracy(result, truth)) == pytest.approx(accuracy, abs=1.01 / len(truth))
        ((follower, leader),) = followers(result).items()
        assert {follower, leader} == pair


def test_nothing_changes_without_a_copy() -> None:
    for seed in range(4):
        labels = cw.Labels.from_frame(panel(seed, [0.8] * 7)[0])
        found, plain = cw.Adjudicator().fit(labels), cw.Adjudicator(copies="separate").fit(labels)
        assert (found.scores == plain.scores).all()
        assert not followers(found)


def test_several_copies_and_several_blocks() -> None:
    for copied, least in (((0,) * 5, 0.94), ((0, 0, 1, 1, 2, 2), 0.93)):
        rows, truth = panel(1, [0.8] * 7, copied=copied)
        result = cw.Adjudicator().fit(cw.Labels.from_frame(rows))
        assert len(followers(result)) == len(copied)
        assert cw.accuracy(result, truth) > least


def test_two_who_know_are_no_copies() -> None:
    for seed in range(4):
        labels = cw.Labels.from_frame(panel(seed, [0.95, 0.93, *[0.65] * 7])[0])
        assert not followers(cw.Adjudicator().fit(labels))


def test_a_panel_of_more_than_thirty_workers_stays_as_it_is() -> None:
    """There the same test is a diagnosis, which names the two."""
    labels = cw.Labels.from_frame(panel(1, [0.75] * 30, copied=(0,))[0])
    result = cw.aggregate(labels, warn=False)
    assert not followers(result)
    (caution,) = (one for one in result.cautions if one.kind == "blocks")
    assert "suggest copying, and all workers count in full: " in caution.sentence
    assert set(caution.workers) == {"w0", "w30"}
    found = cw.blocks(labels)
    assert found.followers is not None
    assert set(found.followers.table.select("worker", "follows").row(0)) == {"w0", "w30"}
    assert "Among more than 30 workers nobody is left out because of that" in str(found)


def test_a_follower_counts_where_its_leader_is_absent() -> None:
    follows = np.array([-1, 0, 1, -1])
    copies = Copies.none(4).with_followers(np.arange(3), follows)
    labels = cw.Labels.from_arrays([1, 1, 1, 1, 2, 2, 3, 3, 3], list("abcdbcacc"), list("xyxxxyxxy"), duplicates="all")
    assert copies.weights(labels).tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 1]


def test_votes_that_are_left_out_change_nothing() -> None:
    """The fit is that of the crowd without the follower, where the leader labelled every item."""
    rows, _ = panel(1, [0.8] * 7, copied=(0,))
    found = cw.Adjudicator().fit(cw.Labels.from_frame(rows))
    ((follower, _),) = followers(found).items()
    without = cw.Labels.from_frame(rows.filter(pl.col("worker") != follower))
    alone = cw.Adjudicator(copies="separate").fit(without)
    np.testing.assert_allclose(found.scores, alone.scores, atol=1e-9)


@pytest.mark.usefixtures("workdir")
def test_every_engine_finds_the_same_followers(engine: Engine) -> None:
    rows, _ = panel(2, [0.7] * 6, 3, (0,), n_items=150)
    rows = rows.sample(fraction=0.9, shuffle=True, seed=1)
    method = cw.Adjudicator(max_iterations=2)  # every iteration takes long on disk and in Spark
    result, memory = method.fit(engine.read(rows)), method.fit(cw.Labels.from_frame(rows))
    assert len(followers(memory)) == 1
    assert followers(result) == followers(memory)
    require_same_found(result, memory)


def test_names_and_order_of_rows_and_threads_make_no_difference() -> None:
    rows, _ = panel(3, RISING, 3, (2,))
    first = cw.Adjudicator().fit(cw.Labels.from_frame(rows))
    shuffled = rows.sample(fraction=1, shuffle=True, seed=4)
    with on_threads(3):
        second = cw.Adjudicator().fit(cw.Labels.from_frame(shuffled))
    assert second.to_frame(scores=True).sort("item").equals(first.to_frame(scores=True).sort("item"))
    assert followers(first) == followers(second) != {}
    renamed = shuffled.select(
        item="x" + pl.col("item").str.reverse(), worker="z" + pl.col("worker"), label=2 - pl.col("label")
    )
    third = cw.Adjudicator().fit(cw.Labels.from_frame(renamed))
    assert {frozenset(("z" + one, "z" + other)) for one, other in followers(first).items()} == {
        frozenset(pair) for pair in followers(third).items()
    }
    same = third.to_frame().select("item", "score", label=2 - pl.col("label")).sort("item")
    expected = first.to_frame().select("label", "score", item="x" + pl.col("item").str.reverse()).sort("item")
    assert same["label"].equals(expected["label"])
    np.testing.assert_allclose(same["score"].to_numpy(), expected["score"].to_numpy(), atol=1e-9)


def test_probabilities_of_all_that_a_follower_may_say_add_up_to_one() -> None:
    leader = np.array([0, 0, 2, 1, 2])
    total = 0.0
    for follower in product(range(3), repeat=len(leader)):
        said = np.zeros((3, 3), np.int64)
        np.add.at(said, (leader, np.array(follower)), 1)
        total += np.exp(log_followed(said))
    assert total == pytest.approx(1.0)


def numbers_of(items: Any, labels: cw.Labels) -> list[int]:
    """The codes of these items."""
    code = {name: number for number, name in enumerate(labels.names.items)}
    return [code[item] for item in items]


def test_it_is_said_who_follows_whom_and_what_would_settle_it() -> None:
    rows, truth = panel(0, [0.8] * 7, copied=(0,))
    labels = cw.Labels.from_frame(rows)
    result = cw.aggregate(labels, warn=False)
    (caution,) = result.cautions
    plain = cw.Adjudicator(copies="separate").fit(labels, warn=False)
    changed = int((plain.answers != result.answers).sum())
    assert caution.kind == "copies"
    assert "w7 follows w0 (387 of 400 votes on the same items are equal, 21 nats)" in caution.sentence
    assert f"that changes {changed} answers of 400" in caution.sentence
    assert caution.workers == ("w7", "w0")
    # The truth of the items that are named settles it: the two readings differ on all of them, and it decides.
    assert len(caution.items) == 10
    codes = numbers_of(caution.items, labels)
    assert (plain.answers[codes] != result.answers[codes]).all()
    assert sum(result.labels[code] == truth[item] for code, item in zip(codes, caution.items, strict=True)) > 7
    table = result.workers_frame()
    assert table.columns[:3] == ["worker", "follows", "labels"]
    assert dict(table.select("worker", "follows").drop_nulls().iter_rows()) == {"w7": "w0"}
    # It has a quality of its own, although its votes say nothing about the answers.
    assert table["quality"].to_list()[7] == pytest.approx(table["quality"].to_list()[0], abs=0.05)


def test_gold_that_speaks_for_the_votes_brings_them_back() -> None:
    """Where the two who agree are right against all others, ten items show it."""
    rows, _ = panel(0, [0.8] * 7, copied=(0,))
    labels = cw.Labels.from_frame(rows)
    result = cw.Adjudicator().fit(labels, warn=False)
    plain = cw.Adjudicator(copies="separate").fit(labels, warn=False)
    codes = numbers_of(result.cautions[0].items, labels)
    gold = {labels.names.items[code]: plain.labels[code] for code in codes}
    told = cw.Adjudicator().fit(labels, gold=gold, warn=False)
    assert not followers(told)
    assert (told.answers == plain.answers).mean() > 0.95


def test_blocks_say_who_follows_and_what_they_do_not_see() -> None:
    found = cw.blocks(cw.Labels.from_frame(panel(0, [0.8] * 7, copied=(0,))[0]))
    assert found.to_dict()["followers"][0]["nats"] == pytest.approx(20.6, abs=0.1)
    assert "The adjudicator leaves out votes of followers where their leader has one" in str(found)
    alone = cw.blocks(cw.Labels.from_frame(panel(0, [0.8] * 7)[0]))
    assert alone.followers is None
    assert "Labels alone cannot rule out" in alone.summary


def test_the_report_has_followers_beside_their_leader(tmp_path: Path) -> None:
    labels = cw.Labels.from_frame(panel(0, [0.8] * 7, copied=(0,))[0])
    cw.report(cw.aggregate(labels, warn=False), labels, path=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Follows" in page
    assert page.count("w7 follows w0 (387 of 400 votes on the same items are equal, 21 nats)") >= 1
