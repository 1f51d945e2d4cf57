"""Several floating point numbers in one register of the processor: the operations on them, and their exponential."""

from .exponential import exponential
from .lanes import (
    any_larger,
    broadcast,
    distance,
    fetch,
    fetch_number,
    gather,
    larger,
    largest,
    load,
    scatter,
    store,
    total,
    where_larger,
)

__all__ = [
    "any_larger",
    "broadcast",
    "distance",
    "exponential",
    "fetch",
    "fetch_number",
    "gather",
    "larger",
    "largest",
    "load",
    "scatter",
    "store",
    "total",
    "where_larger",
]
