"""Tests of confidence: the forms of calibration, the constants' file, the interval, the measures and the cautions."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import crowdwise as cw
from crowdwise.analysis import cautions, compare
from crowdwise.numerics import Array
from crowdwise.results.calibration import Form, constant, is_calibrated, probabilities, transform
from crowdwise.results.expected_accuracy import ExpectedAccuracy, interval
from studies.calibrate.constants_file import PATH, constants_file
from studies.calibrate.contestants import contestants, duplicates
from studies.calibrate.coverage_section import DOCS
from studies.calibrate.crowds import crowds, family
from studies.calibrate.figures import reliability_table
from studies.calibrate.fitting import fit
from studies.calibrate.measuring import Measured, measure
from studies.calibrate.page import left_out_table, render
from studies.calibrate.spread import LeftOut, covered, spread
from tests.support.cases import EVERY, each_method
from tests.support.commands import run

FORMS = [form for form in get_args(Form) if form != "pool"]  # tests/results/test_pooling.py is about the pool


@st.composite
def scored(draw: st.DrawFn) -> tuple[Form, float, Array, Array]:
    """Draw a form, a constant, and scores with votes as the form has them."""
    form = draw(st.sampled_from(FORMS))
    ends = (-50.0, 50.0) if form.startswith("margin") else (0.0, 1.0)
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 6)))
    scores = draw(arrays.arrays(np.float64, shape, elements=st.floats(*ends)))
    votes = draw(arrays.arrays(np.int32, shape[0], elements=st.integers(1, 50)))
    return form, draw(st.floats(0.01, 30)), scores, votes


@given(scored())
def test_probabilities_add_up_to_one_and_keep_the_order_of_classes(case: tuple[Form, float, Array, Array]) -> None:
    form, value, scores, votes = case
    found = transform(form, value, scores, votes, 5.0)
    assert found.sum(axis=1) == pytest.approx(1)
    assert ((found >= 0) & (found <= 1)).all()
    for row, before in zip(found, scores, strict=True):
        assert (np.diff(row[np.argsort(before, kind="stable")]) >= 0).all()
        assert row[np.argmax(before)] == row.max()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("score", [0.0, 0.25])
def test_tied_classes_are_equally_probable(form: Form, score: float) -> None:
    assert transform(form, 0.7, np.full((2, 4), score), np.array([1, 9]), 5.0) == pytest.approx(0.25)


def test_the_forms_are_as_described() -> None:
    votes = np.array([4])
    odds = transform("probability", 0.5, np.array([[0.9, 0.1]]), votes, 9.0)[0]
    assert odds[0] / odds[1] == pytest.approx(3)
    dense = (transform("evidence", 1.5, np.array([[0.9, 0.1]]), votes, 9.0)[0] - 0.005) / 0.99
    assert dense[0] / dense[1] == pytest.approx(3)  # 1.5 / sqrt(9) is 0.5
    sure = transform("probability", 0.5, np.array([[1.0, 0.0]]), votes, 9.0)[0]
    assert sure[1] / sure[0] == pytest.approx(1e-3)  # the root of the floor
    share = transform("share", 0.5, np.array([[0.375, 0.125]]), votes, 9.0)[0]
    assert share.tolist() == pytest.approx([3.25 / 4.5, 1.25 / 4.5])
    mixed = np.array([[0.5, 0.3, 0.2]])
    assert transform("probability", 1.0, mixed, votes, 9.0) == pytest.approx(mixed)  # the constant 1 changes nothing
    margin = transform("margin", 2.0, np.array([[1.0, -1.0]]), votes, 9.0)[0]
    assert np.log(margin[0] / margin[1]) == pytest.approx(2 * 2 / 4)
    four_perfect_votes = np.array([[8.0, 0.0, 0.0]])  # each has the weight K - 1
    perfect = transform("margin_over_guessing", 1.0, four_perfect_votes, votes, 9.0)[0]
    assert perfect[0] / perfect[1] == pytest.approx(3)


@pytest.mark.parametrize("classes", [3, 10, 1000])
def test_many_classes_that_are_called_impossible_leave_something_for_the_label(classes: int) -> None:
    one_hot, votes = np.eye(classes)[:1], np.array([4])
    rest = 1 / transform("probability", 0.2, one_hot, votes, 4.0)[0, 0] - 1
    assert rest == pytest.approx((1e-6 * (classes - 1)) ** 0.2)  # as one class that has all their floors
    assert transform("evidence", 0.4, one_hot, votes, 4.0)[0, 0] == pytest.approx(0.99 / (1 + rest), abs=0.004)
    assert transform("share", 1.0, one_hot, votes, 4.0)[0, 0] > 0.8
    assert transform("margin_over_guessing", 3.8, one_hot * 4 * (classes - 1), votes, 4.0)[0, 0] > 0.8


@each_method
def test_every_method_has_a_constant(key: str) -> None:
    name = EVERY[key].calibrated_as
    assert is_calibrated(name), (
        f"results/calibration.toml has no constant {name!r}, which the method {key!r} asks for: run `make study "
        "NAME=calibrate` with CROWDWISE_DATA set, and commit the constants and docs/studies."
    )


def test_the_file_has_the_constants_of_all_methods_and_no_others() -> None:
    assert sorted(tomllib.loads(PATH.read_text(encoding="utf-8"))) == sorted(contestants()), (
        "run `make study NAME=calibrate`"
    )
    assert pl.read_csv(DOCS / "confidence.csv")["method"].to_list() == sorted(contestants())


def test_variants_that_mean_something_else_have_constants_of_their_own() -> None:
    assert cw.BWA(link="logistic").calibrated_as == "bwa-logistic"
    assert cw.BWA(restarts=2).calibrated_as == "bwa"
    assert cw.LightweightAggregation(passes=1).calibrated_as == "la-one-pass"
    assert {"hierarchical-full", "hierarchical-one-coin", "ibcc-variational", "bwa-per-label"} <= set(contestants())
    assert [duplicates(method) for method in (cw.BWA(), cw.Minimax(), cw.DawidSkene())] == ["set", "last", "all"]


@dataclass(frozen=True)
class Mine(cw.MajorityVote):
    """A method that nobody calibrated."""

    key: ClassVar[str] = "mine"


def test_a_method_without_a_constant_gets_one_and_a_caution() -> None:
    crowd = cw.simulate(80, 10, 3, seed=1)
    result = Mine().fit(crowd.labels)
    assert result.probabilities == pytest.approx(result.scores, abs=1e-5)  # but for the floor
    assert constant("mine").spreads[95] == max(constant(name).spreads[95] for name in contestants())
    assert "no constant for mine" in str(cautions(result, crowd.labels)[0])
    assert cautions(cw.MajorityVote().fit(crowd.labels), crowd.labels) == ()


def test_cautions_name_what_is_missing() -> None:
    def said(rows: list[tuple[str, str, str]]) -> str:
        labels = cw.Labels.from_frame(pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row"))
        return " ".join(map(str, cautions(cw.BWA().fit(labels), labels)))

    assert said([(f"i{i}", f"w{j}", "x" if i % 2 else "y") for i in range(60) for j in range(3)]) == ""
    assert "there are 49 items" in said([(f"i{i}", f"w{j}", "xy"[i % 2]) for i in range(49) for j in range(3)])
    assert "there is 1 item" in said([("i0", f"w{j}", "x") for j in range(3)])
    assert "one worker" in said([(f"i{i}", "w", "xy"[i % 2]) for i in range(60)])
    assert "no item has two labels" in said([(f"i{i}", f"w{i % 7}", "xy"[i % 2]) for i in range(60)])


def test_cautions_advise_nothing_that_would_be_refused() -> None:
    advice = "Whether workers are independent was not looked at. `crowdwise blocks labels.csv` (cw.blocks) does."
    for n_workers, is_refused in ((1990, False), (2010, True)):
        labels = cw.Labels.from_arrays(np.arange(6030) // 3, np.arange(6030) % n_workers, np.arange(6030) // 3 % 2)
        (sentence,) = map(str, cautions(cw.MajorityVote().fit(labels), labels))
        assert (sentence != advice) == is_refused
        if is_refused:
            with pytest.raises(cw.DataError) as refused:
                cw.blocks(labels)
            assert sentence == f"Whether workers are independent was not looked at. {refused.value}"
    sets = cw.Labels.from_arrays(np.arange(240) // 4, np.arange(240) % 4 // 2, np.arange(240) % 3, duplicates="set")
    (found,) = (one for one in cautions(cw.BWA().fit(sets), sets) if one.kind == "not compared")
    assert str(found) == (
        "Whether workers are independent was not looked at: votes that name several classes are not compared."
    )


def test_labels_and_scores_stay_as_they_are() -> None:
    labels = cw.simulate(300, 20, 4, accuracy=0.5, seed=2).labels
    result = cw.DawidSkene().fit(labels)
    assert result.best_scores == pytest.approx(result.scores.max(axis=1))
    assert result.confidence == pytest.approx(result.probabilities.max(axis=1))
    assert (result.confidence < result.best_scores)[result.best_scores > 0.9].all()
    table = result.to_frame(probabilities=True)
    assert table.columns[:4] == ["item", "label", "confidence", "score"]
    assert table.columns[-4:] == [f"probability_c{k}" for k in (1, 2, 3, 4)]
    again = probabilities("ds", "probability", result.scores[:7], result.votes[:7], result.density)
    assert np.array_equal(again, result.probabilities[:7])  # an item depends on itself and the density alone


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0, 3), st.sampled_from([80, 95]))
def test_an_interval_holds_the_mean_and_grows_with_the_spread(mean: float, items: int, off: float, level: int) -> None:
    low, high = interval(mean, items, off, level)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    wider = interval(mean, items, off + 0.5, level)
    assert wider[0] <= low
    assert wider[1] >= high


def test_the_interval_is_that_of_the_specification() -> None:
    """The last column of the table in CONFIDENCE.md."""
    assert interval(0.69, 1000, 0.157, 80) == pytest.approx((0.54, 0.82), abs=0.005)
    assert interval(0.69, 1000, 0.275, 95) == pytest.approx((0.42, 0.90), abs=0.005)


def test_gold_narrows_the_interval_and_few_items_have_none() -> None:
    few, many = (ExpectedAccuracy.of(0.8 * items, items, "adjudicator") for items in (19, 1000))
    assert few == ExpectedAccuracy(pytest.approx(0.8), None, None, None, None)  # type: ignore[arg-type]
    assert str(few) == "0.800 (no interval: there are fewer than 20 items)"
    assert many.low is not None
    assert many.low_80 is not None
    assert many.high_80 is not None
    assert many.high is not None
    assert many.low < many.low_80 < 0.8 < many.high_80 < many.high
    assert f"in four of five crowds the share right is between {100 * many.low_80:.0f} and" in str(many)
    checked = ExpectedAccuracy.of(800, 1000, "adjudicator", gold=100)
    spread = constant("adjudicator").spreads[80] / 1.2816
    theta = np.arcsin(np.sqrt(0.8)) - np.hypot(1.2816 * (spread**-2 + 400) ** -0.5, 1.2816 / np.sqrt(4000))
    assert checked.low_80 == pytest.approx(np.sin(theta) ** 2)


def test_the_interval_holds_the_accuracy_of_families_that_were_left_out() -> None:
    measured = pl.read_csv(DOCS / "confidence.csv")
    assert measured["coverage_95"].min() >= 0.93  # type: ignore[operator]
    assert measured["coverage_95"].mean() >= 0.95  # type: ignore[operator]
    assert measured["coverage_80"].mean() >= 0.8  # type: ignore[operator]
    worse = measured.filter(pl.col("log_loss_after") > pl.col("log_loss_before") + 0.01)
    assert worse["method"].to_list() == []


@pytest.mark.slow
@pytest.mark.parametrize("level", [80, 95])
def test_a_spread_covers_new_families_as_often_as_it_says(level: int) -> None:
    drawn = np.random.default_rng(5)
    inside = []
    for _ in range(40):
        gaps = []
        for number, off in enumerate(drawn.standard_t(3, size=40)):
            accuracy = 1 / (1 + np.exp(-1.2 - 0.5 * off))
            right = drawn.binomial(400, accuracy) / 400
            gaps += [LeftOut(f"f{number}", 1 / (1 + np.exp(-1.2)), right, 400)] * int(drawn.integers(1, 4))
        inside.append(gaps[-1].needed(level) <= spread([gap for gap in gaps if gap.family != "f39"], level))
        assert covered(gaps, level) > level / 100 - 0.06
    assert np.mean(inside) >= level / 100 - 0.12


def overconfident(name: str, power: float, seed: int) -> Measured:
    """Return a crowd whose true probabilities, raised to a power, are the scores."""
    drawn = np.random.default_rng(seed)
    true = drawn.dirichlet(np.ones(3), 4000)
    truths = (drawn.random((4000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    scores = true**power / (true**power).sum(axis=1, keepdims=True)
    answers = scores.argmax(axis=1)
    hits = (answers == truths).astype(float)
    return Measured(name, "probability", scores, np.full(4000, 5), answers, truths, hits, 4.0)


def test_fitting_undoes_overconfidence() -> None:
    fitted = fit("some method", [overconfident(f"crowd{seed}", 4.0, seed) for seed in range(6)])
    value = fitted.constant.value / (2 if fitted.constant.form == "evidence" else 1)  # the root of the density
    found = value + (1 - value) * np.log(2) / np.log(1e6)
    assert found == pytest.approx(1 / 4, rel=0.06)  # the power for three classes
    assert len(set(fitted.left_out)) == 6
    table = left_out_table({"some method": fitted}).row(0, named=True)
    assert table["overconfidence_before"] > 0.1
    assert abs(table["overconfidence_after"]) < 0.01
    assert table["log_loss_after"] < table["log_loss_before"]
    after = reliability_table(fitted).filter(pl.col("source") == "confidence", pl.col("share") > 0.02)
    assert after["right"].to_numpy() == pytest.approx(after["sure"].to_numpy(), abs=0.03)


def test_families_weigh_the_same() -> None:
    one, other = overconfident("css_a", 4.0, 1), overconfident("rte", 1.0, 2)
    few, many = fit("m", [one, other]), fit("m", [one, overconfident("css_b", 4.0, 1), other])
    assert few.constant.value == pytest.approx(many.constant.value)
    assert [family(name) for name in ("CF_amt", "medical_treat", "valence7", "llmbar_human", "prod")] == [
        *("CF", "medical", "valence", "llmbar", "prod")
    ]


def test_calibrating_from_files(tmp_path: Path) -> None:
    for seed in range(3):
        simulated = cw.simulate(120, 10, 2, accuracy=0.6, seed=seed)
        folder = tmp_path / "paper" / f"crowd{seed}"
        folder.mkdir(parents=True)
        cw.write({folder / "label.csv": simulated.rows, folder / "truth.csv": simulated.truth})
    (tmp_path / "paper" / "senti").mkdir()
    begun: list[str] = []
    methods = {name: contestants()[name] for name in ("mv", "ds", "kos")}
    for _ in range(2):  # the second time, everything is known
        measured = measure(methods, crowds(tmp_path), tmp_path / "work", begun.append)
    assert len(begun) == 9
    fitted = {name: fit(name, scores) for name, scores in measured.items()}
    written: dict[str, Any] = tomllib.loads(constants_file(fitted))
    constants = fitted["ds"].constant
    assert written["ds"] == {
        "form": constants.form,
        "constant": constants.value,
        "constant_range": list(fitted["ds"].ranges[0]),
        "spread_80": constants.spreads[80],
        "spread_95": constants.spreads[95],
    }
    assert "| `kos` | margin |" in render(left_out_table(fitted), fitted)


@pytest.mark.data
def test_the_development_crowds_are_all_there(data: Path) -> None:
    found = crowds(data)
    assert (len(found), len({family(name) for name in found})) == (54, 37)
    assert "senti" not in found


def test_measures_by_hand() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 3], ["a", "b", "a", "a"], ["x", "y", "x", "y"])
    result = Mine().fit(labels)  # scores are shares: (1/2, 1/2), (1, 0), (0, 1)
    known = {1: "x", 2: "x", 3: "never said"}
    assert cw.log_loss(result, known) == pytest.approx((np.log(2) + 0 - np.log(1e-6)) / 3, abs=1e-5)
    assert cw.brier(result, known) == pytest.approx((0.5 + 0 + 2) / 3, abs=1e-5)
    assert cw.overconfidence(result, known) == pytest.approx((0.5 + 1 + 1) / 3 - (0.5 + 1 + 0) / 3, abs=1e-5)
    with pytest.raises(cw.CallError, match="has to be what fit returns"):
        cw.log_loss("no result", known)  # type: ignore[arg-type]


def test_compare_measures_calibration() -> None:
    crowd = cw.simulate(200, 12, 3, accuracy=0.5, seed=3)
    methods = {"ds": cw.DawidSkene(), "kos": cw.KOS()}
    ds, kos = compare(crowd.labels, methods, crowd.truth)
    result = cw.DawidSkene().fit(crowd.labels)
    for measure_of in (cw.log_loss, cw.brier, cw.overconfidence):
        assert ds[measure_of.__name__] == pytest.approx(measure_of(result, crowd.truth))
        assert kos[measure_of.__name__] is None  # it refuses three classes
    assert list(ds)[:7] == ["method", "accuracy", "low", "high", "log_loss", "brier", "overconfidence"]
    assert "log_loss" not in compare(crowd.labels, methods)[0]


def test_the_command_line_says_how_sure_it_is(tmp_path: Path) -> None:
    crowd = cw.simulate(40, 8, 2, seed=3)
    cw.write({tmp_path / "votes.csv": crowd.rows, tmp_path / "gold.csv": crowd.truth})
    labels = cw.read_labels(tmp_path / "votes.csv")
    expected = cw.BWA().fit(labels)
    shown = run("aggregate", tmp_path / "votes.csv", "-m", "bwa", "--probabilities", "-o", tmp_path / "out.csv")
    assert f"{expected.expected_accuracy.value:.3f} (in four of five crowds the share right is" in shown.stdout
    assert "Confidence is rough: there are 40 items" in " ".join(shown.stderr.split())
    written = pl.read_csv(tmp_path / "out.csv")
    assert written["probability_c1"].to_list() == pytest.approx(expected.probabilities[:, 0].tolist())
    told = json.loads(run("aggregate", tmp_path / "votes.csv", "-m", "bwa", "--probabilities", "--json").stdout)
    assert told["expected_accuracy"]["value"] == expected.expected_accuracy.value
    assert told["cautions"] == [one.to_dict() for one in cautions(expected, labels)]
    assert told["labels"][0]["probability_c2"] == expected.probabilities[0, 1]
    compared = run("compare", tmp_path / "votes.csv", "--truth", tmp_path / "gold.csv", "--methods", "mv,ds", "--json")
    assert {"log_loss", "brier", "overconfidence"} <= set(json.loads(compared.stdout)["methods"][0])
