"""Tests of history: what was counted in earlier labels starts the next fit."""

import json
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.crowd.item_sketch import count, share_in_common, sketch, union
from crowdwise.reading.read_truth import read_truth
from crowdwise.results import history_file
from crowdwise.results.history import CONFIDENCE, History, described, merge
from crowdwise.results.history_file import packed
from crowdwise.results.recalibration import Recalibration
from tests.support.cases import EVERY
from tests.support.commands import run
from tests.support.engines import Engine

CROWD = cw.simulate(300, 12, 3, accuracy=0.6, seed=3)
ITEMS = CROWD.truth["item"]
# CATD trusts one worker alone from some starts, and so ends elsewhere with each start.
SWEEPING = [key for key, method in EVERY.items() if not method.limits().no_history and key != "catd"]


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
    if method.limits().most_classes is not None:
        pytest.skip(f"takes {method.limits().most_classes} classes")
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
    with pytest.warns(UserWarning, match="No label names 'bird'; gold does, so it is a class"):
        result = method.fit(part(200, 300), gold={ITEMS[250]: "bird"}, history=past)
    assert result.to_frame().filter(pl.col("item") == ITEMS[250])["label"].to_list() == ["bird"]
    assert result.history is not None
    assert result.history.classes.to_list() == ["bird", "c1", "c2", "c3"]


def test_a_state_is_a_file(tmp_path: Path, engine: Engine, workdir: Path) -> None:
    method = engine.suited(cw.Adjudicator())
    labels = engine.read(CROWD.rows)
    found = method.fit(labels).history
    memory = method.fit(CROWD.labels).history
    assert found is not None
    assert memory is not None
    found.write(tmp_path / "crowd.state")
    again = History.read(tmp_path / "crowd.state")
    assert again.method == described(method)
    assert again.items.tolist() == memory.items.tolist()
    assert again.workers.dtype == pl.String
    workers = CROWD.labels.names.workers
    for name, values in memory.of_workers(workers).items():
        assert again.of_workers(workers)[name] == pytest.approx(values, abs=1e-6)
    with pytest.warns(UserWarning, match="All of the items are in the state already"):
        continued = method.fit(engine.read(CROWD.rows), history=tmp_path / "crowd.state")
    with pytest.warns(UserWarning, match="All of the items are in the state already"):
        in_memory = method.fit(CROWD.labels, history=memory)
    assert continued.to_frame().sort("item")["label"].equals(in_memory.to_frame().sort("item")["label"])


def test_ids_stay_as_they_are(tmp_path: Path) -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 2], [7, 8, 7, 8], [True, False, True, True])
    found = history(cw.BWA(), labels)
    found.write(tmp_path / "numbers.state")
    again = History.read(tmp_path / "numbers.state")
    assert (sorted(again.workers), again.classes.to_list()) == ([7, 8], [False, True])
    others = cw.Labels.from_arrays([3, 3, 4, 4], [7, 8, 7, 8], [True, False, True, True])
    assert cw.BWA().fit(others, history=again).names.classes.to_list() == [False, True]


def test_what_does_not_fit_is_refused_in_a_sentence(tmp_path: Path) -> None:
    past = history(cw.DawidSkene(), part(0, 200))
    second = part(200, 300)
    with pytest.raises(cw.DataError, match=r"The state is of DawidSkene\(.*and cannot be used with OneCoin"):
        cw.OneCoin().fit(second, history=past)
    with pytest.raises(cw.DataError, match="cannot be used with DawidSkene"):
        cw.DawidSkene(max_iterations=7).fit(second, history=past)
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
    two = history(method, cw.simulate(20, 5, 2).labels)
    assert merge([two, cut[0]]).per_worker["confusion"].sum() == pytest.approx(
        two.per_worker["confusion"].sum() + cut[0].per_worker["confusion"].sum()
    )
    for number, state in enumerate(cut):
        state.write(tmp_path / f"{number}.state")
    paths = [tmp_path / f"{number}.state" for number in range(3)]
    done = run("state", "merge", *paths, "-o", tmp_path / "all.state")
    assert done.returncode == 0, done.stderr
    again = History.read(tmp_path / "all.state").of_workers(workers)["confusion"]
    assert again == pytest.approx(one.of_workers(workers)["confusion"])
    shown = run("state", "show", tmp_path / "all.state")
    assert "12" in shown.stdout
    assert "300" in shown.stdout  # items
    assert "DawidSkene" in shown.stdout
    twice = run("state", "merge", paths[0], paths[1], paths[0], "-o", tmp_path / "twice.state")
    assert "All of the items of state 3 are in a state before it too" in " ".join(twice.stderr.split())


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


_STATE = packed(history(cw.OneCoin(), part(0, 30)))


def test_a_state_is_checked_as_data(tmp_path: Path) -> None:
    """Whoever makes a file with a right checksum cannot make counts of it that no method counted."""
    good = history(cw.DawidSkene(), part(0, 30))
    confusion, evidence = good.per_worker["confusion"], good.per_worker["evidence"]
    below, infinite = confusion.copy(), confusion.copy()
    below[0, 0, 0], infinite[1, 1, 1] = -1.0, np.inf
    twice = pl.concat([good.workers[:1], good.workers[:-1]])
    bad: list[tuple[dict[str, Any], str]] = [
        ({"per_worker": {"confusion": below}}, "'confusion' has -1, and counts are not negative"),
        ({"per_worker": {"confusion": infinite}}, "'confusion' has a number that is not finite"),
        ({"per_worker": {"confusion": confusion[1:]}}, "and there are 12 workers"),
        ({"per_worker": {"confusion": confusion[:, :2]}}, "and there are 3 classes"),
        ({"per_worker": {"evidence": evidence[:, :1]}}, r"and not \(workers, 2, 3\)"),
        ({"per_worker": {}}, "it has no counts of workers"),
        ({"shared": {"confusion": confusion}}, "it has 'confusion' twice"),
        ({"workers": twice}, f"it has the worker '{twice[0]}' twice"),
        ({"classes": pl.Series(["c1", "c1", "c2"])}, "it has the class 'c1' twice"),
        ({"classes": pl.Series(["c1", None, "c2"])}, "a class has no name"),
        ({"items": np.array([3, 2], np.uint64)}, "not in ascending order"),
    ]
    for changed, message in bad:
        replace(good, **changed).write(tmp_path / "bad.state")
        with pytest.raises(cw.DataError, match=message):
            History.read(tmp_path / "bad.state")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(cw.DataError, match="is no file, but a folder, a pipe or a device"):
            History.read(path)


def test_a_state_of_a_later_version_names_who_can_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr(history_file, "_VERSION", 77)
        later.setattr(history_file, "CROWDWISE", "9.9.0")
        history(cw.OneCoin(), part(0, 30)).write(tmp_path / "later.state")
    with pytest.raises(cw.DataError, match=r"crowdwise 9\.9\.0 wrote it in version 77 of the file.*Use that crowdwise"):
        History.read(tmp_path / "later.state")


STATES = Path(__file__).parent / "states"


@pytest.mark.parametrize("path", sorted(STATES.iterdir()), ids=lambda path: path.stem)
def test_states_of_every_version_are_read(path: Path, tmp_path: Path) -> None:
    """The files are of these 30 items by seven workers, or of 3 items by two; see tests/fitting/states/README.md."""
    if path.suffix != ".state":
        pytest.skip("no state")
    found = History.read(path)
    version, key = path.stem.split("_")[0], path.stem.partition("_")[2].removesuffix("_numbers")
    method = EVERY[key]
    found.require_method(described(method))
    if path.stem.endswith("numbers"):
        assert (sorted(found.workers), found.classes.to_list()) == ([7, 8], [False, True])
        later = cw.Labels.from_arrays([11, 11, 12, 12], [7, 8, 7, 9], [True, False, True, True])
    else:
        assert sorted(found.workers) == ["twin", "w1", "w2", "w3", "w4", "w5", "w6"]
        assert found.classes.to_list() == ["c1", "c2", "c3"]
        later = cw.Labels.from_frame(cw.simulate(20, 6, 3, seed=12).rows.with_columns(item="new" + pl.col("item")))
    if version == "v2":  # the same counts are in a file of the next version
        other = History.read(path.with_name(path.name.replace("v2", "v3"))).of_workers(found.workers)
        for name, values in found.of_workers(found.workers).items():
            assert values == pytest.approx(other[name], abs=1e-3), name
    found.write(tmp_path / "again.state")
    again = History.read(tmp_path / "again.state").of_workers(found.workers)
    for name, values in found.of_workers(found.workers).items():
        assert (values == again[name]).all()
    result = method.fit(later, history=path)
    assert result.history is not None
    for name, values in found.of_workers(found.workers).items():
        if name in found.per_worker and name not in ("exposure", "errors", "raw_mixture"):
            assert (result.history.of_workers(found.workers)[name] >= values - 1e-6).all(), name


@pytest.mark.parametrize("key", ["adjudicator", "ds", "ebcc", "ptbcc", "bwa", "one_coin", "wawa"])
def test_a_new_class_in_the_second_batch(key: str) -> None:
    """Earlier counts are as they were, at the places of the old classes, and zero elsewhere."""
    method = EVERY[key]
    early = history(method, part(0, 200))
    some = pl.col("item").is_in(ITEMS[200:230].implode()) & (pl.col("label") == "c2")
    rows = CROWD.rows.filter(pl.col("item").is_in(ITEMS[200:].implode()))
    second = cw.Labels.from_frame(rows.with_columns(label=pl.when(some).then(pl.lit("c1b")).otherwise("label")))
    with pytest.warns(UserWarning, match="The state does not know the class c1b"):
        late = history(method, second, history=early)
    assert late.classes.to_list() == ["c1", "c1b", "c2", "c3"]
    wider = early.with_classes(late.classes)
    for name, values in early.of_workers(early.workers).items():
        assert wider.of_workers(early.workers)[name].sum() == pytest.approx(values.sum())
    if "confusion" in late.per_worker:
        added = late.of_workers(early.workers)["confusion"] - wider.per_worker["confusion"]
        assert added.min() > -1e-9
        assert added.sum() == pytest.approx(second.n_labels)


def test_the_same_items_twice_are_said() -> None:
    past = history(cw.OneCoin(), part(0, 200))
    with pytest.warns(UserWarning, match="All of the items are in the state already.*counts twice"):
        cw.OneCoin().fit(part(0, 100), history=past)
    with pytest.warns(UserWarning, match="33 % of the items are in the state already"):
        cw.OneCoin().fit(part(150, 300), history=past)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = history(cw.OneCoin(), part(200, 300), history=past)
    with pytest.warns(UserWarning, match="All of the items"):
        cw.OneCoin().fit(part(290, 300), history=both)


def test_a_sketch_of_many_items_says_about_how_many_are_the_same() -> None:
    many = pl.int_range(100_000, eager=True)
    first, second = sketch(many), sketch(many[50_000:].append(pl.int_range(10**6, 10**6 + 50_000, eager=True)))
    assert share_in_common(second, first) == pytest.approx(0.5, abs=0.05)
    assert share_in_common(first, first) == 1.0
    assert share_in_common(sketch(many + 10**6), first) == 0.0
    number, exact = count(union([first, second]))
    assert not exact
    assert number == pytest.approx(150_000, rel=0.05)
    assert union([sketch(many[:70_000]), sketch(many[30_000:])]).tolist() == first.tolist()


@pytest.mark.slow
def test_what_gold_taught_about_confidence_is_remembered(engine: Engine, workdir: Path) -> None:
    method = engine.suited(cw.DawidSkene())
    crowd = cw.simulate(400, 6, 3, accuracy=0.5, labels_per_item=3, seed=5)  # its confidence is too high
    early = pl.col("item").is_in(crowd.truth["item"][:200].implode())
    first, second = (engine.read(crowd.rows.filter(which)) for which in (early, ~early))
    fitted = method.fit(first, gold=crowd.truth.head(60))
    alone, continued = method.fit(second), method.fit(second, history=fitted.history)
    assert alone.recalibration is None
    assert continued.recalibration.items == 60
    assert continued.recalibration.power == pytest.approx(fitted.gold_check.recalibration.power)
    plain = method.fit(second, history=replace(fitted.history, shared=_without(fitted.history.shared)))
    known = {result: result.to_frame()["confidence"].mean() for result in (plain, continued)}
    surer = continued.recalibration.power - 1  # below 0 if confidence is too high
    assert (known[continued] - known[plain]) * surer > 0
    assert (continued.expected_accuracy.value - plain.expected_accuracy.value) * surer > 0
    faded = method.fit(second, history=fitted.history, decay=0.5)
    assert faded.recalibration.items == 30
    assert continued.history.shared[CONFIDENCE] == pytest.approx(fitted.history.shared[CONFIDENCE])


def _without(shared: Any) -> dict[str, Any]:
    return {name: values for name, values in shared.items() if name != CONFIDENCE}


def test_gold_of_two_batches_is_nearly_gold_of_both_together() -> None:
    random = np.random.default_rng(1)
    probabilities = random.dirichlet([2, 1, 0.5], 400)
    sharp = probabilities**2 / (probabilities**2).sum(axis=1, keepdims=True)
    truths = (random.random(400)[:, None] > np.cumsum(probabilities, axis=1)).sum(axis=1)
    first = Recalibration.fit(sharp[:200], truths[:200])
    second = Recalibration.fit(sharp[200:], truths[200:], first)
    together = Recalibration.fit(sharp, truths)
    assert second.items == together.items == 400
    assert second.power == pytest.approx(together.power, rel=0.05)
    assert Recalibration.known(second.taught).power == pytest.approx(second.power)


def _panel(items: int, first: int, seed: int, rate: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the labels of seven judges who are right four times of five and of one who copies the first, and truths.

    With a rate of 0.97, the last one says the same as the first on so many items; with 0, it is as good as others.
    """
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    said = np.where(random.random((8, items)) < 0.8, truth, 1 - truth)
    if rate:
        said[7] = np.where(random.random(items) < rate, said[0], 1 - said[0])
    item, judge = np.divmod(np.arange(8 * items), 8)
    rows = {"item": first + item, "worker": [f"j{one}" for one in judge.tolist()], "label": said.T.ravel()}
    return pl.DataFrame(rows), pl.DataFrame({"item": first + np.arange(items), "truth": truth})


@pytest.mark.slow
def test_who_copies_whom_is_remembered(tmp_path: Path, engine: Engine, workdir: Path) -> None:
    method = engine.suited(cw.Adjudicator())
    early, _ = _panel(300, 0, 1, 0.97)
    past = method.fit(engine.read(early), warn=False).history
    past.write(tmp_path / "crowd.state")
    (pair,) = History.read(tmp_path / "crowd.state").copies.rows(named=True)
    assert {pair["follower"], pair["leader"]} == {"j0", "j7"}
    assert pair["shared"] == 300
    assert 0.95 < pair["agreed"] / 300 < 0.99
    # So few items show nobody who copies, and so it is known from before.
    late, _ = _panel(18, 1000, 2, 0.97)
    alone, continued = (
        method.fit(engine.read(late), history=one, warn=False) for one in (None, tmp_path / "crowd.state")
    )
    assert (alone.workers.follows < 0).all()
    names = continued.names.workers
    (follower,) = np.flatnonzero(continued.workers.follows >= 0)
    assert names[int(follower)] == pair["follower"]
    assert names[int(continued.workers.follows[follower])] == pair["leader"]
    (said,) = [one for one in continued.cautions if one.kind == "copies"]
    assert "the labels of the state spoke for copying" in said.sentence
    (after,) = continued.history.copies.rows(named=True)
    assert (after["follower"], after["shared"]) == (pair["follower"], 318)
    # Who no longer agrees so often counts in full again.
    other, _ = _panel(60, 2000, 3, 0.0)
    independent = method.fit(engine.read(other), history=past, warn=False)
    assert (independent.workers.follows < 0).all()
    assert independent.history.copies.rows() == past.copies.rows()
    merged = merge([past, past.decayed(0.5)]).copies.rows(named=True)
    assert [row["shared"] for row in merged] == [450]


def test_other_commands_take_a_state(tmp_path: Path) -> None:
    rows = CROWD.rows.with_columns(day=pl.when(pl.col("item").is_in(ITEMS[:200].implode())).then(1).otherwise(2))
    for day in (1, 2):
        cw.write({tmp_path / f"{day}.csv": rows.filter(pl.col("day") == day).drop("day")})
    state, second = tmp_path / "crowd.state", tmp_path / "2.csv"
    assert run("aggregate", tmp_path / "1.csv", "--save-state", state, "-q").returncode == 0
    known = ("--history", state, "--decay", "0.9")
    labels = cw.read_labels(second)
    result = cw.aggregate(labels, history=state, decay=0.9)
    item = ITEMS[250]
    why = run("explain", second, *known, "--item", item, "--json")
    assert json.loads(why.stdout)["score"] == pytest.approx(cw.explain(result, labels, item).score)
    assert cw.explain(result, labels, item).score != pytest.approx(cw.explain(cw.aggregate(labels), labels, item).score)
    planned = run("plan", second, *known, "--target", "0.9", "--json")
    assert json.loads(planned.stdout)["expected_accuracy"]["value"] == pytest.approx(result.expected_accuracy.value)
    asked = run("next", second, *known, "--budget", "3", "--json")
    assert json.loads(asked.stdout)["summary"] == cw.next_labels(labels, budget=3, result=result).summary
    page = run("report", second, *known, "-o", tmp_path / "page.html")
    assert page.returncode == 0, page.stderr
    for command in ("explain", "plan", "next", "report"):
        more = {"explain": ("--item", item), "plan": ("--target", "0.9"), "next": ("--budget", "3")}
        last = more.get(command, ("-o", tmp_path / "page.html"))
        refused = run(command, second, "--decay", "0.5", *last)
        assert (refused.returncode, "--decay does nothing without --history" in refused.stderr) == (2, True)


@pytest.mark.data
def test_the_second_halves_of_real_crowds(data: Path) -> None:
    """Workers are the same in both halves: answers are nearer to those of a joint fit, on average over crowds."""
    same, right, off = [], [], []
    for name in ("paper/SP", "paper/rte", "extra/mbic", "extra/ruters", "extra/metaphor", "judges/css_emotion"):
        labels, truth = cw.read_labels(data / name / "label.csv"), read_truth(data / name / "truth.csv")
        order = np.argsort(labels.numbering.item_numbers)
        first, second = labels.select(order[: len(order) // 2]), labels.select(order[len(order) // 2 :])
        joint, alone = cw.aggregate(labels), cw.aggregate(second)
        continued = cw.aggregate(second, history=cw.aggregate(first).history)
        both = (alone, continued)
        same.append([float((one.answers == joint.answers[order[len(order) // 2 :]]).mean()) for one in both])
        off.append([np.abs(one.quality.value - joint.quality.value).mean() for one in both])
        right.append([cw.accuracy(one, truth) for one in both])
    assert np.mean(same, axis=0)[1] > np.mean(same, axis=0)[0] + 0.005
    assert np.mean(right, axis=0)[1] > np.mean(right, axis=0)[0]
    assert (np.array(off)[:, 1] < np.array(off)[:, 0]).all()


def test_a_state_of_other_workers_is_said() -> None:
    crowd = cw.simulate(60, 8, 3, seed=1)
    past = cw.DawidSkene().fit(crowd.labels).history
    others = cw.Labels.from_frame(crowd.rows.with_columns(worker="x" + pl.col("worker"), item="x" + pl.col("item")))
    with pytest.warns(UserWarning, match=r"The state knows none of the 8 workers: it has 'w\d', for example"):
        cw.DawidSkene().fit(others, history=past)
