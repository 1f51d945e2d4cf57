"""Published datasets by name: the catalog, and functions to download and read their files.

>>> import crowdwise as cw
>>> cw.datasets.CATALOG["web"].labels
15567
"""

from .catalog import CATALOG, Dataset
from .downloading import fetch
from .loading import load

__all__ = ["CATALOG", "Dataset", "fetch", "load"]
