r"""GLAD in NumPy, in the letters of the paper: the E step, and the objective of the M step.

E step: with ability alpha_j and log ease beta_i, K classes, and y_ij the class that worker j said of item i,

$$ P(z_i = k) \propto \prod_{j: y_{ij} = k} \sigma(x_{ij}) \prod_{j: y_{ij} \ne k} \frac{1 - \sigma(x_{ij})}{K - 1},
\quad x_{ij} = \alpha_j e^{\beta_i} $$

M step: the abilities and log eases that minimise the negative expected log likelihood Q, found along its gradient,

$$ Q = - \sum_{ij} p_{ij} \log \sigma(x_{ij}) + (1 - p_{ij}) \log \frac{1 - \sigma(x_{ij})}{K - 1},
\quad p_{ij} = P(z_i = y_{ij}) $$

Both work on a part of the items. `ability` is (workers); `log_ease`, `gold` and `scores` have a row per item of the
part. `gold` is the class of an item if it is known, and -1 if it is not.
"""

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import normalise
from ...numerics.twins import twin


@twin("crowdwise.methods.glad.kernel")
def e_step(labels: Labels, gold: Array, ability: Array, log_ease: Array, scores: Array, changes: Array) -> None:
    """E step: overwrite `scores` (items, classes) by the posterior probabilities of the classes.

    Before any label, all classes are equally likely. Raises `changes` (classes) to the largest change of a score.
    """
    n_items, n_classes = scores.shape
    items = labels.item_of
    # The log odds of a right label are x, because those of sigmoid(x) are; a wrong one is one of K - 1 classes.
    log_odds = ability[labels.workers] * np.exp(log_ease)[items] + np.log(max(n_classes - 1, 1))
    said = items * np.int64(n_classes) + labels.labels
    support = np.bincount(said, log_odds, n_items * n_classes).reshape(n_items, n_classes)
    possible = (gold[:, None] < 0) | (gold[:, None] == np.arange(n_classes))
    normalise(np.where(possible, support, -np.inf), scores, changes)


@twin("crowdwise.methods.glad.kernel")
def m_step_objective(
    labels: Labels, scores: Array, ability: Array, log_ease: Array, by_worker: Array, by_item: Array
) -> float:
    """M step: return Q under these scores, and compute its gradient.

    The gradient by ability is added to `by_worker` (workers). That by log ease overwrites `by_item` (items).
    """
    items, workers = labels.item_of, labels.workers
    ease = np.exp(log_ease)[items]
    x = ability[workers] * ease
    right = scores[items, labels.labels]  # p in the formula
    t = np.exp(-np.abs(x))
    # log sigmoid(x) is min(x, 0) - log(1 + t), and log (1 - sigmoid(x)) is x less than that.
    log_others = np.log(max(scores.shape[1] - 1, 1))
    total = (np.log1p(t) - np.minimum(x, 0) + (1 - right) * (x + log_others)).sum()
    slope = (np.where(x > 0, 1.0, t) / (1 + t) - right) * ease  # of Q by ability
    by_worker += np.bincount(workers, slope, labels.n_workers)
    by_item[:] = np.bincount(items, slope * ability[workers], labels.n_items)
    return float(total)
