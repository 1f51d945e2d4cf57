"""ActiveLab of cleanlab (Goh and Mueller, 2023, https://arxiv.org/abs/2301.11856), as a strategy to compare with."""

import logging
import warnings
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array


def scores(labels: cw.Labels) -> Array:
    """Return (items), ActiveLab's scores; the item with the lowest one needs a label most.

    ActiveLab combines labels with the probabilities of a classifier. There is none here, so it gets the shares of the
    votes instead, with one imagined vote for every class.
    """
    import pandas as pd
    from cleanlab.multiannotator import get_active_learning_scores

    said = np.full((labels.n_items, labels.n_workers), np.nan)
    said[labels.item_of, labels.workers] = labels.labels
    votes = np.ones((labels.n_items, labels.n_classes))
    np.add.at(votes, (labels.item_of, labels.labels.astype(np.int64)), 1)
    table: Any = pd.DataFrame(said)
    logging.disable(logging.WARNING)
    with warnings.catch_warnings(), redirect_stdout(StringIO()):  # it prints cautions
        warnings.simplefilter("ignore")
        found, _ = get_active_learning_scores(table, votes / votes.sum(axis=1, keepdims=True))
    return np.asarray(found)
