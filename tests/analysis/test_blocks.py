"""Tests of blocks: copies are found, independent workers are not, and the table, the command and the report say so."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.families.dependence.blocks import find_blocks
from crowdwise.families.dependence.outside import OutsideCounts, count_outside
from crowdwise.families.dependence.pairs import (
    correlations,
    count_pairs,
    cross_tabulate,
    expected_agreement,
    pairs_refusal,
)
from crowdwise.numerics import Array
from crowdwise.parallel import Sum
from crowdwise.reporting.report_data import ReportData
from crowdwise.reporting.report_page import gather
from tests.support.commands import run
from tests.support.engines import Engine

SEEDS = range(20)


def say(random: Any, truth: Array, accuracy: float, classes: int = 2) -> Array:
    """Return what one worker says: the truth, or one of the other classes."""
    wrong = (truth + random.integers(1, max(classes, 2), len(truth))) % classes
    return np.where(random.random(len(truth)) < accuracy, truth, wrong)


def panel(seed: int, items: int, accuracies: Sequence[float], classes: int = 2) -> tuple[Any, Array, list[Array]]:
    """Return a source of randomness, the truth, and what independent workers say about every item."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, items)
    return random, truth, [say(random, truth, accuracy, classes) for accuracy in accuracies]


def crowd(votes: Sequence[Array]) -> cw.Labels:
    """Return labels of workers 0, 1, ... who each say something about every item."""
    said = np.stack(votes)
    workers, items = np.indices(said.shape)
    return cw.Labels.from_arrays(items.ravel(), workers.ravel(), said.ravel())


def with_copies(seed: int, copies: int, rate: float) -> cw.Labels:
    """Return ten independent workers, a poor leader, who is worker 10, and workers who say what the leader says."""
    accuracies = np.random.default_rng(seed + 1000).uniform(0.6, 0.85, 10)
    random, truth, votes = panel(seed, 400, list(accuracies))
    leader = say(random, truth, 0.55)
    copied = [np.where(random.random(400) < rate, leader, say(random, truth, 0.55)) for _ in range(copies)]
    return crowd([*votes, leader, *copied])


def with_one_copy(seed: int) -> cw.Labels:
    """Return seven independent workers, and worker 7, who mostly says what worker 0 says."""
    random, _, votes = panel(seed, 400, [0.8] * 7)
    return crowd([*votes, np.where(random.random(400) < 0.97, votes[0], 1 - votes[0])])


def in_batches(seed: int, difficulty: float) -> cw.Labels:
    """Return independent workers, twelve in each batch of items; classes and difficulty differ between batches."""
    random = np.random.default_rng(seed)
    accuracies = random.uniform(0.6, 0.9, 60)
    rows: list[pl.DataFrame] = []
    for batch in range(20):
        truth = (random.random(100) < random.beta(0.3, 0.3)).astype(int)
        easier = random.uniform(-difficulty, difficulty)
        for worker in random.choice(60, 12, replace=False):
            said = say(random, truth, float(np.clip(accuracies[worker] + easier, 0.5, 0.99)))
            rows.append(pl.DataFrame({"item": batch * 100 + np.arange(100), "worker": int(worker), "label": said}))
    return cw.Labels.from_frame(pl.concat(rows))


def rows_of(labels: cw.Labels) -> pl.DataFrame:
    """Return the labels as a table; all names are integers."""
    items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    workers, classes = labels.names.workers.gather(labels.workers), labels.names.classes.gather(labels.labels)
    return pl.DataFrame({"item": items, "worker": workers, "label": classes})


def members(labels: Any) -> list[list[Any]]:
    return [block.members["worker"].to_list() for block in cw.blocks(labels).blocks]


def several_votes(n_workers: int = 4) -> tuple[cw.Labels, list[tuple[int, int, int]]]:
    """Return labels of which some are of one worker and one item, and these as item, worker and class."""
    random = np.random.default_rng(1)
    drawn = (random.integers(0, top, 15 * n_workers) for top in (9, n_workers, 3))
    rows = {(int(i), int(j), int(a)) for i, j, a in zip(*drawn, strict=True)}
    labels = cw.Labels.from_arrays(*map(list, zip(*sorted(rows), strict=True)), duplicates="all").numbered
    assert labels.n_labels == len(rows)
    arrays = labels.item_of, labels.workers, labels.labels
    return labels, list(zip(*(one.tolist() for one in arrays), strict=True))


def test_counts_are_those_of_a_loop_over_all_pairs_of_votes() -> None:
    labels, votes = several_votes()
    counts = count_pairs(labels)
    shared, agreed = np.zeros_like(counts.shared), np.zeros_like(counts.agreed)
    for item, j, a in votes:
        for other, k, b in votes:
            if item == other and j != k:
                shared[j, k, a] += 1
                agreed[j, k] += a == b
    assert np.array_equal(counts.shared, shared)
    assert np.array_equal(counts.agreed, agreed)
    assert np.array_equal(counts.compared, shared.sum(axis=2))
    assert counts.given.sum() == labels.n_labels
    parts = Sum()
    for first in range(labels.n_items):
        parts.add(count_pairs(labels.slice(first, first + 1)))
    assert all(np.array_equal(one, other) for one, other in zip(parts.value, counts, strict=True))


def test_tables_of_two_workers_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, votes = several_votes()
    members = np.array([0, 3])
    expected = np.zeros((2, 2, 3, 3), int)
    for item, j, b in votes:
        for other, k, a in votes:
            if item == other and j != k and {j, k} <= {0, 3}:
                expected[j // 3, k // 3, b, a] += 1
    assert expected.any()
    assert np.array_equal(cross_tabulate(labels, members), expected)
    monkeypatch.setattr("crowdwise.families.dependence.pairs._PAIRS_AT_ONCE", 5)  # in many pieces
    assert np.array_equal(cross_tabulate(labels, members), expected)


def test_comparisons_with_workers_outside_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, votes = several_votes(7)
    block_of = [0, 0, 0, 1, 1, -1, -1]
    expected = OutsideCounts(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    for item, j, a in votes:
        block = block_of[j]
        on_item = [(k, b) for other, k, b in votes if other == item]
        members = sum(block_of[k] == block and k != j for k, _ in on_item)
        outside = [b for k, b in on_item if block_of[k] != block]
        if block < 0 or members == 0 or len(outside) < 2:
            continue
        pairs = [(one, other) for m, one in enumerate(outside) for n, other in enumerate(outside) if m != n]
        same, alike = np.mean([b == a for b in outside]), np.mean([one == other for one, other in pairs])
        expected.counts[block] += members, members * same, members * alike
        expected.inside[block, a] += members
        expected.outside[block] += members * np.bincount(outside, minlength=3) / len(outside)
    assert (expected.counts > 0).all()
    for pairs_at_once in (2**15, 5):
        monkeypatch.setattr("crowdwise.families.dependence.pairs._PAIRS_AT_ONCE", pairs_at_once)
        found = count_outside(labels, [np.arange(3), np.arange(3, 5)])
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_correlation_is_that_of_the_formula() -> None:
    labels = cw.simulate(200, 6, 3, labels_per_item=3, balance=[0.6, 0.3, 0.1], seed=1).labels.numbered
    counts = count_pairs(labels)
    correlation, compared = correlations(counts)
    everybody = counts.given.sum(axis=0) / labels.n_labels
    own = (counts.given + 2 * everybody) / (counts.given.sum(axis=1, keepdims=True) + 2)
    j, k = 1, 4
    n = int(compared[j, k])
    one, other = ((counts.shared[x, y] + 2 * own[x]) / (n + 2) for x, y in ((j, k), (k, j)))
    beyond = (counts.agreed[j, k] / n - one @ other) * n / (n + 2)
    assert n > 20
    assert correlation[j, k] == pytest.approx(beyond / np.sqrt((1 - one @ one) * (1 - other @ other)))
    assert np.array_equal(correlation, correlation.T)
    # Expected agreement is the same turned around: with a correlation of 1 with the truth, and one of c.
    common = np.ones(6)
    common[k] = correlation[j, k]
    assert expected_agreement(counts, common)[j, k] == pytest.approx(counts.agreed[j, k] / n)


def test_a_near_copy_is_found() -> None:
    for seed in SEEDS:
        found = cw.blocks(with_one_copy(seed))
        assert members(with_one_copy(seed)) == [[0, 7]], seed
        (block,) = found.blocks
        assert block.agreement > 0.94
        # Independent workers of 0.8 agree on 68 % of items.
        assert block.expected == pytest.approx(0.68, abs=0.08)
        assert 1 < block.effective < 1.5
        assert found.effective == pytest.approx(6 + block.effective)


@pytest.mark.parametrize(
    ("copies", "rate", "least"),
    [
        pytest.param(3, 0.9, 19, marks=pytest.mark.slow),
        pytest.param(5, 0.9, 19, marks=pytest.mark.slow),
        (5, 1.0, 19),
        pytest.param(10, 0.9, 15, marks=pytest.mark.slow),
    ],
)
def test_copies_of_a_poor_leader_are_found(copies: int, rate: float, least: int) -> None:
    """If they are half of the crowd, what they say is sometimes taken for the truth."""
    found = [members(with_copies(seed, copies, rate)) for seed in SEEDS]
    assert found.count([list(range(10, 11 + copies))]) >= least


def test_exact_copies_are_called_so_and_others_are_not() -> None:
    exact, near = cw.blocks(with_copies(1, 5, 1.0)), cw.blocks(with_copies(1, 5, 0.9))
    assert [block.are_copies for block in (*exact.blocks, *near.blocks)] == [True, False]
    assert "copies of each other" in exact.sentences()[1]
    assert "copies of each other" not in near.sentences()[1]
    assert exact.to_frame()["copies"].all()
    assert exact.effective < near.effective < 16


@pytest.mark.slow
def test_independent_workers_are_no_block() -> None:
    random = np.random.default_rng(5)
    kinds: dict[str, Any] = {
        "panel": lambda seed: crowd(panel(seed, 400, list(random.uniform(0.6, 0.85, 10)))[2]),
        "few items": lambda seed: crowd(panel(seed, 50, list(random.uniform(0.6, 0.9, 30)))[2]),
        "four classes": lambda seed: crowd(panel(seed, 100, list(random.uniform(0.5, 0.9, 20)), 4)[2]),
        "excellent workers": lambda seed: crowd(panel(seed, 5000, list(random.uniform(0.97, 1.0, 8)))[2]),
        "sparse": lambda seed: cw.simulate(500, 30, seed=seed).labels,
    }
    for kind, make in kinds.items():
        assert sum(bool(members(make(seed))) for seed in SEEDS) <= 1, kind


def test_experts_are_no_block() -> None:
    random = np.random.default_rng(6)
    for experts in (2, 4, 8):
        for seed in SEEDS:
            good, poor = random.uniform(0.85, 0.95, experts), random.uniform(0.55, 0.65, 15)
            assert members(crowd(panel(seed, 400, [*good, *poor])[2])) == [], (experts, seed)


@pytest.mark.slow
def test_workers_who_meet_in_batches_of_items_are_no_block() -> None:
    """What is found there at first is not confirmed by workers outside of the blocks."""
    first = confirmed = 0
    for seed in SEEDS:
        labels = in_batches(seed, 0.1)
        first += len(find_blocks(count_pairs(labels.numbered)).members)
        confirmed += len(members(labels))
    assert first > 10
    assert confirmed <= 1


@pytest.mark.slow
def test_a_copy_among_workers_who_meet_in_batches_is_found() -> None:
    found = 0
    for seed in SEEDS:
        labels = in_batches(seed, 0.1)
        items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
        rows = pl.DataFrame(
            {"item": items, "worker": labels.names.workers.gather(labels.workers), "label": labels.labels}
        )
        busiest = rows["worker"].mode().min()
        copy = rows.filter(pl.col("worker") == busiest).with_columns(worker=pl.lit(1000, rows["worker"].dtype))
        found += [busiest, 1000] in members(cw.Labels.from_frame(pl.concat([rows, copy])))
    assert found >= 18


def test_the_order_of_rows_changes_nothing() -> None:
    random, _, votes = panel(3, 60, [0.7] * 8)
    rows = pl.DataFrame(
        [(i, f"w{j}", f"c{said[i]}") for j, said in enumerate([*votes, votes[0], votes[0]]) for i in range(60)],
        schema=["item", "worker", "label"],
        orient="row",
    )
    expected = cw.blocks(cw.Labels.from_frame(rows))
    assert expected.to_frame()["worker"].to_list() == ["w0", "w8", "w9"]
    for _ in range(3):
        shuffled = cw.blocks(cw.Labels.from_frame(rows[random.permutation(rows.height)]))
        assert shuffled.to_frame().equals(expected.to_frame())
        assert str(shuffled) == str(expected)


@pytest.mark.slow
@pytest.mark.usefixtures("workdir")
def test_every_engine_finds_the_same(engine: Engine) -> None:
    labels = with_copies(2, 5, 0.9)
    elsewhere = engine.read(rows_of(labels))
    found = cw.blocks(elsewhere).to_frame()
    elsewhere.close()
    assert found["worker"].to_list() == list(range(10, 16))
    assert found.equals(cw.blocks(labels).to_frame())


def test_the_table_has_a_row_for_every_worker_in_a_block() -> None:
    table = cw.blocks(with_copies(1, 5, 0.9)).to_frame()
    assert table.columns == ["block", "worker", "agreement", "expected", "shared", "weight", "copies"]
    assert table["block"].to_list() == [1] * 6
    assert table["shared"].to_list() == [400] * 6
    assert (table["agreement"] > table["expected"] + 0.2).all()
    assert table["weight"].is_between(1 / 6, 1, closed="none").all()
    none = cw.blocks(cw.simulate(100, 10, seed=1).labels).to_frame()
    assert none.height == 0
    assert none.schema == {**table.schema, "worker": pl.String}


def test_workers_without_votes_count_for_nothing() -> None:
    labels = with_one_copy(1)
    with_nobody = cw.Labels.from_arrays(
        [*np.repeat(np.arange(400), 8), 1000, 1000],
        [*labels.workers, 99, 99],
        [*labels.labels, 0, 1],
        duplicates="drop",
    )
    assert with_nobody.n_workers == 9
    found = cw.blocks(with_nobody)
    assert found.workers == 8
    assert found.effective == pytest.approx(cw.blocks(labels).effective)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (lambda: crowd(panel(1, 5000, [0.8, 0.8])[2] * 1), "With fewer than 4 workers it cannot be said"),
        (lambda: crowd([panel(1, 5000, [0.8])[2][0]] * 3), "With fewer than 4 workers it cannot be said"),
        (lambda: crowd(panel(1, 9, [0.8] * 5)[2]), "No two workers have 10 items in common"),
        (lambda: crowd(panel(1, 100, [0.8] * 5)[2]), "No suspicious agreement between workers"),
        (lambda: crowd([np.zeros(500, int)] * 6), "No suspicious agreement between workers"),
        (
            lambda: cw.simulate(100, 20, seed=1).labels,
            "in common; the other pairs could not be compared.",
        ),
    ],
)
def test_what_cannot_be_found_is_said(labels: Any, sentence: str) -> None:
    found = cw.blocks(labels())
    assert not found.blocks
    assert sentence in str(found)
    assert found.effective == found.workers


def test_what_cannot_be_compared_is_refused() -> None:
    many = cw.Labels.from_arrays([1] * 2001, list(range(2001)), [0, 1, 1] * 667)
    with pytest.raises(cw.DataError, match="up to 2,000 workers, and here are 2,001: leave out the workers with few"):
        cw.blocks(many)
    classes = cw.Labels.from_arrays([1] * 1500, list(range(1500)), list(range(1500)))
    with pytest.raises(cw.DataError, match=r"1,500 workers in 1,500 classes would take 12\.6 GB, and at most 1 GB"):
        cw.blocks(classes)
    assert not pairs_refusal(2000, 2)
    sets = cw.Labels.from_arrays([1, 1, 1], ["a", "a", "b"], ["x", "y", "x"], duplicates="set")
    with pytest.raises(cw.DataError, match="blocks takes one class a vote"):
        cw.blocks(sets)
    with pytest.raises(cw.CallError, match="blocks takes labels, and this is a list"):
        cw.blocks([1, 2])  # type: ignore[arg-type]  # this is what is tested


@pytest.mark.data
def test_prompts_of_one_model_in_one_order_are_blocks(data: Path) -> None:
    folder = data / "judges" / "llmbar_human"
    lines = (folder / "workers.txt").read_text(encoding="utf-8").splitlines()
    names = {int(code): name.split("/") for code, name in (line.split("\t") for line in lines)}
    pairs = members(cw.read_labels(folder / "label.csv"))
    assert [len(pair) for pair in pairs] == [2] * 5
    for one, other in pairs:
        assert names[one][0] == names[other][0]  # the model
        assert ("swap" in names[one]) == ("swap" in names[other])  # the order of what is judged


@pytest.mark.data
def test_blocks_of_real_crowds(data: Path) -> None:
    for folder in sorted((data / "judges").glob("css_*")):
        assert members(cw.read_labels(folder / "label.csv")) == [], folder.name
    sizes = {
        "extra/ducks": [8, 5],
        "extra/dices350": [4, 2, 2, 2],
        "judges/llmbar": [39] + [5] * 6 + [4] + [3] * 8 + [2] * 9,
        "paper/bird": [],
        "paper/face": [],
        "paper/web": [],
    }
    for name, expected in sizes.items():
        found = members(cw.read_labels(data / name / "label.csv", duplicates="all"))
        assert [len(block) for block in found] == expected, name


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    name = pl.format("w{}", pl.col("worker").cast(pl.String).str.zfill(2))
    rows_of(with_copies(1, 5, 1.0)).with_columns(worker=name).write_csv(path)
    return path


def test_the_command_says_what_python_says(copied: Path, tmp_path: Path) -> None:
    found = cw.blocks(cw.read_labels(copied))
    done = run("blocks", copied)
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    for text in ("w10, w11, w12, w13,", f"{found.blocks[0].agreement:.4f}", found.summary, *found.cautions):
        assert text in shown
    told = json.loads(run("blocks", copied, "--json", "--engine", "disk").stdout)
    assert told["effective"] == pytest.approx(found.effective)
    assert told["workers"] == 16
    assert told["sentences"] == found.sentences()
    (block,) = told["blocks"]
    assert [one["worker"] for one in block["members"]] == [f"w{code}" for code in range(10, 16)]
    assert (block["size"], block["copies"]) == (6, True)
    target = tmp_path / "blocks.csv"
    done = run("blocks", copied, "-o", target, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert pl.read_csv(target).columns == found.to_frame().columns
    assert pl.read_csv(target)["worker"].to_list() == found.to_frame()["worker"].to_list()


def test_the_command_says_that_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    cw.simulate(100, 10, seed=1).rows.write_csv(path)
    done = run("blocks", path)
    assert done.returncode == 0
    assert done.stdout.startswith("No suspicious agreement between workers.")
    assert json.loads(run("blocks", path, "--json").stdout)["blocks"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "{labels}"], 2, "is an input; write to another file"),
        (["-o", "blocks.xyz"], 2, "does not say a format to write"),
        (["--master", "x"], 2, "--master does nothing with --engine auto"),
    ],
)
def test_the_command_refuses(arguments: list[str], code: int, message: str, copied: Path) -> None:
    done = run("blocks", copied, *(one.format(labels=copied) for one in arguments))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_the_report_shows_blocks_only_where_there_are_some(copied: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    done = run("report", copied, "-o", target, "-m", "mv")
    assert done.returncode == 0, done.stderr
    page = target.read_text(encoding="utf-8").partition('<section id="dependence">')[2].partition("</section>")[0]
    assert "w10, w11, w12, w13, w14 and w15" in page
    assert "6 of 16 workers are in 1 block" in page
    labels = cw.simulate(100, 10, seed=1).labels
    sets = cw.Labels.from_arrays([1, 1, 1], ["a", "a", "b"], ["x", "y", "x"], duplicates="set")
    for one, method in ((labels, cw.MajorityVote()), (sets, cw.BWA())):
        shown = gather(ReportData(method.fit(one), one, None, "the command"))
        assert "dependence" not in [section.id for section in shown]
