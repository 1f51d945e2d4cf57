"""crowd-kit's metrics of answers and of workers."""

from crowdwise.compat.crowdkit.metrics import data, workers

__all__ = ["data", "workers"]
