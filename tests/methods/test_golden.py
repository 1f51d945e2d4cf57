"""Tests that the accuracies on the paper's datasets are the published ones."""

from pathlib import Path

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.read_options import Duplicates
from crowdwise.fitting.method import Method

METHODS: dict[str, tuple[Method, Duplicates]] = {
    "MV": (cw.MajorityVote(), "all"),
    "BWA(15 adjusted)": (cw.BWA(), "set"),
    "BWA(30 original)": (cw.BWA(prior_strength=30, prior_correction=False), "set"),
    "BWA(30 adjusted)": (cw.BWA(prior_strength=30), "set"),
    "ZC": (cw.ZenCrowd.released(), "all"),
    "DS": (cw.DawidSkene.released(), "all"),
    "LFC": (cw.LearningFromCrowds.released(), "all"),
    "CATD": (cw.CATD.released(), "all"),
    "CRH": (cw.CRH.released(), "all"),
    "iBCC": (cw.IBCC(), "all"),
    "iBCC-VB": (cw.IBCC("variational"), "all"),
    "PTBCC": (cw.PTBCC(), "all"),
}
WITHOUT_LABELS = "senti"
LARGE = ("fact", "adult", "trec")


@pytest.mark.data
@pytest.mark.parametrize("name", METHODS)
def test_accuracies_are_those_published(name: str, data: Path, golden: Path) -> None:
    method, duplicates = METHODS[name]
    check(name, method, duplicates, data, golden, (WITHOUT_LABELS,))


@pytest.mark.data
def test_accuracies_of_minimax(data: Path, golden: Path) -> None:
    """MS and adult are left out: the released solver stops early there; an exact one gives 0.03 and 0.01 less."""
    check("Minimax", cw.Minimax(), "last", data, golden, (WITHOUT_LABELS, "MS", "adult"))


@pytest.mark.data
def test_accuracies_of_cbcc(data: Path, golden: Path) -> None:
    """web is left out: the released implementation gave 0.71 to 0.86 with three seeds; the number is one of these."""
    check("CBCC", cw.CBCC.released(), "all", data, golden, (WITHOUT_LABELS, "web"))


@pytest.mark.data
def test_accuracies_of_ebcc(data: Path, golden: Path) -> None:
    check("EBCC", cw.EBCC(), "all", data, golden, (WITHOUT_LABELS,))


@pytest.mark.data
def test_accuracies_of_glad_on_small_datasets(data: Path, golden: Path) -> None:
    check("GLAD", cw.GLAD.released(), "all", data, golden, (WITHOUT_LABELS, *LARGE))


@pytest.mark.data
@pytest.mark.longest
def test_accuracies_of_glad_on_large_datasets(data: Path, golden: Path) -> None:
    names = pl.read_csv(golden / "accuracy.csv")["dataset"].unique().to_list()
    check("GLAD", cw.GLAD.released(), "all", data, golden, tuple(name for name in names if name not in LARGE))


def check(
    name: str, method: Method, duplicates: Duplicates, data: Path, golden: Path, without: tuple[str, ...]
) -> None:
    """Check that a method has its published accuracies, within their tolerances, except on the datasets left out."""
    table = pl.read_csv(golden / "accuracy.csv")
    expected = table.filter(pl.col("method") == name, ~pl.col("dataset").is_in(without))
    assert expected.height
    measured = {}
    for dataset in expected["dataset"]:
        folder = data / "paper" / dataset
        labels = cw.read_labels(folder / "label.csv", duplicates=duplicates)
        measured[dataset] = cw.accuracy(method.fit(labels), folder / "truth.csv")
    for dataset, accuracy, tolerance in expected.select("dataset", "accuracy", "tolerance").iter_rows():
        assert measured[dataset] == pytest.approx(accuracy, abs=tolerance), dataset


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "mean"),
    [
        (cw.Hierarchical(), 0.8399),
        (cw.Hierarchical("full"), 0.8373),
        (cw.Hierarchical("one_coin"), 0.8187),
        (cw.LogLinear(), 0.8448),
        (cw.BWA(weights="per_label"), 0.8156),
    ],
)
def test_means_over_seventeen_datasets_are_those_measured_elsewhere(method: Method, mean: float, data: Path) -> None:
    assert mean_over_seventeen(method, data) == pytest.approx(mean, abs=0.0005)


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "mean"),
    [
        (cw.Wawa(), 0.8246),
        (cw.ZeroBasedSkill(), 0.8264),
        (cw.IterativeWeightedMajorityVote(), 0.8255),
        (cw.CATD(), 0.8265),
        (cw.CRH(), 0.8311),
        (cw.GLAD(), 0.8243),
        (cw.ZenCrowd(), 0.8216),
        (cw.OneCoin(), 0.8135),
        (cw.MACE(), 0.8303),
        (cw.MMSR(), 0.8237),
        (cw.DawidSkene(), 0.8327),
        (cw.LearningFromCrowds(), 0.8366),
        (cw.CBCC(), 0.8378),
        (cw.BWA(link="logistic"), 0.8218),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, float) else "",
)
def test_means_of_defaults_that_differ_from_what_was_released(method: Method, mean: float, data: Path) -> None:
    """The numbers were measured with this library: smoothing, convergence and shared ties change the released ones."""
    assert mean_over_seventeen(method, data) == pytest.approx(mean, abs=0.0005)


@pytest.mark.data
@pytest.mark.parametrize(("passes", "mean"), [(1, 0.8258), (2, 0.8289)])
def test_means_of_the_lightweight_aggregator(passes: int, mean: float, data: Path) -> None:
    """This test takes the mean over five orders of the items; the expected number is a mean over twenty."""
    means = [mean_over_seventeen(cw.LightweightAggregation(passes, seed), data) for seed in range(5)]
    assert sum(means) / 5 == pytest.approx(mean, abs=0.001)


@pytest.mark.data
@pytest.mark.parametrize(
    ("dataset", "accuracy"),
    [("SP", 0.8192), ("SP_amt", 0.942), ("ZC_all", 0.8529), ("prod", 0.8955), ("tweet", 0.933), ("rte", 0.4975)],
)
def test_accuracies_of_kos(dataset: str, accuracy: float, data: Path) -> None:
    folder = data / "paper" / dataset
    result = cw.KOS().fit(cw.read_labels(folder / "label.csv", duplicates="all"))
    assert cw.accuracy(result, folder / "truth.csv") == pytest.approx(accuracy, abs=0.0005)


def mean_over_seventeen(method: Method, data: Path) -> float:
    """Return the mean accuracy over the paper's datasets, without senti and fact."""
    measured = []
    for folder in sorted((data / "paper").iterdir()):
        if folder.name not in (WITHOUT_LABELS, "fact"):
            labels = cw.read_labels(folder / "label.csv", duplicates="all")
            measured.append(cw.accuracy(method.fit(labels), folder / "truth.csv"))
    assert len(measured) == 17
    return sum(measured) / 17


@pytest.mark.data
def test_datasets_have_the_counts_of_the_papers_table(data: Path, golden: Path) -> None:
    table = pl.read_csv(golden / "paper_table_datasets.csv").filter(pl.col("dataset") != WITHOUT_LABELS)
    for row in table.iter_rows(named=True):
        labels = cw.read_labels(data / "paper" / row["dataset"] / "label.csv", duplicates="all")
        counted = (labels.n_items, labels.n_workers, labels.n_classes, labels.n_labels)
        assert counted == (row["items"], row["workers"], row["classes"], row["labels"]), row["dataset"]


@pytest.mark.data
def test_extra_crowds_are_read_and_aggregated(data: Path) -> None:
    for folder in sorted((data / "extra").iterdir()):
        result = cw.BWA().fit(cw.read_labels(folder / "label.csv", duplicates="set"))
        assert 0 < cw.accuracy(result, folder / "truth.csv") <= 1, folder.name
