"""`arrange`: sort the rows of some items into the arrays of `Labels`, for parts on disk and in a cluster."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from ...crowd import encoding
from ...crowd.encoding import Duplicates, Grouped
from ...crowd.numbering import Numbering, inverse, numbers
from ...crowd.samples import Samples
from ...crowd.times import moments
from ...numerics import Array


@dataclass(frozen=True)
class Arranged:
    """The sorted labels of some items.

    Attributes:
        grouped: The labels. Items and workers are numbered by their names; the conflict has workers as in the rows.
        items: The names of the items that have a label left, in the order of their numbers.
        unlabelled: The number of items that have none.
        conflicting: The name of the item of the first conflict; None if there is no conflict.
    """

    grouped: Grouped
    items: pl.Series
    unlabelled: int
    conflicting: Any


def arrange(
    table: pl.DataFrame,
    ranks: Array | None,
    worker_places: Array,
    duplicates: Duplicates,
    samples: Samples | None = None,
) -> Arranged:
    """Sort all rows of some items, and resolve several labels of one worker for one item.

    Args:
        table: The rows: names of items, codes of workers, which are -1 where there is no label, codes of labels, and
            times for "latest".
        ranks: The number of the class that each code of a label stands for; None if labels are numbers.
        worker_places: The number that each code of a worker, or of a sample, stands for; see `Numbering`.
        duplicates: What to do where one worker gave one item several different labels.
        samples: What the samples of every worker are, for "samples".
    """
    has_label = table["worker"] >= 0
    distinct = None if has_label.all() else table["item"].n_unique()
    table = table if distinct is None else table.filter(has_label)
    item = encoding.encode_column(table["item"], False)
    labels = table["label"].to_numpy() if ranks is None else ranks[table["label"].to_numpy()]
    workers = table["worker"].to_numpy()
    times = moments(table["time"]) if duplicates == "latest" else None
    grouped = encoding.group(item, workers, labels, len(worker_places), duplicates, times=times, samples=samples)
    names = item.names if len(grouped.items) == len(item.names) else item.names.gather(grouped.items)
    conflicting = None if grouped.conflict is None else item.names[grouped.conflict.item]
    unlabelled = (len(item.names) if distinct is None else distinct) - len(names)
    item_places = numbers(names)
    starts, workers, labels, continued = Numbering(item_places, worker_places).apply(
        grouped.item_starts, grouped.workers, grouped.labels, grouped.continued
    )
    numbered = replace(grouped, item_starts=starts, workers=workers, labels=labels, continued=continued)
    return Arranged(numbered, names.gather(inverse(item_places)), unlabelled, conflicting)
