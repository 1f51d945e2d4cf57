"""Every method, one file each, and the table of them."""

from collections.abc import Mapping
from typing import Any, Final

from .bwa import BWA
from .catd import CATD
from .cbcc import CBCC
from .crh import CRH
from .ds import DawidSkene
from .ebcc import EBCC
from .glad import GLAD
from .hierarchical import Hierarchical
from .ibcc import IBCC
from .iwmv import IterativeWeightedMajorityVote
from .kos import KOS
from .la import LightweightAggregation
from .lfc import LearningFromCrowds
from .loglinear import LogLinear
from .mace import MACE
from .minimax import Minimax
from .mmsr import MMSR
from .mv import MajorityVote
from .one_coin import OneCoin
from .ptbcc import PTBCC
from .wawa import Wawa
from .zc import ZenCrowd
from .zero_based_skill import ZeroBasedSkill

__all__ = [
    "BWA",
    "CATD",
    "CBCC",
    "CRH",
    "EBCC",
    "GLAD",
    "IBCC",
    "KOS",
    "MACE",
    "METHODS",
    "MMSR",
    "PTBCC",
    "DawidSkene",
    "Hierarchical",
    "IterativeWeightedMajorityVote",
    "LearningFromCrowds",
    "LightweightAggregation",
    "LogLinear",
    "MajorityVote",
    "Minimax",
    "OneCoin",
    "Wawa",
    "ZenCrowd",
    "ZeroBasedSkill",
]

# From the key on the command line to the class.
METHODS: Final[Mapping[str, type[Any]]] = {
    "mv": MajorityVote,
    "wawa": Wawa,
    "zero_based_skill": ZeroBasedSkill,
    "iwmv": IterativeWeightedMajorityVote,
    "la": LightweightAggregation,
    "catd": CATD,
    "crh": CRH,
    "glad": GLAD,
    "zc": ZenCrowd,
    "one_coin": OneCoin,
    "mace": MACE,
    "kos": KOS,
    "mmsr": MMSR,
    "ds": DawidSkene,
    "lfc": LearningFromCrowds,
    "ibcc": IBCC,
    "ebcc": EBCC,
    "cbcc": CBCC,
    "minimax": Minimax,
    "loglinear": LogLinear,
    "hierarchical": Hierarchical,
    "ptbcc": PTBCC,
    "bwa": BWA,
}
