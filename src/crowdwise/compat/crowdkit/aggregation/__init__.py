"""crowd-kit's aggregators: the truth from what workers said."""

from crowdwise.compat.crowdkit.aggregation import base
from crowdwise.compat.crowdkit.aggregation.classification import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from crowdwise.compat.crowdkit.aggregation.multilabel import BinaryRelevance
from crowdwise.compat.crowdkit.aggregation.pairwise import BradleyTerry, NoisyBradleyTerry

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "BinaryRelevance",
    "BradleyTerry",
    "DawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "NoisyBradleyTerry",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
    "base",
]
