"""Expected accuracy if every item got more labels, by simulating these labels with what a method knows."""

from typing import Final, NamedTuple

import numpy as np

from ...numerics import Array
from ...progress import working
from .foresight import Foresight

# After how many further labels of each item the expected accuracy is looked at.
STEPS: Final = np.array([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
# How many items are simulated at most, and about how many numbers a simulated label takes in all.
_MOST_ITEMS: Final = 4000
_WORK: Final = 2_000_000
_FEWEST_RUNS: Final = 2000
_MOST_RUNS: Final = 20_000
# About how many rows are simulated together.
_ROWS: Final = 4000


class Future(NamedTuple):
    """What is expected of every item after some more labels.

    Attributes:
        confidence: (steps, items), the expected confidence after so many further labels as `STEPS` says.
        ceiling: The expected accuracy after unlimited labels.
    """

    confidence: Array
    ceiling: float


def simulate_future(foresight: Foresight, is_open: Array, seed: int) -> Future:
    """Simulate further labels: draw a state for an item, and then what workers of this crowd say of such an item.

    In a crowd of many items, the first ones by their numbers are taken, which are as good as drawn by chance. What is
    known of the workers stays as it is, although more labels would say more about them; so the gains are too small:
    `plan` makes up for that.

    Args:
        foresight: What is expected of further labels.
        is_open: (items), whether the item is looked at: gold needs no labels.
        seed: The seed of the random numbers.
    """
    outlook = foresight.outlook
    _, n_states, n_classes = outlook.said.shape
    items = np.flatnonzero(is_open)[:_MOST_ITEMS]
    n_items = len(items)
    runs = int(np.clip(_WORK // (n_states * n_classes), _FEWEST_RUNS, _MOST_RUNS))
    draws = -(-runs // n_items)
    random = np.random.default_rng(seed)
    weights = np.concatenate([outlook.states(*part) for part in foresight.parts(int(items[-1]) + 1)])[items]
    votes = outlook.votes[items]
    confidence = np.zeros((len(STEPS), n_items))
    at_once = max(_ROWS // n_items, 1)  # so many draws of all items are made together
    with working("simulating further labels") as told:
        for done in range(0, draws, at_once):
            told(done / draws)
            together = min(at_once, draws - done)
            found = _simulate(foresight, np.tile(weights, (together, 1)), np.tile(votes, (together, 1)), random)
            confidence += found.reshape(len(STEPS), together, n_items).sum(axis=1) / draws
    ceiling = 1.0 if foresight.ends is None else float((weights @ foresight.ends).mean())
    return Future(confidence, ceiling)


def _simulate(foresight: Foresight, weights: Array, votes: Array, random: np.random.Generator) -> Array:
    """Return (steps, rows), how sure the answers are after each step of one simulation of every row.

    Args:
        foresight: What is expected of further labels.
        weights: (rows, states), how probable the states of the items are.
        votes: (rows, classes), how many votes the items have; the simulated ones are added.
        random: Where random numbers come from.
    """
    said_by = foresight.outlook.said
    log_said = np.log(np.maximum(said_by, np.finfo(float).tiny))
    sums = np.cumsum(said_by, axis=2)
    state = _drawn(np.cumsum(weights, axis=1), random)
    now = np.log(np.maximum(weights, np.finfo(float).tiny))
    confidence = np.empty((len(STEPS), len(weights)))
    given, rows = 0, np.arange(len(weights))
    for place, step in enumerate(STEPS.tolist()):
        for _ in range(step - given):
            speaker = random.integers(0, len(said_by), len(weights))
            said = _drawn(sums[speaker, state], random)
            now += log_said[speaker, :, said]
            votes[rows, said] += 1
        given = step
        confidence[place] = _sure(foresight, now, votes)
    return confidence


def _sure(foresight: Foresight, logarithms: Array, votes: Array) -> Array:
    """Return (items), how sure the answers are, given the logarithms of how probable the states are, and the votes."""
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(foresight.read(weights @ foresight.outlook.answers, votes).max(axis=1))


def _drawn(sums: Array, random: np.random.Generator) -> Array:
    """Draw a place in each row, given the sums of the probabilities up to each place."""
    chance = random.random(len(sums)) * sums[:, -1]
    return np.asarray(np.minimum((sums <= chance[:, None]).sum(axis=1), sums.shape[1] - 1))
