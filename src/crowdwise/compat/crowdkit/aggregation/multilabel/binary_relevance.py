"""`BinaryRelevance`: answers that are lists of labels, each label aggregated as a yes/no question of its own."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from crowdwise.compat.crowdkit.aggregation.base import BaseClassificationAggregator
from crowdwise.compat.crowdkit.aggregation.classification import MajorityVote
from crowdwise.compat.crowdkit.aggregation.utils import clone_aggregator
from crowdwise.compat.crowdkit.encoded_answers import three_columns


@dataclass(eq=False)
class BinaryRelevance(BaseClassificationAggregator):
    """Every label that somebody gave is a yes/no question about every task.

    Args:
        base_aggregator: What answers these questions; a copy of it for each label.

    Attributes:
        labels_: By task, the list of its labels.
        aggregators_: The fitted aggregator of every label.
    """

    base_aggregator: Any = field(default_factory=MajorityVote)

    def __post_init__(self) -> None:
        # As in crowd-kit, an AssertionError.
        if not isinstance(self.base_aggregator, BaseClassificationAggregator):
            raise AssertionError(f"{self.base_aggregator!r} is no aggregator of labels.")

    def fit(self, data: Any) -> "BinaryRelevance":
        """Aggregate every label; the column label has lists."""
        rows = three_columns(data)
        self.aggregators_: dict[Any, Any] = {}
        if rows.empty:
            self.labels_ = pd.Series(dtype=float, name="agg_label")
            return self
        given = [set(row) for row in rows["label"]]
        found: dict[Any, list[Any]] = {}
        for label in sorted(set().union(*given)):
            said = np.array([label in row for row in given], np.int64)
            aggregator = clone_aggregator(self.base_aggregator)
            for task, yes in aggregator.fit_predict(rows.assign(label=said)).items():
                found.setdefault(task, [])
                if yes:
                    found[task].append(label)
            self.aggregators_[label] = aggregator
        self.labels_ = pd.Series(found, name="agg_label", dtype="O").rename_axis("task")
        return self
