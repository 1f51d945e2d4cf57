"""Every method, one file each, and the table of them."""

from collections.abc import Mapping
from typing import Any, Final

from .bwa import BWA
from .mv import MajorityVote

__all__ = ["BWA", "METHODS", "MajorityVote"]

# From the key on the command line to the class.
METHODS: Final[Mapping[str, type[Any]]] = {
    "mv": MajorityVote,
    "bwa": BWA,
}
