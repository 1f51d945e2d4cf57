r"""The adjudicator in NumPy, with the symbols of docs/explanation/adjudicator.md: E step, answers, M step.

The type s = (k, t, l) of an item is its latent class k and a pull by t logits towards class l; t = 0 is no pull. With
the logits x_j(k, a) of worker j and P_j(k, .) = softmax x_j(k, .), a pull takes no other softmax:

    log p_j(a | s) = log P_j(k, a) + t [a = l] - C_j(s),    C_j(s) = log(1 + (e^t - 1) P_j(k, l))

E step. Label e of item i is class y_e of worker j, and counts as w_e. The posteriors of types and latent classes, what
an adjudicator with the logits x_* answers, and what is added up for each worker:

    r_i(s) ~ pi(k) rho(s) prod_e p_j(y_e | s)^w_e,    q_i(k) = sum of r_i(s) over types of class k
    answer_i(a) = sum_s r_i(s) p_*(a | s)
    n_j(k, a) = sum of q_i(k) over e with y_e = a,    R_j(s) = sum_e r_i(s)

M step. x_j = xbar + U w_j + D_j: w ~ N(0, V) are ability, class-wise parts and styles, U is one where a logit has the
part, and D ~ N(0, v_D) is the rest. One Newton step for each worker, by row k; p_s is p_j(. | s):

    g_k = n(k, .) - sum_s R(s) p_s,    H_k = sum_s R(s) (diag p_s - p_s p_s'),    e_k = g_k + H_k (x(k, .) - xbar(k, .))
    F_k = (H_k + I / v_D)^-1,    B_k = H_k F_k / v_D,    Q = V^-1 + sum_k U_k' B_k U_k
    w = Q^-1 sum_k U_k' F_k e_k / v_D,    D_k = F_k (e_k - H_k U_k w)

Then what the workers share, with I_x = sum_j B - B U Q^-1 U' B and the posterior variances of all parts:

    xbar moves by (I_x + I)^-1 (sum_j D_j / v_D + kappa I - xbar),    pi ~ sum_i q_i + sum_i vote shares_i
    v = (2 v_0 + squares) / (2 + size - variances / v),    rho = (sum_i r_i + 10 rho_0) / (items + 10)

Votes with a probability. The vote says v(a) of every answer a, and weighs w. With m_j(k) = sum_a v(a) P_j(k, a), and
h(k, l) = v(l) P_j(k, l) / m_j(k), which is [a = l] for a plain vote of class a:

    log p_j(v | s) = log m_j(k) + log(1 + (e^t - 1) h(k, l)) - C_j(s),    to the power w
    n_j(k, a) = sum_e w sum_s of class k r_i(s) v(a) P_j(k, a) e^(t [a = l]) / (m_j(k) (1 + (e^t - 1) h(k, l)))

The first n have no P yet: there, P_j(k, k) is .8 and t is 0, and q are the vote shares, raised as in the pool.
"""

from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array, elementary
from ...numerics.elementary import log_softmax, log_sum_exp, softmax, sums
from ...numerics.twins import twin
from .constants import (
    FIRST_SHARES,
    FIRST_VARIANCE,
    LANES,
    LARGEST_VARIANCE,
    LEAST_EXPOSURE,
    LONGEST_CENTRE_MOVE,
    LONGEST_MOVE,
    SHARES_WORTH,
    SMALLEST_VARIANCE,
    STRENGTHS,
    VARIANCE_WORTH,
)
from .soft_model import first_soft_counts, soft_counts, soft_said

# For every kind of FIRST_SHARES, the strength of the pull; and the first of the kinds that are traps.
_STRENGTH_OF_KIND: Final = np.array([0.0, *STRENGTHS, *STRENGTHS])
_FIRST_TRAP: Final = 1 + len(STRENGTHS)


class Types(NamedTuple):
    """The types of items, each array (types): latent class k, class l that is pulled towards, and kind of FIRST_SHARES.

    Those without a pull come first, then those of the first strength, and so on.
    """

    true: Array
    towards: Array
    kind: Array

    @classmethod
    def all(cls, n_classes: int, n_targets: int | None = None) -> "Types":
        """All types with so many latent classes, of which only the first `n_targets` are pulled towards."""
        n_targets = n_classes if n_targets is None else n_targets
        strength, true, towards = np.indices((len(STRENGTHS), n_classes, n_targets)).reshape(3, -1)
        neutral, kind = np.arange(n_classes), 1 + strength + len(STRENGTHS) * (true != towards)
        return cls(*map(np.concatenate, ((neutral, true), (0 * neutral, towards), (0 * neutral, kind))))

    @property
    def strength(self) -> Array:
        """The strength t of the pull in logits; 0 for none."""
        return _STRENGTH_OF_KIND[self.kind]

    @property
    def is_trap(self) -> Array:
        """Whether the pull is away from the latent class."""
        return self.kind >= _FIRST_TRAP

    def log_shares(self, shares: Array, n_classes: int) -> Array:
        """Log rho(s): the shares of the kinds, where a trap is one of those towards any other class."""
        others = np.where(np.arange(len(shares)) >= _FIRST_TRAP, max(n_classes - 1, 1), 1)
        return np.asarray(np.log(shares / others))[self.kind]

    def pulls(self, n_classes: int, classes: Array | None = None) -> Array:
        """(types, classes), t [a = l]; `classes` are those that the latent classes of the types stand for."""
        towards = self.towards if classes is None else classes[self.towards]
        return np.asarray(self.strength[:, None] * (towards[:, None] == np.arange(n_classes)))

    def log_said(self, logits: Array) -> Array:
        """(..., types, classes), log p(a | s), given x (..., latent class, said class)."""
        return log_softmax(logits[..., self.true, :] + self.pulls(logits.shape[-1]))

    def of_classes(self, posterior: Array) -> Array:
        """(items, classes), q, given r (items, types)."""
        n_classes = 1 + int(self.true.max())
        n_targets = len(self.true) // n_classes // len(STRENGTHS)
        pulled = posterior[:, n_classes:].reshape(len(posterior), len(STRENGTHS), n_classes, n_targets)
        return np.asarray(posterior[:, :n_classes] + pulled.sum(axis=(1, 3)))


def e_step(
    labels: Labels, weights: Array, types: Types, log_prior: Array, log_said: Array, named: Array, damping: Array
) -> tuple[Array, Array]:
    """E step: return (items, types) r, and (items) the log likelihood.

    Given are (labels) w, which is empty if all are one; (types) or (items, types) log pi(k) rho(s); (labels, classes)
    log P_j(k, y) and [y = k]; and (labels, types) C_j(s).
    """
    of_labels = [log_said, named, damping]
    if weights.size:
        of_labels = [weights[:, None] * one for one in of_labels]
    made, votes, damped = (sums(labels.item_of, one, labels.n_items) for one in of_labels)
    joint = log_prior + made[:, types.true] + types.strength * votes[:, types.towards] - damped
    total = log_sum_exp(joint)
    return np.exp(joint - total[:, None]), total


def padded(n_classes: int) -> int:
    """How long the axis (pairs) is."""
    return -(-(n_classes**2) // LANES) * LANES


def pad(matrices: Array) -> Array:
    """Matrices (..., latent class, class) as (..., pairs), an axis that ends in zeros up to whole SIMD registers."""
    n_classes = matrices.shape[-1]
    table = elementary.zeros(*matrices.shape[:-2], padded(n_classes))
    table[..., : n_classes**2] = matrices.reshape(*matrices.shape[:-2], n_classes**2)
    return table


def unpad(table: Array, n_classes: int) -> Array:
    """The inverse of `pad`; a view of the same numbers."""
    return table[..., : n_classes**2].reshape(*table.shape[:-1], n_classes, n_classes)


# P (workers, pairs), e^t - 1 (strengths), pi rho of no pull (classes), and rho by that of no pull (strengths, pairs).
Parameters = tuple[Array, Array, Array, Array]


def posterior(labels: Labels, weights: Array, parameters: Parameters) -> tuple[Types, Array, Array]:
    """E step for labels whose items may be of any class: the types, r and the log likelihood."""
    n_classes = labels.n_classes
    chance, prior = unpad(parameters[0], n_classes), parameters[2]
    types = Types.all(n_classes)
    with np.errstate(divide="ignore"):  # a class may be impossible
        of_pull = np.log(prior[:, None]) + np.log(unpad(parameters[3], n_classes))
        log_prior = np.concatenate([np.log(prior), of_pull.ravel()])
    damping = np.log1p(np.expm1(types.strength) * chance[:, types.true, types.towards])  # (workers, types)
    if labels.soft is not None:
        weights = labels.soft[:, -1] * (weights if weights.size else 1.0)
        said = soft_said(labels, types, chance).log_said - _rows(damping, labels.workers)
        joint = log_prior + sums(labels.item_of, weights[:, None] * said, labels.n_items)
        total = log_sum_exp(joint)
        return types, np.exp(joint - total[:, None]), total
    log_said, named = np.log(chance)[labels.workers, :, labels.labels], np.eye(n_classes)[labels.labels]
    found = e_step(labels, weights, types, log_prior, log_said, named, _rows(damping, labels.workers))
    return types, *found


def _rows(table: Array, rows: Array) -> Array:
    """The rows of a table, with each column in one piece of memory, so that it is added up fast."""
    return np.take(table.T, rows, axis=1).T


@twin("crowdwise.methods.adjudicator.few_classes_kernel")
def sweep_pulls(
    labels: Labels,
    weights: Array,
    parameters: Parameters,
    scores: Array,
    changes: Array,
    confusion: Array,
    exposure: Array,
    classes: Array,
    pulled: Array,
    totals: Array,
) -> None:
    """E step: overwrite the scores by q, and add up n, R and what else the kernel's docstring says."""
    n_workers, n_classes, _ = confusion.shape
    worker, said, item = labels.workers, labels.labels.astype(np.int64), labels.item_of
    soft, counts, of_copies = labels.soft, np.zeros(0), weights
    if soft is not None:
        counts = soft[:, -1:] * (weights[:, None] > 0 if weights.size else 1.0)
        weights = soft[:, -1] * (weights if weights.size else 1.0)
    if weights.size:  # a label that weighs nothing is as if it were not there
        worker, said, item = (one[weights > 0] for one in (worker, said, item))
    if parameters[0].size:
        types, r, log_likelihood = posterior(labels, of_copies, parameters)
        q, shape = types.of_classes(r), (len(STRENGTHS), n_classes, n_classes)
        given_r = _rows(r[:, n_classes:], item)
        given_r = given_r if soft is None else counts[weights > 0] * given_r
        met = sums(worker, given_r, n_workers)
        unpad(exposure, n_classes)[:] += met.reshape(n_workers, *shape)
        unpad(pulled, n_classes)[:] += r[:, n_classes:].sum(axis=0).reshape(shape)
        change = np.abs(q - scores)
        np.maximum(changes, change.max(axis=0, initial=0.0), out=changes)
        scores[:] = q
        totals[:2] += change.sum() / 2, log_likelihood.sum()
    if soft is not None and parameters[0].size:
        confusion += soft_counts(labels, counts[:, 0], types, unpad(parameters[0], n_classes), r)
    elif soft is not None:
        confusion += first_soft_counts(labels, counts[:, 0], scores)
    else:
        confusion += sums(worker * n_classes + said, scores[item], n_workers * n_classes).reshape(confusion.shape)
    classes += scores.sum(axis=0)
    kept, given = np.bincount(item, scores[item, said], labels.n_items), np.bincount(item, minlength=labels.n_items)
    squares = (np.diff(labels.item_starts).astype(float) ** 2).sum()
    totals[2:6] += (kept / np.maximum(given, 1)).sum(), scores.max(axis=1).sum(), labels.n_items, squares


@twin("crowdwise.methods.adjudicator.few_classes_kernel")
def answer_items(
    labels: Labels,
    weights: Array,
    parameters: Parameters,
    answer_neutral: Array,
    answer_pulled: Array,
    answers: Array,
    traps: Array,
) -> None:
    """Overwrite (items, classes) what an adjudicator answers, and (items) the probabilities of traps.

    p_*(a | s) is (latent classes, classes) without a pull, and (strengths * pairs, classes) with one.
    """
    n_classes = labels.n_classes
    types, r, _ = posterior(labels, weights, parameters)
    of_pulls = answer_pulled.reshape(len(STRENGTHS), -1, n_classes)[:, : n_classes**2].reshape(-1, n_classes)
    answers[:] = np.einsum("is,sa->ia", r, np.concatenate([answer_neutral, of_pulls]))
    traps[:] = r[:, types.is_trap].sum(axis=1)


class PartSums(NamedTuple):
    """Sums over workers that the M step needs for what they share."""

    rest: Array  # (classes, classes), D
    information: Array  # (logits, logits), I_x; the lower triangle
    squares: Array  # (parts), the squares of ability, class-wise parts, styles and rests
    variances: Array  # (parts), their posterior variances
    log_determinant: Array  # (1), log det(I + S H), where S is the prior covariance of the logits


def derivatives(n: Array, exposure: Array, logits: Array) -> tuple[Array, Array]:
    """Return (workers, rows, classes) g, and (workers, rows, classes, classes) H.

    A pull towards l gives p_s = (P + d e_l) / z, where d = (e^t - 1) P(l), z = 1 + d and e_l is one for l.
    """
    p = softmax(logits)
    met = np.where(exposure < LEAST_EXPOSURE, 0.0, exposure)  # (workers, strengths, latent class, class pulled towards)
    d = np.expm1(STRENGTHS)[:, None, None] * p[:, None]
    z = 1 + d
    neutral = n.sum(axis=2) - met.sum(axis=(1, 3))
    expected = (neutral + (met / z).sum(axis=(1, 3)))[..., None] * p + (met * d / z).sum(axis=1)  # sum_s R p_s
    crossed, twice = (met * d / z**2).sum(axis=1), neutral + (met / z**2).sum(axis=(1, 3))
    # sum_s R p_s p_s' is symmetric: of P with itself, of P with e_l and of e_l with itself
    half = (twice[..., None] / 2 * p + crossed)[..., None, :] * p[..., None]
    diagonal = expected - (met * (d / z) ** 2).sum(axis=1)
    return n - expected, diagonal[..., None] * np.eye(p.shape[-1]) - half - half.swapaxes(-1, -2)


def m_step(confusion: Array, exposure: Array, centre: Array, variances: Array, logits: Array) -> tuple[Array, PartSums]:
    """M step of some workers, one Newton step: return the next x (workers, latent class, said class), and their sums.

    n is (workers, said class, latent class), R (workers, strengths, pairs); the variances are those of V, and v_D.
    """
    n_workers, n_classes, _ = logits.shape
    unit, v_rest = np.eye(n_classes), variances[3]
    own = unit[:, :, None]  # [a = k]
    design = np.concatenate([own, own * unit[:, None], np.tile(unit, (n_classes, 1, 1))], axis=2)  # U, (k, a, parts)
    part_of = np.repeat([0, 1, 2], [1, n_classes, n_classes])
    g, h = derivatives(confusion.swapaxes(1, 2), unpad(exposure, n_classes), logits)
    e = (g + np.einsum("wkab,wkb->wka", h, logits - centre))[..., None]
    precision = h + unit / v_rest
    f = np.linalg.inv(precision)
    b = (unit - f / v_rest) / v_rest
    bu = (b @ design).reshape(n_workers, n_classes**2, -1)
    u = design.reshape(n_classes**2, -1)
    q = np.diag(1 / variances[part_of]) + u.T @ bu
    covariance = np.linalg.inv(q)
    w = covariance @ (u.T @ (f @ e / v_rest).reshape(n_workers, -1, 1))
    shared = (u @ w).reshape(n_workers, n_classes, n_classes, 1)
    rest = (f @ (e - h @ shared))[..., 0]
    move = centre + shared[..., 0] + rest - logits
    move *= np.minimum(1.0, LONGEST_MOVE / np.maximum(np.abs(move).max(axis=(1, 2)), LONGEST_MOVE))[:, None, None]
    # sum_j B - B U Q^-1 U' B, where B has a block for every row
    explained = bu @ covariance
    information = -np.tensordot(explained, bu, ((0, 2), (0, 2))).reshape((n_classes,) * 4)
    information[range(n_classes), :, range(n_classes)] += b.sum(axis=0)
    of_parts = np.bincount(part_of, np.einsum("wpp->p", covariance), 3)
    of_rest = np.einsum("wkaa->", f) + v_rest**2 * np.einsum("wlp,wlp->", explained, bu)
    prior = np.log(variances) @ [1, n_classes, n_classes, n_classes**2]
    determinant = np.linalg.slogdet(precision)[1].sum() + np.linalg.slogdet(q)[1].sum() + n_workers * prior
    squares = [*np.bincount(part_of, (w[..., 0] ** 2).sum(axis=0), 3), (rest**2).sum()]
    information = information.reshape(n_classes**2, n_classes**2)
    sums = rest.sum(axis=0), information, np.array(squares), np.array([*of_parts, of_rest]), np.array([determinant])
    return logits + move, PartSums(*sums)


def cut(move: Array) -> Array:
    """Shorten a move of the centre, so that none of its logits moves too far."""
    return np.asarray(move * min(1.0, LONGEST_CENTRE_MOVE / max(float(np.abs(move).max()), 1e-9)))


def next_variances(variances: Array, squares: Array, uncertain: Array, sizes: Array) -> Array:
    """M step: (parts), the variances, as MacKay (1992, https://doi.org/10.1162/neco.1992.4.3.415) learns them.

    All are (parts): the variances so far, the sums of squares, those of posterior variances, and how many numbers.
    """
    determined = VARIANCE_WORTH + sizes - uncertain / variances
    found = (VARIANCE_WORTH * FIRST_VARIANCE + squares) / determined
    return np.asarray(np.clip(found, SMALLEST_VARIANCE, LARGEST_VARIANCE))


def next_shares(n_items: float, easy: Array, traps: Array) -> Array:
    """M step: rho, given the sums over the items of the probabilities of pulls of every strength."""
    met = np.concatenate([[n_items - easy.sum() - traps.sum()], easy, traps])
    return np.asarray((met + SHARES_WORTH * FIRST_SHARES) / (n_items + SHARES_WORTH))


def next_classes(classes: Array, vote_classes: Array) -> Array:
    """M step: pi, half way to the votes, so that it does not drift away from these."""
    both = classes + vote_classes
    return np.asarray(both / both.sum())
