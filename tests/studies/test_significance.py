"""Tests of the statistical tests, against the paper's table and SciPy."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from studies.reproduce.significance import Ranking, SignedRanks, level, normal_p

TABLE_3 = Path("studies/reproduce/published/table_3.csv")


def test_p_and_level_follow_from_n_and_w_as_in_the_papers_table() -> None:
    table = pl.read_csv(TABLE_3).drop_nulls("n_r")
    assert table.height == 11
    stars = {None: "", 0.1: "*", 0.05: "**", 0.025: "***"}
    for row in table.iter_rows(named=True):
        assert round(normal_p(row["n_r"], row["w"]), 4) == row["p"], row["method"]
        assert level(row["n_r"], row["w"]) == stars[row["significance"]], row["method"]


@pytest.mark.parametrize("seed", range(5))
def test_exact_p_is_scipys_where_nothing_ties(seed: int) -> None:
    draws = np.random.default_rng(seed)
    method, baseline = draws.random(15) + 0.1, draws.random(15)
    ours = SignedRanks.of(list(method), list(baseline))
    theirs = stats.wilcoxon(method, baseline, alternative="greater", method="exact")
    assert ours.exact_p == pytest.approx(theirs.pvalue)
    assert ours.plus == theirs.statistic


def test_exact_p_with_ties_is_that_of_all_signs() -> None:
    difference = np.array([0.1, 0.1, -0.1, 0.2, 0.2, -0.3, 0.4])
    ours = SignedRanks.of(list(difference), [0.0] * 7)
    signs = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1)
    assert ours.exact_p == pytest.approx(float((ours.ranks @ signs <= ours.minus).mean()))


def test_ranks_share_ties_and_their_critical_difference_is_demsars() -> None:
    ranked = Ranking.of({"a": [0.9, 0.9, 0.9], "b": [0.9, 0.8, 0.7], "c": [0.1, 0.2, 0.3]})
    assert ranked.average == {"a": pytest.approx(1 + 0.5 / 3), "b": pytest.approx(2 - 0.5 / 3), "c": 3.0}
    # Demsar (2006), table 5: q for 3 classifiers at 0.05 is 2.343.
    assert ranked.critical_difference == pytest.approx(2.343 * np.sqrt(12 / 18), abs=1e-3)
