"""Tests of history: what was counted in earlier labels starts the next fit."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.data.truths import read_truth
from crowdwise.results.history import History, merge

from .cases import EVERY
from .commands import run
from .engines import Engine

CROWD = cw.simulate(300, 12, 3, accuracy=0.6, seed=3)
ITEMS = CROWD.truth["item"]
# CATD trusts one worker alone from some starts, and so ends elsewhere with each start.
SWEEPING = [key for key, method in EVERY.items() if not method.history_reason and key != "catd"]


def part(first: int, last: int) -> cw.Labels:
    """Return the labels of some items of the crowd, as a batch of their own."""
    return cw.Labels.from_frame(CROWD.rows.filter(pl.col("item").is_in(ITEMS[first:last].implode())))


def history(method: Any, labels: cw.Labels, **known: Any) -> History:
    """Fit a method, and return what it counted."""
    found: History | None = method.fit(labels, **known).history
    assert found is not None
    return found


@pytest.mark.parametrize("key", SWEEPING)
def test_the_second_half_is_nearer_to_both_together(key: str) -> None:
    method = EVERY[key]
    if method.most_classes is not None:
        pytest.skip(f"takes {method.most_classes} classes")
    first, second = part(0, 200), part(200, 300)
    alone, joint = method.fit(second), method.fit(CROWD.labels)
    continued = method.fit(second, history=method.fit(first).history)
    both = joint.to_frame(scores=True).filter(pl.col("item").is_in(ITEMS[200:].implode())).sort("item")
    scores = [f"score_{name}" for name in ("c1", "c2", "c3")]

    def distance(result: Any) -> float:
        ours = result.to_frame(scores=True).sort("item").select(scores).to_numpy()
        return float(np.abs(ours - both.select(scores).to_numpy()).mean())

    assert distance(continued) < distance(alone)
    if method.measures_accuracy:
        known = joint.workers_frame().sort("worker")["quality"].to_numpy()
        off = [np.abs(one.workers_frame().sort("worker")["quality"] - known).mean() for one in (alone, continued)]
        assert off[1] < off[0]


@pytest.mark.parametrize("method", [cw.Adjudicator(), cw.DawidSkene(), cw.BWA(), cw.OneCoin()])
def test_known_workers_are_known_on_simulated_crowds(method: Any) -> None:
    """Over several crowds, accuracy and what is learned about workers is nearer to the truth with the first half."""
    alone, continued = [], []
    for seed in range(5):
        crowd = cw.simulate(240, 10, 3, accuracy=0.55, labels_per_item=4, seed=seed)
        late = crowd.truth.tail(60)
        halves = crowd.rows.with_columns(late=pl.col("item").is_in(late["item"].implode()))
        first, second = (cw.Labels.from_frame(halves.filter(pl.col("late") == which)) for which in (False, True))
        alone.append(cw.accuracy(method.fit(second), late))
        continued.append(cw.accuracy(method.fit(second, history=method.fit(first).history), late))
    assert np.mean(continued) > np.mean(alone) + 0.005


@pytest.mark.parametrize("key", ["adjudicator", "bwa", "ds", "one_coin", "mace", "wawa", "ptbcc", "cbcc", "ebcc"])
@pytest.mark.slow
def test_a_hundred_batches_add_up(key: str) -> None:
    """With the answers of every batch held fixed, what was counted in all is the sum of what was counted in each."""
    method = EVERY[key]
    past = None
    total: dict[str, Any] = {}
    for first in range(0, 300, 3):
        batch = part(first, first + 3)
        result = method.fit(batch, history=past) if past is not None else method.fit(batch.with_classes(_classes()))
        counted = result.history
        assert counted is not None
        before: dict[str, Any] = {} if past is None else past.of_workers(counted.workers)
        for name, values in counted.of_workers(counted.workers).items():
            new = values - before.get(name, 0.0)
            assert new.min() > -1e-6, name
            shape = counted.per_worker.get(name)
            total[name] = total.get(name, 0.0) + (new.sum(axis=0) if shape is not None else new)
        past = counted
    assert past is not None
    for name, values in past.of_workers(past.workers).items():
        together = values.sum(axis=0) if name in past.per_worker else values
        assert together == pytest.approx(total[name], rel=1e-6, abs=1e-6)
    assert sorted(past.workers.to_list()) == sorted(CROWD.labels.names.workers.to_list())
    # All labels are in it, once each.
    sizes = {"adjudicator": "confusion", "ds": "confusion", "mace": "confusion", "cbcc": "confusion"}
    sizes |= {"bwa": "votes", "one_coin": "given", "wawa": "given", "ptbcc": "mixture", "ebcc": "confusion"}
    assert past.per_worker[sizes[key]].sum() == pytest.approx(CROWD.labels.n_labels)


def _classes() -> pl.Series:
    return CROWD.labels.names.classes


def test_counts_fade() -> None:
    method = cw.OneCoin()
    first, second = part(0, 200), part(200, 300)
    past = history(method, first)
    kept, faded = (history(method, second, history=past, decay=decay) for decay in (1.0, 0.5))
    given = kept.per_worker["given"].sum(), faded.per_worker["given"].sum()
    assert given == (CROWD.labels.n_labels, first.n_labels / 2 + second.n_labels)
    wrong: list[Any] = [0, 1.5, -1, float("nan"), "half", True]
    for decay in wrong:
        with pytest.raises(cw.CallError, match="decay="):
            method.fit(second, history=past, decay=decay)


def test_workers_who_are_absent_are_kept() -> None:
    method = cw.DawidSkene()
    rows = CROWD.rows.with_columns(early=pl.col("item").is_in(ITEMS[:200].implode()))
    first = cw.Labels.from_frame(rows.filter("early"))
    second = cw.Labels.from_frame(rows.filter(~pl.col("early") & ~pl.col("worker").is_in(["w01", "w02"])))
    past = history(method, first)
    result = method.fit(second, history=past)
    assert "w01" not in result.workers_frame()["worker"]
    after = result.history
    assert after is not None
    assert after.of_workers(pl.Series(["w01"]))["confusion"] == pytest.approx(
        past.of_workers(pl.Series(["w01"]))["confusion"]
    )
    assert set(after.workers) == set(past.workers)


def test_gold_and_history_go_together() -> None:
    method = cw.Adjudicator()
    past = history(method, part(0, 200))
    gold = CROWD.truth.tail(100).sample(20, seed=1)
    result = method.fit(part(200, 300), gold=gold, history=past)
    assert result.to_frame()["gold"].sum() == 20
    with pytest.raises(cw.DataError, match="The gold names 'bird', a class that the state does not know"):
        method.fit(part(200, 300), gold={ITEMS[250]: "bird"}, history=past)


def test_a_state_is_a_file(tmp_path: Path, engine: Engine, workdir: Path) -> None:
    method = engine.suited(cw.Adjudicator())
    labels = engine.read(CROWD.rows)
    found = method.fit(labels).history
    memory = method.fit(CROWD.labels).history
    assert found is not None
    found.write(tmp_path / "crowd.state")
    again = History.read(tmp_path / "crowd.state")
    assert again.method == repr(method)
    assert again.workers.dtype == pl.String
    workers = CROWD.labels.names.workers
    assert memory is not None
    for name, values in memory.of_workers(workers).items():
        assert again.of_workers(workers)[name] == pytest.approx(values, abs=1e-6)
    continued = method.fit(engine.read(CROWD.rows), history=tmp_path / "crowd.state")
    in_memory = method.fit(CROWD.labels, history=memory)
    assert continued.to_frame().sort("item")["label"].equals(in_memory.to_frame().sort("item")["label"])


def test_ids_stay_as_they_are(tmp_path: Path) -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 2], [7, 8, 7, 8], [True, False, True, True])
    found = history(cw.BWA(), labels)
    found.write(tmp_path / "numbers.state")
    again = History.read(tmp_path / "numbers.state")
    assert (sorted(again.workers), again.classes.to_list()) == ([7, 8], [False, True])
    cw.BWA().fit(labels, history=again)


def test_what_does_not_fit_is_refused_in_a_sentence(tmp_path: Path) -> None:
    past = history(cw.DawidSkene(), part(0, 200))
    second = part(200, 300)
    with pytest.raises(cw.DataError, match=r"The state is of DawidSkene\(.*and cannot be used with OneCoin"):
        cw.OneCoin().fit(second, history=past)
    with pytest.raises(cw.DataError, match="cannot be used with DawidSkene"):
        cw.DawidSkene(max_iterations=7).fit(second, history=past)
    other = cw.Labels.from_arrays(["a", "a"], ["w01", "w02"], ["cat", "c1"])
    with pytest.raises(cw.DataError, match="1 classes that the state does not know; first: 'cat'"):
        cw.DawidSkene().fit(other, history=past)
    with pytest.raises(cw.CallError, match="history"):
        cw.DawidSkene().fit(second, history=7)
    with pytest.raises(cw.DataError, match="There is no state"):
        cw.DawidSkene().fit(second, history=tmp_path / "nothing")
    for key in ("mv", "glad", "loglinear", "kos", "ibcc", "bwa per label", "bwa restarts"):
        with pytest.raises(cw.CallError, match=r"has no history, because"):
            EVERY[key].fit(second if key != "kos" else cw.simulate(9, 5, 2).labels, history=past)


def test_fewer_classes_today_are_no_problem() -> None:
    past = history(cw.DawidSkene(), part(0, 200))
    few = CROWD.rows.filter(pl.col("item").is_in(ITEMS[200:].implode()) & (pl.col("label") != "c3"))
    result = cw.DawidSkene().fit(cw.Labels.from_frame(few), history=past)
    assert result.names.classes.to_list() == ["c1", "c2", "c3"]


def test_states_merge(tmp_path: Path) -> None:
    method = cw.DawidSkene()
    cut = [history(method, part(first, first + 100)) for first in (0, 100, 200)]
    one, other = merge(cut), merge([cut[2], cut[0], cut[1]])
    workers = CROWD.labels.names.workers
    for name, values in one.of_workers(workers).items():
        assert values == pytest.approx(other.of_workers(workers)[name])
    assert one.per_worker["confusion"].sum() == pytest.approx(CROWD.labels.n_labels)
    with pytest.raises(cw.DataError, match="cannot be used with"):
        merge([cut[0], history(cw.OneCoin(), part(0, 100))])
    with pytest.raises(cw.DataError, match="different classes"):
        merge([cut[0], history(method, cw.simulate(20, 5, 2).labels)])
    for number, state in enumerate(cut):
        state.write(tmp_path / f"{number}.state")
    paths = [tmp_path / f"{number}.state" for number in range(3)]
    done = run("state", "merge", *paths, "-o", tmp_path / "all.state")
    assert done.returncode == 0, done.stderr
    again = History.read(tmp_path / "all.state").of_workers(workers)["confusion"]
    assert again == pytest.approx(one.of_workers(workers)["confusion"])
    shown = run("state", "show", tmp_path / "all.state")
    assert "12" in shown.stdout
    assert "DawidSkene" in shown.stdout


def test_the_command_line_remembers(tmp_path: Path) -> None:
    rows = CROWD.rows.with_columns(day=pl.when(pl.col("item").is_in(ITEMS[:200].implode())).then(1).otherwise(2))
    for day in (1, 2):
        cw.write({tmp_path / f"{day}.csv": rows.filter(pl.col("day") == day).drop("day")})
    state = tmp_path / "crowd.state"
    assert run("aggregate", tmp_path / "1.csv", "--save-state", state, "-q").returncode == 0
    known = ("--history", state, "--decay", "0.9", "--save-state", state)
    done = run("aggregate", tmp_path / "2.csv", *known, "-o", tmp_path / "truth.csv")
    assert done.returncode == 0, done.stderr
    assert "Wrote" in done.stderr
    first, second = (cw.read_labels(tmp_path / f"{day}.csv") for day in (1, 2))
    expected = cw.aggregate(second, history=cw.aggregate(first).history, decay=0.9)
    assert pl.read_csv(tmp_path / "truth.csv")["label"].equals(expected.labels)
    assert History.read(state).per_worker["confusion"].sum() == pytest.approx(0.9 * first.n_labels + second.n_labels)
    refused = run("aggregate", tmp_path / "2.csv", "--history", state, "-m", "bwa")
    assert (refused.returncode, "cannot be used with BWA" in " ".join(refused.stderr.split())) == (1, True)
    itself = run("aggregate", tmp_path / "2.csv", "--save-state", tmp_path / "2.csv")
    assert (itself.returncode, "given twice" in itself.stderr) == (2, True)
    without = run("aggregate", tmp_path / "2.csv", "-m", "mv", "--save-state", state)
    assert (without.returncode, "has no history" in without.stderr) == (2, True)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1), flip=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_state_is_refused_or_the_same(tmp_path: Path, place: float, flip: int, cut: bool) -> None:
    path = tmp_path / "crowd.state"
    whole = _STATE
    at = min(int(place * len(whole)), len(whole) - 1)
    damaged = whole[:at] if cut else whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :]
    path.write_bytes(damaged)
    try:
        found = History.read(path)
    except cw.DataError:
        return
    pytest.fail(f"damage at {at} was not noticed: {found}")


_STATE = history(cw.OneCoin(), part(0, 30))._packed()


@pytest.mark.data
def test_the_second_halves_of_real_crowds(data: Path) -> None:
    """Workers are the same in both halves: answers are nearer to those of a joint fit, on average over crowds."""
    same, right, off = [], [], []
    for name in ("paper/SP", "paper/rte", "extra/mbic", "extra/ruters", "extra/metaphor", "judges/css_emotion"):
        labels, truth = cw.read_labels(data / name / "label.csv"), read_truth(data / name / "truth.csv")
        order = np.argsort(labels.numbering.item_places)
        first, second = labels.select(order[: len(order) // 2]), labels.select(order[len(order) // 2 :])
        joint, alone = cw.aggregate(labels), cw.aggregate(second)
        continued = cw.aggregate(second, history=cw.aggregate(first).history)
        both = (alone, continued)
        same.append([float((one.answers == joint.answers[order[len(order) // 2 :]]).mean()) for one in both])
        off.append([np.abs(one.quality.value - joint.quality.value).mean() for one in both])
        right.append([cw.accuracy(one, truth) for one in both])
    assert np.mean(same, axis=0)[1] > np.mean(same, axis=0)[0] + 0.01
    assert np.mean(right, axis=0)[1] > np.mean(right, axis=0)[0]
    assert (np.array(off)[:, 1] < np.array(off)[:, 0]).all()


def test_a_state_of_other_workers_is_said() -> None:
    crowd = cw.simulate(60, 8, 3, seed=1)
    past = cw.DawidSkene().fit(crowd.labels).history
    others = cw.Labels.from_frame(crowd.rows.with_columns(worker="x" + pl.col("worker")))
    with pytest.warns(UserWarning, match=r"The state knows none of the 8 workers: it has 'w\d', for example"):
        cw.DawidSkene().fit(others, history=past)
