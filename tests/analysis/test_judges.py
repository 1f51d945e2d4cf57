"""Tests of `judges`: brute force on tiny panels, honest intervals of the best judge, real panels, the command."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.panels.best import best_judge, smallest_panel
from crowdwise.analysis.panels.drift import holm
from crowdwise.analysis.panels.measured import Measured
from crowdwise.analysis.panels.redundancy import redundancy
from tests.support.commands import Command


def _panel(seed: int = 0, items: int = 120, accuracies: tuple[float, ...] = (0.85, 0.8, 0.75, 0.7, 0.6)) -> Any:
    """Return labels and truth of judges a, b, c, ... who err independently, in two classes."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    right = random.random((items, len(accuracies))) < accuracies
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    rows = [(f"i{i}", "abcdefghij"[j], "ny"[said[i, j]]) for i in range(items) for j in range(len(accuracies))]
    labels = pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")
    return labels, pl.DataFrame({"item": [f"i{i}" for i in range(items)], "truth": ["ny"[k] for k in truth]})


def _measured(right: np.ndarray[Any, Any], panel: np.ndarray[Any, Any]) -> Measured:
    """Return a panel of two classes of which 1 is always true."""
    items, judges = right.shape
    return Measured(
        pl.Series("judge", [f"j{j:02}" for j in range(judges)]),
        pl.Series("item", [f"i{i}" for i in range(items)]),
        right.astype(int),
        np.tile([0.0, 1.0], (items, 1)),
        np.ones(items, int),
        panel,
        known=True,
    )


def test_judges_and_panel_against_truth_by_brute_force() -> None:
    labels, truth = _panel()
    found = cw.judges(labels, truth=truth, method="mv", warn=False)
    true = dict(truth.rows())
    votes: dict[str, dict[str, str]] = {}
    for item, judge, label in labels.rows():
        votes.setdefault(item, {})[judge] = label

    def panel_right(judges: str) -> np.ndarray[Any, Any]:
        counts = [Counter(said[judge] for judge in judges) for said in votes.values()]
        return np.array(
            [
                (n[t] == max(n.values())) / sum(v == max(n.values()) for v in n.values())
                for n, t in zip(counts, true.values(), strict=True)
            ]
        )

    assert found.best.panel.value == pytest.approx(panel_right("abcde").mean())
    for row in found.judges.to_dicts():
        right = np.array([said[row["judge"]] == true[item] for item, said in votes.items()])
        assert row["accuracy"] == pytest.approx(right.mean())
        assert row["gain"] == pytest.approx((panel_right("abcde") - right).mean())
        others = "abcde".replace(row["judge"], "")
        assert row["loss"] == pytest.approx((panel_right("abcde") - panel_right(others)).mean())
    assert found.judges["accuracy"].to_list() == sorted(found.judges["accuracy"], reverse=True)
    assert found.known
    assert "whose truth is known" in str(found)


def test_errors_that_correlate_by_brute_force() -> None:
    random = np.random.default_rng(3)
    right = random.random((60, 4)) < 0.7
    right[:, 3] = np.where(random.random(60) < 0.9, right[:, 2], ~right[:, 2])
    found = redundancy(_measured(right, right.mean(axis=1)))
    rho = np.asarray(np.corrcoef(right.T))
    above = rho[np.triu_indices(4, 1)]
    assert found.correlation == pytest.approx(above.mean())
    assert found.effective == pytest.approx(4 / (1 + 3 * above.mean()))
    first = found.pairs.row(0, named=True)
    assert (first["one"], first["other"], first["together"]) == ("j02", "j03", True)
    assert first["correlation"] == pytest.approx(rho[2, 3])
    assert first["both_wrong"] == pytest.approx((~right[:, 2] & ~right[:, 3]).mean())
    assert found.pairs["together"].sum() == 1


def test_believed_errors_follow_the_specification() -> None:
    random = np.random.default_rng(5)
    q = random.dirichlet(np.ones(3), 40)
    said = random.integers(0, 3, (40, 2))
    panel = Measured(pl.Series(["a", "b"]), pl.Series(range(40)), said, q, q.argmax(axis=1), q.max(axis=1), known=False)
    e = 1 - np.take_along_axis(q, said, axis=1)
    both = np.where(said[:, 0] == said[:, 1], e[:, 0], np.maximum(e.sum(axis=1) - 1, 0)).mean()
    one, other = e.mean(axis=0)
    rho = (both - one * other) / np.sqrt(one * (1 - one) * other * (1 - other))
    assert redundancy(panel).correlation == pytest.approx(rho)


def test_the_best_of_equal_judges_does_not_flatter_itself() -> None:
    # Ten judges of .7 who share a part of their errors, and their majority: the named judge is no better than others.
    random = np.random.default_rng(11)
    every = 0.5 * random.normal(size=(20_000, 1)) + np.sqrt(0.75) * random.normal(size=(20_000, 10)) < 0.524
    panel = (every.mean(axis=1) > 0.5) + 0.5 * (every.mean(axis=1) == 0.5)
    held, naive, errors = 0, 0, []
    for _ in range(150):
        drawn = random.integers(0, len(every), 100)
        found = best_judge(_measured(every[drawn], panel[drawn]))
        true = (panel - every[:, found.judge]).mean()
        held += found.gain.low <= true <= found.gain.high
        plain = (panel[drawn] - every[drawn, found.judge]).mean()
        naive += abs(plain - true) <= (found.gain.high - found.optimism - found.gain.low) / 2
        errors.append((found.gain.value - true, plain - true))
    assert held / 150 >= 0.9
    assert naive / 150 < 0.85
    corrected, plain = np.abs(np.mean(errors, axis=0))
    assert corrected < plain / 2


def test_one_judge_who_is_always_right_is_enough() -> None:
    random = np.random.default_rng(2)
    right = np.column_stack([np.ones(80, bool), random.random((80, 4)) < 0.6])
    found = smallest_panel(_measured(right, np.ones(80)))
    assert found is not None
    assert found.judges == (0,)
    useless = smallest_panel(_measured(right[:, 1:], np.ones(80)))
    assert useless is not None
    assert useless.judges == ()


def test_a_panel_without_a_judge_is_that_of_the_other_judges_also_with_probabilities() -> None:
    rows, truth = _panel(3)
    random = np.random.default_rng(5)
    rows = rows.with_columns(p=pl.Series(random.uniform(0.5, 1.0, rows.height)))
    found = cw.judges(cw.read_labels(rows, probability="p"), truth=truth).judges
    for name, loss in found.select("judge", "loss").iter_rows():
        panels = [
            cw.aggregate(cw.read_labels(some, probability="p"), warn=False)
            for some in (rows, rows.filter(pl.col("worker") != name))
        ]
        assert loss == pytest.approx(cw.accuracy(panels[0], truth) - cw.accuracy(panels[1], truth), abs=1e-9)


def test_rows_in_any_order_and_names_of_any_type() -> None:
    labels, truth = _panel(seed=4)
    numbers = labels.with_columns(pl.col("worker").replace_strict({"a": 3, "b": 1, "c": 4, "d": 10, "e": 2}))
    one = cw.judges(numbers, truth=truth, warn=False)
    other = cw.judges(numbers.sample(fraction=1.0, shuffle=True, seed=1), truth=truth.reverse(), warn=False)
    assert one.judges["judge"].dtype == pl.Int64
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())


def test_without_known_classes_nothing_is_said_as_a_fact() -> None:
    labels, _ = _panel(seed=6)
    found = cw.judges(labels, warn=False)
    assert not found.known
    assert "if the panel is right" in found.sentences()[0]
    assert "cannot be told" in found.sentences()[1]
    assert found.to_dict()["known"] is False


def test_gold_is_measured_by_fits_that_are_not_told() -> None:
    # One judge who knows nothing decides between two classes: told its own class, the panel would always be right.
    random = np.random.default_rng(1)
    rows = [(i, j, int(random.integers(0, 2))) for i in range(80) for j in "abc"]
    labels = pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")
    gold = {i: int(random.integers(0, 2)) for i in range(60)}
    found = cw.judges(labels, gold=gold, method="mv", warn=False)
    assert found.items == 60
    assert found.best.panel.high < 0.8
    chosen = pl.DataFrame(
        {"item": list(gold), "truth": list(gold.values()), "source": ["random"] * 20 + ["chosen"] * 40}
    )
    few = cw.judges(labels, gold=chosen, method="mv", warn=False)
    assert few.items == 20
    assert {"few items", "gold"} <= {one.kind for one in few.cautions}


def test_position_by_a_column_and_by_names() -> None:
    # a sees both orders and always takes the first; b always says x; c is in one order.
    rows = [(i, "a", first, first) for i in range(30) for first in "xy"]
    rows += [(i, "b", "x", first) for i in range(30) for first in "xy"]
    rows += [(i, "c", "x" if i < 20 else "y", "x") for i in range(30)]
    table = pl.DataFrame(rows, schema=["item", "worker", "label", "seen"], orient="row")
    found = cw.judges(table, first="seen", method="mv", warn=False).positions.judges
    counts = found.select("judge", "first", "second", "in_both_orders", "flips", "to_first").rows()
    assert counts == [("a", 60, 0, 30, 30, 30), ("b", 30, 30, 30, 0, 0), ("c", 20, 10, 0, 0, 0)]
    named = [(i, "gpt", "left") for i in range(30)] + [
        (i, "gpt/swap", "right" if i < 12 else "left") for i in range(30)
    ]
    by_names = cw.judges(
        pl.DataFrame(named, schema=["item", "worker", "label"], orient="row"), method="mv", warn=False
    ).positions
    assert by_names.judges.select("judge", "first", "second", "in_both_orders", "flips", "to_first").rows() == [
        ("gpt", 42, 18, 30, 12, 12)
    ]
    assert by_names.shares.filter(order="swapped", label="right")["share"].to_list() == [0.4]
    labels, _ = _panel()
    assert "cannot be told" in cw.judges(labels, method="mv", warn=False).positions.sentences()[0]


def test_biased_judges_are_named_and_one_order_is_said_to_tell_nothing() -> None:
    random = np.random.default_rng(4)
    rows = []
    for i in range(200):
        for judge, share in (("fair", 0.5), ("lazy", 0.8)):
            for first, second in ("xy", "yx"):
                rows.append((i, judge, first if random.random() < share else second, first))
        rows.append((i, "once", "x" if random.random() < 0.8 else "y", "x"))
    table = pl.DataFrame(rows, schema=["item", "worker", "label", "seen"], orient="row")
    said = cw.judges(table, first="seen", method="mv", warn=False).positions.sentences()
    (biased,) = (one for one in said if one.startswith("Who takes"))
    assert "lazy in" in biased
    assert "fair" not in biased
    assert said[-1].startswith("once saw the same first every time")


def test_independent_judges_do_not_seem_to_err_together_without_truth() -> None:
    # By what the panel believes, the best judges of most such panels seem to, because they agree often.
    for seed in range(6):
        labels, _ = _panel(seed=seed, items=300, accuracies=(0.95, 0.9, 0.85, 0.8, 0.7, 0.6))
        found = cw.judges(labels, warn=False)
        assert not found.pairs["together"].any()
        (said,) = (one for one in found.about_pairs() if "no two judges" in one)
        assert said.startswith("If the panel is right, ")
        assert "no all-clear" in said
    copied = labels.with_columns(pl.col("worker").replace("e", "copy")).filter(worker="copy")
    pairs = cw.judges(pl.concat([labels, copied]), warn=False).pairs
    assert pairs.filter("together").select("one", "other").rows() == [("copy", "e")]


def test_drift_marks_the_judge_who_changed_and_no_other() -> None:
    before, _ = _panel(seed=8, items=400)
    after, truth = _panel(seed=9, items=400, accuracies=(0.85, 0.8, 0.75, 0.7, 0.6))
    random = np.random.default_rng(0)
    worse = pl.Series(random.random(after.height) < 0.7) & (after["worker"] == "b")
    after = after.with_columns(label=pl.when(worse).then(pl.lit("y")).otherwise("label"))
    after = after.with_columns(pl.col("worker").replace("e", "new"))
    history = cw.aggregate(before, warn=False).history
    found = cw.judges(after, truth=truth, history=history, warn=False)
    assert found.drift is not None
    assert found.drift.filter("changed")["judge"].to_list() == ["b"]
    assert dict(found.drift.select("judge", "status").rows()) == {
        "a": "both", "b": "both", "c": "both", "d": "both", "e": "gone", "new": "new"
    }  # fmt: skip
    said = " ".join(found.about_changes())
    assert "New: new." in said
    assert "Gone: e." in said
    assert "Holm" in said


def test_holm_is_the_step_down_procedure() -> None:
    p = np.array([0.04, 0.01, 0.03, np.nan])
    assert holm(p)[:3].tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert np.isnan(holm(p)[3])


@pytest.mark.parametrize(
    ("by", "periods"),
    [
        ("month", ["2024-01", "2024-02"]),
        ("day", ["2024-01-31", "2024-02-01"]),
        ("week", ["2024-W05"]),
        ("quarter", ["2024-Q1"]),
        ("year", ["2024"]),
    ],
)
def test_curves_by_period(by: Any, periods: list[str]) -> None:
    labels, truth = _panel(items=60)
    late = pl.col("item").str.slice(1).cast(pl.Int64) >= 30
    labels = labels.with_columns(
        created_at=pl.when(late).then(pl.lit("2024-02-01")).otherwise(pl.lit("2024-01-31T23:59"))
    )
    curve = cw.judges(labels, truth=truth, by=by, method="mv", warn=False).curve
    assert curve is not None
    assert curve["period"].unique().sort().to_list() == periods
    assert curve["judge"].n_unique() == 6
    mine = curve.filter(judge="a", period=periods[0]).row(0, named=True)
    true = labels.join(truth, on="item").filter(worker="a")
    if by in ("month", "day"):
        true = true.filter(~late)
    assert mine["accuracy"] == pytest.approx((true["label"] == true["truth"]).mean())
    assert mine["votes"] == true.height


def test_a_curve_finds_the_judge_who_changes_more_than_all() -> None:
    labels, truth = _panel(seed=12, items=400)
    late = pl.col("item").str.slice(1).cast(pl.Int64) >= 200
    random = np.random.default_rng(1)
    worse = pl.Series(random.random(labels.height) < 0.8) & (pl.col("worker") == "a") & late
    labels = labels.with_columns(label=pl.when(worse).then(pl.lit("n")).otherwise("label"))
    labels = labels.with_columns(time=pl.when(late).then(1_714_521_600).otherwise(1_711_929_600))
    said = cw.judges(labels, truth=truth, by="month", method="mv", warn=False).about_changes()
    assert len(said) == 1
    assert said[0].startswith("a is right in")


def test_what_is_refused() -> None:
    labels, truth = _panel(items=30)
    with pytest.raises(cw.CallError, match="not both"):
        cw.judges(labels, truth=truth, gold=truth)
    with pytest.raises(cw.CallError, match="fortnight"):
        cw.judges(labels, by="fortnight")
    with pytest.raises(cw.CallError, match="--by"):
        cw.judges(labels, time="label")
    with pytest.raises(cw.CallError, match="read already"):
        cw.judges(cw.Labels.from_frame(labels), by="month")
    with pytest.raises(cw.DataError, match="The gold shares no class with the labels: it has 'x', for example"):
        cw.judges(labels, gold=truth.with_columns(truth=pl.lit("x")))
    with pytest.raises(cw.DataError, match="no panel"):
        cw.judges(labels.filter(worker="a"))
    with pytest.raises(cw.DataError, match="no date"):
        cw.judges(labels.with_columns(time=pl.lit("soon")), by="month")
    with pytest.raises(cw.DataError, match="seen first"):
        cw.judges(labels.with_columns(first=pl.lit("z")), first="first")
    twice = pl.concat([labels, labels.with_columns(label=pl.lit("y"))])
    with pytest.raises(cw.DataError, match="samples"):
        cw.judges(twice, duplicates="all")


def test_the_command_from_files_to_files(run: Command, tmp_path: Path) -> None:
    labels, truth = _panel(seed=3)
    labels = labels.with_columns(day=pl.lit("2024-05-01"))
    labels.write_csv(tmp_path / "votes.csv")
    truth.write_csv(tmp_path / "truth.csv")
    run("aggregate", tmp_path / "votes.csv", "-m", "ds", "--save-state", tmp_path / "s.state", "-q")
    targets = {name: tmp_path / f"{name}.csv" for name in ("judges", "pairs", "drift", "curve")}
    more = [word for name in ("pairs", "drift", "curve") for word in (f"--{name}-output", targets[name])]
    ended = run(
        "judges", tmp_path / "votes.csv", "--truth", tmp_path / "truth.csv", "--history", tmp_path / "s.state", "--by",
        "month", "--time-column", "day", "-m", "ds", "-o", targets["judges"], *more, "--report", tmp_path / "j.html",
        "--json",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["best"]["judge"] == "a"
    assert len(found["written"]) == 5
    assert pl.read_csv(targets["judges"])["judge"].to_list() == [one["judge"] for one in found["judges"]]
    assert pl.read_csv(targets["pairs"]).height == 10
    assert pl.read_csv(targets["curve"])["period"].unique().to_list() == ["2024-05"]
    assert "The panel and its judges" in (tmp_path / "j.html").read_text(encoding="utf-8")
    shown = run("judges", tmp_path / "votes.csv", "-m", "ds")
    assert shown.returncode == 0
    assert "if the panel is right" in shown.stdout
    refused = run("judges", tmp_path / "votes.csv", "-m", "ds", "--positions-output", tmp_path / "p.csv")
    assert refused.returncode == 2
    assert "--first-column" in refused.stderr


_EFFECTIVE = {
    "css_discourse": 4.0, "css_emotion": 2.9, "css_flute": 9.6, "css_ibc": 6.1, "css_implicit_hate": 5.5,
    "css_media_ideology": 6.2, "css_mrf": 5.3, "css_raop": 3.7, "css_semeval_stance": 3.9, "css_wiki_politeness": 4.6,
    "igakuqa": 2.6, "judgebench": 2.4, "llmbar_human": 2.6,
}  # fmt: skip


@pytest.mark.data
@pytest.mark.slow
def test_effective_number_of_real_judges(data: Path) -> None:
    for crowd, effective in _EFFECTIVE.items():
        folder = data / "judges" / crowd
        found = cw.judges(folder / "label.csv", truth=folder / "truth.csv", method="mv", warn=False)
        assert found.redundancy.effective == pytest.approx(effective, abs=0.06), crowd
