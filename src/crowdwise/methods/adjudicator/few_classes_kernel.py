"""The kernels of the E step and of answers; model.py has the formulas, and says what (pairs) is.

A worker who says class a with probability p says it with (1 + gain) p / (1 + gain p) if the item pulls towards a, and
any other class with its probability over 1 + gain p. So a label takes products, several of them in one register, and an
item with few labels takes no exponential.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.simd import broadcast, fetch_number, load, store, where_larger
from .constants import LANES

_U = np.uint64  # an index of this type is not checked for being negative
# The numbers of one register.
_BLOCK = tuple(range(LANES))
_LANES = _U(LANES)
# Types are found for so many items at a time: a call takes as long as a label or two, and the cache next to the
# processor has room for their types.
_BATCH = 16
# Products of so many factors, each between 1 and e^4, are far from the largest numbers there are.
SAFE_FACTORS = 64
# Products of so many probabilities of at least SMALLEST_CHANCE are far from the smallest numbers there are.
_SAFE_CHANCES = 16
# Tables of more numbers than this, 2 MB, do not fit in the cache next to the processor. Then the rows of the label that
# is so many labels ahead are fetched into it, a cache line of so many numbers at a time.
_FAR, _AHEAD, _LINE = 1 << 18, 6, _U(8)
# A class that is less likely than another by more than this factor, as a logarithm, is impossible where few labels are.
_IMPOSSIBLE = -300.0
# A type that is less likely than all types together by more than this factor has the probability zero.
NEGLIGIBLE = np.exp(-40.0)


@allocating
def sweep_pulls(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array],
    scores: Array,
    changes: Array,
    confusion: Array,
    exposure: Array,
    classes: Array,
    pulled: Array,
    totals: Array,
) -> None:
    """E step: score every item by the posteriors of its classes, and count what its types say about the workers.

    `weights` (labels) is how much each label counts for the scores; it is empty if all count as one. A label that
    weighs nothing is as if it were not there. `parameters` is what `_find_types` needs to know; if its `chance` is
    empty, scores stay as they are, and types are not counted.

    Overwrites `scores` (items, classes), and raises `changes` (classes) to the largest change of a score. Adds the
    scores of an item, for each of its labels, to `confusion` (workers, said class, true class), and the probabilities
    of its pulls to `exposure` (workers, strengths, pairs). Adds the scores to `classes` (classes), and the
    probabilities of pulls to `pulled` (strengths, pairs). Adds to the first six of `totals`, for every item: half of
    the absolute changes of its scores, the log likelihood, the share of its votes that its scores keep, its largest
    score, one, and the square of the number of its labels.
    """
    n_classes, registers = _U(scores.shape[1]), _U(pulled.size) // _LANES
    found, neutral = np.empty((_BATCH, scores.shape[1])), np.empty((_BATCH, scores.shape[1]))
    pulls, scratch = np.empty((_BATCH, pulled.size)), np.empty((4, pulled.size))
    exposed, confused = exposure.reshape(-1), confusion.reshape(-1)
    has_parameters = parameters[0].size > 0
    is_far, is_weighted = confused.size > _FAR or exposed.size > _FAR, weights.size > 0
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        b = _U(i % _BATCH)
        if has_parameters:
            if b == 0:
                batch = item_starts[i : i + _BATCH + 1]
                totals[1] += _find_types(batch, workers, labels, weights, parameters, found, neutral, pulls, scratch)
            for v in range(registers):
                store(pulled, v, load(pulled, v, _BLOCK) + load(pulls, b * registers + v, _BLOCK))
        largest = kept = left_out = 0.0
        for k in range(n_classes):
            if has_parameters:
                change = abs(found[b, k] - scores[i, k])
                changes[k] = max(changes[k], change)
                totals[0] += change / 2
                scores[i, k] = found[b, k]
            classes[k] += scores[i, k]
            largest = max(largest, scores[i, k])
        for e in range(low, high):
            if is_far:
                ahead = min(e + _AHEAD, workers.size - 1)
                coming = _U(workers[ahead])
                fetch_number(confused, (coming * n_classes + _U(labels[ahead])) * n_classes)
                for t in range(_U(0), _U(pulled.size) if has_parameters else _U(0), _LINE):
                    fetch_number(exposed, coming * _U(pulled.size) + t)
            if is_weighted and weights[e] == 0.0:
                left_out += 1.0
                continue
            worker, said = _U(workers[e]), _U(labels[e])
            if has_parameters:
                first = worker * registers
                for v in range(registers):
                    met = load(exposed, first + v, _BLOCK) + load(pulls, b * registers + v, _BLOCK)
                    store(exposed, first + v, met)
            kept += scores[i, said]
            for k in range(n_classes):
                confused[(worker * n_classes + said) * n_classes + k] += scores[i, k]
        totals[2] += kept / max(high - low - left_out, 1.0)
        totals[3] += largest
        totals[4] += 1.0
        totals[5] += float(high - low) ** 2


@compiled
def _find_types(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array],
    found: Array,
    neutral: Array,
    pulls: Array,
    scratch: Array,
) -> float:
    """Find the probability of every type and class of some items, at most `_BATCH`.

    `parameters` is as model.py has it; no `chance` is below `SMALLEST_CHANCE`.

    Overwrites `found` (batch, classes) with the probabilities of the classes, `neutral` (batch, true classes) with
    those of no pull, and `pulls` (batch, strengths * pairs) with those of the pulls. `scratch` (4, strengths * pairs)
    is scratch. Returns the log likelihood of the labels.
    """
    chance, gain, prior, ratio = parameters
    raised, lifts, folded, logarithms = scratch[0], scratch[1], scratch[2], scratch[3]
    n_classes, pairs = _U(found.shape[1]), _U(chance.shape[1])
    registers = pairs // _LANES  # of one strength, or of one worker
    one, is_far = broadcast(1.0, _BLOCK), chance.size > _FAR
    raised[:] = 0.0
    likelihood = 0.0
    for b in range(_U(item_starts.size - 1)):
        low, high = item_starts[b], item_starts[b + _U(1)]
        item = b * _U(gain.size) * registers  # where its pulls begin
        # `pulls` is first the product of what the probabilities of all labels are divided by, and `lifts` has the
        # product of what those of the labels towards every class are multiplied with, for each strength.
        for v in range(_U(gain.size) * registers):
            store(pulls, item + v, one)
        for t in range(_U(gain.size) * n_classes):
            lifts[t] = 1.0
        for k in range(n_classes):
            neutral[b, k] = prior[k]
        is_long = high - low > SAFE_FACTORS
        if high - low >= _SAFE_CHANCES:
            folded[:] = 0.0
            logarithms[:] = 0.0
        for e in range(low, high):
            if is_far:
                coming = _U(workers[min(e + _AHEAD, workers.size - 1)])
                for t in range(_U(0), pairs, _LINE):
                    fetch_number(chance, coming * pairs + t)
            worker, said = _U(workers[e]), _U(labels[e])
            weight = weights[e] if weights.size > 0 else 1.0
            if weight == 0.0:
                pass  # it is left out
            elif weight != 1.0:
                _multiply_weighted(workers[e], labels[e], weight, chance, gain, neutral[b], pulls[b], lifts)
            else:
                for k in range(n_classes):
                    neutral[b, k] *= chance[worker, k * n_classes + said]
                for m in range(_U(gain.size)):
                    lifts[m * n_classes + said] *= 1.0 + gain[m]
                    gains = broadcast(gain[m], _BLOCK)
                    for v in range(registers):
                        factor = one + gains * load(chance, worker * registers + v, _BLOCK)
                        product = item + m * registers + v
                        store(pulls, product, load(pulls, product, _BLOCK) * factor)
            if (e - low) % _SAFE_CHANCES == _SAFE_CHANCES - 1:
                _fold_chances(neutral[b], logarithms)
                if is_long and (e - low) % SAFE_FACTORS == SAFE_FACTORS - 1:
                    _fold_factors(found.shape[1], pulls[b], folded, lifts, ratio)
        if high - low >= _SAFE_CHANCES:
            likelihood += _unfold_chances(neutral[b], logarithms)
        if is_long:
            _fold_factors(found.shape[1], pulls[b], folded, lifts, ratio)
            likelihood += _unfold_factors(neutral[b], logarithms, pulls[b], folded, ratio)
        else:
            for m in range(_U(gain.size)):
                for k in range(n_classes):
                    for towards in range(n_classes):
                        raised[m * pairs + k * n_classes + towards] = neutral[b, k] * lifts[m * n_classes + towards]
            for v in range(_U(gain.size) * registers):
                types = load(ratio, v, _BLOCK) * load(raised, v, _BLOCK) / load(pulls, item + v, _BLOCK)
                store(pulls, item + v, types)
    return likelihood + _normalise(item_starts.size - 1, found, neutral, pulls, gain.size)


@compiled
def _multiply_weighted(
    worker: int, said: int, weight: float, chance: Array, gain: Array, neutral: Array, pulls: Array, lifts: Array
) -> None:
    """Multiply the products of `_find_types` with what a label says that counts as less than one."""
    n_classes = neutral.size
    for k in range(n_classes):
        neutral[k] *= chance[worker, k * n_classes + said] ** weight
    for m in range(gain.size):
        lifts[m * n_classes + said] *= (1.0 + gain[m]) ** weight
        for t in range(n_classes * n_classes):
            pulls[m * chance.shape[1] + t] *= (1.0 + gain[m] * chance[worker, t]) ** weight


@compiled
def _fold_chances(neutral: Array, logarithms: Array) -> None:
    """Add the logarithms of products of probabilities to `logarithms`, and begin anew, before they are too small."""
    for k in range(neutral.size):
        logarithms[k] += np.log(neutral[k])
        neutral[k] = 1.0


@compiled
def _unfold_chances(neutral: Array, logarithms: Array) -> float:
    """Write all products of probabilities to `neutral`, divided by the largest; returns the logarithm of that one."""
    _fold_chances(neutral, logarithms)
    highest = -np.inf
    for k in range(neutral.size):
        highest = max(highest, logarithms[k])
    for k in range(neutral.size):
        logarithms[k] -= highest
        # No pull makes up for so much where few labels are, and products of smaller numbers would be slow.
        neutral[k] = np.exp(logarithms[k]) if logarithms[k] > _IMPOSSIBLE else 0.0
    return float(highest)


@compiled
def _fold_factors(n_classes: int, pulls: Array, folded: Array, lifts: Array, ratio: Array) -> None:
    """Add the logarithms of products of factors to `folded`, and begin anew, before they are too large."""
    n_strengths, pairs = ratio.shape
    for m in range(n_strengths):
        for t in range(n_classes * n_classes):
            place, lift = m * pairs + t, m * n_classes + t % n_classes
            folded[place] += np.log(lifts[lift]) - np.log(pulls[place])
            pulls[place] = 1.0
        for k in range(n_classes):
            lifts[m * n_classes + k] = 1.0


@compiled
def _unfold_factors(neutral: Array, logarithms: Array, pulls: Array, folded: Array, ratio: Array) -> float:
    """Write the probabilities of the types of an item with many labels, divided by the largest.

    Returns the logarithm of the largest.
    """
    pairs, n_classes = ratio.shape[1], neutral.size
    highest = 0.0  # that of the largest class without a pull
    for t in range(pulls.size):
        k = min(t % pairs // n_classes, n_classes - 1)  # what fills the axis up has the ratio zero, for any class
        folded[t] += np.log(ratio[t // pairs, t % pairs]) + logarithms[k]
        highest = max(highest, folded[t])
    for k in range(n_classes):
        neutral[k] = np.exp(logarithms[k] - highest)
    for t in range(pulls.size):
        pulls[t] = np.exp(folded[t] - highest)
    return float(highest)


@compiled
def _normalise(n_items: int, found: Array, neutral: Array, pulls: Array, n_strengths: int) -> float:
    """Add up the probabilities of the types of each class, and divide those of an item by their sum.

    Returns the sum of the logarithms of these sums.
    """
    n_classes, registers = _U(found.shape[1]), _U(pulls.shape[1]) // _LANES
    pairs = _U(pulls.shape[1]) // _U(n_strengths)
    likelihood, nothing = 0.0, broadcast(0.0, _BLOCK)
    for b in range(_U(n_items)):
        total = 0.0
        for k in range(n_classes):
            of_class = neutral[b, k]
            for m in range(_U(n_strengths)):
                for towards in range(n_classes):
                    of_class += pulls[b, m * pairs + k * n_classes + towards]
            found[b, k] = of_class
            total += of_class
        threshold, share = total * NEGLIGIBLE, 1.0 / total
        for k in range(n_classes):
            # What is not a number stays so, and is reported after the sweep.
            neutral[b, k] = 0.0 if neutral[b, k] <= threshold else neutral[b, k] * share
            found[b, k] = 0.0 if found[b, k] <= threshold else found[b, k] * share
        thresholds, shares = broadcast(threshold, _BLOCK), broadcast(share, _BLOCK)
        for v in range(b * registers, (b + _U(1)) * registers):
            pull = load(pulls, v, _BLOCK)
            store(pulls, v, where_larger(pull, thresholds, pull * shares, nothing))
        likelihood += np.log(total)
    return float(likelihood)


@allocating
def answer_items(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: Array,
    parameters: tuple[Array, Array, Array, Array],
    answer_neutral: Array,
    answer_pulled: Array,
    answers: Array,
    traps: Array,
) -> None:
    """Find what an adjudicator would answer, and how likely each item is a trap.

    `answer_neutral` (true classes, classes) and `answer_pulled` (strengths * pairs, classes) are the probabilities of
    the adjudicator's answers for every type. `weights` and `parameters` are as in `sweep_pulls`.

    Overwrites `answers` (items, classes), and `traps` (items): the probability of a pull away from the true class.
    """
    n_classes, n_pulls, pairs = answers.shape[1], parameters[3].size, parameters[3].shape[1]
    found, neutral = np.empty((_BATCH, n_classes)), np.empty((_BATCH, n_classes))
    pulls, scratch = np.empty((_BATCH, n_pulls)), np.empty((4, n_pulls))
    for i in range(item_starts.size - 1):
        b = i % _BATCH
        if b == 0:
            batch = item_starts[i : i + _BATCH + 1]
            _find_types(batch, workers, labels, weights, parameters, found, neutral, pulls, scratch)
        traps[i] = 0.0
        for a in range(n_classes):
            answers[i, a] = 0.0
        for k in range(n_classes):
            for a in range(n_classes):
                answers[i, a] += neutral[b, k] * answer_neutral[k, a]
        for t in range(n_pulls):
            if pulls[b, t] > 0.0:
                if t % pairs // n_classes != t % pairs % n_classes:
                    traps[i] += pulls[b, t]
                for a in range(n_classes):
                    answers[i, a] += pulls[b, t] * answer_pulled[t, a]
