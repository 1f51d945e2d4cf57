"""Tests of gold: items whose class is known are clamped, judge the workers, check the method and fit confidence."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.reading.read_truth import read_truth
from crowdwise.results.recalibration import Recalibration
from crowdwise.testing import require_same_bits
from studies.benchmarks.panels import panel
from tests.support.cases import EVERY, each_method
from tests.support.commands import run
from tests.support.engines import Engine

CROWD = cw.simulate(150, 12, 3, accuracy=0.6, seed=4)
GOLD = CROWD.truth.sample(30, seed=1)


def takes_gold(key: str) -> Any:
    """Return a method that takes gold; the test is skipped for others, which another test is about."""
    method = EVERY[key]
    if method.limits().no_gold or (method.limits().most_classes or 3) < 3:
        pytest.skip("takes no gold")
    return method


@each_method
def test_gold_items_are_what_was_given_and_said_to_be(key: str) -> None:
    wrong = GOLD.with_columns(pl.col("truth").replace_strict({"c1": "c2", "c2": "c3", "c3": "c1"}))
    result = takes_gold(key).fit(CROWD.labels, gold=wrong)
    table = result.to_frame(probabilities=True).join(wrong, on="item", how="left", maintain_order="left")
    assert table["gold"].to_list() == table["truth"].is_not_null().to_list()
    assert table.filter("gold")["label"].equals(table.filter("gold")["truth"].alias("label"))
    assert (table.filter("gold")["confidence"] == 1).all()
    assert table.filter(~pl.col("gold"))["confidence"].max() < 1
    assert result.gold_check.items == 30


@each_method
def test_the_order_of_rows_and_gold_changes_no_bit(key: str) -> None:
    method = takes_gold(key)
    one = method.fit(CROWD.labels, gold=GOLD)
    shuffled = cw.Labels.from_frame(CROWD.rows.sample(fraction=1, shuffle=True, seed=3))
    other = method.fit(shuffled, gold=GOLD.reverse())
    require_same_bits(one, other)
    assert one.gold_check == other.gold_check


@pytest.mark.parametrize("key", [key for key, method in EVERY.items() if method.limits().no_gold])
def test_methods_that_take_no_gold_say_why(key: str) -> None:
    labels = cw.simulate(20, 5, 2, seed=1).labels
    with pytest.raises(cw.CallError, match=r"takes no gold, because .*: use adjudicator, bwa, ds"):
        EVERY[key].fit(labels, gold={"i01": "c1"})


@pytest.mark.parametrize(
    ("key", "labels", "items"),
    [
        ("adjudicator", "confusion", "classes"),
        ("bwa", "votes", "items"),
        ("ds", "confusion", "classes"),
        ("one_coin", "given", "classes"),
        ("wawa", "given", None),
        ("mace", "confusion", "classes"),
        ("ptbcc", "mixture", "classes"),
        ("ebcc", "confusion", "classes"),
    ],
)
def test_a_weight_is_how_often_gold_counts_about_workers(key: str, labels: str, items: str | None) -> None:
    counted = EVERY[key].fit(CROWD.labels, gold=GOLD, gold_weight=3).history
    of_gold = CROWD.rows.filter(pl.col("item").is_in(GOLD["item"].implode())).height
    assert counted.per_worker[labels].sum() == pytest.approx(CROWD.labels.n_labels + 2 * of_gold)
    if items is not None:  # which items are known need not be by chance, so classes are no more common by them
        assert counted.shared[items].sum() == pytest.approx(150)


def test_gold_of_one_class_does_not_make_it_common() -> None:
    """One item in ten is of the rare class, but half of the gold."""
    random = np.random.default_rng(3)
    truth = (random.random(600) < 0.1).astype(int)
    said = np.where(random.random((600, 5)) < 0.75, truth[:, None], 1 - truth[:, None])
    labels = cw.Labels.from_arrays(np.repeat(np.arange(600), 5), np.tile(np.arange(5), 600), said.ravel())
    chosen = np.concatenate([np.flatnonzero(truth == k)[:30] for k in range(2)])
    gold = dict(zip(chosen.tolist(), truth[chosen].tolist(), strict=True))
    known = dict(enumerate(truth.tolist()))
    without, result = cw.aggregate(labels), cw.aggregate(labels, gold=gold)
    assert cw.accuracy(result, known) > cw.accuracy(without, {k: v for k, v in known.items() if k not in gold}) - 0.05


def test_where_all_is_known_workers_are_what_they_said() -> None:
    result = cw.DawidSkene().fit(CROWD.labels, gold=CROWD.truth, gold_weight=1)
    said = CROWD.rows.join(CROWD.truth, on="item")
    for worker in ("w01", "w12"):
        rows = said.filter(pl.col("worker") == worker)
        right = rows.group_by("truth").agg((pl.col("label") == pl.col("truth")).mean()).sort("truth")
        assert np.diagonal(result.confusion(worker).drop("truth")) == pytest.approx(right["label"].to_numpy())
    assert result.expected_accuracy.value == 1


def misled(seed: int) -> tuple[cw.Labels, pl.DataFrame]:
    """Nine workers of two classes, six of whom take most items of class c2 for c1, as judges of one family may."""
    random = np.random.default_rng(seed)
    truth = random.integers(2, size=400)
    fooled = random.random(400) < 0.75
    rows = []
    for worker in range(9):
        right = random.random(400) < 0.85
        seen = np.where(fooled & (worker < 6), 0, truth)
        rows += [(f"i{i}", f"w{worker}", f"c{1 + said}") for i, said in enumerate(np.where(right, seen, 1 - seen))]
    table = pl.DataFrame({"item": [f"i{i}" for i in range(400)], "truth": [f"c{1 + k}" for k in truth]})
    return cw.Labels.from_arrays(*zip(*rows, strict=True)), table


@pytest.mark.parametrize("method", [cw.Adjudicator(), cw.DawidSkene(), cw.BWA()])
def test_gold_shows_whom_to_trust(method: Any) -> None:
    labels, truth = misled(2)
    gold = truth.sample(50, seed=2)
    # Three quarters of the truth follow the six: for the adjudicator, the three good workers are another reading.
    expected = (
        pytest.warns(UserWarning, match="gold supports another") if method.key == "adjudicator" else nullcontext()
    )
    without = method.fit(labels)
    with expected:
        with_gold = method.fit(labels, gold=gold)
    rest = truth.join(gold, on="item", how="anti")
    assert cw.accuracy(with_gold, rest) > cw.accuracy(without, rest) + 0.1
    quality = with_gold.workers_frame().with_columns(good=pl.col("worker").is_in(["w6", "w7", "w8"]))
    if method != cw.BWA():  # who is right on which class is more than a weight can say
        assert quality.filter("good")["quality"].mean() > quality["quality"].mean() + 0.05
    assert abs(cw.overconfidence(with_gold, rest)) < abs(cw.overconfidence(without, rest))


@pytest.mark.filterwarnings("ignore:Gold items are more disputed")
@pytest.mark.parametrize("place", ["memory", "disk"])
def test_gold_settles_which_reading_is_right(place: Any, tmp_path: Path) -> None:
    """Ten items on which readings differ, which is not at random, tell that two judges of eight are one."""
    labels, truth = panel(7, copied=True, seed=1, n_items=300)
    rows = pl.DataFrame({"item": labels.item_of, "worker": labels.workers, "label": labels.labels})
    method = cw.Adjudicator(copies="separate")
    plain = method.fit(labels)
    rivals = cw.rivals(plain, labels)
    assert rivals is not None
    gold = {item: truth[item] for item in rivals.settling.to_list()}
    rows.write_parquet(tmp_path / "votes.parquet")
    there = cw.read_labels(tmp_path / "votes.parquet", engine=place, memory="200KB" if place == "disk" else None)
    with pytest.warns(UserWarning, match="of 10 gold items right, the usual one"):
        found = method.fit(there, gold=gold)
    votes = cw.accuracy(cw.MajorityVote().fit(labels), truth)
    assert cw.accuracy(plain, truth) < votes - 0.1
    assert cw.accuracy(found, truth) > votes
    there.close()


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_gold_that_is_disputed_counts_once(place: Any, tmp_path: Path) -> None:
    labels, truth = panel(7, copied=False, seed=1, n_items=300)
    shares = cw.MajorityVote().fit(labels).scores.max(axis=1)
    chosen = np.argsort(shares, kind="stable")[:20].tolist()
    pl.DataFrame({"item": labels.item_of, "worker": labels.workers, "label": labels.labels}).write_csv(
        tmp_path / "votes.csv"
    )
    there = cw.read_labels(tmp_path / "votes.csv", engine=place, memory="200KB" if place == "disk" else None)
    gold = {item: truth[item] for item in chosen}
    with pytest.warns(UserWarning, match="Gold items are more disputed than others"):
        found = cw.DawidSkene().fit(there, gold=gold)
    once = cw.DawidSkene().fit(there, gold=gold, gold_weight=1)  # what the user says holds, and nothing is said
    assert found.to_frame().equals(once.to_frame())
    there.close()


def test_gold_at_random_is_hardly_ever_called_disputed() -> None:
    labels, truth = panel(7, copied=False, seed=2, n_items=200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda sentence, **_: said.append(sentence))
        said: list[str] = []
        for seed in range(40):
            chosen = np.random.default_rng(seed).choice(200, 30, replace=False).tolist()
            cw.MajorityVote().fit(labels, gold={item: truth[item] for item in chosen})
    assert len(said) <= 3


def test_gold_that_speaks_for_no_other_reading_leaves_it() -> None:
    labels, truth = panel(7, copied=False, seed=1)
    found = cw.Adjudicator().fit(labels, gold=dict(list(truth.items())[:50]))
    assert found.known.initial_workers is None
    assert found.gold_check is not None
    assert not found.gold_check.prefers_majority


def test_majority_vote_is_recommended_where_gold_shows_that_it_is_better() -> None:
    labels, truth = panel(7, copied=True, seed=1)
    gold = dict(list(truth.items())[:100])
    # Gold that counts for nothing changes nothing: the method follows the two judges who are one.
    check = cw.BWA().fit(labels, gold=gold, gold_weight=1e-6).gold_check
    assert "So majority vote (-m mv) is better here" in str(check)


def test_gold_is_no_way_to_look_good() -> None:
    """Gold that is drawn at random says nothing: the check must find that, although all of it is clamped."""
    random = np.random.default_rng(1)
    labels = cw.Labels.from_arrays(
        np.repeat(np.arange(300), 5), np.tile(np.arange(5), 300), random.integers(2, size=1500)
    )
    gold = dict(enumerate(random.integers(2, size=100).tolist()))
    result = cw.aggregate(labels, gold=gold)
    assert result.gold_check is not None
    assert 0.35 < result.gold_check.accuracy.value < 0.65
    assert result.gold_check.accuracy.low < 0.5 < result.gold_check.accuracy.high
    assert result.expected_accuracy.value < 0.7
    low = result.expected_accuracy.low
    assert low is not None
    assert low < 0.55


def test_confidence_is_fitted_to_the_crowd() -> None:
    """Simulated workers err independently, for which confidence is far too low without gold."""
    crowd = cw.simulate(800, 20, 3, accuracy=0.7, seed=5)
    gold = crowd.truth.sample(100, seed=1)
    rest = crowd.truth.join(gold, on="item", how="anti")
    without, result = cw.aggregate(crowd.labels), cw.aggregate(crowd.labels, gold=gold)
    assert cw.overconfidence(without, rest) < -0.1
    assert abs(cw.overconfidence(result, rest)) < 0.05
    assert cw.log_loss(result, rest) < cw.log_loss(without, rest)
    wide, narrow = without.expected_accuracy, result.expected_accuracy
    ends = [narrow.low, narrow.high, wide.low, wide.high]
    assert None not in ends
    low, high, widest_low, widest_high = (end for end in ends if end is not None)
    assert high - low < widest_high - widest_low
    assert low < cw.accuracy(result, rest) < high


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_only_random_gold_measures_and_calibrates(place: Any, tmp_path: Path) -> None:
    """Chosen items are those that workers get wrong: they would say that confidence is far too high."""
    crowd = cw.simulate(400, 15, 2, accuracy=0.75, seed=5)
    votes = cw.MajorityVote().fit(crowd.labels)
    wrong = crowd.truth.filter(pl.Series((votes.labels != crowd.truth["truth"]).to_numpy())).head(15)
    random = crowd.truth.join(wrong, on="item", how="anti").sample(40, seed=1)
    both = pl.concat([random.with_columns(source=pl.lit("random")), wrong.with_columns(source=pl.lit("chosen"))])
    crowd.rows.write_csv(tmp_path / "labels.csv")
    labels = cw.read_labels(tmp_path / "labels.csv", engine=place)
    result = cw.BWA().fit(labels, gold=both)
    assert result.gold_check is not None
    assert result.gold_check.items == 40
    blind = cw.BWA().fit(labels, gold=both.drop("source"), gold_weight=1)
    assert blind.gold_check is not None
    assert blind.gold_check.items == 55
    assert result.gold_check.accuracy.value > blind.gold_check.accuracy.value + 0.1
    found = dict(result.to_frame().select("item", "label").iter_rows())
    assert all(found[item] == truth for item, truth in wrong.iter_rows())  # they teach all the same
    chosen = both.filter(pl.col("source") == "chosen")
    assert cw.BWA().fit(labels, gold=chosen).gold_check is None


def test_the_source_of_gold_is_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("item,truth,source\na,x,random\nb,y,chosen\na,x,chosen\nc,z,\nd,,random\n")
    known = [("a", "x", "random"), ("b", "y", "chosen"), ("c", "z", "random")]
    assert cw.read_truth(path).rows() == known
    assert cw.read_truth(cw.read_truth(path)).rows() == known
    path.write_text("item,truth,source\na,x,a page\nb,y,chosen\n")
    assert cw.read_truth(path).rows() == [("a", "x"), ("b", "y")]
    (tmp_path / "gold.json").write_text('[{"item": "a", "truth": "x", "source": {"page": 1}}]')
    assert cw.read_truth(tmp_path / "gold.json").rows() == [("a", "x")]


def test_recalibration_finds_the_power_that_made_the_truth() -> None:
    random = np.random.default_rng(0)
    sure = random.dirichlet(np.ones(3) * 0.5, 5000)
    true = Recalibration(0.5)
    truths = (random.random((5000, 1)) > true.apply(sure).cumsum(axis=1)).sum(axis=1)
    found = Recalibration.fit(sure, truths)
    assert found.power == pytest.approx(0.5, abs=0.03)
    few = Recalibration.fit(sure[:2], truths[:2])
    assert 0.5 < few.power < 2  # two items change little


def test_gold_never_evaluates_itself() -> None:
    result = cw.BWA().fit(CROWD.labels, gold=GOLD)
    rest = CROWD.truth.join(GOLD, on="item", how="anti")
    assert cw.accuracy(result, CROWD.truth) == cw.accuracy(result, rest)
    assert cw.log_loss(result, CROWD.truth) == cw.log_loss(result, rest)
    with pytest.raises(cw.DataError, match="All 30 items of the truth that have labels were given to the method"):
        cw.accuracy(result, GOLD)


def test_a_class_that_only_gold_names_is_a_class() -> None:
    gold = {"i001": "bird", "i002": "c1", "i003": "c2", "i004": "bird", "i005": "c3"}
    for method in (cw.Adjudicator(), cw.DawidSkene(), cw.BWA(), cw.LogLinear(), cw.EBCC(), cw.MajorityVote()):
        with pytest.warns(UserWarning, match="No label names 'bird'; gold does, so it is a class"):
            result = method.fit(CROWD.labels, gold=gold)
        assert result.names.classes.to_list() == ["bird", "c1", "c2", "c3"]
        assert result.to_frame().head(5)["label"].to_list() == list(gold.values())
    with pytest.warns(UserWarning, match="so it is a class"):
        why = cw.explain(cw.BWA().fit(CROWD.labels, gold=gold), CROWD.labels, "i001")
    assert (why.label, why.gold) == ("bird", True)
    assert why.remedy == "The answer was given as gold, so no votes would change it."


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ({"nobody": "c1"}, r"The gold shares no item with the labels: it has 'nobody', for example, the labels have"),
        (pl.DataFrame({"item": ["i001"] * 2, "truth": ["c1", "c2"]}), r"more than one truth for 1 item; first: item"),
        ({}, r"no truth in it"),
        ({"i001": None}, r"no truth in it"),
        (pl.DataFrame({"item": ["i001"]}), r"truth"),
    ],
)
def test_bad_gold_is_refused_in_a_sentence(gold: Any, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.BWA().fit(CROWD.labels, gold=gold)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), "much", True])
def test_a_weight_is_a_number_above_zero(weight: Any) -> None:
    with pytest.raises(cw.CallError, match="gold_weight="):
        cw.BWA().fit(CROWD.labels, gold=GOLD, gold_weight=weight)


def test_classes_of_another_type_are_refused_if_nobody_named_them() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 2], ["a", "b"] * 2, [0, 1, 1, 1])
    for same in ({"1": "1"}, {1: True}):  # written otherwise, but the same
        assert cw.BWA().fit(labels, gold=same).names.classes.to_list() == [0, 1]
    with pytest.raises(cw.DataError, match="The gold names 'maybe', which no label names"):
        cw.BWA().fit(labels, gold={1: "maybe"})


def test_one_gold_item_is_clamped_but_checks_nothing() -> None:
    with pytest.warns(UserWarning, match="1 of 2 gold items have no label; first: 'unlabelled'"):
        result = cw.aggregate(CROWD.labels, gold={"i001": "c3", "unlabelled": "c1"})
    assert result.gold_check is None
    assert result.to_frame().row(0, named=True)["label"] == "c3"


@pytest.mark.parametrize("key", ["adjudicator", "bwa", "ds", "mv", "wawa", "one_coin"])
@pytest.mark.slow
def test_gold_is_the_same_in_every_engine(key: str, engine: Engine, workdir: Path) -> None:
    if engine.few_iterations and key not in ("adjudicator", "bwa"):
        pytest.skip("every fit takes long here, and six are made")
    gold = {**dict(GOLD.rows()), "i001": "bird"}
    method = engine.suited(EVERY[key])
    labels = engine.read(CROWD.rows)
    with pytest.warns(UserWarning, match="'bird'"):
        found, memory = method.fit(labels, gold=gold), method.fit(CROWD.labels, gold=gold)
    ours, theirs = found.to_frame(probabilities=True).sort("item"), memory.to_frame(probabilities=True).sort("item")
    assert ours.select("item", "label", "votes", "gold").equals(theirs.select("item", "label", "votes", "gold"))
    for name in (*(f"probability_{k}" for k in ("bird", "c1", "c2", "c3")), "confidence"):
        assert ours[name].to_numpy() == pytest.approx(theirs[name].to_numpy(), abs=1e-6)
    assert found.gold_check is not None
    assert found.gold_check.accuracy == memory.gold_check.accuracy
    assert found.gold_check.majority == memory.gold_check.majority
    assert found.expected_accuracy.value == pytest.approx(memory.expected_accuracy.value, abs=1e-6)
    assert found.workers_frame().sort("worker")["quality"].to_numpy() == pytest.approx(
        memory.workers_frame().sort("worker")["quality"].to_numpy(), abs=1e-6
    )
    assert cw.accuracy(found, CROWD.truth) == pytest.approx(cw.accuracy(memory, CROWD.truth))
    labels.close()


def test_the_command_line_takes_gold(tmp_path: Path) -> None:
    cw.write({tmp_path / "votes.csv": CROWD.rows, tmp_path / "gold.csv": GOLD, tmp_path / "truth.csv": CROWD.truth})
    votes, gold, truth = (tmp_path / name for name in ("votes.csv", "gold.csv", "truth.csv"))
    done = run("aggregate", votes, "--gold", gold, "--truth", truth, "-o", tmp_path / "out.csv")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "30 items of the truth are gold, and so left out of the evaluation." in said
    assert "Of 30 gold items, each inferred as if it were not known, the method has" in said
    assert pl.read_csv(tmp_path / "out.csv")["gold"].sum() == 30
    page = tmp_path / "page.html"
    assert run("report", votes, "--gold", gold, "--truth", truth, "-o", page).returncode == 0
    assert "Gold items" in page.read_text(encoding="utf-8")
    compared = run("compare", votes, "--gold", gold, "--methods", "mv,ds,mmsr")
    assert compared.returncode == 0
    assert "gold_accuracy" in compared.stdout
    assert "MMSR takes no gold" in " ".join(compared.stderr.split())
    explained = run("explain", votes, "--gold", gold, "--item", GOLD["item"][0])
    assert "The answer was given as gold" in explained.stdout
    itself = run("aggregate", votes, "--gold", votes)
    assert (itself.returncode, "is also read as labels" in itself.stderr) == (2, True)
    nothing_left = run("aggregate", votes, "--gold", gold, "--truth", gold)
    assert (nothing_left.returncode, "none is left to evaluate by" in nothing_left.stderr) == (1, True)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:The labels can be read in several ways")
def test_gold_repairs_language_models_as_judges(data: Path) -> None:
    """Their errors are systematic: fifty known items show which judges to follow."""
    folder = data / "judges" / "judgebench"
    labels, truth = cw.read_labels(folder / "label.csv"), read_truth(folder / "truth.csv")
    without = cw.aggregate(labels)
    gains, sure = [], []
    for seed in range(3):
        gold = truth.sample(50, seed=seed)
        rest = truth.join(gold, on="item", how="anti")
        result = cw.aggregate(labels, gold=gold)
        gains.append(cw.accuracy(result, rest) - cw.accuracy(without, rest))
        sure.append(abs(cw.overconfidence(result, rest)))
    assert min(gains) > 0.05
    assert np.mean(sure) < 0.08 < cw.overconfidence(without, truth)
