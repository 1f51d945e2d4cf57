# The public names, for editors and type checkers; written by tools/generate.py.

from . import datasets as datasets
from .analysis import accuracy as accuracy
from .analysis import explain as explain
from .data.labels import Labels as Labels
from .data.reading import read_labels as read_labels
from .data.reading import read_truth as read_truth
from .data.simulation import simulate as simulate
from .data.writing import write as write
from .errors import CallError as CallError
from .errors import DataError as DataError
from .methods import METHODS as METHODS
from .methods.bwa import BWA as BWA
from .methods.catd import CATD as CATD
from .methods.cbcc import CBCC as CBCC
from .methods.crh import CRH as CRH
from .methods.ds import DawidSkene as DawidSkene
from .methods.ebcc import EBCC as EBCC
from .methods.glad import GLAD as GLAD
from .methods.hierarchical import Hierarchical as Hierarchical
from .methods.ibcc import IBCC as IBCC
from .methods.iwmv import IterativeWeightedMajorityVote as IterativeWeightedMajorityVote
from .methods.kos import KOS as KOS
from .methods.la import LightweightAggregation as LightweightAggregation
from .methods.lfc import LearningFromCrowds as LearningFromCrowds
from .methods.loglinear import LogLinear as LogLinear
from .methods.mace import MACE as MACE
from .methods.minimax import Minimax as Minimax
from .methods.mmsr import MMSR as MMSR
from .methods.mv import MajorityVote as MajorityVote
from .methods.one_coin import OneCoin as OneCoin
from .methods.ptbcc import PTBCC as PTBCC
from .methods.wawa import Wawa as Wawa
from .methods.zc import ZenCrowd as ZenCrowd
from .methods.zero_based_skill import ZeroBasedSkill as ZeroBasedSkill
from .reporting import report as report
from .results.result import Result as Result

_HOMES: dict[str, str]
__version__: str
