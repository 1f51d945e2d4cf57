r"""Krippendorff's alpha: how much the workers agree with each other, corrected for chance.

$$ \alpha = 1 - D_o / D_e, \quad D_o = \frac{1}{n} \sum_i \sum_k \frac{n_{ik} (n_i - n_{ik})}{n_i - 1}, \quad
   D_e = \frac{1}{n (n - 1)} \sum_k n_k (n - n_k) $$

where item i has n_i labels, n_ik of them for class k; n_k and n are the sums over all items with at least two labels.
This is alpha for nominal data, where two labels agree or do not. For interval data they disagree by the square of
their difference, and for ordinal data by that of the difference of their ranks: the rank of a class is how many labels
are below it, plus half of those that name it. (Krippendorff counts the labels between two classes, and half of those at
both ends, which is the same.) Sums of squares around means give both without looking at pairs, in time and memory that
grow with the labels. Krippendorff, "Content Analysis", 2004; Hayes and Krippendorff, "Answering the Call for a Standard
Reliability Measure for Coding Data", 2007, https://doi.org/10.1080/19312450709336664.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, cast, get_args

import numpy as np
import polars as pl

from ..crowd.class_sets import SetDistance
from ..crowd.labels import Labels
from ..crowd.protocol import require_crowd
from ..errors import CallError, shown
from ..numerics import Array
from ..numerics.elementary import sums
from ..reading.read_labels import as_crowd
from ..results.tables import as_html
from ..sources.frames import Tabular
from .ordinal import ordinal

Level = Literal["nominal", "ordinal", "interval", "jaccard", "masi"]

# The bootstrap resamples groups of items if there are more items than this. The items are put into this many groups at
# random. The interval is about the same, but takes less time.
_MAX_GROUPS: Final = 2000
_RESAMPLES: Final = 1000
# Labels are counted in a table of items and classes if it has no more than so many cells for each label.
_LARGEST_TABLE: Final = 16


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha: 1 is perfect agreement, 0 is as much as by chance, below 0 is systematic disagreement.

    Attributes:
        value: Alpha. NaN if no item has two labels; 1 if all labels name the same class.
        low: The lower end of its 95 % bootstrap interval.
        high: The upper end of the interval.
    """

    value: float
    low: float
    high: float

    def _repr_html_(self) -> str:
        """What a notebook shows: the three numbers as a table."""
        return as_html([], {"Krippendorff's alpha, with a 95 % interval": pl.DataFrame([asdict(self)])})


def alpha(
    labels: Labels | Tabular, level: Level | None = None, *, order: Sequence[Any] | None = None, seed: int = 0
) -> Agreement:
    """Return Krippendorff's alpha, which says how much workers agree, with an interval from a bootstrap over the items.

    A vote that names several classes counts as several labels.

    Args:
        labels: The labels, in memory, or a table as in `Labels.from_frame`.
        level: How to compare labels. "nominal": two labels agree or do not. "ordinal": classes are in an order, and it
            counts how many labels lie between two. "interval": it counts how far apart two labels are. Of sets of
            classes (`multi="each"`), "masi" or "jaccard" say how far two sets are apart. None means "nominal", and
            "masi" of sets.
        order: The classes from the lowest to the highest, which are one step apart; None if they are numbers.
        seed: The seed of the random numbers for the bootstrap.

    Raises:
        CallError: An argument is not allowed.
        DataError: Classes cannot be ordered.

    >>> labels = Labels.from_arrays([1, 1, 2, 2, 3, 3], list("ababab"), [1, 1, 1, 2, 5, 5])
    >>> [round(alpha(labels, level).value, 3) for level in ("nominal", "ordinal", "interval")]
    [0.545, 0.778, 0.957]
    """
    labels = as_crowd(labels)
    require_crowd(labels, "alpha")
    if not isinstance(labels, Labels):
        raise CallError('alpha takes labels in memory: read them with engine="memory".')
    if level is None:
        level = "nominal" if labels.sets is None else "masi"
    if level not in get_args(Level):
        raise CallError(f"level={shown(level)} is not one of {', '.join(map(repr, get_args(Level)))}.")
    is_of_sets = level in get_args(SetDistance)
    if is_of_sets != (labels.sets is not None):
        of = 'sets of classes, read with multi="each" (--multi each)' if is_of_sets else "one class a label"
        others = [one for one in get_args(Level) if (one in get_args(SetDistance)) != is_of_sets]
        raise CallError(f"level={shown(level)} is for {of}; for these labels, take {' or '.join(map(repr, others))}.")
    if labels.sets is not None:
        from .set_agreement import set_alpha

        return _of_sets(*set_alpha(labels.sets, cast(SetDistance, level)), seed)
    asked = ordinal(level != "nominal", order)
    if level == "nominal" and asked is not None:
        raise CallError("An order is for the levels ordinal and interval.")
    places = None if asked is None else asked.positions(labels.names.classes)
    return krippendorff(labels, seed, level, places)


def _of_sets(of_items: Array, by_chance: float, seed: int) -> Agreement:
    """Return alpha of sets; see set_agreement.py."""
    paired = of_items[of_items[:, 1] > 0]
    if not len(paired):
        return Agreement(np.nan, np.nan, np.nan)

    def value(totals: Array) -> Array:
        observed = totals[..., 0] / totals[..., 1]
        return np.asarray(1 - observed / by_chance if by_chance > 0 else np.ones_like(observed))

    group_of, drawn = drawn_groups(len(paired), seed)
    grouped = sums(group_of, paired, drawn.shape[1])
    low, high = np.quantile(value(drawn @ grouped), [0.025, 0.975])
    return Agreement(float(value(paired.sum(axis=0))), float(low), float(high))


def krippendorff(labels: Labels, seed: int = 0, level: Level = "nominal", places: Array | None = None) -> Agreement:
    """Return Krippendorff's alpha; see `alpha`.

    Args:
        labels: The labels.
        seed: The seed of the random numbers for the bootstrap.
        level: What classes are.
        places: (classes), where each class is on the scale; None for nominal classes.

    >>> labels = Labels.from_arrays([1, 1, 2, 2, 3, 3], list("ababab"), ["x", "x", "x", "y", "y", "y"])
    >>> round(krippendorff(labels).value, 3)
    0.444
    """
    paired = np.flatnonzero(np.diff(labels.item_starts) > 1)
    if not len(paired):
        return Agreement(np.nan, np.nan, np.nan)
    group_of = np.full(labels.n_items, -1)
    group_of[paired], drawn = drawn_groups(len(paired), seed)
    if places is None:
        of, counts = _of_classes, _count_classes(labels, group_of, drawn.shape[1])
    else:
        of, counts = _of_values, _count_values(labels, group_of, drawn.shape[1], _values(labels, level, places))
    low, high = np.quantile(of(drawn @ counts), [0.025, 0.975])
    return Agreement(float(of(counts.sum(axis=0))), float(low), float(high))


def drawn_groups(items: int, seed: int) -> tuple[Array, Array]:
    """Put items into groups for a bootstrap, and draw from the groups.

    Args:
        items: The number of items.
        seed: The seed of the random numbers.

    Returns:
        The group of every item, and how often each group (column) is drawn in each resample (row).
    """
    random = np.random.default_rng(seed)
    groups = min(items, _MAX_GROUPS)
    group_of = random.permutation(items) % groups if items > groups else np.arange(groups)
    return group_of, random.multinomial(groups, np.full(groups, 1 / groups), _RESAMPLES).astype(float)


def said_alike(labels: Labels) -> Array:
    """(labels), how many labels of the item name the same class, with the label itself; n_ik in the formula."""
    cells = labels.item_of * np.int64(labels.n_classes) + labels.labels
    if labels.n_items * labels.n_classes <= _LARGEST_TABLE * labels.n_labels:
        return np.asarray(np.bincount(cells)[cells])
    _, cell, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return np.asarray(counts[cell])


def _count_classes(labels: Labels, group_of: Array, n_groups: int) -> Array:
    """(groups, 1 + classes): the observed disagreement n D_o, and the labels of each class that has any.

    The groups are those of the items; -1 for items with one label, which are left out.
    """
    n = np.repeat(np.diff(labels.item_starts), np.diff(labels.item_starts))
    paired, group = n > 1, group_of[labels.item_of]
    n, group, said = n[paired], group[paired], labels.labels[paired]
    # The sum over classes of n_ik times something is the sum of that over the labels of the item.
    observed = np.bincount(group, (n - said_alike(labels)[paired]) / (n - 1), n_groups)
    by_class = np.bincount(group * labels.n_classes + said, minlength=n_groups * labels.n_classes)
    by_class = by_class.reshape(n_groups, -1)
    return np.column_stack([observed, by_class[:, by_class.any(axis=0)]])


def _count_values(labels: Labels, group_of: Array, n_groups: int, values: Array) -> Array:
    """(groups, 4): the observed disagreement n D_o; the number, sum and sum of squares of the values of labels.

    The squared differences of all pairs of labels of an item are 2 n_i times the squares around their mean.
    """
    item, value, n = labels.item_of, values[labels.labels], np.diff(labels.item_starts)
    total, squares = (np.bincount(item, of, labels.n_items) for of in (value, value**2))
    around = np.bincount(item, (value - (total / np.maximum(n, 1))[item]) ** 2, labels.n_items)
    of_items = np.column_stack([2 * n * around / np.maximum(n - 1, 1), n, total, squares])
    counts = np.zeros((n_groups, 4))
    np.add.at(counts, group_of[group_of >= 0], of_items[group_of >= 0])
    return counts


def _values(labels: Labels, level: Level, places: Array) -> Array:
    """Return (classes), numbers whose squared differences say how much labels disagree, with a mean of about zero.

    The bootstrap keeps these numbers, also those of ranks.
    """
    sizes = np.diff(labels.item_starts)
    given = np.bincount(labels.labels[np.repeat(sizes > 1, sizes)], minlength=labels.n_classes)
    values = places - places[given > 0].mean()
    if level == "ordinal":
        order = np.argsort(places, kind="stable")
        below = np.cumsum(given[order]) - given[order]
        values = np.empty(len(places))
        values[order] = (below + given[order] / 2) / given.sum() - 0.5
    largest = np.abs(values[given > 0]).max()
    return np.asarray(values / largest if largest > 0 else values)


def _of_values(counts: Array) -> Array:
    """Return alpha for counts (..., 4): the observed disagreement; the number, sum and sum of squares of values."""
    observed, number, total, squares = np.moveaxis(counts, -1, 0)
    expected = 2 * (number * squares - total**2) / (number - 1)
    # What is left by rounding is no disagreement.
    some = expected > 1e-12 * number * squares
    return np.asarray(1 - np.divide(observed, expected, out=np.zeros_like(observed), where=some))


def _of_classes(counts: Array) -> Array:
    """Return alpha for counts (..., 1 + classes): first the observed disagreement, then the labels of each class."""
    observed, by_class = counts[..., 0], counts[..., 1:]
    total = by_class.sum(axis=-1)
    expected = (by_class * (total[..., None] - by_class)).sum(axis=-1) / (total - 1)
    return np.asarray(1 - np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0))
