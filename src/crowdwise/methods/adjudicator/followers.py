"""`leave_out_followers`: a reading of the votes without those of workers who follow others."""

from typing import Any, Final

import numpy as np

from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from .copies import can_follow
from .copying import Search, Suspects
from .joint_counts import JointCounts
from .readings import Reading

# How many blocks are tried in a round, and the most rounds.
_MOST_TRIED: Final = 12
_MOST_ROUNDS: Final = 10


def leave_out_followers(
    method: Any,
    engine: Engine,
    plain: Reading,
    suspects: Suspects,
    progress: Progress | None,
    rounds: int = _MOST_ROUNDS,
    blocks: int = _MOST_TRIED,
) -> Reading:
    """Return a reading of the votes without those of workers who follow others; `plain` if nobody does.

    In a round, so many blocks are tried, those who agree most first; followers are left out of the next round.
    """
    workers = [*plain.workers.copies.blocks, np.flatnonzero(suspects.pairs.any(axis=1))]
    joint = JointCounts.of(engine, np.concatenate(workers))
    search = Search(method, engine, suspects, joint, progress, blocks)
    found = search.explain(plain)
    for _ in range(rounds):
        better = search.with_more_followers(found)
        if better is None:
            break
        found = better
    best = search.describe(found, plain) if found.nats else plain
    engine.sweep(best.workers)  # the engine has the scores of the reading that was tried last
    return best


def look_for_followers(method: Any, engine: Engine, suspects: Suspects) -> Any:
    """Return the workers of a reading without those who follow others, in crowds of any size; None if nobody does.

    In a crowd of more than 30 workers, only the workers who agree most are tried.
    """
    votes, _ = engine.sweep(None)
    found = method.read(engine, votes, None)
    if not can_follow(len(suspects.pairs), engine.n_classes):
        found = leave_out_followers(method, engine, found, suspects, None, rounds=1, blocks=1)
    return None if found.workers.copying is None else found.workers
