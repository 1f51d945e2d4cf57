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

A vote with a probability is about an answer l that the worker did not give, but calls probable by v(l). Where a vote
has a weight w, its factor is taken to that power:

$$ m_j = \left( \sum_l v(l) \pi_{jl}^{(k)} \right)^w, \quad
   E[n_{il}^{(k)} \mid j] = w \, v(l) \pi_{jl}^{(k)} / \sum_{l'} v(l') \pi_{jl'}^{(k)} $$

A plain vote has v(l) = 1 for its label and w = 1, and its factor is pi as above.
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
    if labels.soft is not None:
        log_likelihood += soft_sweep(labels, parameters, negligible, scores, changes, confusion, classes)
        return
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


def soft_factors(labels: Labels, log_pi: Array) -> tuple[Array, Array]:
    """(labels, true classes), the logarithms of m without the weights; and (said, labels, true), v pi / m.

    `log_pi` is (workers * said classes, true classes).
    """
    pi = np.exp(log_pi).reshape(labels.n_workers, labels.n_classes, -1).swapaxes(0, 1)
    parts = np.stack(
        [v[:, None] * of_class.take(labels.workers, axis=0) for v, of_class in zip(labels.chances.T, pi, strict=True)]
    )
    m = parts.sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.log(m), np.divide(parts, m, out=np.zeros_like(parts), where=m > 0)


def soft_sweep(
    labels: Labels,
    parameters: tuple[Array, Array] | None,
    negligible: float,
    scores: Array,
    changes: Array,
    confusion: Array,
    classes: Array,
) -> float:
    """Both steps for votes with a probability or a weight; return the log likelihood."""
    weights, log_likelihood = labels.soft[:, -1:], 0.0  # type: ignore[index]
    answers = np.broadcast_to(labels.chances.T[:, :, None], (labels.n_classes, *labels.chances.shape))
    if parameters is not None:
        log_m, answers = soft_factors(labels, parameters[0])
        weighted = np.multiply(weights, log_m, out=np.zeros_like(log_m), where=weights > 0)  # 0 times -inf is 0 here
        log_joint = parameters[1] + sums(labels.item_of, weighted, labels.n_items)
        log_likelihood = float(normalise(log_joint, scores, changes, negligible).sum())
    expected = weights * scores.take(labels.item_of, axis=0)
    for said, of_class in enumerate(answers):
        confusion[:, said] += sums(labels.workers, expected * of_class, labels.n_workers)
    classes += scores.sum(axis=0)
    return log_likelihood


def m_step(labels: Labels, said: Array, t: Array, confusion: Array, classes: Array) -> None:
    """M step: add sum_i T_ij n_il^(k) to `confusion` (workers, said class, true class), sum_i T_ij to `classes`."""
    counts = confusion.reshape(-1, t.shape[1])
    counts += sums(said, t.take(labels.item_of, axis=0), len(counts))
    classes += t.sum(axis=0)
