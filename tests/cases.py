"""The methods as the contract tests them: one row each."""

from dataclasses import dataclass
from typing import Any, Final

import crowdwise as cw


@dataclass(frozen=True)
class Case:
    """A method to test.

    Attributes:
        method: An instance.
        takes_sets: Whether a vote may name several classes.
    """

    method: Any
    takes_sets: bool = False


CASES: Final = {
    "mv": Case(cw.MajorityVote()),
    "wawa": Case(cw.Wawa()),
    "zero_based_skill": Case(cw.ZeroBasedSkill()),
    "iwmv": Case(cw.IterativeWeightedMajorityVote()),
    "catd": Case(cw.CATD()),
    "crh": Case(cw.CRH()),
    "glad": Case(cw.GLAD()),
    "zc": Case(cw.ZenCrowd()),
    "one_coin": Case(cw.OneCoin()),
    "mace": Case(cw.MACE()),
    "ds": Case(cw.DawidSkene()),
    "lfc": Case(cw.LearningFromCrowds()),
    "ibcc": Case(cw.IBCC()),
    "minimax": Case(cw.Minimax()),
    "loglinear": Case(cw.LogLinear()),
    "hierarchical": Case(cw.Hierarchical()),
    "ptbcc": Case(cw.PTBCC()),
    "bwa": Case(cw.BWA(), takes_sets=True),
}
