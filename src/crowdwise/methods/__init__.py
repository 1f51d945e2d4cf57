"""Every method, one file each, and the table of them."""

from collections.abc import Mapping
from typing import Any, Final

from .bwa import BWA
from .catd import CATD
from .crh import CRH
from .ds import DawidSkene
from .glad import GLAD
from .hierarchical import Hierarchical
from .ibcc import IBCC
from .iwmv import IterativeWeightedMajorityVote
from .lfc import LearningFromCrowds
from .loglinear import LogLinear
from .mace import MACE
from .minimax import Minimax
from .mv import MajorityVote
from .one_coin import OneCoin
from .ptbcc import PTBCC
from .wawa import Wawa
from .zc import ZenCrowd
from .zero_based_skill import ZeroBasedSkill

__all__ = [
    "BWA",
    "CATD",
    "CRH",
    "GLAD",
    "IBCC",
    "MACE",
    "METHODS",
    "PTBCC",
    "DawidSkene",
    "Hierarchical",
    "IterativeWeightedMajorityVote",
    "LearningFromCrowds",
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
    "catd": CATD,
    "crh": CRH,
    "glad": GLAD,
    "zc": ZenCrowd,
    "one_coin": OneCoin,
    "mace": MACE,
    "ds": DawidSkene,
    "lfc": LearningFromCrowds,
    "ibcc": IBCC,
    "minimax": Minimax,
    "loglinear": LogLinear,
    "hierarchical": Hierarchical,
    "ptbcc": PTBCC,
    "bwa": BWA,
}
