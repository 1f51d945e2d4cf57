"""Tests of the spectral start of Dawid-Skene: it recovers matrices by itself, and says what it cannot do."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.methods.ds import spectral
from tests.methods.test_recovery import confused
from tests.support.engines import on_disk


def test_moments_recover_the_confusion_matrices() -> None:
    rows, matrices, truth = confused(1)
    labels = cw.Labels.from_frame(rows).numbered
    start = spectral.start_from(spectral.count_moments(labels))
    expected = matrices[labels.names.workers.to_numpy()]
    assert start.matrices == pytest.approx(expected, abs=0.15)
    assert np.abs(start.matrices - expected).mean() < 0.04
    assert start.class_prior == pytest.approx(np.bincount(truth) / len(truth), abs=0.05)


@pytest.mark.slow
def test_the_start_does_not_depend_on_the_order_of_rows_nor_on_parts(tmp_path: Path) -> None:
    rows, _, _ = confused(2)
    rows = rows.head(2400)
    method = cw.DawidSkene("spectral")
    result = method.fit(cw.Labels.from_frame(rows))
    shuffled = method.fit(cw.Labels.from_frame(rows.sample(fraction=1.0, shuffle=True, seed=1)))
    scores = dict(zip(shuffled.names.items.to_list(), shuffled.scores.tolist(), strict=True))
    assert [scores[item] for item in result.names.items.to_list()] == result.scores.tolist()
    rows.write_parquet(tmp_path / "rows.parquet")
    in_parts = method.fit(on_disk(tmp_path / "rows.parquet")).to_frame(scores=True).sort("item")
    columns = pl.selectors.starts_with("score_")
    whole = result.to_frame(scores=True).sort("item").select(columns).to_numpy()
    assert in_parts.select(columns).to_numpy() == pytest.approx(whole, abs=1e-6)


def test_it_starts_right_where_a_majority_is_wrong() -> None:
    """Most workers say the first class too often, and so does the majority; the moments see the better workers."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 2000)
    right = np.array([[0.95, 0.35]] * 6 + [[0.9, 0.9]] * 3)
    items, workers = np.divmod(np.arange(2000 * 9), 9)
    said = np.where(random.random(len(items)) < right[workers, truth[items]], truth[items], 1 - truth[items])
    labels = cw.Labels.from_arrays(items, workers, said)
    known = dict(enumerate(truth.tolist()))
    result = cw.DawidSkene("spectral").fit(labels)
    assert cw.accuracy(result, known) > cw.accuracy(cw.MajorityVote().fit(labels), known) + 0.1
    assert result.workers.confusion is not None
    assert result.workers.confusion[:, [0, 1], [0, 1]] == pytest.approx(right, abs=0.06)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (([1, 1], ["a", "b"], ["x", "y"]), "it needs three workers, and here are 2"),
        (([1, 2, 3], ["a", "b", "c"], ["x", "y", "x"]), "no item has labels of all three groups"),
        (([1, 1, 1], ["a", "b", "c"], ["x", "x", "y"]), "a class is missing from the labels that the groups share"),
        ((list(range(30)), list("abcdef") * 5, list(range(30))), "it takes at most 20 classes, and here are 30"),
    ],
)
def test_what_has_no_spectral_start_is_refused_in_a_sentence(
    labels: tuple[list[int], list[str], list[str]], reason: str
) -> None:
    with pytest.raises(
        cw.DataError, match=f"The spectral start cannot be computed: {reason}.*; use start_from=majority"
    ):
        cw.DawidSkene("spectral").fit(cw.Labels.from_arrays(*labels))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "published", "tolerance"),
    [
        ("bird", 0.899, 0.011),
        ("rte", 0.929, 0.005),
        ("trec", 0.702, 0.005),
        ("dog", 0.831, 0.015),
        ("web", 0.841, 0.05),
    ],
)
def test_accuracies_are_near_the_published_ones(data: Path, name: str, published: float, tolerance: float) -> None:
    """docs/studies/reproduce.md says why not all are equal."""
    folder = data / "paper" / name
    result = cw.DawidSkene("spectral").fit(cw.read_labels(folder / "label.csv", duplicates="all"))
    assert cw.accuracy(result, folder / "truth.csv") == pytest.approx(published, abs=tolerance)
