"""Tests of BWA: the paper's listing, the objective, restarts and intervals."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import special

import crowdwise as cw
from crowdwise.methods.bwa.weights import Weights
from crowdwise.numerics import Array
from studies.benchmarks.listing import bwa as listing
from studies.benchmarks.listing_ratio import tuples


def with_conflicts(seed: int, classes: int) -> cw.Labels:
    """Return a crowd in which workers sometimes name several classes for one item."""
    rows = cw.simulate(300, 30, classes, seed=seed).rows
    more = rows.sample(40, seed=seed).with_columns(label=pl.col("label").shuffle(seed=seed))
    return cw.Labels.from_frame(pl.concat([rows, more]), duplicates="set")


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 9, 17])
@pytest.mark.parametrize("strength", [15, 30])
@pytest.mark.parametrize("correction", [True, False])
@pytest.mark.parametrize("conflicts", [False, True])
def test_scores_are_those_of_the_listing(classes: int, strength: int, correction: bool, conflicts: bool) -> None:
    labels = with_conflicts(classes, classes) if conflicts else cw.simulate(300, 30, classes, seed=classes).labels
    assert labels.set_valued == conflicts
    expected, iterations = listing(tuples(labels), strength=strength, prior_correction=correction)
    result = cw.BWA(prior_strength=strength, prior_correction=correction).fit(labels)
    assert result.scores == pytest.approx(expected, abs=1e-12)
    assert result.convergence.iterations == max(iterations)
    assert result.convergence.converged


def test_a_binary_crowd_is_one_computation_with_the_listings_two_endings() -> None:
    """The two classes converge in different iterations, so their scores need not add up to one."""
    labels = cw.simulate(2000, 40, 2, accuracy=0.8, balance=[0.99, 0.01], seed=5).labels
    expected, iterations = listing(tuples(labels))
    result = cw.BWA().fit(labels)
    assert iterations[0] != iterations[1]
    assert result.scores == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("restarts", [0, 2])
def test_the_objective_never_rises(classes: int, restarts: int) -> None:
    labels = cw.simulate(500, 20, classes, accuracy=0.5, seed=1).labels
    objective = np.array(cw.BWA(restarts=restarts).fit(labels).convergence.objective)
    assert len(objective) > 3
    assert (np.diff(objective) <= 1e-9 * np.abs(objective[:-1])).all()


def test_the_objective_is_the_negative_log_likelihood() -> None:
    labels = cw.simulate(40, 6, 2, seed=2).labels
    method = cw.BWA(max_iterations=3, tolerance=1e-15)
    result = method.fit(labels)
    votes = tuples(labels)
    total = 0.0
    for k in range(2):
        z = result.scores[:, k]
        error = np.bincount(votes[:, 1], (z[votes[:, 0]] - (votes[:, 2] == k)) ** 2, minlength=6)
        evidence = method.prior_strength + result.worker_votes
        total += (
            0.5 * ((z - z.mean()) ** 2).sum() + 0.5 * (evidence * np.log(result.workers.prior_errors[k] + error)).sum()
        )
    assert result.convergence.objective[-1] == pytest.approx(total)


def test_running_out_of_iterations_is_said() -> None:
    labels = cw.simulate(500, 20, 3, accuracy=0.5, seed=1).labels
    ended = cw.BWA(max_iterations=2).fit(labels).convergence
    assert not ended.converged
    assert ended.iterations == 2
    assert "ran out of iterations after 2 iterations" in str(ended)
    assert str(cw.BWA().fit(labels).convergence).startswith("converged after")


def test_restarts_keep_the_best_objective_and_the_majority_start() -> None:
    labels = cw.simulate(60, 8, 3, labels_per_item=2, accuracy=0.4, seed=7).labels
    alone = cw.BWA().fit(labels)
    several = cw.BWA(restarts=5).fit(labels)
    assert several.workers.objective.sum() <= alone.workers.objective.sum() + 1e-9
    good = cw.simulate(500, 20, 3, seed=1).labels
    assert np.array_equal(cw.BWA(restarts=3).fit(good).scores, cw.BWA().fit(good).scores)
    assert np.array_equal(cw.BWA(restarts=5, seed=3).fit(labels).scores, cw.BWA(restarts=5, seed=3).fit(labels).scores)


def test_restarts_do_not_depend_on_the_order_of_rows() -> None:
    rows = cw.simulate(60, 8, 3, labels_per_item=2, accuracy=0.4, seed=7).rows
    one, other = (
        cw.BWA(restarts=5).fit(cw.Labels.from_frame(table)).to_frame().sort("item")
        for table in (rows, rows.sample(fraction=1, shuffle=True, seed=1))
    )
    assert one["label"].equals(other["label"])
    assert one["score"].to_numpy() == pytest.approx(other["score"].to_numpy(), rel=1e-6)


def test_scores_follow_from_the_weights_of_the_result() -> None:
    """The weights in the result are those that gave its scores; otherwise explanations would not be exact."""
    labels = cw.simulate(200, 12, 4, seed=3).labels
    result = cw.BWA().fit(labels)
    votes = tuples(labels)
    for k in range(4):
        given = result.workers.weight[votes[:, 1], k]
        favour = np.bincount(votes[:, 0], given * (votes[:, 2] == k)) + result.workers.mean[k]
        assert result.scores[:, k] == pytest.approx(favour / (np.bincount(votes[:, 0], given) + 1))


def weights(errors: Array, votes: Array, prior_strength: float, prior_errors: float) -> Weights:
    evidence = prior_strength + votes
    return Weights(
        weight=(evidence / (prior_errors + errors))[:, None],
        errors=errors[:, None],
        mean=np.zeros(1),
        prior_errors=np.array([prior_errors]),
        prior_strength=prior_strength,
        votes=votes,
        items=1,
        set_valued=False,
        disagreement=np.zeros(1),
        running=np.ones(1, bool),
        objective=np.zeros(1),
    )


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_weight_intervals_cover_the_weights_of_the_model_as_often_as_they_say(level: float) -> None:
    random = np.random.default_rng(0)
    workers, strength, errors = 20_000, 15.0, 3.0
    true = random.gamma(strength / 2, 2 / errors, workers)
    votes = random.integers(1, 200, workers)
    residuals = random.chisquare(votes) / true
    low, high = weights(residuals, votes, strength, errors).interval(level)
    covered = ((low[:, 0] <= true) & (true <= high[:, 0])).mean()
    assert covered == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / workers))


def test_the_interval_is_that_of_the_gamma_posterior() -> None:
    low, high = weights(np.array([4.0]), np.array([20]), 15.0, 3.0).interval()
    assert low[0, 0] == pytest.approx(2 * special.gammaincinv(35 / 2, 0.025) / 7)
    assert high[0, 0] == pytest.approx(2 * special.gammaincinv(35 / 2, 0.975) / 7)


def test_the_variance_is_close_to_that_of_the_exact_conditional() -> None:
    """One item's score given the others is a product of Student t densities: integrate it on a grid."""
    labels = cw.simulate(400, 15, 2, labels_per_item=12, seed=4).labels
    method = cw.BWA()
    result = method.fit(labels)
    assert result.variance is not None
    grid = np.linspace(-1, 2, 30_001)
    w = result.workers
    for i in (0, 5, 17):
        rows = slice(labels.item_starts[i], labels.item_starts[i + 1])
        workers, votes = labels.workers[rows], (labels.labels[rows] == 0).astype(float)
        others = w.errors[workers, 0] - (result.scores[i, 0] - votes) ** 2
        log_density = -0.5 * method.mean_weight * (grid - w.mean[0]) ** 2
        for j, vote, rest in zip(workers, votes, others, strict=True):
            evidence = method.prior_strength + w.votes[j]
            log_density -= evidence / 2 * np.log(w.prior_errors[0] + rest + (grid - vote) ** 2)
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        mean = (density * grid).sum()
        assert result.variance[i, 0] == pytest.approx((density * (grid - mean) ** 2).sum(), rel=0.05)


def test_a_set_valued_vote_is_one_vote_for_each_class_said() -> None:
    labels = cw.Labels.from_arrays(
        [1, 1, 1, 2, 2], ["a", "a", "b", "a", "b"], ["x", "y", "x", "y", "x"], duplicates="set"
    )
    result = cw.BWA().fit(labels)
    expected, _ = listing(tuples(labels))
    assert result.scores == pytest.approx(expected)
    assert result.votes.tolist() == [2, 2]
    assert result.worker_votes.tolist() == [2, 2]
    assert result.variance is not None
    assert (result.variance > 0).all()


@pytest.mark.parametrize("name", ["prior_strength", "mean_weight", "tolerance", "max_iterations"])
def test_parameters_that_make_no_sense_are_refused(name: str) -> None:
    with pytest.raises(cw.CallError, match=rf"{name}=0 is not a (whole )?number (above 0|from 1 on)"):
        replace(cw.BWA(), **{name: 0})  # type: ignore[arg-type]  # mypy sees any parameter in it
    with pytest.raises(cw.CallError, match="restarts=-1 is not a whole number from 0 on"):
        cw.BWA(restarts=-1)
