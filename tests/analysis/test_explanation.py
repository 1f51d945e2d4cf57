"""Tests of explanations: they are exact for every method, and no smaller change of votes is possible."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import crowdwise as cw
from crowdwise.analysis.explanation import Explanation
from crowdwise.results.contributions import Contributions
from crowdwise.testing import table
from tests.support.cases import CASES, EVERY, each_method, each_method_few_in_a_hurry, examples
from tests.support.crowds import Rows, crowds, fitting


def contributions_of(result: cw.Result, labels: cw.Labels, i: int) -> tuple[Contributions, Any]:
    one = labels.slice(i, i + 1)
    return result.method.contributions(one, i, result.workers), one.labels.astype(np.int64)


def fitted(method: Any, rows: Rows) -> tuple[cw.Labels, cw.Result]:
    """Return labels and the result of the method; classes are merged if there are more than it can take."""
    labels = cw.Labels.from_frame(table(fitting(method, rows)))
    return labels, method.fit(labels)


def explains_itself(method: Any) -> bool:
    return not method.limits().unexplained


def all_impossible(result: cw.Result, labels: cw.Labels, i: int) -> bool:
    added, said = contributions_of(result, labels, i)
    return not np.isfinite(added.sums(said)).any()


def check(why: Explanation, result: cw.Result, labels: cw.Labels, i: int) -> None:
    """Check that contributions add up to the difference of the scores, and that scores follow from the sums."""
    added = why.prior + float(why.votes["contribution"].sum()) + why.limit
    assert added == pytest.approx(why.difference)
    best, second = result.scores[i, result.ranking[0][i]], result.scores[i, result.ranking[1][i]]
    if why.scale == "score":
        assert why.difference == pytest.approx(best - second, abs=1e-9)
    elif second > 1e-200:
        assert why.difference == pytest.approx(np.log(best / second), abs=1e-6)
    else:  # the score of the runner-up is too small to be compared
        assert why.difference > 100
    sums, said = contributions_of(result, labels, i)
    assert sums.scores(said) == pytest.approx(result.scores[i], abs=1e-9)


@each_method
@examples(30)
@given(rows=crowds())
def test_contributions_add_up_or_the_method_says_why_not(key: str, rows: Rows) -> None:
    labels, result = fitted(EVERY[key], rows)
    for i, item in enumerate(labels.names.items):
        if labels.n_classes == 1 or not explains_itself(result.method) or all_impossible(result, labels, i):
            with pytest.raises(cw.CallError, match=r"^[^.]*\.$"):
                cw.explain(result, labels, item)
        else:
            check(cw.explain(result, labels, item), result, labels, i)


@each_method_few_in_a_hurry
def test_contributions_add_up_on_a_larger_crowd(key: str) -> None:
    rows = cw.simulate(300, 20, 4, labels_per_item=6, accuracy=0.55, seed=2).rows.rows()
    labels, result = fitted(EVERY[key], rows)
    if not explains_itself(result.method):
        with pytest.raises(cw.CallError, match="cannot tell what each vote contributes"):
            cw.explain(result, labels, labels.names.items[0])
        return
    for i, item in enumerate(labels.names.items):
        check(cw.explain(result, labels, item), result, labels, i)


def test_a_method_that_cannot_explain_itself_can_say_why() -> None:
    labels = cw.simulate(20, 5, seed=1).labels
    with pytest.raises(cw.CallError, match=r"depends on the item's scores of the iteration before\.$"):
        cw.explain(cw.PTBCC().fit(labels), labels, "i01")


def test_votes_for_several_classes_are_one_contribution_each() -> None:
    rows = [("i0", "w0", "c0"), ("i0", "w0", "c1"), ("i0", "w1", "c0"), ("i0", "w2", "c2"), ("i1", "w0", "c1")]
    labels = cw.Labels.from_frame(table(rows), duplicates="set")
    result = cw.BWA().fit(labels)
    why = cw.explain(result, labels, "i0")
    assert dict(why.votes.select("worker", "said").iter_rows()) == {"w0": "c0 + c1", "w1": "c0", "w2": "c2"}
    check(why, result, labels, 0)


def answers_after(added: Contributions, said: Any, changed: tuple[int, ...], winner: int) -> bool:
    """Return whether another class gets the best score, without a tie, if exactly these votes change to it."""
    for new in set(range(len(added.prior))) - {winner}:
        trial = said.copy()
        trial[list(changed)] = new
        scores = added.scores(trial)
        if scores[new] > np.delete(scores, new).max() + 1e-6 * np.abs(scores).max():
            return True
    return False


@pytest.mark.parametrize("method", [cw.Adjudicator(), cw.BWA(), cw.MajorityVote()])
def test_a_counterfactual_is_what_fitting_again_gives(method: Any) -> None:
    labels = cw.simulate(120, 12, 4, labels_per_item=5, accuracy=0.6, seed=6).labels
    result = method.fit(labels)
    for i in range(0, 120, 15):
        flip = cw.explain(result, labels, labels.names.items[i]).flip
        assert flip is not None
        assert set(flip.changes["instead"]) == {flip.label}, "votes change to what then is the answer"
        changed = labels.labels.copy()
        rows = np.arange(*labels.item_starts[i : i + 2])
        who = labels.names.workers.gather(labels.workers[rows]).is_in(flip.changes["worker"].implode())
        changed[rows[who.to_numpy()]] = labels.names.classes.index_of(flip.label)
        assert method.fit(replace(labels, labels=changed)).labels[i] == flip.label


def test_an_answer_that_nobody_named_is_marked_everywhere() -> None:
    # bad says b where a is true and the other way round; alone on an item, its b means a.
    rows = [(i, worker, "ab"[(i + (worker == "bad")) % 2]) for i in range(60) for worker in ("u", "v", "w", "bad")]
    rows += [(60, "bad", "b"), (61, "bad", "a")]
    labels = cw.Labels.from_arrays(*map(list, zip(*rows, strict=True)))
    result = cw.DawidSkene().fit(labels)
    why = cw.explain(result, labels, 60)
    assert (why.label, why.named) == ("a", False)
    assert why.remedy.startswith("No worker named 'a'. ")
    assert cw.explain(result, labels, 0).named
    (caution,) = (one for one in cw.cautions(result, labels) if one.kind == "unnamed answers")
    assert caution.sentence.startswith("2 answers are classes that no worker named")
    assert caution.items == (60, 61)
    listed = dict(cw.review(result, labels, top=62).select("item", "reason").rows())
    assert listed[60].endswith("; nobody says 'a'")
    assert "nobody says" not in listed[0]


@pytest.mark.parametrize("key", ["mv", "iwmv", "mmsr", "zc", "ds", "lfc", "mace", "loglinear", "bwa"])
def test_the_smallest_flip_flips_and_nothing_smaller_does(key: str) -> None:
    labels = cw.simulate(40, 12, 3, labels_per_item=4, accuracy=0.5, seed=5).labels
    result = CASES[key].fit(labels)
    classes = labels.names.classes.to_list()
    for i, item in enumerate(labels.names.items):
        why = cw.explain(result, labels, item)
        added, said = contributions_of(result, labels, i)
        winner, workers = int(result.answers[i]), labels.names.workers.gather(labels.slice(i, i + 1).workers).to_list()
        needed = len(said) + 1 if why.flip is None else why.flip.changes.height
        for count in range(1, needed):
            assert not any(answers_after(added, said, some, winner) for some in combinations(range(len(said)), count))
        if why.flip is None:
            continue
        after = said.copy()
        for worker, was, instead in why.flip.changes.iter_rows():
            assert classes[said[workers.index(worker)]] == was != instead
            after[workers.index(worker)] = classes.index(instead)
        assert classes[int(added.scores(after).argmax())] == why.flip.label != why.label


def test_an_impossible_runner_up_is_ruled_out_by_a_vote_and_drawn() -> None:
    rows = [(f"i{i}", f"w{j}", f"c{i % 2}") for i in range(6) for j in range(3)]
    labels = cw.Labels.from_frame(table(rows))
    why = cw.explain(cw.DawidSkene().fit(labels), labels, "i0")
    assert why.difference == np.inf
    assert why.steps()["end"].is_finite().all()
    assert "rules it out" in why.chart().to_json()


def test_many_votes_are_drawn_as_the_heaviest_and_the_rest() -> None:
    rows = [(f"i{i}", f"w{j}", f"c{(i + (j % 3 == 0)) % 2}") for i in range(6) for j in range(50)]
    labels = cw.Labels.from_frame(table(rows))
    why = cw.explain(cw.BWA().fit(labels), labels, "i0")
    steps = why.steps(10)
    assert steps["kind"].value_counts().sort("kind").rows() == [("lead", 1), ("prior", 1), ("rest", 1), ("vote", 10)]
    assert steps["end"][-2] == pytest.approx(why.difference)
    assert steps["step"][-2] == "40 more votes"


def test_items_are_found_by_name_and_by_text_and_strangers_are_named() -> None:
    labels = cw.Labels.from_arrays([7, 7, 8], ["a", "b", "a"], ["x", "y", "x"])
    result = cw.BWA().fit(labels)
    assert cw.explain(result, labels, 7).item == cw.explain(result, labels, "7").item == 7
    with pytest.raises(cw.CallError, match="There is no item 9; the first one is 7"):
        cw.explain(result, labels, 9)
    other = cw.Labels.from_arrays([7, 7, 9], ["a", "b", "a"], ["x", "y", "x"])
    with pytest.raises(cw.CallError, match="not those of the result: their items differ"):
        cw.explain(result, other, 7)


def test_the_interval_is_the_methods_own() -> None:
    labels = cw.simulate(50, 10, 3, seed=1).labels
    result = cw.BWA().fit(labels)
    why = cw.explain(result, labels, labels.names.items[3])
    assert result.variance is not None
    assert why.interval is not None
    spread = 1.96 * result.variance[3, result.answers[3]] ** 0.5
    assert why.interval == pytest.approx((max(why.score - spread, 0), min(why.score + spread, 1)), rel=1e-4)
    assert cw.explain(cw.DawidSkene().fit(labels), labels, labels.names.items[3]).interval is None
    assert isinstance(why.votes, pl.DataFrame)


@pytest.mark.parametrize(
    ("votes", "told"),
    [
        (3, "'w1' had said 'b' instead of 'a' and 'w2' had said 'b' instead of 'a'."),
        (5, "'w2' had said 'b' instead of 'a' and 'w3' had said 'b' instead of 'a'."),
        (11, "'w5' had said 'b' instead of 'a' and 1 more likewise."),
    ],
)
def test_the_last_of_several_changes_follows_an_and(votes: int, told: str) -> None:
    workers = [f"w{number}" for number in range(1, votes + 1)]
    labels = cw.Labels.from_arrays([1] * votes + [2], [*workers, "w1"], ["a"] * votes + ["b"])
    assert cw.explain(cw.MajorityVote().fit(labels), labels, 1).remedy.endswith(told)
