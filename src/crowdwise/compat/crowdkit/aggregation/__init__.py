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
from crowdwise.compat.crowdkit.aggregation.embeddings import HRRASA, RASA, ClosestToAverage
from crowdwise.compat.crowdkit.aggregation.image_segmentation import (
    SegmentationEM,
    SegmentationMajorityVote,
    SegmentationRASA,
)
from crowdwise.compat.crowdkit.aggregation.multilabel import BinaryRelevance
from crowdwise.compat.crowdkit.aggregation.pairwise import BradleyTerry, NoisyBradleyTerry
from crowdwise.compat.crowdkit.aggregation.texts import ROVER, TextHRRASA, TextRASA

__all__ = [
    "GLAD",
    "HRRASA",
    "KOS",
    "MACE",
    "MMSR",
    "RASA",
    "ROVER",
    "BinaryRelevance",
    "BradleyTerry",
    "ClosestToAverage",
    "DawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "NoisyBradleyTerry",
    "OneCoinDawidSkene",
    "SegmentationEM",
    "SegmentationMajorityVote",
    "SegmentationRASA",
    "TextHRRASA",
    "TextRASA",
    "Wawa",
    "ZeroBasedSkill",
    "base",
]
