r"""The E step and the M step of Dawid and Skene (1979), in NumPy: what runs on small crowds.

Their letters: p_j is how common class j is; pi_jl^(k) the probability that worker k says class l where j is true;
n_il^(k) how often worker k said l about item i; T_ij whether j is the true class of item i.

E step (their 2.5), for every item:

$$ p(T_{ij} = 1 \mid data) \propto p_j \prod_k \prod_l (\pi_{jl}^{(k)})^{n_{il}^{(k)}} $$

M step (their 2.3 and 2.4), with the expected T from the E step:

$$ \hat\pi_{jl}^{(k)} = \frac{\sum_i T_{ij} n_{il}^{(k)}}{\sum_l \sum_i T_{ij} n_{il}^{(k)}}, \quad
   \hat p_j = \sum_i T_{ij} / I $$

The sums over items are the counts of a sweep, which add up over the parts of a crowd; the divisions are the method's
own (`DawidSkene.estimate`; others have priors). Instead of log pi, evidence may be the expectation of that logarithm.
"""

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import normalise, sums
from ...numerics.twins import twin


@twin("crowdwise.families.confusion_matrices.kernel")
def sweep_confusions(
    labels: Labels,
    block: tuple[int, ...] | None,
    parameters: tuple[Array, Array] | None,
    negligible: float,
    scores: Array,
    changes: Array,
    confusion: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """The E step, and the sums of the M step; arguments are those of the kernel of the same name.

    If `parameters` is None there is no E step: the scores stay as they are.
    """
    said = labels.workers * np.int64(confusion.shape[1]) + labels.labels  # (labels), the row of worker and said class
    if parameters is not None:
        log_pi, log_p = parameters
        log_likelihood += e_step(labels, said, log_pi, log_p, negligible, scores, changes)
    m_step(labels, said, scores, confusion, classes)


def e_step(
    labels: Labels, said: Array, log_pi: Array, log_p: Array, negligible: float, t: Array, changes: Array
) -> float:
    """E step: overwrite `t` (items, true classes) by the posterior probabilities, and return the log likelihood.

    `log_pi` is (workers * said classes, true classes), and `said` (labels) the row of it for every label.
    """
    log_joint = log_p + sums(labels.item_of, log_pi.take(said, axis=0), labels.n_items)
    return float(normalise(log_joint, t, changes, negligible).sum())


def m_step(labels: Labels, said: Array, t: Array, confusion: Array, classes: Array) -> None:
    """M step: add sum_i T_ij n_il^(k) to `confusion` (workers, said class, true class), sum_i T_ij to `classes`."""
    counts = confusion.reshape(-1, t.shape[1])
    counts += sums(said, t.take(labels.item_of, axis=0), len(counts))
    classes += t.sum(axis=0)
