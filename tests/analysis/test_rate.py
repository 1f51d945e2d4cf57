"""Tests of `rate`: the worked example, coverage, systems, gold of every kind, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.analysis.rates.estimates import (
    GOLD_ONLY,
    POWERED,
    Counts,
    Sample,
    estimate,
    rogan_gladen,
    subtract,
    width,
)
from crowdwise.cli.app import app
from crowdwise.numerics import Array


def _judged(
    seed: int, items: int = 400, judges: int = 3, right: float = 0.8, passing: float = 0.7
) -> tuple[pl.DataFrame, Array]:
    """Return votes of judges who are lenient, and which items truly pass."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < passing
    passed = rng.random((items, judges)) < np.where(truth, right + 0.1, 1 - right + 0.1)[:, None]
    rows = {
        "item": np.repeat([f"q{number}" for number in range(items)], judges),
        "worker": np.tile([f"j{number}" for number in range(judges)], items),
        "label": np.where(passed, "yes", "no").ravel(),
    }
    return pl.DataFrame(rows), truth


def _gold(truth: Array, count: int, seed: int = 0, **more: Any) -> pl.DataFrame:
    picked = np.random.default_rng(seed).permutation(len(truth))[:count]
    names = [f"q{number}" for number in picked]
    return pl.DataFrame({"item": names, "truth": np.where(truth[picked], "yes", "no"), **more})


@pytest.mark.data
def test_the_worked_example(data: Path) -> None:
    folder = data / "judges" / "llmbar_human"
    truth = pl.read_csv(folder / "truth.csv")
    gold = truth[np.random.default_rng(7).permutation(466)[:50]]
    row = cw.rate(folder / "label.csv", 0, gold=gold, warn=False).systems.row(0, named=True)
    wanted = {"pass_rate": 0.4923, "se": 0.0546, "low": 0.3826, "high": 0.6021, "raw_rate": 0.4958}
    wanted |= {"gold_rate": 0.5, "gold_low": 0.3664, "gold_high": 0.6336}
    for name, value in wanted.items():
        assert row[name] == pytest.approx(value, abs=5e-5), name
    assert (row["items"], row["gold"], row["method"]) == (466, 50, POWERED)


def test_an_estimate_by_hand() -> None:
    truth, judged = np.array([1.0, 1, 1, 0, 0, 1, 0, 0, 1, 1]), np.array([1.0, 1, 0, 0, 0, 1, 1, 0, 1, 1])
    found = estimate(Sample(0.55, 100, truth, judged))
    weight = np.cov(truth, judged)[0, 1] / np.var(judged, ddof=1)
    errors = truth - weight * judged
    share = weight * 0.55 + errors.mean()
    variance = 0.9 * (((errors - errors.mean()) ** 2).sum() + 0.5) / 9 / 10 + share * (1 - share) / 100
    half = 2.306004 * np.sqrt(variance)  # t of 8 degrees of freedom
    np.testing.assert_allclose(found[:4], [share, np.sqrt(variance), share - half, min(share + half, 1)], rtol=1e-6)
    assert found.method == POWERED
    # These items alone: no term for other items.
    here = estimate(Sample(0.55, 100, truth, judged), these_items=True)
    assert here.error**2 == pytest.approx(variance - share * (1 - share) / 100)


def test_intervals_hold_the_truth_and_are_narrower_than_gold_alone() -> None:
    held, widths = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        truth = (rng.random(500) < 0.7).astype(float)
        judged = np.clip(0.25 + 0.5 * truth + rng.normal(0, 0.2, 500), 0, 1)
        its = rng.permutation(500)[:50]
        found = estimate(Sample(float(judged.mean()), 500, truth[its], judged[its]))
        held.append(found.low <= 0.7 <= found.high)
        widths.append(found.high - found.low)
    assert 0.92 <= np.mean(held) <= 0.98  # 300 draws, nominal 0.95
    assert np.mean(widths) < 0.85 * width(50, 500, 0.7)


def test_paired_differences_hold_and_are_narrower() -> None:
    many = np.random.default_rng(0).normal(0, 1.5, 200_000)
    shifts = (1.0, 0.3)
    true = np.subtract(*((1 / (1 + np.exp(-many - shift))).mean() for shift in shifts))
    held, paired, apart = [], [], []
    for seed in range(300):
        rng = np.random.default_rng(5000 + seed)
        easy = rng.normal(0, 1.5, 600)
        truth = [(rng.logistic(0, 1, 600) < easy + shift).astype(float) for shift in shifts]
        judged = [np.where(rng.random(600) < 0.8, one, 1 - one) for one in truth]
        its = rng.permutation(600)[:80]
        sides = [Sample(float(f.mean()), 600, y[its], f[its]) for y, f in zip(truth, judged, strict=True)]
        y, f = (one[0] - one[1] for one in (truth, judged))
        found = estimate(Sample(float(f.mean()), 600, y[its], f[its]), difference=True)
        independent = subtract(*map(estimate, sides))
        held.append(found.low <= true <= found.high)
        paired.append(found.high - found.low)
        apart.append(independent.high - independent.low)
    assert 0.91 <= np.mean(held) <= 0.98  # 1,500 draws: 0.941
    assert np.mean(paired) < np.mean(apart)


def test_lenient_judges_are_corrected_and_it_is_said_why() -> None:
    votes, truth = _judged(0)
    found = cw.rate(votes, "yes", gold=_gold(truth, 100), warn=False)
    row = found.systems.row(0, named=True)
    assert row["raw_rate"] == pytest.approx(0.72, abs=0.05)
    assert row["low"] <= truth.mean() <= row["high"]
    assert row["high"] - row["low"] < row["gold_high"] - row["gold_low"]
    assert "so their own rate is about" in found.sentences()[1]
    assert json.loads(json.dumps(found.to_dict()))["systems"][0]["gold"] == 100


def test_judges_who_tell_nothing_are_left_out() -> None:
    votes, truth = _judged(1, right=0.5)
    row = cw.rate(votes, "yes", gold=_gold(truth, 60), warn=False).systems.row(0, named=True)
    assert row["method"] == GOLD_ONLY
    assert row["explained"] < 0.1
    assert (row["pass_rate"], row["low"], row["high"]) == (row["gold_rate"], row["gold_low"], row["gold_high"])


def test_gold_that_all_passes_has_an_interval() -> None:
    votes, _ = _judged(2)
    gold = pl.DataFrame({"item": [f"q{number}" for number in range(40)], "truth": "yes"})
    row = cw.rate(votes, "yes", gold=gold, warn=False).systems.row(0, named=True)
    assert (row["pass_rate"], row["high"], row["method"]) == (1, 1, GOLD_ONLY)
    assert row["low"] == pytest.approx(0.912, abs=0.001)  # Wilson's


def test_without_gold_there_is_no_interval_but_a_plan() -> None:
    votes, _ = _judged(3)
    found = cw.rate(votes, "yes", warn=False)
    assert not found.has_gold
    assert found.systems.select("pass_rate", "low", "high").row(0) == (None, None, None)
    assert found.needed["gold"].to_list() == [20, 50, 100, 200]
    assert found.needed["width_gold_only"].is_sorted(descending=True)
    assert "there is no interval" in str(found)


def _systems(shared: bool = True) -> tuple[pl.DataFrame, pl.DataFrame]:
    tables, golds = [], []
    for number, passing in enumerate((0.5, 0.8)):
        votes, truth = _judged(10 + number, items=300, passing=passing)
        prefix = "" if shared else f"{number}-"
        named = votes.with_columns(pl.lit(f"s{number}").alias("model"), (pl.lit(prefix) + pl.col("item")).alias("item"))
        tables.append(named)
        known = _gold(truth, 100).with_columns(
            pl.lit(f"s{number}").alias("model"), (pl.lit(prefix) + pl.col("item")).alias("item")
        )
        golds.append(known)
    return pl.concat(tables), pl.concat(golds)


def test_systems_on_the_same_prompts_are_compared_by_prompt() -> None:
    votes, gold = _systems()
    found = cw.rate(votes, "yes", gold=gold, system="model", warn=False)
    assert found.systems["system"].to_list() == ["s0", "s1"]
    assert found.systems.select("items", "gold").rows() == [(300, 100)] * 2
    one = found.differences.row(0, named=True)
    assert (one["a"], one["b"], one["same_prompts"], one["items"], one["gold"]) == ("s0", "s1", True, 300, 100)
    assert one["low"] < -0.3 < one["high"] < 0
    assert any(sentence.startswith("s1 is better than s0 by") for sentence in found.sentences())


def test_systems_on_other_prompts_are_compared_by_their_rates() -> None:
    votes, gold = _systems(shared=False)
    found = cw.rate(votes, "yes", gold=gold.drop("model"), system="model", warn=False)  # each item has one system
    one = found.differences.row(0, named=True)
    assert (one["same_prompts"], one["items"], one["gold"]) == (False, 600, 200)
    values = found.systems["pass_rate"].to_list()
    assert one["difference"] == pytest.approx(values[0] - values[1])


def test_gold_that_does_not_say_whose_answer_it_is_about_is_refused() -> None:
    votes, gold = _systems()
    with pytest.raises(cw.DataError, match=r"Several systems have item 'q\d+', .* column 'model' too"):
        cw.rate(votes, "yes", gold=gold.filter(pl.col("model") == "s0").drop("model"), system="model")


def test_only_random_gold_measures() -> None:
    votes, truth = _judged(4)
    gold = _gold(truth, 80).with_columns(source=pl.Series(["random", "chosen"] * 40))
    found = cw.rate(votes, "yes", gold=gold, warn=False)
    assert found.systems["gold"][0] == 40
    assert any("40 gold items were chosen" in remark for remark in found.remarks)
    with pytest.raises(cw.DataError, match="Gold was chosen and not drawn at random"):
        cw.rate(votes, "yes", gold=gold.filter(source="chosen"))


def test_gold_that_looks_chosen_is_said_to() -> None:
    votes, truth = _judged(5, judges=5)
    disputed = (
        votes.group_by("item").agg((pl.col("label") == "yes").mean()).filter(pl.col("label").is_between(0.3, 0.7))
    )
    picked = [int(name[1:]) for name in disputed["item"].head(40)]
    gold = {f"q{number}": "yes" if truth[number] else "no" for number in picked}
    assert any(
        "do not look drawn at random" in str(one) for one in cw.rate(votes, "yes", gold=gold, warn=False).cautions
    )


def test_lang_and_reiczigel() -> None:
    # The formulas of the paper, by hand; 40 of 100 pass, 45 of 50 and 40 of 50 are right.
    found = rogan_gladen(Counts(40, 100), Counts(45, 50), Counts(40, 50))
    assert found is not None
    assert found.value == pytest.approx((0.4 + 0.8 - 1) / 0.7)
    z = 1.959964
    n, p, se, sp = 100 + z * z, (40 + z * z / 2) / (100 + z * z), 46 / 52, 41 / 52
    share = (p + sp - 1) / (se + sp - 1)
    shift = 2 * z * z * (share * se * (1 - se) / 52 - (1 - share) * sp * (1 - sp) / 52)
    error = np.sqrt(p * (1 - p) / n + share**2 * se * (1 - se) / 52 + (1 - share) ** 2 * sp * (1 - sp) / 52)
    half = z * error / (se + sp - 1)
    np.testing.assert_allclose([found.low, found.high], [share + shift - half, share + shift + half], rtol=1e-5)
    assert rogan_gladen(Counts(40, 100), Counts(20, 50), Counts(20, 50)) is None


def test_gold_from_elsewhere_gives_error_rates() -> None:
    votes, truth = _judged(6, items=1000, passing=0.3)
    other, known = _judged(7, items=400, passing=0.8)
    other = other.with_columns((pl.lit("old-") + pl.col("item")).alias("item"))
    gold = _gold(known, 400).with_columns((pl.lit("old-") + pl.col("item")).alias("item"))
    found = cw.rate(votes, "yes", gold=gold, gold_labels=other, warn=False)
    row = found.systems.row(0, named=True)
    assert row["method"] == "gold from elsewhere"
    assert row["low"] <= truth.mean() <= row["high"]
    assert any("only if judges err here as they do there" in remark for remark in found.remarks)


@given(st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.large_base_example])
def test_the_order_of_rows_changes_nothing(random: Any) -> None:
    votes, gold = _systems()
    order = list(range(votes.height))
    random.shuffle(order)
    one = cw.rate(votes, "yes", gold=gold, system="model", warn=False)
    other = cw.rate(votes[order], "yes", gold=gold.reverse(), system="model", warn=False)
    for table, again in ((one.systems, other.systems), (one.differences, other.differences)):
        assert table.drop(pl.selectors.float()).equals(again.drop(pl.selectors.float()))
        for name in table.select(pl.selectors.float()).columns:
            np.testing.assert_allclose(table[name], again[name], rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"passing": "Yes"}, r"No label is 'Yes'.* Did you mean 'yes'\?"),
        ({"passing": []}, "names the label of items that pass"),
        ({"passing": "yes", "gold": {"zz": "yes"}}, "The gold shares no item with the labels: it has 'zz'"),
        ({"passing": "yes", "gold_labels": {}}, "does nothing without gold"),
        ({"passing": "yes", "system": "model"}, "no column 'model' for the system"),
        ({"passing": "yes", "these_items": 1}, "these_items"),
    ],
)
def test_what_cannot_be_is_refused(call: dict[str, Any], said: str) -> None:
    votes, _ = _judged(8, items=20)
    with pytest.raises(ValueError, match=said):
        cw.rate(votes, **call)


def test_gold_in_other_words_is_refused_or_said() -> None:
    votes, truth = _judged(3)
    gold = _gold(truth, 50)
    other = gold.with_columns(pl.col("truth").replace({"yes": "good", "no": "bad"}))
    with pytest.raises(cw.DataError, match="The gold says 'bad' and 'good', and the labels say 'no' and 'yes'"):
        cw.rate(votes, "yes", gold=other)
    unclear = gold.with_columns(truth=pl.when(pl.int_range(pl.len()) < 4).then(pl.lit("unclear")).otherwise("truth"))
    found = cw.rate(votes, "yes", gold=unclear, warn=False)
    (said,) = (str(one) for one in found.cautions)
    assert "4 gold items are 'unclear', which no judge says, and count as not passing" in said
    assert found.systems["pass_rate"].item() < cw.rate(votes, "yes", gold=gold, warn=False).systems["pass_rate"].item()
    # Numbers are the same classes however they are written.
    numbers = votes.with_columns(pl.col("label").replace_strict({"yes": 1, "no": 0}))
    as_float = gold.with_columns(pl.col("truth").replace_strict({"yes": 1.0, "no": 0.0}))
    same = cw.rate(numbers, 1, gold=as_float, warn=False).systems
    assert same["pass_rate"].item() == cw.rate(votes, "yes", gold=gold, warn=False).systems["pass_rate"].item()


def test_few_items_without_gold_and_systems_without_a_name() -> None:
    votes, _ = _judged(3, items=5)
    said = cw.rate(votes, "yes", warn=False).sentences()
    assert "decide all of them" in said[-1]
    both, _ = _systems()
    with pytest.raises(cw.DataError, match="say system='model'"):
        cw.rate(both, "yes")


def test_a_table_is_read_with_the_options() -> None:
    votes, truth = _judged(6)
    renamed = votes.rename({"item": "prompt", "label": "verdict"}).with_columns(label=pl.lit("no"))
    with_options = cw.rate(renamed, "yes", gold=_gold(truth, 50), label="verdict", warn=False)
    assert with_options.systems.equals(cw.rate(votes, "yes", gold=_gold(truth, 50), warn=False).systems)
    twice = pl.concat([votes, votes.with_columns(label=pl.lit("no"))])
    assert cw.rate(twice, "yes", duplicates="last", warn=False).systems["raw_rate"].item() == 0.0


def test_error_rates_of_other_judges_are_said_to_be() -> None:
    here, _ = _judged(4)
    there, truth = _judged(5, items=200)
    gold = _gold(truth, 200)
    assert not cw.rate(here, "yes", gold=gold, gold_labels=there, warn=False).cautions
    others = there.with_columns(pl.col("worker").replace("j0", "other"))
    (said,) = cw.rate(here, "yes", gold=gold, gold_labels=others, warn=False).cautions
    assert "'j0' has no label among the labels of the gold, and 'other' has no label here" in str(said)


def test_on_the_command_line(tmp_path: Path) -> None:
    votes, gold = _systems()
    votes.write_csv(tmp_path / "labels.csv")
    gold.write_csv(tmp_path / "gold.csv")
    files = [str(tmp_path / name) for name in ("labels.csv", "gold.csv", "rates.csv", "differences.csv")]
    words = ["rate", files[0], "--pass", "yes", "--gold", files[1], "--system", "model", "-o", files[2]]
    done = CliRunner().invoke(app, [*words, "--differences", files[3], "--json"])
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    assert [one["system"] for one in content["systems"]] == ["s0", "s1"]
    assert (
        pl.read_csv(files[2])["pass_rate"].round(9).to_list()
        == pl.Series([one["pass_rate"] for one in content["systems"]]).round(9).to_list()
    )
    assert pl.read_csv(files[3]).height == 1
    shown = CliRunner().invoke(app, ["rate", files[0], "--pass", "yes", "--system-column", "model"])
    assert "Width of the interval by gold" in shown.stdout
