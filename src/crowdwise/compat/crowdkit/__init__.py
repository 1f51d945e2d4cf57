"""crowd-kit's interface: `from crowdwise.compat.crowdkit.aggregation import DawidSkene` is all that changes.

Modules, classes, arguments, attributes, names, dtypes and errors are those of crowd-kit 1.4.2;
docs/how-to/from-crowdkit.md says what differs, and how to give a program this package under the name crowdkit. Needs
pandas, which the extra crowdkit installs. Modules in here import each other by their full names, so that they also
work under another name.

>>> import pandas as pd
>>> from crowdwise.compat.crowdkit.aggregation import MajorityVote
>>> answers = pd.DataFrame({"task": [1, 1, 1], "worker": ["a", "b", "c"], "label": ["cat", "dog", "dog"]})
>>> MajorityVote().fit_predict(answers).to_dict()
{1: 'dog'}
"""

from crowdwise.errors import require_extra

require_extra("crowdkit", "crowdwise.compat.crowdkit")

from crowdwise.compat.crowdkit.aggregation import (  # noqa: E402  # they need what is required above
    GLAD,
    KOS,
    MACE,
    MMSR,
    BinaryRelevance,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from crowdwise.compat.crowdkit.unsupported import add_unsupported_modules  # noqa: E402

add_unsupported_modules(__name__)

# The version of crowd-kit whose interface this is.
__version__ = "1.4.2"

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "BinaryRelevance",
    "DawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
]
