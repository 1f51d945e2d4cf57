"""Votes with a probability and a weight on every engine; what a weight that is a count means."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw

from ..support.engines import Engine
from ..support.judges import simulate_judges

METHODS = [cw.MajorityVote(), cw.BWA(), cw.DawidSkene(), cw.LearningFromCrowds(), cw.Adjudicator()]
by_name = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.key)


def table(result: Any) -> pl.DataFrame:
    """The probabilities of the items, by the names of items and classes."""
    frame = result.to_frame(probabilities=True)
    frame = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame.toPandas())
    return frame.select("item", *sorted(name for name in frame.columns if name.startswith("probability_"))).sort("item")


def assert_same(found: Any, expected: Any, within: float = 1e-9) -> None:
    first, second = table(found), table(expected)
    assert first.columns == second.columns
    assert first["item"].to_list() == second["item"].to_list()
    assert np.allclose(first.drop("item").to_numpy(), second.drop("item").to_numpy(), rtol=0, atol=within)


@by_name
def test_every_engine_gives_the_same(engine: Engine, method: Any) -> None:
    rows = simulate_judges(60, 4, 3, seed=2, share=0.8).rows.with_columns(w=pl.col("item") % 3 + 0.5)
    method = engine.suited(method)
    expected = method.fit(cw.read_labels(rows, probability="p", weight="w"), warn=False)
    assert_same(method.fit(engine.read(rows, probability="p", weight="w"), warn=False), expected)


def test_every_engine_takes_a_column_for_each_class(engine: Engine) -> None:
    rows = simulate_judges(60, 4, 3, seed=2, share=0.8).rows.with_columns(w=pl.col("item") % 3 + 0.5)
    wide = rows.pivot(on="label", index=["item", "worker", "w"], values="p")
    wide = wide.rename({name: f"p_{name}" for name in "012"})
    votes = cw.MajorityVote()
    expected = votes.fit(cw.read_labels(rows, probability="p", weight="w"), warn=False)
    assert_same(votes.fit(engine.read(wide, weight="w"), warn=False), expected)
    rounded = votes.fit(
        cw.read_labels(rows.filter(pl.col("p") == pl.col("p").max().over("item", "worker"))), warn=False
    )
    assert_same(votes.fit(engine.read(wide, votes="hard"), warn=False), rounded)


def with_counts(*, repeated: bool) -> Any:
    """Plain votes that are worth 1 to 3 votes each, as weights or as rows of their own of the same worker."""
    crowd = cw.simulate(80, 6, classes=3, seed=7).labels
    times = np.random.default_rng(1).integers(1, 4, crowd.n_labels)
    if not repeated:
        return replace(crowd, soft=np.column_stack([np.eye(3)[crowd.labels], times]))
    starts = np.concatenate([[0], np.cumsum(np.add.reduceat(times, crowd.item_starts[:-1]))])
    rows = np.repeat(np.arange(crowd.n_labels), times)
    return replace(
        crowd,
        item_starts=starts.astype(crowd.item_starts.dtype),
        workers=crowd.workers[rows],
        labels=crowd.labels[rows],
    )


@pytest.mark.parametrize(
    "method", [*METHODS[:-1], cw.Adjudicator(read_out="latent", copies="separate")], ids=lambda method: method.key
)
def test_a_weight_that_is_a_count_is_as_many_votes(method: Any) -> None:
    weighted, repeated = (method.fit(with_counts(repeated=one), warn=False) for one in (False, True))
    assert np.allclose(weighted.scores, repeated.scores, rtol=0, atol=1e-9)


def test_a_count_makes_the_crowd_no_denser() -> None:
    # So the pool of the adjudicator, and the confidence of other methods, take repeated rows for more dependent votes.
    weighted, repeated = (cw.Adjudicator().fit(with_counts(repeated=one), warn=False) for one in (False, True))
    assert weighted.density < repeated.density
    assert np.abs(weighted.scores - repeated.scores).max() > 0.01
