"""Real crowds by name: where they are from, where their files are, and how they are read.

>>> import crowdwise as cw
>>> cw.datasets.CATALOG["web"].labels
15567
"""

from .catalog import CATALOG, Dataset
from .downloading import fetch
from .loading import load

__all__ = ["CATALOG", "Dataset", "fetch", "load"]
