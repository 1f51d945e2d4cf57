"""Log-linear methods with many classes: fit and score matrices in which the classes that were not said share a number.

The probability that worker j says class l of item i when class k is true is proportional to

    base[l, k] * (the worker's factor of k and l) * (the item's factor of k and l)

The base is the exponential of the matrix that all workers are drawn to. A worker has a factor of its own for every
class that it ever said, an item for every class that was often said of it, and both for l = k. One more factor stands
for all other classes, which are called the rest. So row k takes a few more numbers than there are own classes, and a
sum over all classes is a sum over these and the rest.
"""

from typing import NamedTuple

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ..coins.kernel import _normalise
from .kernel import _LONGEST, _NEGLIGIBLE, _STEPS, _fit_row, _weigh

_U = np.uint64
# The smallest sum that is divided by; a smaller one is a rounding error.
_SMALLEST = 1e-300
# A row of an item whose numbers cannot be further from zero than this is left at zero.
_UNMOVED = 1e-9
# After a step this short, a row of a worker is fitted: each step is several times shorter than the one before.
_SETTLED = 1e-6


class Tied(NamedTuple):
    """The matrices of all workers, or of all items, in which the classes of the rest share a number.

    Row k of group g has a number for each of the group's own classes, then one for class k if it is not among them, and
    then one for the rest. These are the places of a row. The same place of all rows is together in memory, because
    kernels go from one row to the next with the same places.

    Attributes:
        starts: (groups + 1), where the own classes of each group start in `own`.
        own: (own classes of all groups), their codes.
        places: (groups, classes), the place of a class among the group's own classes; -1 if it is not among them.
        values: (places of all groups, true class), how far the logarithm of a factor is from that of the base.
        factors: (places of all groups, true class), the exponentials of `values`; every row is divided by the largest
            in it, so that none overflows.
    """

    starts: Array
    own: Array
    places: Array
    values: Array
    factors: Array


@compiled
def _first(groups: Tied, g: int) -> int:
    """Where the places of group g start among those of all groups."""
    return int(groups.starts[g]) + 2 * g


@compiled
def _size(groups: Tied, g: int) -> int:
    """How many own classes a group has. The place after them is that of row k's class, and the next is the rest's."""
    return int(groups.starts[g + 1] - groups.starts[g])


@compiled
def _place(groups: Tied, g: int, k: int, said: int) -> int:
    """The place in row k of group g of the number for the class `said`."""
    place = int(groups.places[g, said])
    if place >= 0:
        return place
    size = _size(groups, g)
    return size if said == k else size + 1


@compiled
def _most_places(groups: Tied, first: int, last: int) -> int:
    """The most places that a row has, of the groups from `first` up to, not including, `last`."""
    most = 0
    for g in range(first, last):
        most = max(most, _size(groups, g) + 2)
    return most


@compiled
def _most_labels(starts: Array, first: int, last: int) -> int:
    """The most labels that a group has, of the groups from `first` up to, not including, `last`."""
    most = 0
    for g in range(first, last):
        most = max(most, starts[g + 1] - starts[g])
    return most


@compiled
def _spread(groups: Tied, g: int, k: int, base: Array, base_total: float, bases: Array, counts: Array) -> None:
    """Overwrite `bases` by the base of each place in row k of group g, and `counts` by how many classes share it."""
    size = _size(groups, g)
    named = 0.0
    for a in range(size):
        bases[a] = base[groups.own[groups.starts[g] + a], k]
        counts[a] = 1.0
        named += bases[a]
    is_own = groups.places[g, k] >= 0
    bases[size] = 0.0 if is_own else base[k, k]
    counts[size] = 1.0
    rest = groups.places.shape[1] - size - (0 if is_own else 1)
    bases[size + 1] = max(base_total - named - bases[size], 0.0) if rest > 0 else 0.0
    counts[size + 1] = max(rest, 1)


@compiled
def _sum_of_products(bases: Array, factors: Array) -> float:
    """The sum of base times factor over the places of a row."""
    total = 0.0
    for a in range(factors.size):
        total += bases[a] * factors[a]
    return total


@allocating
def fit_tied_workers(
    first: int,
    last: int,
    worker_starts: Array,
    items: Array,
    labels: Array,
    scores: Array,
    base: Array,
    base_totals: Array,
    of_items: Tied,
    of_workers: Tied,
    totals: Array,
    ridge: float,
) -> None:
    """Fit the rows of the workers from `first` up to, not including, `last`, given those of the items.

    The labels of worker j are those from `worker_starts[j]` up to, not including, `worker_starts[j + 1]`; label e is
    about item `items[e]`. Overwrites the workers' values and factors, and their `totals` (workers, true class): the
    sums of base times factor over all classes. `base` is (said class, true class); `base_totals` (true class) are its
    sums over what is said.

    A row takes steps of Newton's method in which the probabilities of what is said are taken to be the same for all
    items. They are nearly so, and a step is then never too long. The matrix of second derivatives is a diagonal one
    minus one product, and takes as many operations to solve as the row has places. What is solved is not changed by
    that, because the first derivatives are exact.
    """
    n_classes = scores.shape[1]
    most, width = _most_labels(worker_starts, first, last), _most_places(of_workers, first, last)
    extras = 0
    for j in range(first, last):
        extra = 0
        for e in range(worker_starts[j], worker_starts[j + 1]):
            extra += _size(of_items, items[e]) + 1
        extras = max(extras, extra)
    row_of_most, factors_of_most = np.empty(width), np.empty(width)
    bases, counts, named = np.empty(width), np.empty(width), np.empty(width)
    step, expected = np.empty(width), np.empty(width)
    # Of each label: the probability that class k is true, and the item's factor of the rest. Of each class in which
    # the item's factor is another one: its place in the worker's row, and what that adds to the weight of the class.
    share, common = np.empty(most), np.empty(most)
    ends, places, added = np.empty(most, np.int64), np.empty(extras, np.int64), np.empty(extras)
    for j in range(first, last):
        own, size = _first(of_workers, j), _size(of_workers, j) + 2
        row, factors = row_of_most[:size], factors_of_most[:size]
        for k in range(n_classes):
            _spread(of_workers, j, k, base, base_totals[k], bases, counts)
            for a in range(size):
                row[a] = of_workers.values[own + a, k]
                named[a] = 0.0
            count, end = 0, 0
            for e in range(worker_starts[j], worker_starts[j + 1]):
                i = items[e]
                score = scores[i, k]
                if score < _NEGLIGIBLE:
                    continue
                named[_place(of_workers, j, k, labels[e])] += score
                share[count] = score
                at, n_own = _first(of_items, i), _size(of_items, i)
                rest = of_items.factors[at + n_own + 1, k]
                common[count] = rest
                for a in range(n_own):
                    if of_items.factors[at + a, k] != rest:
                        said = of_items.own[of_items.starts[i] + a]
                        places[end] = _place(of_workers, j, k, said)
                        added[end] = (of_items.factors[at + a, k] - rest) * base[said, k]
                        end += 1
                if of_items.places[i, k] < 0 and of_items.factors[at + n_own, k] != rest:
                    places[end] = _place(of_workers, j, k, k)
                    added[end] = (of_items.factors[at + n_own, k] - rest) * base[k, k]
                    end += 1
                ends[count] = end
                count += 1
            if count == 0:
                for a in range(size):
                    row[a] = 0.0
            _weigh(row, factors)
            total = _sum_of_products(bases, factors)
            for _ in range(_STEPS if count > 0 else 0):
                for a in range(size):
                    expected[a] = 0.0
                of_base, begin = 0.0, 0
                for e in range(count):
                    weight = common[e] * total
                    for c in range(begin, ends[e]):
                        weight += added[c] * factors[places[c]]
                    weight = share[e] / max(weight, _SMALLEST)
                    of_base += weight * common[e]
                    for c in range(begin, ends[e]):
                        expected[places[c]] += weight * added[c]
                    begin = ends[e]
                between, along = 0.0, 0.0
                for a in range(size):
                    expected[a] = max(factors[a] * (expected[a] + of_base * bases[a]), 0.0)
                    penalty = ridge * counts[a]
                    inverse = 1.0 / (penalty + expected[a])
                    step[a] = (penalty * row[a] - named[a] + expected[a]) * inverse
                    between += expected[a] * penalty * inverse
                    along += expected[a] * step[a]
                    expected[a] *= inverse
                along /= max(between, _SMALLEST)
                longest = 0.0
                for a in range(size):
                    step[a] += along * expected[a]
                    longest = max(longest, abs(step[a]))
                scale = min(1.0, _LONGEST / max(longest, _SETTLED))
                for a in range(size):
                    row[a] -= scale * step[a]
                _weigh(row, factors)
                total = _sum_of_products(bases, factors)
                if longest < _SETTLED:
                    break
            for a in range(size):
                of_workers.values[own + a, k], of_workers.factors[own + a, k] = row[a], factors[a]
            totals[j, k] = total


@allocating
def fit_tied_items(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    scores: Array,
    base: Array,
    base_totals: Array,
    of_workers: Tied,
    totals: Array,
    of_items: Tied,
    ridge: float,
) -> None:
    """Fit the rows of the items from `first` up to, not including, `last`, given those of the workers.

    Overwrites the items' values and factors. The other arrays are those of `fit_tied_workers`. An item has so few own
    classes that Newton's method takes whole steps.
    """
    n_classes = scores.shape[1]
    most, width = _most_labels(item_starts, first, last), _most_places(of_items, first, last)
    row_of_most, factors_of_most = np.empty(width), np.empty(width)
    bases, ridges, named, zero = np.empty(width), np.empty(width), np.empty(width), np.zeros(width)
    step, hessian, chance = np.empty(width), np.empty((width, width)), np.empty(width)
    share, weights = np.empty(most), np.empty((most, width))
    for i in range(first, last):
        at, size = _first(of_items, i), _size(of_items, i) + 2
        row, factors = row_of_most[:size], factors_of_most[:size]
        for k in range(n_classes):
            score = scores[i, k]
            # A number of the row cannot be further from zero than all votes together could draw it.
            if score * (item_starts[i + 1] - item_starts[i]) < _UNMOVED * ridge:
                for a in range(size):
                    of_items.values[at + a, k], of_items.factors[at + a, k] = 0.0, 1.0
                continue
            _spread(of_items, i, k, base, base_totals[k], bases, ridges)
            for a in range(size):
                row[a], factors[a] = of_items.values[at + a, k], of_items.factors[at + a, k]
                ridges[a] *= ridge
                named[a] = 0.0
            count = 0
            for e in range(item_starts[i], item_starts[i + 1]):
                j = workers[e]
                named[_place(of_items, i, k, labels[e])] += score
                share[count] = score
                # What the base and the worker's factors say of each place; the rest is what is left of their sum.
                rest, own = totals[j, k], _first(of_workers, j)
                for a in range(size - 2):
                    said = of_items.own[of_items.starts[i] + a]
                    weights[count, a] = base[said, k] * of_workers.factors[own + _place(of_workers, j, k, said), k]
                    rest -= weights[count, a]
                weights[count, size - 2] = 0.0
                if of_items.places[i, k] < 0:
                    weights[count, size - 2] = base[k, k] * of_workers.factors[own + _place(of_workers, j, k, k), k]
                    rest -= weights[count, size - 2]
                weights[count, size - 1] = max(rest, 0.0)
                count += 1
            found = (share, weights, named, count)
            _fit_row(row, factors, zero, ridges, found, step[:size], hessian, chance)
            for a in range(size):
                of_items.values[at + a, k], of_items.factors[at + a, k] = row[a], factors[a]


@allocating
def score_tied(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    base: Array,
    of_workers: Tied,
    totals: Array,
    of_items: Tied,
    log_prior: Array,
    scores: Array,
    changes: Array,
) -> float:
    """Score the items from `first` up to, not including, `last`, and return the log likelihood of their labels.

    Overwrites their rows of `scores` (items, classes) by the posterior probabilities of the classes, and raises
    `changes` (classes) to the largest change of a score. `log_prior` (classes) is the logarithm of the classes'
    probabilities before any label, up to a constant; the other arrays are those of `fit_tied_workers`.
    """
    n_classes = scores.shape[1]
    support, sums = np.empty(n_classes), np.empty(n_classes)
    log_likelihood = 0.0
    for i in range(first, last):
        at, size = _first(of_items, i), _size(of_items, i)
        diagonal, rest = of_items.factors[at + size], of_items.factors[at + size + 1]
        for k in range(n_classes):
            support[k] = log_prior[k]
        for e in range(item_starts[i], item_starts[i + 1]):
            j, y = workers[e], labels[e]
            own, own_size = _first(of_workers, j), _size(of_workers, j)
            # The sum over all classes: as if the item's factor were that of the rest, and what it differs by.
            for k in range(n_classes):
                sums[k] = totals[j, k] * rest[k]
                if of_items.places[i, k] < 0:
                    factor = of_workers.factors[own + _place(of_workers, j, k, k), k]
                    sums[k] += base[k, k] * factor * (diagonal[k] - rest[k])
            for a in range(size):
                said = of_items.own[of_items.starts[i] + a]
                bases, factors = base[said], of_items.factors[at + a]
                theirs = of_workers.factors[own + _place(of_workers, j, -1, said)]
                for k in range(n_classes):
                    sums[k] += bases[k] * theirs[k] * (factors[k] - rest[k])
                if of_workers.places[j, said] < 0:  # in row `said`, the worker's factor is that of the diagonal
                    differs = of_workers.factors[own + own_size, said] - theirs[said]
                    sums[said] += bases[said] * differs * (factors[said] - rest[said])
            bases, theirs = base[y], of_workers.factors[own + of_workers.places[j, y]]
            for k in range(n_classes):
                weight = bases[k] * theirs[k] * of_items.factors[at + _place(of_items, i, k, y), k]
                support[k] += np.log(weight / max(sums[k], _SMALLEST))
        log_likelihood += _normalise(support, scores, i, changes)
    return log_likelihood


@allocating
def add_departures(of_workers: Tied, sums: Array) -> None:
    """Add the values of all workers to `sums` (said class, true class)."""
    n_classes = sums.shape[0]
    of_rest = np.zeros(n_classes)
    for j in range(of_workers.starts.size - 1):
        at, size = _first(of_workers, j), _size(of_workers, j)
        diagonal, rest = of_workers.values[at + size], of_workers.values[at + size + 1]
        for k in range(n_classes):
            of_rest[k] += rest[k]
            if of_workers.places[j, k] < 0:
                sums[k, k] += diagonal[k] - rest[k]
        for a in range(size):
            said = of_workers.own[of_workers.starts[j] + a]
            for k in range(n_classes):
                sums[said, k] += of_workers.values[at + a, k] - rest[k]
    for said in range(n_classes):
        for k in range(n_classes):
            sums[said, k] += of_rest[k]
