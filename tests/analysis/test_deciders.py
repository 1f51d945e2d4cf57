"""Tests that a worker whom the answers follow nearly always is named, and that its quality does not rest on itself."""

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import cautions
from crowdwise.analysis.deciders import deciders
from crowdwise.crowd.votes import count_outvoted
from crowdwise.numerics import Array
from tests.support.engines import Engine


def panel(
    accuracies: list[float], items: int, seed: int, copy_of_first: float | None = None
) -> tuple[pl.DataFrame, Array]:
    """Workers who all label all items of two classes, and the truth; perhaps with a near copy of the first."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    votes = [np.where(random.random(items) < accuracy, truth, 1 - truth) for accuracy in accuracies]
    if copy_of_first is not None:
        votes.append(np.where(random.random(items) < copy_of_first, votes[0], 1 - votes[0]))
    rows = [(f"i{i}", f"w{j}", int(vote[i])) for i in range(items) for j, vote in enumerate(votes)]
    return pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row"), truth


def test_a_method_that_became_one_judge_is_said() -> None:
    labels = cw.Labels.from_frame(panel([0.8] * 3, 1000, 1)[0])
    (found,) = deciders(cw.BWA().fit(labels), labels)
    assert found.workers == ("w1",)
    assert found.won == found.outvoted == found.differs
    assert any(
        "The answers follow worker w1 nearly always" in str(one) for one in cautions(cw.BWA().fit(labels), labels)
    )
    assert not deciders(cw.MajorityVote().fit(labels), labels)


def test_a_block_of_near_copies_that_decides_is_said_once() -> None:
    labels = cw.Labels.from_frame(panel([0.8] * 7, 1000, 1, copy_of_first=0.97)[0])
    found = deciders(cw.BWA().fit(labels), labels, cw.blocks(labels).blocks)
    assert [one.workers for one in found] == [("w0", "w7")]


@pytest.mark.slow
def test_quality_does_not_rest_on_agreement_with_oneself(engine: Engine, workdir: object) -> None:
    rows, _ = panel([0.8] * 3, 1000, 1)
    workers = cw.BWA().fit(engine.read(rows)).workers_frame()
    assert workers["quality"].to_numpy() == pytest.approx(0.8, abs=0.05)
    assert (workers["quality_low"] < 0.8).all()
    assert (workers["quality_high"] > 0.8).all()


def test_the_interval_of_a_true_expert_holds_its_accuracy() -> None:
    labels = cw.Labels.from_frame(panel([0.97, 0.6, 0.6, 0.6, 0.6], 1000, 1)[0])
    expert = cw.DawidSkene().fit(labels).workers_frame().filter(pl.col("worker") == "w0")
    assert expert["quality_low"][0] < 0.97 < expert["quality_high"][0]


@pytest.mark.parametrize("key", ["bwa", "adjudicator"])
def test_honest_crowds_raise_no_alarm(key: str) -> None:
    alarms = 0
    for seed in range(40):
        labels = cw.simulate(300, 10, 3, labels_per_item=6, accuracy=0.7, seed=seed).labels
        alarms += bool(deciders(cw.METHODS[key]().fit(labels), labels))
    assert alarms <= 2


def test_outvotings_are_what_a_plain_count_says() -> None:
    random = np.random.default_rng(4)
    rows = {(int(i), int(j)): int(k) for i, j, k in random.integers(0, [30, 6, 3], (120, 3))}
    labels = cw.Labels.from_arrays([i for i, _ in rows], [j for _, j in rows], list(rows.values()))
    answers = random.integers(0, labels.n_classes, labels.n_items)
    expected = np.zeros((4, labels.n_workers), int)
    for i in range(labels.n_items):
        here = slice(labels.item_starts[i], labels.item_starts[i + 1])
        said = list(zip(labels.workers[here].tolist(), labels.labels[here].tolist(), strict=True))
        for worker, own in said:
            others = np.bincount([label for other, label in said if other != worker], minlength=3)
            if (others == others.max()).sum() == 1 and others.max() > 0:
                most = int(others.argmax())
                expected[:, worker] += [1, most == own, most != own, most != own and answers[i] == own]
    assert count_outvoted(labels, answers).tolist() == expected.tolist()
