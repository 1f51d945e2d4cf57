"""Tests of crowd-kit's aggregators of comparisons, against numbers of crowd-kit 1.4.2."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdwise.compat.crowdkit.aggregation import BradleyTerry, NoisyBradleyTerry

_COLUMNS = ["worker", "left", "right", "label"]
_CHAIN = pd.DataFrame([["w", "a", "b", "a"], ["w", "b", "c", "b"], ["w", "c", "a", "a"]], columns=_COLUMNS)
_CYCLE = pd.DataFrame([["w", "a", "b", "a"], ["w", "b", "c", "b"], ["w", "c", "a", "c"]], columns=_COLUMNS)


def test_bradley_terry_gives_the_scores_of_every_iteration() -> None:
    expected = {0: [1 / 3, 1 / 3, 1 / 3], 10: [0.934897, 0.065103, 0.0]}
    for iterations, scores in expected.items():
        found = BradleyTerry(n_iter=iterations, tol=0).fit(_CHAIN)
        np.testing.assert_allclose(found.scores_, scores, atol=1e-6)
        assert (found.scores_.name, list(found.scores_.index)) == ("agg_score", ["a", "b", "c"])
        assert len(found.loss_history_) == iterations


def test_bradley_terry_converges_to_the_most_likely_scores() -> None:
    rows = [["w", "a", "b", "a"]] * 3 + [["w", "b", "a", "b"]] + [["w", "b", "c", "b"]] * 2 + [["w", "c", "b", "c"]]
    scores = BradleyTerry(n_iter=10_000, tol=1e-12).fit_predict(pd.DataFrame(rows, columns=_COLUMNS))
    np.testing.assert_allclose([scores["a"] / scores["b"], scores["b"] / scores["c"]], [3, 2], rtol=1e-6)


def test_without_comparisons_there_are_no_scores() -> None:
    scores = BradleyTerry(n_iter=1).fit_predict(pd.DataFrame([], columns=_COLUMNS))
    pd.testing.assert_series_equal(scores, pd.Series([], dtype=np.float64, name="agg_score"))


def test_noisy_bradley_terry_gives_the_numbers_of_crowd_kit() -> None:
    with pytest.warns(RuntimeWarning, match="Scores overflowed"):
        found = NoisyBradleyTerry(n_iter=10, tol=0).fit(_CHAIN)
    np.testing.assert_allclose(found.scores_, [1, 1, 0], atol=1e-6)
    assert (found.scores_.index.name, found.skills_.name, found.biases_.name) == ("label", "skill", "bias")
    even = NoisyBradleyTerry().fit_predict(_CYCLE)
    np.testing.assert_allclose(even, [0.6715468, 0.6462883, 0.6329476], atol=1e-6)


@pytest.mark.parametrize("made", [BradleyTerry(n_iter=3), NoisyBradleyTerry()])
def test_a_missing_column_is_named(made: Any) -> None:
    with pytest.raises(KeyError, match="no column label"):
        made.fit(_CHAIN.drop(columns="label"))
