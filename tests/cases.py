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
        random: Whether it starts at random, in the order of the names: other names, another start.
        most_classes: How many it takes.
    """

    method: Any
    takes_sets: bool = False
    random: bool = False
    most_classes: int = 1000


CASES: Final = {
    "mv": Case(cw.MajorityVote()),
    "wawa": Case(cw.Wawa()),
    "zero_based_skill": Case(cw.ZeroBasedSkill()),
    "iwmv": Case(cw.IterativeWeightedMajorityVote()),
    "la": Case(cw.LightweightAggregation(), random=True),
    "catd": Case(cw.CATD()),
    "crh": Case(cw.CRH()),
    "glad": Case(cw.GLAD()),
    "zc": Case(cw.ZenCrowd()),
    "one_coin": Case(cw.OneCoin()),
    "mace": Case(cw.MACE()),
    "kos": Case(cw.KOS(), most_classes=2),
    "mmsr": Case(cw.MMSR()),
    "ds": Case(cw.DawidSkene()),
    "lfc": Case(cw.LearningFromCrowds()),
    "ibcc": Case(cw.IBCC()),
    "ebcc": Case(cw.EBCC(), random=True),
    "cbcc": Case(cw.CBCC(), random=True),
    "minimax": Case(cw.Minimax()),
    "loglinear": Case(cw.LogLinear()),
    "hierarchical": Case(cw.Hierarchical()),
    "ptbcc": Case(cw.PTBCC()),
    "bwa": Case(cw.BWA(), takes_sets=True),
}

# Parameters that make another method of it; the key is the method's, and what is different.
VARIANTS: Final = {
    "la one pass": Case(cw.LightweightAggregation(passes=1), random=True),
    "zc released": Case(cw.ZenCrowd.released()),
    "ibcc variational": Case(cw.IBCC("variational")),
    "hierarchical full": Case(cw.Hierarchical("full")),
    "hierarchical one coin": Case(cw.Hierarchical("one_coin")),
    "bwa per label": Case(cw.BWA(weights="per_label")),
    "bwa logistic": Case(cw.BWA(link="logistic")),
    "bwa restarts": Case(cw.BWA(restarts=2), takes_sets=True, random=True),
}
