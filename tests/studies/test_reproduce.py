"""Tests of `python -m studies.reproduce`: the committed results, the page, interrupted runs, and small new runs."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from studies.reproduce import measuring, page, random_ties
from studies.reproduce.__main__ import _methods
from studies.reproduce.contestants import CONTESTANTS, DECLARED
from studies.reproduce.evidence import Evidence, open_results, published
from studies.reproduce.palette import PAPER
from studies.reproduce.wilcoxon_table import wilcoxon_table

DOCS = Path(__file__).parents[2] / "docs" / "studies"
SMALL = ["bird", "lesions", "valence5"]


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return Evidence.read(DOCS / "reproduce")


def test_the_page_is_what_the_committed_results_give(evidence: Evidence) -> None:
    written = (DOCS / "reproduce.md").read_text(encoding="utf-8")
    assert page.render(evidence) == written, (
        "run `python -m studies.reproduce --out docs/studies` and commit what it writes"
    )
    for figure in re.findall(r"\]\((reproduce/[^)]+)\)", written):
        assert (DOCS / figure).is_file(), figure


@pytest.mark.slow
def test_figures_are_drawn_with_every_method_and_dataset(evidence: Evidence, tmp_path: Path) -> None:
    page.draw(evidence, tmp_path)
    drawn = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    assert set(drawn) == {"figure_2", "figure_3", "figure_4", "ranks"}
    for name in (*PAPER, *evidence.datasets("paper")):
        assert f">{name}" in drawn["figure_3"], name
        assert f">{name}" in drawn["figure_4"], name


def test_the_committed_results_are_complete(evidence: Evidence) -> None:
    assert len(evidence.datasets("paper")) >= 18
    assert len(evidence.datasets("extra")) == 15
    assert {row.name for row in DECLARED} <= set(evidence.accuracies["method"]) <= set(CONTESTANTS)
    assert {name for name, one in CONTESTANTS.items() if one.group == "paper"} == set(PAPER)
    assert set(published("table_3")["method"]) == set(PAPER)


def test_accuracies_of_majority_vote_and_bwa_are_those_published(evidence: Evidence) -> None:
    for method in ("MV", "BWA(30 original)", "BWA(15 adjusted)"):
        theirs = published("accuracies").filter(pl.col("method") == method, pl.col("dataset") != "senti")
        ours = evidence.accuracy(method, theirs["dataset"].to_list())
        assert theirs.height == 18
        assert ours == pytest.approx(theirs["accuracy"].to_list(), abs=1e-6), method


def test_table_3_is_the_papers_with_what_is_known_of_senti(evidence: Evidence) -> None:
    rows = {row.method: row for row in wilcoxon_table(evidence)}
    for method in ("ZC", "LFC", "BWA(30 original)", "BWA(15 adjusted)"):
        assert rows[method].matches, method
    for method in ("MV", "BWA(15 adjusted)"):
        row = rows[method]
        assert row.source == "published"
        assert row.paper is not None
        assert row.mean == pytest.approx(row.paper["mean_accuracy"], abs=1e-4), method
    # CRH breaks ties at random. With ten other seeds, its released implementation gives the W of the paper.
    crh = page.crh_with_other_seeds(list(rows.values()), evidence)
    assert crh is not None
    assert (crh.n, crh.smaller, crh.minus) == (19, 91, 99)


def test_with_senti_measured_nothing_is_implied(evidence: Evidence) -> None:
    more = evidence.accuracies.filter(pl.col("dataset") == "fact").with_columns(dataset=pl.lit("senti"))
    complete = replace(evidence, accuracies=pl.concat([more, evidence.accuracies]))
    assert {row.source for row in wilcoxon_table(complete)} == {"measured"}
    text = page.render(complete)
    assert "All 19 datasets were measured" in text
    assert "≈" not in text


def never(what: str, known: bool) -> None:
    """A step that does nothing, for runs without an interruption."""


@pytest.mark.data
def test_a_run_that_was_interrupted_twice_ends_with_the_same_results(data: Path, tmp_path: Path) -> None:
    methods = ["MV", "CRH", "BWA(15 adjusted)"]

    def run(folder: Path, interrupted_at: int | None) -> None:
        folder.mkdir(exist_ok=True)
        accuracies, seconds, _ = open_results(folder)
        left = interrupted_at

        def step(what: str, known: bool) -> None:
            nonlocal left
            if left is not None and not known:
                left -= 1
                if left < 0:
                    raise KeyboardInterrupt

        measuring.measure(accuracies, seconds, methods, SMALL, data, step)

    for interrupted_at in (5, 16):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "interrupted", interrupted_at)
    assert 0 < Evidence.read(tmp_path / "interrupted").accuracies.height < 36
    run(tmp_path / "interrupted", None)
    run(tmp_path / "whole", None)
    whole = (tmp_path / "whole" / "accuracies.csv").read_bytes()
    assert whole.count(b"\n") == 37
    assert (tmp_path / "interrupted" / "accuracies.csv").read_bytes() == whole


@pytest.mark.data
def test_results_are_the_committed_ones_byte_for_byte(data: Path, tmp_path: Path, evidence: Evidence) -> None:
    """Run only the fast methods, on all datasets; `make reproduce` compares all methods."""
    methods = ["MV", "ZC", "LFC", "BWA(30 original)", "BWA(15 adjusted)"]
    datasets = [*evidence.datasets("paper"), *evidence.datasets("extra")]
    accuracies, seconds, _ = open_results(tmp_path)
    measuring.measure(accuracies, seconds, methods, datasets, data, never)
    committed = (DOCS / "reproduce" / "accuracies.csv").read_text().splitlines()
    measured = (tmp_path / "accuracies.csv").read_text().splitlines()
    assert measured == [line for line in committed if line.split(",")[0] in {"method", *methods}]


@pytest.mark.data
def test_all_methods_on_three_datasets(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "studies.reproduce", "--data", str(data), "--out", str(tmp_path)]
    subprocess.run([*command, "--datasets", ",".join(SMALL)], check=True, cwd=DOCS.parents[1])
    measured = Evidence.read(tmp_path / "reproduce").accuracies
    assert set(measured["method"]) == set(CONTESTANTS)
    assert set(measured["dataset"]) == set(SMALL)
    refused = measured.filter(pl.col("accuracy").is_null())
    # Three take two classes alone, and the moments of a small crowd with many classes determine no spectral start.
    assert set(refused["method"]) <= {"KOS", "VI-MF", "VI-BP", "DS(spectral)"}
    text = (tmp_path / "reproduce.md").read_text(encoding="utf-8")
    assert "1 of the 19 datasets" in text
    assert (tmp_path / "reproduce" / "figure_4.png").read_bytes().startswith(b"\x89PNG")


def test_released_methods_break_ties_by_their_seed_and_nothing_else() -> None:
    # With two labels per item and few workers there are many ties, and how they are broken changes the weights.
    coded = cw.simulate(300, 6, classes=3, labels_per_item=2, seed=1).labels
    items = np.repeat(np.arange(coded.n_items), np.diff(coded.item_starts))
    labels = cw.Labels.from_arrays(items, coded.workers, coded.labels)
    scores = [random_ties.CRH(seed=seed).fit(labels).scores for seed in (0, 0, 1)]
    assert (scores[0] == scores[1]).all()
    assert (scores[0] != scores[2]).any()
    # Without ties nothing is random, and the result is that of the library's own version.
    without_ties = cw.Labels.from_arrays([0, 1, 2, 2, 2], [0, 1, 0, 1, 2], ["a", "b", "a", "b", "b"])
    for ours, theirs in ((random_ties.CRH(), cw.CRH.released()), (random_ties.CATD(), cw.CATD.released())):
        assert ours.fit(without_ties).labels.to_list() == theirs.fit(without_ties).labels.to_list()


def test_methods_are_named_in_any_case_and_with_or_without_brackets() -> None:
    assert _methods("mv, glad") == ["MV", "GLAD", "GLAD(priors)"]
    assert _methods("BWA(15 adjusted),bwa")[:2] == ["BWA(15 adjusted)", "BWA(30 original)"]
    assert _methods(None) == list(CONTESTANTS)


def test_a_wrong_name_is_one_sentence() -> None:
    command = [sys.executable, "-m", "studies.reproduce", "--methods", "Majority"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=DOCS.parents[1])
    assert run.returncode == 2
    assert run.stderr.startswith("error: There is no method 'Majority'; there are MV, ZC")


def test_every_method_of_the_library_is_a_contestant() -> None:
    made = {type(contestant.make(0)) for contestant in CONTESTANTS.values()}
    assert all(any(issubclass(one, method) for one in made) for method in cw.METHODS.values())
