"""Votes with a probability and a weight: what rows make a vote, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.soft_votes import sharpened

ROWS = {"item": [1, 1, 2, 2], "worker": ["ann", "bob", "ann", "bob"], "label": ["x", "y", "y", "x"]}


def soft(**columns: Any) -> Any:
    """Labels of the rows above with further columns."""
    return cw.read_labels(pl.DataFrame(ROWS | {name: column for name, column in columns.items() if name[0] != "_"}))


def weights_of(labels: cw.Labels) -> list[float]:
    """The weight of every vote."""
    assert labels.soft is not None
    weights: list[float] = labels.soft[:, -1].tolist()
    return weights


def test_the_probability_of_a_label_leaves_the_rest_to_the_others() -> None:
    labels = cw.Labels.from_arrays(*ROWS.values(), probability=[0.9, 0.8, 0.4, 1.0], weight=[1, 2, 0, 1])
    assert labels.soft is not None
    assert np.allclose(labels.soft, [[0.9, 0.1, 1.0], [0.2, 0.8, 2.0], [0.6, 0.4, 0.0], [1.0, 0.0, 1.0]])
    assert labels.labels.tolist() == [0, 1, 0, 0]  # a label that its worker calls improbable is another one
    assert (labels.n_items, labels.n_workers) == (2, 2)


@pytest.mark.parametrize("as_written", ["rows", "columns", "logarithms", "text"])
def test_one_distribution_may_be_written_in_several_ways(as_written: str, tmp_path: Path) -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    ids = pl.DataFrame({"item": [1, 2], "worker": ["ann", "ann"]})
    wide = ids.with_columns(pl.Series(f"p_{name}", p[:, k]) for k, name in enumerate("abc"))
    long = wide.unpivot(index=["item", "worker"], variable_name="label", value_name="p")
    long = long.with_columns(pl.col("label").str.strip_prefix("p_")).sample(fraction=1, shuffle=True, seed=3)
    if as_written == "columns":
        labels = cw.read_labels(wide)
        assert "columns of their own" in labels.report.understood[0]
    elif as_written == "logarithms":
        labels = cw.read_labels(long.with_columns(pl.col("p").log()), probability="p", log=True)
    elif as_written == "text":
        long.write_csv(tmp_path / "votes.csv")
        labels = cw.read_labels(tmp_path / "votes.csv", probability="p")
    else:
        labels = cw.read_labels(long, probability="p")
    order = labels.names.items.arg_sort().to_numpy()
    assert labels.soft is not None
    assert np.allclose(labels.soft[order, :3], p)


def test_a_column_is_recognised_and_said_and_can_be_ignored() -> None:
    labels = soft(confidence=[0.9, 0.8, 0.7, 0.95])
    assert labels.soft is not None
    assert "--votes hard" in labels.report.understood[0]
    table = pl.DataFrame(ROWS | {"confidence": [0.9, 0.8, 0.7, 0.95]})
    assert cw.read_labels(table, votes="hard").soft is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0.9, 0.1, 0.7, 0.05], "below what guessing gives"),  # hardly the probability of the label beside it
        ([4, 5, 3, 1], "go from 1 to 5"),  # a score of another kind
        ([95.0, 80.0, 70.5, 60.0], "If they are per cent"),
        ([-0.1, -0.2, -1.5, -0.3], "If they are logarithms"),
        ([1.0, 0.0, 1.0, 1.0], "0 or 1"),
        (["high", "low", "low", "high"], "'high' is no number"),
    ],
)
def test_a_column_that_is_hardly_a_probability_is_not_taken(values: list[Any], said: str) -> None:
    labels = soft(score=values)
    assert labels.soft is None
    assert said in "".join(labels.report.understood)


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, 0.5, 0.25, 1.0], ""),
        ([1, 3, 0, 2], ""),
        ([0.5, 1.5, 1.0, 3.0], "neither counts nor from 0 to 1"),
        ([5, 5, 7, 7], "the same for all votes of an item"),
        ([1, 1, 1, 1], None),
    ],
)
def test_a_column_of_weights_is_recognised_and_said_and_can_be_ignored(
    weights: list[float], said: str | None, engine: str
) -> None:
    table = pl.DataFrame(ROWS | {"weight": weights})
    labels = cw.read_labels(table, engine=engine)
    sentences = "".join(labels.report.understood)
    assert ("weight" in labels.report.columns) == (said == "")
    assert sentences == "" if said is None else (said or "is taken as how often a vote counts") in sentences
    if said == "":
        assert weights_of(cw.read_labels(table)) == weights
    assert cw.read_labels(table, votes="hard").soft is None


def test_columns_of_classes_take_a_weight_and_can_be_rounded() -> None:
    rows = {"item": [1, 1, 2], "worker": ["ann", "bob", "ann"], "p_no": [0.2, 0.5, 0.9], "p_yes": [0.8, 0.5, 0.1]}
    table = pl.DataFrame(rows | {"weight": [0.5, 1, 0.25]})
    assert weights_of(cw.read_labels(table)) == [0.5, 1, 0.25]
    assert weights_of(cw.read_labels(table.rename({"weight": "w"}), weight="w")) == [0.5, 1, 0.25]
    hard = cw.read_labels(table, votes="hard")
    assert (hard.soft, hard.names.classes.gather(hard.labels).to_list()) == (None, ["yes", "no", "no"])


def test_plain_votes_with_probabilities_of_one_are_plain_votes() -> None:
    labels = cw.Labels.from_arrays(*ROWS.values(), probability=[1.0, 1, 1, 1], weight=[1, 1, 1, 1])
    assert labels.soft is None


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"p": [0.9, 1.2, 0.3, 7.0]}, "2 of 4 rows have no probability.*row 2 .*'bob'.* has 1.2"),
        ({"p": [0.9, float("nan"), 0.3, 0.7]}, "row 2 .* has nan"),
        ({"w": [1.0, 1.0, -1.0, 2.0]}, "no weight .*row 3 .* has -1.0"),
        ({"w": [0, 0, 0, 0]}, "All weights"),
    ],
)
def test_values_that_cannot_be_used_are_refused(columns: Any, message: str, engine: str) -> None:
    named: Any = {"p": {"probability": "p"}, "w": {"weight": "w"}}[next(iter(columns))]
    with pytest.raises(cw.DataError, match=message):
        cw.read_labels(pl.DataFrame(ROWS | columns), engine=engine, **named)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_rows_that_do_not_add_up_are_refused_or_dropped(engine: str) -> None:
    rows = pl.DataFrame(
        {"item": [1, 1, 1, 2], "worker": ["ann", "ann", "bob", "bob"], "label": ["x", "y", "x", "y"]}
        | {"p": [0.9, 0.7, 0.8, 0.9]}
    )
    with pytest.raises(cw.DataError, match=r"1 .* pair .*worker 'ann' said 'x' and 'y', with .* add up to 1\.6"):
        cw.read_labels(rows, probability="p", engine=engine)
    dropped = cw.read_labels(rows, probability="p", duplicates="drop", engine=engine)
    assert (dropped.n_labels, dropped.report.conflicts) == (2, 1)
    assert cw.read_labels(rows, probability="p", duplicates="all", engine=engine).n_labels == 4
    assert cw.read_labels(rows, probability="p", duplicates="samples", engine=engine).n_workers == 3


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_text_is_named_where_no_row_of_a_part_makes_a_vote(engine: str, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,worker,p_x,p_y\nseven,ann,0.2,0.2\n")
    with pytest.raises(cw.DataError, match=r"item 'seven', worker 'ann' said 'x' and 'y', .* add up to 0\.4"):
        cw.read_labels(tmp_path / "votes.csv", engine=engine)


def test_options_that_contradict_each_other_are_refused() -> None:
    table = pl.DataFrame(ROWS | {"p": [0.9, 0.8, 0.7, 0.6]})
    contradicting: Any = ({"votes": "hard"}, {"duplicates": "set"}, {"duplicates": "first"}, {"multi": "each"})
    for options in contradicting:
        with pytest.raises(cw.CallError, match="probability="):
            cw.read_labels(table, probability="p", **options)
    with pytest.raises(cw.DataError, match="no column 'q' for the probability"):
        cw.read_labels(table, probability="q")
    with pytest.raises(cw.DataError, match="takes plain votes"):
        cw.Wawa().fit(cw.read_labels(table, probability="p"))


def test_a_power_sharpens_and_leaves_certainty_and_ignorance_alone() -> None:
    stated = np.array([[0.8, 0.2], [1.0, 0.0], [0.5, 0.5], [0.8, 0.2]])
    found = sharpened(stated, np.array([2.0, 3.0, 4.0, 1.0]))
    assert np.allclose(found, [[0.64 / 0.68, 0.04 / 0.68], [1.0, 0.0], [0.5, 0.5], [0.8, 0.2]])
