"""The model of several classes at once: against brute force, against simpler methods, and what must not matter."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.methods.adjudicator import several_classes_model
from crowdwise.methods.adjudicator.several_classes_model import Model, Votes
from tests.support.tagged_crowds import Tagged, inferred, simulate


def read(crowd: Tagged) -> cw.Labels:
    labels: cw.Labels = cw.read_labels(crowd.answers, multi="each")
    return labels


def model_of(labels: cw.Labels) -> Model:
    assert labels.sets is not None
    return Model(Votes.of(labels, labels.sets))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


class Dense:
    """The same model by brute force: every item, class and worker in tables of all of them."""

    def __init__(self, labels: cw.Labels) -> None:
        sets = labels.sets
        assert sets is not None
        shape = len(sets.items), labels.n_workers, len(sets.classes)
        self.looked, self.said = np.zeros(shape[:2]), np.zeros(shape)
        for item in range(shape[0]):
            for answer in range(sets.starts[item], sets.starts[item + 1]):
                self.looked[item, sets.workers[answer]] = 1
                named = sets.named[sets.set_starts[answer] : sets.set_starts[answer + 1]]
                self.said[item, sets.workers[answer], named] = 1
        self.n = self.looked.sum(axis=1)  # answers of an item
        self.named = np.asarray(self.said.any(axis=1))
        self.p = self.said.sum(axis=1) / self.n[:, None]
        self.effects: list[list[Any]] = [
            [centre, np.full(shape[2], centre), np.zeros(shape[1]), np.zeros(shape[1:])] for centre in (0.0, -3.0)
        ]
        self.variances = [np.full(3, 0.5), np.full(3, 0.5)]
        self.m_step()

    def rates(self) -> list[Any]:
        return [of_class + of_worker[:, None] + of_cell for _, of_class, of_worker, of_cell in self.effects]

    def e_step(self) -> None:
        true, false = self.rates()
        prior = np.log(self.common / (1 - self.common))
        yes = np.log(sigmoid(true) / sigmoid(false))
        no = np.log((1 - sigmoid(true)) / (1 - sigmoid(false)))
        each = np.where(self.said > 0, yes, no) * self.looked[:, :, None]
        weights = self.looked.sum(axis=0) / self.looked.sum()
        mean = [
            np.log(1 - sigmoid(of_class + of_worker[:, None])).T @ weights for _, of_class, of_worker, _ in self.effects
        ]
        unnamed = prior + self.n[:, None] * (mean[0] - mean[1])
        self.log_odds = np.where(self.named, prior + each.sum(axis=1), unnamed)
        self.p = sigmoid(self.log_odds)

    def m_step(self) -> None:
        total = self.p.sum(axis=0)
        n, mean, variance = len(self.p), total.mean(), total.var()
        shape = np.clip(mean**2 / max(variance - mean, 1e-9), 0.1, 10)
        self.common = (total + shape) / (n + shape * n / mean)
        for truth, p in enumerate((self.p, 1 - self.p)):
            trials = np.einsum("ij,ic->jc", self.looked, p)
            yes = np.einsum("ijc,ic->jc", self.said, p)
            self.newton(truth, trials, yes)

    def newton(self, truth: int, trials: Any, yes: Any) -> None:
        before, of_class, of_worker, of_cell = self.effects[truth]
        spread = self.variances[truth]

        def g_and_h() -> tuple[Any, Any]:
            rate = sigmoid(of_class + of_worker[:, None] + of_cell)
            return yes - trials * rate, trials * rate * (1 - rate)

        def step(values: Any, g: Any, h: Any, centre: Any, variance: Any) -> tuple[Any, Any]:
            move = (g - (values - centre) / variance) / (h + 1 / variance)
            return values + np.clip(move, -1, 1), 1 / (h + 1 / variance)

        g, h = g_and_h()
        of_class, s_class = step(of_class, g.sum(axis=0), h.sum(axis=0), before, spread[0])
        centre = of_class.mean()
        g, h = g_and_h()
        of_worker, s_worker = step(of_worker, g.sum(axis=1), h.sum(axis=1), 0, spread[1])
        g, h = g_and_h()
        of_cell, s_cell = step(of_cell, g, h, 0, spread[2])
        self.effects[truth] = [centre, of_class, of_worker, of_cell]
        found = (of_class - centre, s_class), (of_worker, s_worker), (of_cell, s_cell)
        self.variances[truth] = np.array(
            [(1 + (v**2).sum()) / (2 + v.size - s.sum() / old) for (v, s), old in zip(found, spread, strict=True)]
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_sparse_sums_are_those_over_all_items_classes_and_workers(seed: int) -> None:
    """Where every worker met every class, nothing is approximated."""
    crowd = simulate(seed, items=60, workers=5, per_item=4, classes=3)
    labels = read(crowd._replace(answers=crowd.answers.sample(fraction=0.8, seed=1)))  # items have 1 to 4 answers
    model, dense = model_of(labels), Dense(labels)
    assert len(model.cell_class) == 5 * 3
    steps = model.iterate()
    next(steps)
    dense.e_step()
    for _ in range(4):
        next(steps)
        dense.m_step()
        dense.e_step()
    assert labels.sets is not None
    of_pairs = np.asarray(dense.log_odds)[labels.sets.item_of, labels.sets.class_of]
    np.testing.assert_allclose(model.log_odds(), of_pairs, rtol=1e-9, atol=1e-9)
    expected = {(c, int(n)): dense.p[i, c] for i, n in enumerate(dense.n) for c in range(3) if not dense.named[i, c]}
    found = np.asarray(sigmoid(model.log_odds_unnamed()))
    assert len({n for _, n in expected}) > 2
    for (of_class, n), p in expected.items():
        assert found[of_class, model.votes.sizes.tolist().index(n)] == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_sets_are_better_than_majority_and_than_a_fit_for_each_class(seed: int) -> None:
    crowd = simulate(seed)
    labels = read(crowd)
    found = cw.set_accuracy(inferred(labels), crowd.truth)
    majority = cw.set_accuracy(inferred(labels, method="mv"), crowd.truth)
    assert found.micro_f1 > majority.micro_f1 + 0.02
    assert found.micro_f1 >= separate_f1(crowd) - 0.01


def separate_f1(crowd: Tagged) -> float:
    """Micro F1 of the adjudicator, fitted to every class by itself, with a yes or no of every answer."""
    hits = both = 0
    classes = sorted(set(crowd.answers["labels"].explode().drop_nulls()))
    for name in classes:
        said = crowd.answers["labels"].list.contains(name)
        labels = cw.Labels.from_arrays(crowd.answers["item"], crowd.answers["worker"], said, classes=[False, True])
        yes = cw.aggregate(labels, warn=False).to_frame().filter("label")["item"].to_list()
        true = {item for item, named in crowd.truth.items() if name in named}
        hits, both = hits + len(true & set(yes)), both + len(true) + len(yes)
    return 2 * hits / both


def test_the_order_of_rows_does_not_matter() -> None:
    crowd = simulate(4, items=60)
    other = crowd.answers.sample(fraction=1, shuffle=True, seed=1)
    one, two = (cw.aggregate(frame, multi="each", warn=False).pairs() for frame in (crowd.answers, other))
    assert one.sort("item", "class").equals(two.sort("item", "class"))


def test_bins_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hundreds of classes, effects are summed in bins; with more bins than classes, they are not."""
    labels = read(simulate(5, items=150, classes=300, true_per_item=4, false=-6))
    binned = inferred(labels).probabilities
    monkeypatch.setattr(several_classes_model, "_BINS", 1000)
    exact = inferred(labels).probabilities
    assert np.abs(binned - exact).max() < 1e-3


def test_only_pairs_that_somebody_named_have_rows() -> None:
    crowd = simulate(6, items=50, classes=300, true_per_item=4, false=-6)
    labels = read(crowd)
    named = crowd.answers.explode("labels").drop_nulls().select("item", "labels").unique().height
    assert labels.n_items == named
    assert labels.n_labels == 5 * named


def test_gold_and_explanations() -> None:
    crowd = simulate(7)
    labels = read(crowd)
    gold = {item: crowd.truth[item] for item in range(50)}
    found = inferred(labels, gold=gold)
    known = found.pairs().filter(pl.col("item") < 50)
    right = [(row["class"] in gold[row["item"]]) == row["chosen"] for row in known.to_dicts()]
    assert all(right)
    assert found.result.gold_check is not None
    assert found.result.gold_check.accuracy.value > 0.85
    plain = inferred(labels).result
    why = cw.explain(plain, labels, plain.names.items[3])
    odds = plain.scores[3, 1] / plain.scores[3, 0]
    sign = 1 if why.label == "yes" else -1
    assert why.prior + float(why.votes["contribution"].sum()) == pytest.approx(sign * np.log(odds), rel=1e-6)
