r"""The adjudicator's E step for many classes, in NumPy: model.py, with the classes that were named on an item alone.

The latent class k of an item is among those that were named on it, and the class l of a pull among the 16 that were
named most. Workers have no matrices: with the exponentials of the centre b, of a style c and of a skill d,

    P_j(k, a) = b(k, a) c_j(a) d_j(k)^[a = k] h_j(k),    h_j(k) = 1 / sum over a of the rest

The M step needs slopes and second derivatives between the parts of a class. With u = (e^t - 1) P_j(k, l), a pull makes
P_j(k, l) larger by u / (1 + u) and divides all probabilities by 1 + u, so that for every worker is added up, with the
weight r_i(s): 1 / (1 + u) for k, u / (1 + u) for l, and p (1 - p) for k, where p is the probability of a right answer.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.twins import twin
from .constants import MOST_TARGETS, STRENGTHS
from .model import Types, e_step

# The smallest probability whose logarithm is taken.
_SMALLEST: Final = 1e-300


class _Parameters(NamedTuple):
    """What is known of workers, classes and types."""

    base: Array  # (true classes, said classes), b
    liking: Array  # (workers, classes), c
    own: Array  # (workers, classes), d
    share: Array  # (workers, true classes), h
    log_classes: Array  # (classes), log pi
    log_kinds: Array  # (kinds of types), log rho, where a trap is one of those towards a single class
    strengths: Array  # (strengths), those of pulls

    def chance(self, worker: Array, true: Array, said: Array) -> Array:
        """P_j(k, a), for any arrays of the three."""
        common = self.base[true, said] * self.liking[worker, said] * self.share[worker, true]
        return np.asarray(np.where(true == said, common * self.own[worker, true], common))


class Named(NamedTuple):
    """Items on which equally many classes were named, and what follows from their labels."""

    items: Array  # their codes
    labels: Labels
    classes: Array  # (items, places), the classes that were named, those that were named most first
    types: Types  # by places of classes
    lift: Array  # (labels, types), u
    posterior: Array  # (items, types), r
    log_likelihood: Array  # (items)


def named_classes(labels: Labels) -> Iterator[tuple[Array, Array, int]]:
    """Yield items with equally many named classes and targets: their codes, the classes, and how many are targets.

    Classes (items, places) that were named most come first. If more than 16 were named, those are no targets that were
    named no more often than the 17th, so that no order decides.
    """
    n_classes = labels.n_classes
    cells, votes = np.unique(labels.item_of * np.int64(n_classes) + labels.labels, return_counts=True)
    order = np.lexsort((-votes, cells // n_classes))
    item, named, votes = cells[order] // n_classes, cells[order] % n_classes, votes[order]
    sizes = np.bincount(item, minlength=labels.n_items)
    first = np.cumsum(sizes) - sizes
    least = np.where(sizes > MOST_TARGETS, votes[np.minimum(first + MOST_TARGETS, len(votes) - 1)], 0)
    targets = np.bincount(item[votes > least[item]], minlength=labels.n_items)
    for size, n_targets in np.unique(np.column_stack([sizes, targets])[sizes > 0], axis=0).tolist():
        items = np.flatnonzero((sizes == size) & (targets == n_targets))
        yield items, named[first[items][:, None] + np.arange(size)], n_targets


def _e_step(labels: Labels, weights: Array, parameters: _Parameters) -> Iterator[Named]:
    """E step: the posteriors of the types of all items that have labels, in groups."""
    for items, classes, n_targets in named_classes(labels):
        some, types = labels.select(items), Types.all(classes.shape[1], n_targets)
        weight = weights[np.isin(labels.item_of, items)] if weights.size else weights
        worker, said, possible = some.workers[:, None], some.labels[:, None], classes[some.item_of]  # (labels, places)
        log_said = np.log(np.maximum(parameters.chance(worker, possible, said), _SMALLEST))
        towards = parameters.chance(worker, possible[:, types.true], possible[:, types.towards])
        lift = np.expm1(types.strength) * towards
        log_prior = parameters.log_classes[classes[:, types.true]] + parameters.log_kinds[types.kind]
        found = e_step(some, weight, types, log_prior, log_said, possible == said, np.log1p(lift))
        yield Named(items, some, classes, types, lift, *found)


@twin("crowdwise.methods.adjudicator.many_classes_kernel")
def sweep_named_pulls(
    labels: Labels,
    weights: Array,
    parameters: tuple[Array, ...],
    scores: Array,
    changes: Array,
    right: Array,
    curvature: Array,
    mass: Array,
    lifted: Array,
    lifted_right: Array,
    confusion: Array,
    lifted_confusion: Array,
    classes: Array,
    easy: Array,
    traps: Array,
    totals: Array,
) -> None:
    """E step: overwrite the scores by q, and add up what the kernel's docstring says."""
    before, known = scores.copy(), _Parameters(*parameters)
    scores[:] = 0.0
    for one in _e_step(labels, weights, known):
        q, item, worker = one.types.of_classes(one.posterior), one.labels.item_of, one.labels.workers[:, None]
        scores[one.items[:, None], one.classes] = q
        true, towards = one.classes[item][:, one.types.true], one.classes[item][:, one.types.towards]
        r, same = one.posterior[item], true == towards
        met, gain = r / (1 + one.lift), r * one.lift / (1 + one.lift)
        correct = (known.chance(worker, true, true) + same * one.lift) / (1 + one.lift)
        np.add.at(mass, (worker, true), met)
        np.add.at(curvature, (worker, true), r * correct * (1 - correct))
        np.add.at(lifted, (worker, towards), gain)
        np.add.at(lifted_right, (worker, true), gain * same)
        np.add.at(lifted_confusion, (true, towards), gain)
        np.add.at(confusion, (one.classes[item], one.labels.labels[:, None]), q[item])
        kinds = np.bincount(one.types.kind, one.posterior.sum(axis=0), 1 + 2 * len(STRENGTHS))
        easy += kinds[1 : 1 + len(STRENGTHS)]
        traps += kinds[1 + len(STRENGTHS) :]
        totals[1] += one.log_likelihood.sum()
    change, item, given = np.abs(scores - before), labels.item_of, np.diff(labels.item_starts)
    np.maximum(changes, change.max(axis=0, initial=0.0), out=changes)
    kept = scores[item, labels.labels]
    np.add.at(right, (labels.workers, labels.labels), kept)
    classes += scores.sum(axis=0)
    totals[0] += change.sum() / 2
    squares = (given.astype(float) ** 2).sum()
    totals[2:6] += (kept / given[item]).sum(), scores.max(axis=1, initial=0.0).sum(), labels.n_items, squares


@twin("crowdwise.methods.adjudicator.many_classes_kernel")
def answer_named_items(
    labels: Labels, weights: Array, parameters: tuple[Array, ...], answer: Array, answers: Array, traps: Array
) -> None:
    """Overwrite (items, classes) what an adjudicator answers, and (items) the probabilities of traps.

    `answer` (true classes, classes) are the probabilities of answers without a pull.
    """
    answers[:], traps[:] = 0.0, 0.0
    for one in _e_step(labels, weights, _Parameters(*parameters)):
        item, r, true = one.items[:, None], one.posterior, one.classes[:, one.types.true]
        towards = one.classes[:, one.types.towards]
        lift = np.expm1(one.types.strength) * answer[true, towards]
        unpulled = one.types.of_classes(r / (1 + lift))
        answers[one.items] = np.einsum("ip,ipa->ia", unpulled, answer[one.classes])
        np.add.at(answers, (item, towards), r * lift / (1 + lift))
        traps[one.items] = r[:, one.types.is_trap].sum(axis=1)
