"""Several floating point numbers in one register of the processor: the operations on them, and their exponential."""

from .exponential import exponential
from .lanes import (
    any_larger,
    distance,
    fetch,
    fetch_number,
    gather,
    larger,
    largest,
    load,
    scatter,
    spread,
    store,
    total,
    where_larger,
)

__all__ = [
    "any_larger",
    "distance",
    "exponential",
    "fetch",
    "fetch_number",
    "gather",
    "larger",
    "largest",
    "load",
    "scatter",
    "spread",
    "store",
    "total",
    "where_larger",
]
