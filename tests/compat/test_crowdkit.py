"""Tests of `crowdwise.compat.crowdkit` against facts about crowd-kit 1.4.2: names, orders, dtypes, numbers, errors."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdwise import CallError, DataError
from crowdwise.compat.crowdkit.aggregation import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    BinaryRelevance,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from crowdwise.compat.crowdkit.aggregation.utils import evaluate, evaluate_equal
from tests.support.cases import examples
from tests.support.toy_crowd import EVERY, GOLD, TASKS, TRUTH, WORKERS, crowd, frame, toy_answers


@pytest.fixture
def toy() -> Any:
    return toy_answers()


def test_the_votes_of_the_toy_crowd(toy: Any) -> None:
    vote = MajorityVote()
    assert vote.fit_predict(toy) is vote.labels_
    assert vote.labels_.tolist() == ["no", "yes", "no", "yes", "no"]  # t1 is tied: the first in sorted order
    assert vote.skills_.tolist() == [0.6, 0.8, 1.0, 0.4, 0.8]
    for method in (Wawa(), ZeroBasedSkill()):
        assert method.fit_predict_proba(toy) is method.probas_
        np.testing.assert_allclose(method.skills_, vote.skills_, atol=1e-5)
        np.testing.assert_allclose(method.probas_["no"], [0.538462, 1 / 3, 0.722222, 0, 0.833333], atol=1e-5)
    gold = GoldMajorityVote()
    pd.testing.assert_series_equal(gold.fit_predict(toy, GOLD), TRUTH)
    assert gold.skills_.tolist() == [0.5, 1, 1, 0.5, 0]
    np.testing.assert_allclose(gold.probas_["yes"], [0.75, 0.833333, 1 / 3, 1, 0.166667], atol=1e-6)


def test_dawid_skene_step_by_step(toy: Any) -> None:
    start = DawidSkene(0).fit(toy)
    assert start.probas_["no"].tolist() == [0.5, 0.4, 0.6, 0, 0.8]
    np.testing.assert_allclose(start.priors_, [0.46, 0.54])
    np.testing.assert_allclose(start.errors_.loc[("w1", "yes")], [0.78, 0.81], atol=0.005)
    assert start.labels_["t1"] == "no"
    once = DawidSkene(1).fit(toy)
    np.testing.assert_allclose(once.probas_["no"], [0.35, 0.26, 0.87, 0, 0.95], atol=0.005)
    np.testing.assert_allclose(once.priors_, [0.49, 0.51], atol=0.005)
    assert len(once.loss_history_) == 1


@pytest.mark.parametrize("method", [DawidSkene, OneCoinDawidSkene, GLAD, MACE])
def test_the_models_find_the_truth_of_the_toy_crowd(toy: Any, method: Any) -> None:
    found = method().fit_predict(toy)
    assert evaluate(TRUTH.to_frame("label"), found.to_frame("label"), evaluate_equal) == 1.0
    assert method().fit_predict_proba(toy).sum(axis=1).to_numpy() == pytest.approx(1)


def test_names_and_orders_are_those_of_crowd_kit() -> None:
    rows = frame(("b", "y", "q"), ("b", "x", "p"), ("a", "y", "q"), ("a", "x", "q"), ("a", "z", "p"))
    vote, ds, glad, mace = MajorityVote().fit(rows), DawidSkene().fit(rows), GLAD().fit(rows), MACE().fit(rows)
    coin, skilled = OneCoinDawidSkene().fit(rows), MMSR()
    skilled.fit_predict(rows)
    for one in (vote, ds, glad, mace, coin, skilled):
        assert one.labels_.name == "agg_label"
        assert one.labels_.index.name == "task"
    for sorted_one in (vote, glad, skilled, KOS().fit(rows)):
        assert list(sorted_one.labels_.index) == ["a", "b"]
    for one in (ds, coin, mace):
        assert list(one.labels_.index) == list(one.probas_.index) == ["b", "a"]
    assert (vote.probas_.columns.name, ds.probas_.columns.name) == ("label", "label")
    assert (glad.probas_.columns.name, mace.probas_.columns.name) == ("variable", None)
    assert (list(ds.probas_.columns), list(mace.probas_.columns)) == (["p", "q"], ["q", "p"])
    assert (list(vote.skills_.index), list(coin.skills_.index)) == (["x", "y", "z"], ["y", "x", "z"])
    assert (vote.skills_.name, ds.priors_.name, glad.alphas_.name, glad.betas_.name) == (
        "skill",
        "prior",
        "alpha",
        "beta",
    )
    assert (list(glad.alphas_.index), list(glad.betas_.index)) == (["y", "x", "z"], ["b", "a"])
    assert list(ds.errors_.index) == [("y", "q"), ("x", "p"), ("x", "q"), ("z", "p")]
    assert (list(ds.errors_.index.names), ds.errors_.columns.name) == (["worker", "label"], None)
    assert (mace.spamming_.shape, mace.thetas_.shape) == ((3, 2), (3, 2))
    assert skilled.scores_.columns.name == "label"
    assert not hasattr(vote, "predict_score")


@pytest.mark.parametrize("method", EVERY)
def test_labels_keep_their_type(toy: Any, method: Any) -> None:
    for said in (toy["label"], toy["label"] == "yes", (toy["label"] == "yes").astype("int8")):
        rows = toy.assign(label=said, task=toy["task"].str[1:].astype(int))
        labels = method().fit_predict(rows)
        assert labels.dtype == rows["label"].dtype
        assert labels.index.dtype == rows["task"].dtype


def test_labels_may_be_anything_that_can_be_hashed(toy: Any) -> None:
    sets = toy.assign(label=[frozenset([label]) for label in toy["label"]])
    for method in (MajorityVote(), DawidSkene(), Wawa()):
        found = method.fit_predict(sets).sort_index().map(lambda label: next(iter(label)))
        assert found.drop("t1").equals(type(method)().fit_predict(toy).drop("t1"))


def test_a_table_without_rows() -> None:
    nothing = pd.DataFrame([], columns=["task", "worker", "label"])
    for method in EVERY:
        assert method().fit_predict(nothing).empty
    fitted = DawidSkene().fit(nothing)
    pd.testing.assert_frame_equal(fitted.probas_, pd.DataFrame())
    pd.testing.assert_series_equal(fitted.labels_, pd.Series(dtype=float, name="agg_label"))
    pd.testing.assert_series_equal(KOS().fit_predict(nothing), pd.Series([], dtype="O", name="agg_label"))
    assert not hasattr(OneCoinDawidSkene().fit(nothing), "skills_")
    assert GoldMajorityVote().fit_predict_proba(nothing, pd.Series(dtype=float)).empty
    pd.testing.assert_series_equal(
        BinaryRelevance().fit_predict(nothing), pd.Series(dtype=float, name="agg_label"), check_index_type=False
    )


def test_a_missing_column_is_a_data_error_and_a_key_error(toy: Any) -> None:
    for method in EVERY:
        for column in ("task", "worker", "label"):
            with pytest.raises(KeyError, match=f"has no column {column}") as refused:
                method().fit_predict(toy.drop(columns=column))
            assert isinstance(refused.value, DataError)


@pytest.mark.parametrize("method", EVERY)
def test_rows_without_a_label_are_left_out(toy: Any, method: Any) -> None:
    more = pd.concat([toy, frame(("t1", "w1", None), ("t6", "w6", None))]).astype(toy.dtypes)
    pd.testing.assert_series_equal(method().fit_predict(more), method().fit_predict(toy))


@pytest.mark.parametrize("overlap", [3, 300])
def test_a_cyclic_crowd_stays_undecided(overlap: int) -> None:
    rows = frame(*((t, w, "yes" if (w - t) % 3 else "no") for w in range(overlap) for t in range(3)))
    fitted = DawidSkene(20).fit(rows)
    np.testing.assert_allclose(fitted.probas_["no"], 1 / 3, atol=0.005)
    np.testing.assert_allclose(fitted.priors_, [1 / 3, 2 / 3], atol=0.005)


def test_gold_is_clamped_and_may_name_a_label_that_nobody_gave(toy: Any) -> None:
    gold = pd.Series(["no", "maybe", "yes"], index=["t1", "t2", "t1"])
    for n_iter in (0, 1, 5):
        probas = DawidSkene(n_iter).fit_predict_proba(toy, gold)
        assert probas.loc["t1", "yes"] == pytest.approx(1)  # of several truths, the last
        assert probas.loc["t2", "maybe"] == pytest.approx(1)
    assert DawidSkene().fit(toy, pd.Series({"other": "x"})).labels_.sort_index().equals(TRUTH)


def errors(toy: Any, value: float) -> Any:
    index = pd.MultiIndex.from_product([WORKERS, ["yes", "no"]], names=["worker", "label"])
    return pd.DataFrame(value, index=index, columns=["no", "yes"])


def test_initial_errors_enter_the_first_step_only(toy: Any) -> None:
    added = errors(toy, 0.0)
    added.loc[("w2", "yes"), :] = [1.1, 0.9]
    added.loc[("w2", "no"), :] = [0.6, 0.4]
    first = DawidSkene(0, initial_error_strategy="addition").fit(toy, initial_error=added)
    np.testing.assert_allclose(first.errors_.loc[("w2", "yes")], [0.5, 0.75])
    np.testing.assert_allclose(first.errors_.loc[("w2", "no")], [0.5, 0.25])
    part = DawidSkene(10, initial_error_strategy="addition").fit(toy, initial_error=added.iloc[:3])
    assert part.labels_.sort_index().equals(TRUTH)
    half = errors(toy, 0.5)
    assert DawidSkene(initial_error_strategy="assign").fit_predict(toy, initial_error=half).nunique() == 1
    for table, said in (
        (errors(toy, 0.0), "The sum of each worker's error matrix in initial_error should be 1.0"),
        (half.iloc[:3], "4 are not, first 'w2'"),
        (half.rename_axis(["who", "label"]), "must be worker and label"),
    ):
        with pytest.raises(ValueError, match=said):
            DawidSkene(initial_error_strategy="assign").fit(toy, initial_error=table)
    with pytest.raises(CallError, match="has to be"):
        DawidSkene(initial_error_strategy="other").fit(toy, initial_error=half)  # type: ignore[arg-type]


def test_the_loss_of_dawid_skene_never_falls() -> None:
    rows, _ = crowd()
    for method in (DawidSkene(50, 0), OneCoinDawidSkene(50, 0)):
        assert (np.diff(method.fit(rows).loss_history_) >= -1e-12).all()


def test_skills_that_are_missing(toy: Any) -> None:
    skills = pd.Series(dict.fromkeys(WORKERS[1:], 1.0))
    with pytest.raises(ValueError, match="5 rows are of workers who have no skill, first 'w1'"):
        MajorityVote().fit(toy, skills)
    ignoring = MajorityVote(on_missing_skill="ignore").fit(toy, skills)
    assert "w1" not in ignoring.skills_.index
    with pytest.raises(ValueError, match="5 tasks have no answer"):
        MajorityVote(on_missing_skill="ignore").fit(toy, skills.iloc[:0])
    trusted = MajorityVote(1000.0, "value").fit(toy, skills)
    assert trusted.labels_.tolist() == ["no", "yes", "yes", "yes", "yes"]
    for wrong in (MajorityVote(on_missing_skill="typo"), MajorityVote(1.0), MajorityVote(None, "value")):
        with pytest.raises(ValueError, match="on_missing_skill"):
            wrong.fit(toy, skills)


def test_kos_is_for_two_labels() -> None:
    with pytest.raises(ValueError, match="two labels, and here are 3"):
        KOS().fit(crowd()[0])


def test_lists_of_labels() -> None:
    rows = frame(
        ("t1", "a", ["x", "y"]), ("t1", "b", ["x"]), ("t1", "c", ["y", "x"]), ("t2", "a", ["z"]), ("t2", "b", [])
    )
    for method in (MajorityVote(), DawidSkene(), Wawa(), GLAD()):
        both = BinaryRelevance(method)
        labels = both.fit_predict(rows)
        assert labels["t1"] == ["x", "y"]
        assert (labels.index.name, labels.name, sorted(both.aggregators_)) == ("task", "agg_label", ["x", "y", "z"])
    with pytest.raises(AssertionError):
        BinaryRelevance("majority")


@examples(15)
@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_order_of_rows_changes_only_the_order_of_results(random: Any, seed: int) -> None:
    rows, _ = crowd(seed, 12, 5)
    places = list(range(len(rows)))
    random.shuffle(places)
    for method in (MajorityVote, ZeroBasedSkill, DawidSkene, OneCoinDawidSkene):
        one, other = method().fit_predict_proba(rows), method().fit_predict_proba(rows.iloc[places])
        pd.testing.assert_frame_equal(one, other.loc[one.index], check_exact=True)


def test_better_than_the_majority_where_workers_differ() -> None:
    rows, truth = crowd(3, 300, 8)
    for method in (MajorityVote, DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, Wawa, ZeroBasedSkill):
        found = method().fit_predict(rows)
        assert (found == truth.reindex(found.index)).mean() > 0.9, method


def test_priors_of_glad(toy: Any) -> None:
    flat = GLAD(3).fit(toy)
    same = GLAD(
        3,
        labels_priors=pd.Series({"yes": 0.5, "no": 0.5}),
        alphas_priors_mean=pd.Series(1.0, index=WORKERS),
        betas_priors_mean=pd.Series(1.0, index=TASKS),
    ).fit(toy)
    pd.testing.assert_frame_equal(flat.probas_, same.probas_)
    common = GLAD(3, labels_priors=pd.Series({"yes": 0.99, "no": 0.01})).fit(toy)
    assert (common.probas_["yes"] >= flat.probas_["yes"]).all()
    assert GLAD(3, alphas_priors_mean=pd.Series(3.0, index=WORKERS)).fit(toy).alphas_.mean() > flat.alphas_.mean()
    with pytest.raises(DataError, match="some have none"):
        GLAD(labels_priors=pd.Series({"yes": 1.0})).fit(toy)
