r"""The E step and the M steps of log-linear models, in NumPy: what runs on small crowds.

$$ P(y_{ij} = l \mid z_i = k) = e^{\sigma_j(k, l)} e^{\tau_i(k, l)} \Big/ \sum_m e^{\sigma_j(k, m)} e^{\tau_i(k, m)} $$

The exponentials of the matrices are kept, and called weights. E step: the posterior probabilities q of the classes, by
Bayes. M step: row k of sigma_j is where the penalised expected log likelihood is highest,

$$ \sum_i q_{ik} \log P(y_{ij} \mid z_i = k) - \tfrac{\lambda}{2} \sum_l (\sigma_j(k, l) - \bar\sigma(k, l))^2, $$

found by Newton's method; its gradient in column l is the sum of q (1[y = l] - P(l)) minus the penalty's, and its
Hessian minus the sum of q (diag(P) - P P'), minus lambda on the diagonal. The rows of tau_i are fitted in the same way.
"""

from dataclasses import dataclass

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import normalise, sums, sums_of_runs
from ...numerics.twins import CrowdArrays, twin

# The most steps of Newton's method; it converges in a few, because these problems are strictly convex.
STEPS = 20
# A step in which some number moves further than this is shortened.
LONGEST = 4.0
# A label is left out of the row of a class whose probability on its item is below this.
NEGLIGIBLE = 1e-12
# After a step this short, the next one would be about as short as its square, and is not taken.
SHORT = 1e-3


@dataclass(frozen=True, eq=False)
class ByWorker:
    """Labels sorted by worker, in the form in which labels are sorted by item."""

    arrays: tuple[Array, Array, Array]  # where the labels of each worker start; the item and the class of every label
    is_small: bool  # whether the whole crowd is

    @classmethod
    def of(cls, labels: Labels) -> "ByWorker":
        """Sort labels by worker."""
        order = np.argsort(labels.workers, kind="stable")
        starts = np.searchsorted(labels.workers[order], np.arange(labels.n_workers + 1))
        return cls((starts, labels.item_of[order], labels.labels[order]), labels.is_small)


@twin("crowdwise.families.log_linear.kernel")
def fit_matrices(
    groups: CrowdArrays,
    items: Array,
    first: int,
    last: int,
    scores: Array,
    other_weights: Array,
    own: Array,
    own_weights: Array,
    centre: Array,
    ridge: float,
) -> None:
    """M step: fit the matrices of workers, given those of items; or of items, given those of workers.

    Arguments are those of the kernel of the same name.
    """
    starts, others, said = groups.arrays
    labels, n_classes = slice(starts[first], starts[last]), scores.shape[1]
    group = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
    q = scores[items[labels]]
    label, k = np.nonzero(q >= NEGLIGIBLE)
    row = group[label] * n_classes + k
    order = np.argsort(row, kind="stable")
    label, k, row = label[order], k[order], row[order]
    q, other, said = q[label, k], other_weights[others[labels][label], k], said[labels][label]
    rows, weights = own[first:last].reshape(-1, n_classes), own_weights[first:last].reshape(-1, n_classes)  # views
    row_starts = np.searchsorted(row, np.arange(len(rows) + 1))
    named = np.bincount(row * n_classes + said, q, rows.size).reshape(rows.shape)
    centres = np.tile(centre, (last - first, 1))
    moving = np.ones(len(rows), bool)
    for _ in range(STEPS):
        chance = weights[row] * other
        chance /= chance.sum(axis=1, keepdims=True)
        part = q[:, None] * chance
        expected = sums_of_runs(part, row_starts)
        gradient = ridge * (rows - centres) + expected - named
        hessian = (expected + ridge)[:, :, None] * np.eye(n_classes)
        hessian -= sums_of_runs(part[:, :, None] * chance[:, None, :], row_starts)
        step = np.zeros_like(rows)
        step[moving] = np.linalg.solve(hessian[moving], gradient[moving, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1)
        rows -= np.minimum(1.0, LONGEST / np.maximum(longest, SHORT))[:, None] * step
        weights[:] = np.exp(rows - rows.max(axis=1, keepdims=True))
        moving = longest >= SHORT
        if not moving.any():
            break


@twin("crowdwise.families.log_linear.kernel")
def score_matrices(
    labels: Labels,
    first: int,
    last: int,
    worker_weights: Array,
    item_weights: Array,
    log_prior: Array,
    scores: Array,
    changes: Array,
) -> float:
    """E step for the items from `first` up to, not including, `last`; returns the log likelihood of their labels.

    Arguments are those of the kernel of the same name.
    """
    part = labels.slice(first, last)
    weights = worker_weights[part.workers] * item_weights[first:last][part.item_of]  # (labels, true class, said class)
    said = np.take_along_axis(weights, part.labels.astype(np.intp)[:, None, None], axis=2)[..., 0]
    log_joint = log_prior + sums(part.item_of, np.log(said / weights.sum(axis=2)), last - first)
    return float(normalise(log_joint, scores[first:last], changes).sum())
