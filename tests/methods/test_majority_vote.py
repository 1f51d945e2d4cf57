"""Majority vote with very many classes, where votes are counted without a table of items by classes."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import crowdwise as cw
from crowdwise.methods.mv.counted_votes import CountedVotes


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.sampled_from("abcde")), min_size=1, max_size=60))
def test_counted_votes_are_the_same_result_as_a_table_of_items_by_classes(rows: list[tuple[int, int, str]]) -> None:
    item, worker, label = (list(column) for column in zip(*rows, strict=True))
    labels = cw.Labels.from_arrays(item, worker, label, duplicates="first")
    table = cw.MajorityVote().fit(labels, warn=False)
    counted = CountedVotes.of(cw.MajorityVote(), labels)
    assert_frame_equal(counted.to_frame(), table.to_frame())
    assert counted.workers_frame().equals(table.workers_frame())
    assert counted.ties.tolist() == table.ties.tolist()
    items, classes = np.divmod(np.arange(labels.n_items * (labels.n_classes + 1)), labels.n_classes + 1)
    assert counted.wins(items, classes - 1).tolist() == table.wins(items, classes - 1).tolist()
    assert counted.scores.tolist() == table.scores.tolist()
    assert pickle.loads(pickle.dumps(counted)).to_frame().equals(counted.to_frame())


def test_majority_vote_with_100_000_classes_needs_no_table_of_items_by_classes() -> None:
    """The table would have 15,000 items by 100,000 classes: 11 GB, which is refused where it is asked for."""
    items = np.arange(15_000).repeat(7)
    said = (items * 7 + np.tile([0, 0, 0, 0, 1, 2, 3], 15_000)) % 100_000
    labels = cw.Labels.from_arrays(items, np.tile(np.arange(7), 15_000), said)
    assert labels.n_classes > 58_000
    result = cw.MajorityVote().fit(labels.with_classes(pl.Series("label", range(100_000))))
    assert result.answers.tolist() == ((np.arange(15_000) * 7) % 100_000).tolist()
    assert result.to_frame()["score"].unique().to_list() == [4 / 7]
    with pytest.raises(cw.DataError, match="The scores of all classes would take 11 GB"):
        _ = result.scores
