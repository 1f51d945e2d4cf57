"""Tests of planning: what to ask next, of the crowd and of an expert, and how many labels a target takes."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.planning.foresight import foresee
from crowdwise.analysis.planning.future import simulate_future
from crowdwise.analysis.planning.reasons import reasons
from crowdwise.analysis.planning.strategies import STRATEGIES
from crowdwise.numerics import Array
from tests.support import structured
from tests.support.commands import run
from tests.support.engines import on_disk_in


def with_lonely_item(labels_per_item: int = 10) -> pl.DataFrame:
    """Return items with many labels each, and one that has a single label."""
    rows = cw.simulate(60, 15, labels_per_item=labels_per_item, accuracy=0.9, seed=1).rows
    return pl.concat([rows, pl.DataFrame({"item": ["alone"], "worker": ["w03"], "label": ["c1"]})])


@pytest.fixture(scope="module")
def crowd() -> cw.Labels:
    return cw.simulate(120, 12, 3, labels_per_item=3, accuracy=0.7, seed=2).labels


@pytest.fixture(scope="module")
def found(crowd: cw.Labels) -> cw.Result:
    return cw.Adjudicator().fit(crowd)


def shared_errors(seed: int, items: int = 500, workers: int = 9) -> tuple[cw.Labels, Array]:
    """Return workers who nearly all say the same wrong class of every fourth item, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    trap = random.random(items) < 0.25
    right = random.random((workers, items)) < np.where(trap, random.uniform(0.1, 0.6, items), 0.92)
    said = np.where(right, truth, 1 - truth)
    worker, item = np.indices(said.shape)
    return cw.Labels.from_arrays(item.ravel(), worker.ravel(), said.ravel()), truth


def test_an_item_with_one_label_is_asked_first() -> None:
    frame = cw.next_labels(cw.Labels.from_frame(with_lonely_item()), budget=5).to_frame()
    assert frame["item"][0] == "alone"
    assert frame["reason"][0].startswith("one label only, 'c1'")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_budget_and_the_most_of_an_item_are_kept(crowd: cw.Labels, found: cw.Result, strategy: str, most: int) -> None:
    asked = cw.next_labels(crowd, result=found, budget=50, strategy=strategy, per_item_max=most)
    frame = asked.to_frame()
    assert asked.labels == frame["ask"].sum() == 50
    per_item = frame.group_by("item").agg(pl.col("ask").sum())["ask"]
    assert per_item.max() <= most  # type: ignore[operator]  # it is a number
    assert frame["confidence"].is_between(0, 1).all()
    assert frame["reason"].str.len_chars().min() > 5  # type: ignore[operator]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_budget_beyond_all_items_asks_each_as_often_as_allowed(
    crowd: cw.Labels, found: cw.Result, strategy: str
) -> None:
    asked = cw.next_labels(crowd, result=found, budget=10_000, strategy=strategy, per_item_max=2)
    assert asked.labels == 240
    assert "less than the budget of 10,000" in asked.summary


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_in_another_order_change_nothing(strategy: str) -> None:
    rows = cw.simulate(80, 10, labels_per_item=3, accuracy=0.7, seed=5).rows
    first = cw.next_labels(cw.Labels.from_frame(rows), budget=30, strategy=strategy).to_frame()
    for seed in (1, 2):
        shuffled = cw.Labels.from_frame(rows.sample(fraction=1, shuffle=True, seed=seed))
        assert cw.next_labels(shuffled, budget=30, strategy=strategy).to_frame().equals(first)


def test_an_expert_and_a_plan_do_not_depend_on_the_order_of_rows() -> None:
    rows = cw.simulate(80, 10, labels_per_item=3, accuracy=0.7, seed=5).rows
    one, other = (cw.Labels.from_frame(table) for table in (rows, rows.reverse()))
    asked = [cw.next_labels(labels, budget=9, ask="expert").to_frame() for labels in (one, other)]
    assert asked[0].equals(asked[1])
    assert cw.plan(one, target=0.9, price=0.1).to_dict() == cw.plan(other, target=0.9, price=0.1).to_dict()


def test_the_strategies_are_what_they_say() -> None:
    rows = cw.simulate(60, 12, labels_per_item=4.5, accuracy=0.7, seed=3).rows
    labels = cw.Labels.from_frame(rows)
    result = cw.aggregate(labels)
    answers = result.to_frame()

    def asked(strategy: str, **more: Any) -> pl.DataFrame:
        return cw.next_labels(labels, result=result, budget=10, strategy=strategy, per_item_max=1, **more).to_frame()

    assert asked("uncertain")["confidence"].to_list() == answers["confidence"].sort().head(10).to_list()
    best = asked("best_worker")
    quality = result.workers_frame().sort("quality", descending=True)["worker"].to_list()
    for item, worker in best.select("item", "worker").iter_rows():
        gave = set(rows.filter(pl.col("item") == item)["worker"])
        assert worker == next(name for name in quality if name not in gave)


def test_the_expected_gain_is_that_of_all_outcomes(crowd: cw.Labels) -> None:
    """For Dawid-Skene, whose posterior is known: add all labels that may come, and count right answers."""
    result = cw.DawidSkene().fit(crowd)
    gains = foresee(result, crowd, asked=4).gains()
    assert result.workers.confusion is not None
    matrix = result.workers.confusion[4]
    for item in (0, 7, 33):
        chance = result.probabilities[item]
        per_label = []
        for number in (1, 2, 3, 5):
            sequences = map(list, product(range(3), repeat=number))
            right = sum((chance * matrix[:, said].prod(axis=1)).max() for said in sequences)
            per_label.append((right - chance.max()) / number)
        assert gains[crowd.numbering.item_numbers[item]] == pytest.approx(max(per_label), abs=1e-12)


def test_a_few_labels_together_are_seen_where_one_is_not_enough() -> None:
    """All say the same here, so that one label more cannot change the answer, but several could."""
    rows = cw.simulate(100, 10, labels_per_item=5, accuracy=0.8, seed=1).rows
    item = pl.DataFrame({"item": ["x"] * 2, "worker": ["w01", "w02"], "label": ["c1"] * 2})
    labels = cw.Labels.from_frame(pl.concat([rows, item]))
    gain = foresee(cw.aggregate(labels), labels).gains()[labels.numbering.item_numbers[-1]]
    assert gain > 0.001


def test_what_the_adjudicator_foresees_starts_from_its_own_answers(crowd: cw.Labels, found: cw.Result) -> None:
    foresight = foresee(found, crowd)
    outlook = foresight.outlook
    assert np.allclose(outlook.said.sum(axis=2), 1)
    now = foresight.read(outlook.states(0, crowd.n_items) @ outlook.answers, outlook.votes)
    assert np.allclose(now[crowd.numbering.item_numbers], found.probabilities, atol=1e-12)
    future = simulate_future(foresight, np.ones(crowd.n_items, bool), 0)
    assert future.confidence[0].mean() == pytest.approx(found.confidence.mean(), abs=1e-9)


@pytest.mark.parametrize("key", ["adjudicator", "bwa", "mv", "ds", "glad", "kos"])
@pytest.mark.parametrize("classes", [2, 20])
def test_any_method_can_be_planned_with(key: str, classes: int) -> None:
    labels = cw.simulate(80, 10, classes, labels_per_item=3, accuracy=0.7, seed=1).labels
    method = cw.METHODS[key]()
    if classes > (method.limits().most_classes or classes):
        pytest.skip(f"{key} takes {method.limits().most_classes} classes")
    result = method.fit(labels)
    frame = cw.next_labels(labels, budget=12, result=result).to_frame()
    assert frame["ask"].sum() == 12
    assert frame["value"].is_finite().all()
    assert 0 <= cw.plan(labels, target=0.9, result=result).gold <= 80


def test_a_worker_is_not_asked_about_an_item_again(crowd: cw.Labels, found: cw.Result) -> None:
    frame = crowd_rows(crowd)
    for worker in ("w01", "w07"):
        asked = cw.next_labels(crowd, result=found, budget=1000, worker=worker).to_frame()
        labelled = set(frame.filter(pl.col("worker") == worker)["item"])
        assert labelled.isdisjoint(asked["item"])
        assert labelled | set(asked["item"]) == set(crowd.names.items)
        assert asked["worker"].unique().to_list() == [worker]
        assert asked["ask"].max() == 1


def test_a_better_worker_is_worth_more() -> None:
    simulated = cw.simulate(400, 8, labels_per_item=3, accuracy=0.7, concentration=3, workload=0, seed=3)
    order = simulated.workers.sort("accuracy")["worker"]
    poor, good = (
        cw.next_labels(simulated.labels, budget=20, worker=name).to_frame()["value"].sum()
        for name in (order[0], order[-1])
    )
    assert good > 2 * poor


def crowd_rows(labels: cw.Labels) -> pl.DataFrame:
    names = labels.names
    return pl.DataFrame({"item": names.items.gather(labels.item_of), "worker": names.workers.gather(labels.workers)})


def test_a_worker_may_be_named_by_a_number_as_text() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 2, 3], [10, 11, 10, 11, 11], ["a", "b", "a", "a", "b"])
    assert cw.next_labels(labels, budget=5, worker="10").to_frame()["item"].to_list() == [3]


@pytest.mark.slow
def test_asking_by_what_is_expected_beats_asking_by_chance() -> None:
    """Labels of simulated workers are held back, and given out as they are asked for."""
    gains = []
    for seed in range(4):
        simulated = cw.simulate(200, 30, labels_per_item=9, accuracy=0.8, concentration=8, seed=seed)
        rows = simulated.rows.with_columns(turn=pl.int_range(pl.len()).over("item"))
        right = []
        for by_chance in (False, True):
            have = dict.fromkeys(simulated.truth["item"], 2)
            for step in range(6):
                shown = rows.filter(pl.col("turn") < pl.col("item").replace_strict(have, return_dtype=pl.Int64))
                labels = cw.Labels.from_frame(shown.drop("turn"))
                result = cw.aggregate(labels)
                asked = cw.next_labels(labels, budget=40, result=result).to_frame().select("item", "ask")
                if by_chance:
                    asked = simulated.truth.sample(40, seed=step).select("item", ask=1)
                for item, ask in asked.iter_rows():
                    have[item] = min(have[item] + ask, 9)
            right.append(cw.accuracy(result, simulated.truth))
        gains.append(right[0] - right[1])
    assert np.mean(gains) > 0.02


def test_an_expert_is_asked_where_answers_are_doubtful(crowd: cw.Labels, found: cw.Result) -> None:
    frame = cw.next_labels(crowd, result=found, budget=15, ask="expert").to_frame()
    assert frame.height == 15
    assert frame["ask"].to_list() == [1] * 15
    doubtful = set(found.to_frame().sort("confidence").head(15)["item"])
    assert set(frame["item"]) == doubtful  # independent workers: there are no rival readings
    assert np.allclose(frame["value"], 1 - frame["confidence"])


def test_random_items_for_an_expert_come_first_and_say_so(crowd: cw.Labels, found: cw.Result) -> None:
    frame = cw.next_labels(crowd, result=found, random=20, budget=30, ask="expert", seed=3).to_frame()
    assert frame["source"].to_list() == ["random"] * 20 + ["chosen"] * 10
    assert frame["item"].n_unique() == 30
    assert frame["truth"].null_count() == 30  # the expert fills it in
    same, another = (cw.next_labels(crowd, result=found, random=20, ask="expert", seed=seed) for seed in (3, 4))
    assert same.to_frame()["item"].to_list() == frame["item"].head(20).to_list()
    assert another.to_frame()["item"].to_list() != same.to_frame()["item"].to_list()
    alone = cw.next_labels(crowd, result=found, random=20, ask="expert", seed=3).to_frame()
    assert alone.equals(frame.head(20))
    other = cw.next_labels(crowd, result=found, random=20, ask="expert", seed=4).to_frame()
    assert set(other["item"]) != set(alone["item"])
    left = found.to_frame().filter(~pl.col("item").is_in(alone["item"].implode()))
    assert set(frame["item"][20:]) == set(left.sort("confidence").head(10)["item"])


def test_an_expert_is_first_asked_where_readings_differ() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(0, 2, 400)
    accuracies = [*random.uniform(0.6, 0.85, 10), 0.55]
    votes = [np.where(random.random(400) < one, truth, 1 - truth) for one in accuracies]
    votes += [np.where(random.random(400) < 0.9, votes[10], random.integers(0, 2, 400)) for _ in range(10)]
    workers, items = np.indices((21, 400))
    labels = cw.Labels.from_arrays(items.ravel(), workers.ravel(), np.stack(votes).ravel())
    result = cw.aggregate(labels)
    settling = cw.rivals(result, labels)
    assert settling is not None
    frame = cw.next_labels(labels, result=result, budget=25, ask="expert").to_frame()
    assert frame["item"].to_list()[:10] == settling.settling.to_list()
    assert frame["reason"].str.starts_with("readings of the crowd differ").to_list() == [True] * 10 + [False] * 15


def test_reasons_say_what_the_votes_are() -> None:
    votes = ["a", "aa", "aaa", "aabb", "aab", "abc", "abcd", "ab"]
    rows = [(number, place, said) for number, text in enumerate(votes) for place, said in enumerate(text)]
    labels = cw.Labels.from_arrays(*map(list, zip(*rows, strict=True)))
    said = reasons(cw.MajorityVote().fit(labels), labels, range(len(votes)))
    expected = [
        "one label only, 'a'",
        "2 labels, both 'a'",
        "3 labels, all 'a'",
        "2 'a' against 2 'b'",
        "2 'a' against 1 'b'",
        "3 labels in 3 classes: 1 'a', 1 'b', 1 'c'",
        "4 labels in 4 classes: 1 'a', 1 'b', 1 'c', ...",
        "1 'a' against 1 'b'",
    ]
    assert [text.split(", by ")[0] for text in said] == expected


def test_reasons_say_that_a_worker_is_unknown() -> None:
    rows = cw.simulate(100, 6, labels_per_item=5, accuracy=0.85, seed=1).rows
    new = pl.DataFrame({"item": ["x", "x"], "worker": ["new", "newer"], "label": ["c1", "c1"]})
    labels = cw.Labels.from_frame(pl.concat([rows, new]))
    (said,) = reasons(cw.aggregate(labels), labels, [labels.names.items.to_list().index("x")])
    assert said == "2 labels, both 'c1', by workers of unknown quality"


def test_a_plan_finds_about_the_labels_that_it_takes() -> None:
    """A crowd as the method sees crowds; how much is gained from five to ten labels is measured with the truth."""
    method = cw.Adjudicator("latent", power=0.999)  # nobody calibrated that, so its probabilities stay as they are
    after = {}
    for count in (5, 10):
        crowds = [structured.simulate(600, 30, 3, count, seed) for seed in range(5)]
        after[count] = np.mean([cw.accuracy(method.fit(one.labels), one.truth) for one in crowds])
    for seed in range(3):
        labels = structured.simulate(600, 30, 3, 5, seed).labels
        now = method.fit(labels)
        target = now.expected_accuracy.value + float(after[10] - after[5])
        found = cw.plan(labels, target=target, price=0.5, result=now)
        assert found.needed is not None
        assert found.needed_low is not None
        assert 5 / 3 * 600 <= found.needed <= 3 * 5 * 600  # it takes 5 * 600
        assert found.needed_low <= found.needed
        assert found.needed_high is None or found.needed <= found.needed_high
        assert found.money == pytest.approx(found.needed * 0.5)


def test_a_plan_says_that_shared_errors_do_not_go_away() -> None:
    labels, _ = shared_errors(1)
    found = cw.plan(labels, target=0.99, price=0.04)
    assert found.needed is None
    assert found.money is None
    assert found.ceiling < 0.97
    assert 0 < found.gold < 500
    assert "not expected to bring it to 0.99" in str(found)
    assert found.ceiling_low < found.ceiling < found.ceiling_high
    said = f"{found.ceiling:.3f} at most (80 % interval: {found.ceiling_low:.3f} to {found.ceiling_high:.3f})"
    assert f"with any number of them it would be about {said}" in str(found)


def test_a_plan_without_gold_rests_on_other_crowds_and_says_so() -> None:
    labels, truth = shared_errors(1)
    without = cw.plan(labels, target=0.9)
    assert "Without gold these ranges rest on other crowds" in str(without)
    assert without.gold_low <= without.gold <= without.gold_high
    assert without.ceiling >= cw.MajorityVote().fit(labels).expected_accuracy.value
    known = dict(enumerate(truth[:100].tolist()))
    measured = cw.plan(labels, target=0.9, result=cw.aggregate(labels, gold=known))
    assert "rest on other crowds" not in str(measured)
    assert measured.ceiling_high - measured.ceiling_low < without.ceiling_high - without.ceiling_low


def test_a_plan_does_not_claim_errors_that_nobody_shares() -> None:
    """Simulated workers err independently: about 25 more labels an item are enough, and nothing else is said."""
    found = cw.plan(cw.simulate(300, 12, 4, accuracy=0.6, seed=1).labels, target=0.95)
    assert found.needed is not None
    assert 10 * 300 < found.needed < 50 * 300
    assert "share errors" not in str(found)


def test_gold_of_a_plan_is_an_exact_count(crowd: cw.Labels, found: cw.Result) -> None:
    for target in (0.5, 0.8, 0.9, 0.99):
        gold = cw.plan(crowd, target=target, result=found).gold
        sure = np.sort(found.confidence)
        reached = [(count + sure[count:].sum()) / len(sure) >= target - 1e-9 for count in range(len(sure) + 1)]
        assert gold == reached.index(True)


def test_a_plan_for_what_is_there_already_needs_nothing(crowd: cw.Labels, found: cw.Result) -> None:
    plan = cw.plan(crowd, target=0.3, price=1.0, result=found)
    assert (plan.needed, plan.gold, plan.money) == (0, 0, 0.0)
    assert "no more labels are needed" in str(plan)


def test_the_expected_accuracy_of_a_plan_only_grows(crowd: cw.Labels, found: cw.Result) -> None:
    plan = cw.plan(crowd, target=0.9, result=found)
    curve = plan.curve["expected_accuracy"].to_numpy()
    assert curve[0] == pytest.approx(found.expected_accuracy.value)
    assert (np.diff(curve) >= 0).all()
    assert curve[-1] <= plan.ceiling <= 1


def test_a_method_that_knows_no_shared_errors_says_so(crowd: cw.Labels) -> None:
    plan = cw.plan(crowd, target=0.97, result=cw.DawidSkene().fit(crowd))
    assert "err independently" in str(plan)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"budget": 0}, "budget=0 is not a whole number from 1"),
        ({"budget": 1.5}, "budget=1.5"),
        ({"budget": True}, "budget=True"),
        ({"per_item_max": 0}, "per_item_max=0"),
        ({"worker": "nobody"}, "There is no worker 'nobody'; the first one is"),
        ({"strategy": "uncertian"}, "Did you mean 'uncertain'?"),
        ({"strategy": None}, "strategy=None"),
        ({"ask": "oracle"}, "neither 'crowd' nor 'expert'"),
        ({"ask": "expert", "worker": "w01"}, "An expert is no worker"),
        ({"ask": "expert", "strategy": "best_worker"}, "not for an expert"),
        ({"ask": "expert", "per_item_max": 2}, "asked only once"),
        ({"worker": "w01", "per_item_max": 2}, "asked only once"),
        ({"worker": "w01", "strategy": "best_worker"}, "chooses the workers itself"),
        ({"seed": -1}, "seed=-1"),
        ({"random": 3}, "say ask='expert'"),
        ({"random": 6, "ask": "expert"}, "random=6 is more than budget=5"),
        ({"budget": None}, "Say how many labels to ask for"),
    ],
)
def test_what_makes_no_sense_is_refused(crowd: cw.Labels, found: cw.Result, more: dict[str, Any], said: str) -> None:
    with pytest.raises(cw.CallError, match=said.replace("?", r"\?")):
        cw.next_labels(crowd, result=found, **({"budget": 5} | more))


def test_gold_is_not_asked_about_and_counts_as_known(crowd: cw.Labels) -> None:
    simulated = cw.simulate(120, 12, 3, labels_per_item=3, accuracy=0.7, seed=2)
    gold = dict(simulated.truth.head(30).iter_rows())
    result = cw.Adjudicator().fit(crowd, gold=gold)
    for ask in ("crowd", "expert"):
        asked = cw.next_labels(crowd, budget=1000, result=result, ask=ask).to_frame()
        assert set(asked["item"]) == set(crowd.names.items) - set(gold)
    plan = cw.plan(crowd, target=0.95, result=result)
    assert plan.items == 90
    assert plan.now == result.expected_accuracy
    assert plan.curve["expected_accuracy"][0] == pytest.approx(result.expected_accuracy.value)
    everything = cw.Adjudicator().fit(crowd, gold=dict(simulated.truth.iter_rows()))
    with pytest.raises(cw.DataError, match="Every item is gold"):
        cw.next_labels(crowd, budget=1, result=everything)
    with pytest.raises(cw.DataError, match="Every item is gold"):
        cw.plan(crowd, target=0.9, result=everything)


def test_the_command_takes_the_decisions_of_an_expert_as_gold(tmp_path: Path) -> None:
    simulated = cw.simulate(80, 10, labels_per_item=3, accuracy=0.7, seed=3)
    labels, ask, gold = (str(tmp_path / name) for name in ("labels.csv", "ask.csv", "gold.csv"))
    simulated.rows.write_csv(labels)
    assert run("next", labels, "--ask", "expert", "--budget", 20, "-o", ask).returncode == 0
    decided = pl.read_csv(ask).select("item").join(simulated.truth, on="item")
    decided.write_csv(gold)
    values = json.loads(run("next", labels, "--gold", gold, "--budget", 10, "--json").stdout)
    assert set(decided["item"]).isdisjoint(row["item"] for row in values["items"])
    done = run("plan", labels, "--target", 0.9, "--gold", gold)
    assert "of 60 items" in done.stdout


@pytest.mark.parametrize("target", [0, 1, -0.5, 1.5, float("nan"), "0.9", True])
def test_a_target_is_between_0_and_1(crowd: cw.Labels, target: Any) -> None:
    with pytest.raises(cw.CallError, match="target="):
        cw.plan(crowd, target=target)


@pytest.mark.parametrize("price", [0, -1, float("inf"), "x"])
def test_a_price_is_a_number_above_0(crowd: cw.Labels, price: Any) -> None:
    with pytest.raises(cw.CallError, match="price="):
        cw.plan(crowd, target=0.9, price=price)


def test_labels_that_are_not_in_memory_are_refused(tmp_path: Path) -> None:
    labels: Any = on_disk_in(tmp_path).read(cw.simulate(30, 5, seed=1).rows)
    for plan in (lambda: cw.next_labels(labels, budget=3), lambda: cw.plan(labels, target=0.9)):
        with pytest.raises(cw.DataError, match="needs all labels in memory"):
            plan()
    with pytest.raises(cw.CallError, match="takes labels"):
        cw.next_labels("labels.csv", budget=3)  # type: ignore[arg-type]


def test_a_result_of_other_labels_is_refused(crowd: cw.Labels) -> None:
    other = cw.aggregate(cw.simulate(10, 5, seed=1).labels)
    with pytest.raises(cw.CallError, match="not those of the result"):
        cw.next_labels(crowd, budget=3, result=other)


@pytest.mark.parametrize("rows", [[(1, "a", "x")], [(1, "a", "x"), (2, "b", "x")], [(1, "a", "x"), (1, "b", "y")]])
def test_the_smallest_crowds_can_be_planned_with(rows: list[tuple[int, str, str]]) -> None:
    labels = cw.Labels.from_arrays(*map(list, zip(*rows, strict=True)))
    assert cw.next_labels(labels, budget=1).labels == 1
    assert cw.next_labels(labels, budget=1, ask="expert").labels == 1
    assert cw.plan(labels, target=0.9).items == labels.n_items


def test_the_command_writes_what_to_ask(tmp_path: Path) -> None:
    rows = with_lonely_item()
    rows.write_csv(tmp_path / "labels.csv")
    done = run("next", str(tmp_path / "labels.csv"), "--budget", "20", "-o", str(tmp_path / "ask.csv"))
    assert done.returncode == 0, done.stderr
    assert "Ask for 20 labels on" in done.stdout
    written = pl.read_csv(tmp_path / "ask.csv")
    assert written.columns == ["item", "ask", "label", "confidence", "votes", "value", "reason"]
    assert written["ask"].sum() == 20
    assert written["item"][0] == "alone"
    labels = cw.Labels.from_frame(rows)
    expected = cw.next_labels(labels, budget=20).to_frame()
    assert written.select("item", "ask", "reason").equals(expected.select("item", "ask", "reason"))


def test_the_commands_speak_json_and_refuse(tmp_path: Path) -> None:
    path = str(tmp_path / "labels.csv")
    with_lonely_item(6).write_csv(path)
    values = json.loads(run("next", path, "--budget", "4", "--for-worker", "w03", "--json").stdout)
    assert {row["worker"] for row in values["items"]} == {"w03"}
    assert "alone" not in {row["item"] for row in values["items"]}
    values = json.loads(run("plan", path, "--target", "0.97", "--price", "0.04", "--json").stdout)
    assert values["target"] == 0.97
    assert values["expected_accuracy"]["low"] < values["expected_accuracy"]["value"]
    for arguments, said in (
        (("next", path, "--budget", "5", "--for-worker", "w99"), "There is no worker"),
        (("plan", path, "--target", "1.0"), "--target 1.0 is"),
    ):
        done = run(*arguments)
        assert done.returncode in (1, 2)
        problem = done.stderr.strip().splitlines()[-1]
        assert problem.startswith("error: ")
        assert said in problem


def test_costs_change_what_is_asked(tmp_path: Path) -> None:
    crowd = cw.simulate(200, 20, 2, accuracy=0.65, seed=3)
    result = cw.Adjudicator().fit(crowd.labels)
    costly = {"c1": {"c2": 3.0}, "c2": {"c1": 1.0}}
    table = pl.DataFrame(
        [(t, d, c) for t, row in costly.items() for d, c in row.items()], ["truth", "label", "cost"], orient="row"
    )
    decided = cw.decide(result, table).to_frame().select("item", "expected_cost")
    by_cost = cw.next_labels(crowd.labels, budget=10, result=result, ask="expert", costs=table).to_frame()
    assert by_cost.join(decided, on="item", maintain_order="left")["expected_cost"].to_list() == pytest.approx(
        by_cost["value"].to_list()
    )
    assert by_cost["value"][-1] >= decided["expected_cost"].sort(descending=True)[10] - 1e-9
    # Where errors of one kind cost three times as much, the items on the edge are others than those with even votes.
    even = cw.next_labels(crowd.labels, budget=10, result=result).to_frame()["item"].to_list()
    asked = cw.next_labels(crowd.labels, budget=10, result=result, costs=table).to_frame()
    assert not set(asked["item"]) & set(even)
    assert (asked["value"] > 0).any()
    crowd.rows.write_csv(tmp_path / "labels.csv")
    table.write_csv(tmp_path / "costs.csv")
    done = run("next", str(tmp_path / "labels.csv"), "--budget", "10", "--costs", str(tmp_path / "costs.csv"), "--json")
    assert [row["item"] for row in json.loads(done.stdout)["items"]] == asked["item"].to_list()


def test_even_costs_ask_as_errors_do() -> None:
    crowd = cw.simulate(150, 20, 3, accuracy=0.6, seed=5)
    result = cw.DawidSkene().fit(crowd.labels)
    even = pl.DataFrame(
        {"truth": ["c1", "c1", "c2", "c2", "c3", "c3"], "label": ["c2", "c3", "c1", "c3", "c1", "c2"], "cost": 1.0}
    )
    plain = cw.next_labels(crowd.labels, budget=30, result=result).to_frame()
    by_cost = cw.next_labels(crowd.labels, budget=30, result=result, costs=even).to_frame()
    assert by_cost["item"].to_list() == plain["item"].to_list()
    assert by_cost["value"].to_list() == pytest.approx(plain["value"].to_list(), abs=1e-9)
