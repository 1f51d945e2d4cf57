"""Tests of the adjudicator: golden numbers, recovery of its own parameters, many classes, copies and other readings."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from scipy import stats

import crowdwise as cw
from crowdwise.analysis.cautions import cautions
from crowdwise.analysis.evaluation import hits, match
from crowdwise.analysis.rivals import rivals
from crowdwise.crowd.labels import Labels
from crowdwise.fitting.parameters import parse
from crowdwise.methods.adjudicator.copies import Copies
from crowdwise.methods.adjudicator.few_classes import FewClasses
from crowdwise.numerics import Array
from crowdwise.results.recalibration import tempered
from crowdwise.results.scores import TIE, best_two
from tests.support.structured import SHARES, VARIANCES, simulate

# The crowds of the specification's table; the others were added later.
LATER: Final = ("dices350", "factcheck6", "flower", "mbic", "medical_treat", "metaphor", "vision16")


# Makes any crowd one with many classes.
MANY_CLASSES: Final = patch("crowdwise.methods.adjudicator.method.MATRIX_CLASSES", 1)


def measure(result: cw.Result, truth: Any) -> tuple[float, float, int]:
    """Return accuracy, log loss clipped at 1e-6, and the number of truths."""
    matched = match(result, truth)
    chance = np.where(matched.truths >= 0, result.scores[matched.items, matched.truths], 0.0)
    return float(hits(result, matched).mean()), float(-np.log(np.maximum(chance, 1e-6)).mean()), len(chance)


@pytest.mark.data
def test_golden_numbers(data: Path, golden: Path) -> None:
    rows = pl.read_csv(golden / "adjudicator.csv")
    confidence = {
        row["crowd"]: row for row in pl.read_csv(golden / "confidence.csv").drop_nulls("crowd").iter_rows(named=True)
    }
    found: dict[str, tuple[float, float]] = {}
    followed = []
    for row in rows.iter_rows(named=True):
        folder = data / row["group"] / row["dataset"]
        labels = cw.read_labels(folder / "label.csv", duplicates="all")
        truth = cw.read_truth(folder / "truth.csv")
        pool = cw.Adjudicator().fit(labels)
        if (pool.workers.follows >= 0).any():
            followed.append(row["dataset"])
            pool = cw.Adjudicator(copies="separate").fit(labels)
        check_confidence(pool, truth, confidence.pop(row["dataset"]))
        answers, _ = pool.workers.answers(labels)
        result = replace(pool, scores=answers, ranking=best_two(answers, TIE))
        accuracy, log_loss, count = measure(result, truth)
        within = 0.005 if count >= 200 else 2.01 / count
        assert accuracy == pytest.approx(row["accuracy_answer"], abs=within), row["dataset"]
        assert log_loss == pytest.approx(row["log_loss_answer"], abs=0.03), row["dataset"]
        hot = replace(result, scores=tempered(result.scores, 0.73))
        assert measure(hot, truth)[1] == pytest.approx(row["log_loss_tempered"], abs=0.03), row["dataset"]
        found[row["dataset"]] = accuracy, log_loss
    # The numbers are of readings with every worker; only here does a worker follow another one.
    assert followed == ["llmbar_human"]
    assert not confidence
    table = rows.filter(pl.col("group").is_in(["paper", "extra"]) & ~pl.col("dataset").is_in(LATER))
    assert table.height == 33
    means = np.mean([found[name] for name in table["dataset"]], axis=0)
    assert means[0] == pytest.approx(table["accuracy_answer"].mean(), abs=0.001)
    assert means[1] == pytest.approx(table["log_loss_answer"].mean(), abs=0.005)


def check_confidence(result: cw.Result, truth: Any, expected: dict[str, Any]) -> None:
    """Compare a result with its row of golden/confidence.csv."""
    accuracy, log_loss, count = measure(result, truth)
    assert (result.probabilities == result.scores).all()  # no second calibration follows
    assert accuracy == pytest.approx(expected["accuracy"], abs=1.001 / count), expected["crowd"]
    confidence = result.confidence[match(result, truth).items].mean()
    assert confidence == pytest.approx(expected["mean_confidence"], abs=0.002), expected["crowd"]
    assert log_loss == pytest.approx(expected["log_loss"], abs=0.002), expected["crowd"]


def area_under_curve(true: Array, score: Array) -> float:
    """Return how often a true item has a higher score than a false one."""
    ranks, count = stats.rankdata(score), true.sum()
    return float((ranks[true].sum() - count * (count + 1) / 2) / (count * (~true).sum()))


@pytest.mark.parametrize("shape", [(2000, 50, 2, 5), (2000, 50, 4, 8), (1000, 100, 3, 10)], ids=str)
def test_its_own_parameters_are_recovered(shape: tuple[int, int, int, int]) -> None:
    crowd = simulate(*shape, seed=1)
    result = cw.Adjudicator().fit(crowd.labels)
    workers = result.workers
    others = workers.centre[~np.eye(shape[2], dtype=bool)]
    assert 1.6 < np.diagonal(workers.centre).mean() - others.mean() < 2.3
    # The parts overlap where there are two classes: their sum is what the labels say.
    assert workers.variances.sum() == pytest.approx(sum(VARIANCES), rel=0.5)
    assert workers.type_shares[0] == pytest.approx(SHARES[0], abs=0.2)
    assert workers.type_shares[4:].sum() == pytest.approx(sum(SHARES[4:]), abs=0.1)
    true = crowd.accuracy[result.names.workers.to_numpy()]
    assert stats.pearsonr(result.quality.value, true).statistic > 0.85
    assert result.difficulty is not None
    assert area_under_curve(crowd.traps[result.names.items.to_numpy()], result.difficulty) > 0.65
    majority = cw.MajorityVote().fit(crowd.labels)
    assert cw.accuracy(result, crowd.truth) > cw.accuracy(majority, crowd.truth) + 0.005
    latent = cw.Adjudicator("latent").fit(crowd.labels)
    right = (latent.answers == crowd.classes[latent.names.items.to_numpy()]).mean()
    assert latent.scores.max(axis=1).mean() == pytest.approx(right, abs=0.04)


@pytest.mark.slow
def test_quality_intervals_cover_in_its_own_crowds() -> None:
    alone, both = [], []
    for seed in range(6):
        for shape in ((2000, 50, 2, 5), (2000, 50, 4, 8), (1000, 100, 3, 10), (1500, 250, 3, 5), (1000, 30, 2, 20)):
            crowd = simulate(*shape, seed=seed)
            result = cw.Adjudicator().fit(crowd.labels)
            true = crowd.accuracy[result.names.workers.to_numpy()]
            quality = result.quality
            assert quality.low is not None
            assert quality.high is not None
            assert quality.each_alone is not None
            alone.append(((quality.each_alone[0] <= true) & (true <= quality.each_alone[1])).mean())
            both.append(((quality.low <= true) & (true <= quality.high)).mean())
    assert 0.93 <= np.mean(alone) <= 0.97
    assert 0.93 <= np.mean(both) <= 0.99  # by calibrated confidence, which was fitted to other crowds than these


def renamed(labels: Labels, seed: int) -> tuple[Labels, list[int]]:
    """Return the same labels in another order with other names, and which class became which."""
    random = np.random.default_rng(seed)
    item = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    classes = random.permutation(labels.n_classes)
    items, workers = random.permutation(labels.n_items), random.permutation(labels.n_workers)
    rows = random.permutation(len(item))
    said = classes[labels.labels][rows]
    return Labels.from_arrays(items[item][rows], workers[labels.workers][rows], said), classes.tolist()


@pytest.mark.parametrize("few", [16, 1], ids=["matrices", "many classes"])
def test_names_make_no_difference(few: int) -> None:
    crowd = simulate(150, 20, 4, 6, seed=3)
    with patch("crowdwise.methods.adjudicator.method.MATRIX_CLASSES", few):
        result = cw.Adjudicator().fit(crowd.labels)
        other, classes = renamed(crowd.labels, 1)
        again = cw.Adjudicator().fit(other)
    random = np.random.default_rng(1)
    random.permutation(4)
    items = random.permutation(150)
    place = {name: position for position, name in enumerate(again.names.items)}
    rows = [place[items[i]] for i in range(150)]
    np.testing.assert_allclose(again.scores[rows][:, classes], result.scores, atol=1e-9)


def test_few_and_many_classes_agree() -> None:
    """The form for many classes leaves out the rest of the logits and classes that nobody named."""
    crowd = simulate(2000, 40, 6, 6, seed=2, variances=(0.5, 0.2, 0.3, 0.0))
    whole = cw.Adjudicator().fit(crowd.labels)
    with MANY_CLASSES:
        named = cw.Adjudicator().fit(crowd.labels)
    assert (whole.answers == named.answers).mean() > 0.98
    assert cw.accuracy(named, crowd.truth) == pytest.approx(cw.accuracy(whole, crowd.truth), abs=0.005)
    assert stats.pearsonr(whole.scores.ravel(), named.scores.ravel()).statistic > 0.99
    assert named.workers.variances == pytest.approx(whole.workers.variances[:3], rel=0.5)


@pytest.mark.slow
def test_a_thousand_classes() -> None:
    crowd = cw.simulate(2000, 50, 1000, labels_per_item=5, accuracy=0.6, seed=1)
    result = cw.Adjudicator().fit(crowd.labels)
    assert cw.accuracy(result, crowd.truth) > cw.accuracy(cw.MajorityVote().fit(crowd.labels), crowd.truth)
    np.testing.assert_allclose(result.scores.sum(axis=1), 1.0)
    why = cw.explain(result, crowd.labels, result.names.items[0])
    lead = np.log(result.scores[0, result.ranking[0][0]] / result.scores[0, result.ranking[1][0]])
    assert why.difference == pytest.approx(lead, rel=1e-6)


def test_what_does_not_fit_in_memory_is_refused() -> None:
    labels = cw.Labels.from_arrays(range(20_000), range(20_000), np.arange(20_000) % 19_000)
    with pytest.raises(cw.DataError, match=r"20,000 workers with 19,000 classes would take .* GB\. Use a method"):
        cw.Adjudicator().fit(labels)


@pytest.mark.parametrize("read_out", ["answer", "latent"])
def test_a_changed_vote_does_what_the_explanation_says(read_out: Any) -> None:
    crowd = simulate(200, 15, 3, 5, seed=5)
    result = cw.Adjudicator(read_out).fit(crowd.labels)
    flips = 0
    for i in range(30):
        item = result.names.items[i]
        why = cw.explain(result, crowd.labels, item)
        if why.flip is None:
            continue
        flips += 1
        one = crowd.labels.slice(i, i + 1)
        instead = dict(why.flip.changes.select("worker", "instead").iter_rows())
        said = [
            instead.get(result.names.workers[int(worker)], result.names.classes[int(label)])
            for worker, label in zip(one.workers, one.labels, strict=True)
        ]
        codes = np.array([result.names.classes.index_of(label) for label in said])
        added = result.method.contributions(one, i, result.workers)
        assert added.rescore is not None
        assert result.names.classes[int(added.rescore(codes).argmax())] == why.flip.label != why.label
    assert flips > 20


def panel(seed: int, accuracies: Array, copies: int, rate: float, n_items: int = 400) -> tuple[Labels, dict[int, int]]:
    """Simulate a panel of independent workers, and copies of the first of them."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n_items)

    def answer(accuracy: float) -> Array:
        return np.where(random.random(n_items) < accuracy, truth, 1 - truth)

    rows = [answer(accuracy) for accuracy in accuracies]
    rows += [np.where(random.random(n_items) < rate, rows[0], answer(accuracies[0])) for _ in range(copies)]
    items, workers = np.tile(np.arange(n_items), len(rows)), np.repeat(np.arange(len(rows)), n_items)
    return Labels.from_arrays(items, workers, np.concatenate(rows)), dict(enumerate(truth.tolist()))


def test_exact_copies_count_once() -> None:
    accuracies = np.concatenate([[0.55], np.linspace(0.6, 0.85, 10)])
    labels, truth = panel(1, accuracies, copies=5, rate=1.0)
    result = cw.Adjudicator().fit(labels)
    assert result.workers.exponents.tolist() == [1 / 6, *[1] * 10, *[1 / 6] * 5]
    assert cw.accuracy(result, truth) > 0.9 > 0.7 > cw.accuracy(cw.DawidSkene().fit(labels), truth)


def test_a_copy_counts_in_full_where_the_others_are_absent() -> None:
    copies = Copies.of(np.array([1 / 3, 1, 1 / 3, 1 / 3]), [np.array([0, 2, 3])])
    labels = cw.Labels.from_arrays([1, 1, 1, 1, 2, 2, 2, 3, 3], list("abcdabcab"), list("xyxxxyxxy"))
    assert copies.weights(labels) == pytest.approx([1 / 3, 1, 1 / 3, 1 / 3, 1 / 2, 1, 1 / 2, 1, 1])


def test_near_copies_count_once_if_asked_and_are_said() -> None:
    accuracies = np.concatenate([[0.55], np.linspace(0.6, 0.85, 10)])
    labels, truth = panel(2, accuracies, copies=5, rate=0.9)
    separate = cw.Adjudicator(copies="separate").fit(labels)
    once = cw.Adjudicator(copies="once").fit(labels)
    assert cw.accuracy(separate, truth) < 0.7 < 0.9 < cw.accuracy(once, truth)
    for result in separate, once:
        said = rivals(result, labels)
        assert said is not None
        assert len(said.settling) == 10
        # The truth of the items that are named tells which reading is right.
        right = said.answers.filter(pl.col("item").is_in(said.settling.implode())).with_columns(
            pl.col("item").replace_strict(truth).alias("truth")
        )
        rival_is_right = (right["reading_1"] == right["truth"]).mean()
        assert isinstance(rival_is_right, float)
        assert (rival_is_right > 0.6) == (result is separate)
        assert set(said.group) == {0, *range(11, 16)}, "the copied one and its copies"


@pytest.mark.slow
def test_panels_with_a_copy_are_said_and_independent_ones_are_not() -> None:
    random = np.random.default_rng(7)
    copied = sum(found_in(*panel(seed, np.full(7, 0.8), copies=1, rate=0.97)) for seed in range(20))
    alike = sum(found_in(*panel(seed, np.full(8, 0.8), copies=0, rate=0.0)) for seed in range(20))
    mixed = sum(found_in(*panel(seed, random.uniform(0.6, 0.85, 10), copies=0, rate=0.0)) for seed in range(20))
    assert copied >= 19
    assert alike <= 1
    assert mixed <= 1


def found_in(labels: Labels, _truth: dict[int, int]) -> bool:
    return rivals(cw.Adjudicator(copies="separate").fit(labels), labels) is not None


@pytest.mark.data
def test_a_doubtful_reading_is_read_again(data: Path) -> None:
    """On llmbar, the votes lead to a reading that is 26 % right; another explains the labels better, and is taken."""
    folder = data / "judges" / "llmbar"
    labels, truth = cw.read_labels(folder / "label.csv", duplicates="all"), cw.read_truth(folder / "truth.csv")
    with patch("crowdwise.methods.adjudicator.method.is_doubtful", lambda _: False):
        assert cw.accuracy(cw.Adjudicator().fit(labels), truth) < 0.3
    assert cw.accuracy(cw.Adjudicator().fit(labels), truth) == pytest.approx(0.902, abs=0.005)


def test_a_power_of_many_classes_keeps_the_order_and_the_sum() -> None:
    random = np.random.default_rng(0)
    chances = random.dirichlet(np.full(40, 0.1), 500)
    chances[0] = 1 / 40
    hot = tempered(chances, 0.5)
    np.testing.assert_allclose(hot.sum(axis=1), 1.0)
    np.testing.assert_allclose(hot[0], 1 / 40)
    order = np.argsort(chances, axis=1)
    assert (np.diff(np.take_along_axis(hot, order, axis=1), axis=1) >= -1e-15).all()
    assert (hot.max(axis=1) <= chances.max(axis=1) + 1e-12).all()


def test_aggregate_takes_labels_paths_and_tables(tmp_path: Path) -> None:
    crowd = cw.simulate(60, 8, 3, seed=1)
    path = tmp_path / "votes.csv"
    crowd.rows.rename({"item": "q"}).write_csv(path)
    expected = cw.Adjudicator().fit(crowd.labels).to_frame()
    for given in (crowd.labels, crowd.rows, crowd.rows.to_pandas(), crowd.rows.with_columns(place=pl.lit(1))):
        assert cw.aggregate(given).to_frame().equals(expected)
    assert cw.aggregate(path, item="q").to_frame().equals(expected)
    with pytest.raises(cw.CallError, match="item is for a path or a table, and these labels are read already"):
        cw.aggregate(crowd.labels, item="q")
    with pytest.raises(cw.DataError, match=r"takes one class a vote.*or use bwa, which takes several"):
        cw.aggregate(pl.DataFrame({"item": [1, 1], "worker": [1, 1], "label": [1, 2]}), duplicates="set")


def test_another_power_is_not_calibrated_and_that_is_said() -> None:
    labels = cw.simulate(60, 8, 3, seed=1).labels
    assert "uncalibrated" not in [one.kind for one in cautions(cw.Adjudicator().fit(labels), labels)]
    other = cautions(cw.Adjudicator(power=0.5).fit(labels), labels)
    assert any("no constant for adjudicator with power=0.5" in one.sentence for one in other)


def test_the_old_name_of_the_power_is_refused() -> None:
    with pytest.raises(cw.CallError, match=r"temperature was the inverse of what is called so elsewhere.*use power"):
        cw.Adjudicator(temperature=0.73)  # type: ignore[call-arg]
    with pytest.raises(cw.CallError, match="--set temperature=1: temperature was the inverse"):
        parse(cw.Adjudicator, ["temperature=1"])


def test_a_lower_power_is_less_sure() -> None:
    labels = cw.simulate(60, 8, 3, seed=1).labels
    usual, less = cw.Adjudicator().fit(labels), cw.Adjudicator(power=0.5).fit(labels)
    assert (less.best_scores < usual.best_scores).all()
    assert (less.answers == usual.answers).all()


@pytest.mark.parametrize("classes", [16, 17])
def test_which_form_runs_depends_on_the_number_of_classes_alone(classes: int) -> None:
    few, many = cw.simulate(400, 5, classes, seed=1).labels, cw.simulate(400, 200, classes, seed=1).labels
    assert type(cw.Adjudicator().fit(few).workers) is type(cw.Adjudicator().fit(many).workers)
    assert isinstance(cw.Adjudicator().fit(few).workers, FewClasses) == (classes == 16)


def test_readings_of_labels_elsewhere_are_not_looked_for(tmp_path: Path) -> None:
    crowd = cw.simulate(60, 8, 3, seed=1)
    crowd.rows.write_parquet(tmp_path / "votes.parquet")
    with cw.read_labels(tmp_path / "votes.parquet", engine="disk", workdir=tmp_path) as labels:
        assert cw.rivals(cw.Adjudicator().fit(labels), labels) is None
