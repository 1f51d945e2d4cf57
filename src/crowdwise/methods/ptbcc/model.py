r"""The E step and the sums of the M step of PTBCC, in NumPy: what runs on small crowds.

E step: first which prototype each label comes from, by the old probabilities of the classes, then the classes:

$$ p(x_{ij} = s) \propto \exp \Big( E \log \pi_{js} + \sum_k p(z_i = k) \, E \log V_{sk y_{ij}} \Big), \quad
   p(z_i = k) \propto \exp \Big( E \log \tau_k + \sum_j \sum_s p(x_{ij} = s) \, E \log V_{sk y_{ij}} \Big) $$

M step: the counts of the Dirichlet posteriors, $\sum_i p(x_{ij} = s)$ of every worker,
$\sum_{ij: y_{ij} = l} p(x_{ij} = s) p(z_i = k)$ of every cell and $\sum_i p(z_i = k)$ of every class; `PTBCC.estimate`
adds the priors and takes expected logarithms.
"""

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import normalise, softmax, sums
from ...numerics.twins import twin


@twin("crowdwise.methods.ptbcc.kernel")
def sweep_prototypes(
    labels: Labels,
    log_matrix: Array,
    mixtures: tuple[Array, Array] | None,
    scores: Array,
    changes: Array,
    mixture: Array,
    matrix: Array,
    classes: Array,
    raw_mixture: Array,
    raw_matrix: Array,
) -> None:
    """The E step, and the sums of the M step.

    `log_matrix` (prototypes, said class, true class) is the logarithms of the prototypes' confusion matrices.
    `mixtures` is two arrays: the logarithms of the workers' mixtures (workers, prototypes), and those of the classes'
    probabilities (classes). Which prototype a label comes from is a share for each prototype; it is not stored.

    If `mixtures` is None, scores stay as they are, and `log_matrix` must hold probabilities instead of logarithms. The
    shares of a label are then proportional to the probability of what was said; before they are scaled to add up to
    one, they are added to `raw_mixture` and `raw_matrix`.

    Overwrites `scores` (items, classes). Raises `changes` (classes) to the largest change of a score. Adds the shares
    to `mixture` and `raw_mixture` (workers, prototypes), the shares times the scores to `matrix` and `raw_matrix`
    (prototypes, said class, true class), and the scores to `classes` (classes).
    """
    items, n_workers = labels.item_of, labels.n_workers
    log_v = log_matrix.swapaxes(0, 1)[labels.labels]  # (labels, prototypes, true class)
    fit = np.einsum("esk,ek->es", log_v, scores[items])
    if mixtures is None:  # the first sweep, in which `log_matrix` has probabilities
        raw_mixture += sums(labels.workers, fit, n_workers)
        _add_cells(labels, fit, scores[items], raw_matrix)
        share = fit / fit.sum(axis=1, keepdims=True)
    else:
        log_pi, log_tau = mixtures
        share = softmax(log_pi[labels.workers] + fit)
        normalise(log_tau + sums(items, np.einsum("es,esk->ek", share, log_v), labels.n_items), scores, changes)
    mixture += sums(labels.workers, share, n_workers)
    _add_cells(labels, share, scores[items], matrix)
    classes += scores.sum(axis=0)


def _add_cells(labels: Labels, share: Array, scores: Array, matrix: Array) -> None:
    """Add the share of every label in each prototype, times its scores, to the cells of what was said."""
    for prototype, cells in enumerate(matrix):
        cells += sums(labels.labels, share[:, prototype, None] * scores, len(cells))
