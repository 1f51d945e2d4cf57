"""`changed_answers`: which answers are others than those of an earlier fit of the same labels."""

import numpy as np
import polars as pl

from ..results.result import Result


def changed_answers(before: Result, result: Result) -> pl.DataFrame:
    """Return the answers that differ between two fits of the same labels, without items whose class is given as gold.

    The columns are item, before, now and confidence (of the later answer); the surest is first.
    """
    differ = (before.labels != result.labels).to_numpy()
    if result.gold is not None:
        differ = differ & (result.gold < 0)
    codes = np.flatnonzero(differ)
    codes = codes[np.argsort(-result.confidence[codes], kind="stable")]
    return pl.DataFrame(
        {
            "item": result.names.items.gather(codes),
            "before": before.labels.gather(codes),
            "now": result.labels.gather(codes),
            "confidence": result.confidence[codes],
        }
    )
