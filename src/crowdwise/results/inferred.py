"""`Inferred`: what a method for classes returns, wherever the labels are."""

from typing import TypeAlias

from .in_parts import ResultInParts
from .result import Result

# In memory, and on disk or in a cluster. `Result` describes the members.
Inferred: TypeAlias = Result | ResultInParts
