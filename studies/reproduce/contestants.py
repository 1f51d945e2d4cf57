"""The methods that are compared: a row for each that runs in a way of its own; all others follow by themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import crowdwise as cw
from crowdwise.crowd.read_options import Duplicates
from crowdwise.fitting.method import Method
from crowdwise.fitting.parameters import parameters_of

from . import random_ties


@dataclass(frozen=True)
class Contestant:
    """A method and how it is run in the comparison.

    Attributes:
        name: The name in the tables; for the methods of the paper, the name in the paper.
        group: "paper" for the methods in Table 3 of the paper, which are run as its authors ran them; "since" for all
            others.
        make: A function that makes the method, given a seed.
        duplicates: What is done with several labels of one worker on one item. The released implementations count all
            of them, but that of BWA makes them one vote, and that of Minimax takes the last.
        seeds: The number of seeds; the accuracy is the mean over them. It is 1 if the method is not random.
    """

    name: str
    group: Literal["paper", "since"]
    make: Callable[[int], Method]
    duplicates: Duplicates = "all"
    seeds: int = 1


def _paper(name: str, method: Method, duplicates: Duplicates = "all") -> Contestant:
    return Contestant(name, "paper", lambda seed: method, duplicates)


def _since(name: str, method: Method, duplicates: Duplicates = "all") -> Contestant:
    return Contestant(name, "since", lambda seed: method, duplicates)


def _seeded(method: Any, seed: int) -> Method:
    """A method with its defaults, and this seed if it has one."""
    made: Method = method(seed=seed) if "seed" in parameters_of(method) else method()
    return made


DECLARED: Final = [
    _paper("MV", cw.MajorityVote()),
    _paper("ZC", cw.ZenCrowd.released()),
    _paper("GLAD", cw.GLAD.released()),
    _paper("DS", cw.DawidSkene.released()),
    _paper("Minimax", cw.Minimax(), "last"),
    _paper("iBCC", cw.IBCC(tolerance=0.0, max_iterations=40)),
    Contestant("CBCC", "paper", cw.CBCC.released, seeds=10),
    _paper("LFC", cw.LearningFromCrowds.released()),
    Contestant("CATD", "paper", lambda seed: random_ties.CATD(seed=seed), seeds=10),
    Contestant("CRH", "paper", lambda seed: random_ties.CRH(seed=seed), seeds=10),
    _paper("BWA(30 original)", cw.BWA(prior_strength=30, prior_correction=False), "set"),
    _paper("BWA(15 adjusted)", cw.BWA(), "set"),
    _since("GLAD(priors)", cw.GLAD()),
    _since("DS(converged)", cw.DawidSkene()),
    _since("iBCC-VB", cw.IBCC("variational")),
    _since("LFC(smoothed)", cw.LearningFromCrowds()),
    _since("CATD(smoothed)", cw.CATD()),
    _since("CRH(per label)", cw.CRH()),
    _since("BWA(per label)", cw.BWA(weights="per_label")),
    _since("BWA(logistic)", cw.BWA(link="logistic")),
    _since("Wawa", cw.Wawa()),
    _since("Zero-based skill", cw.ZeroBasedSkill()),
    _since("IWMV", cw.IterativeWeightedMajorityVote()),
    Contestant("LA", "since", lambda seed: cw.LightweightAggregation(seed=seed), seeds=10),
    _since("One-coin DS", cw.OneCoin()),
    _since("MACE", cw.MACE()),
    _since("KOS", cw.KOS()),
    _since("M-MSR", cw.MMSR()),
    Contestant("EBCC(one start)", "since", lambda seed: cw.EBCC(restarts=1, seed=seed), seeds=10),
    _since("Hierarchical", cw.Hierarchical()),
    _since("PTBCC", cw.PTBCC()),
    _since("Log-linear", cw.LogLinear()),
    _since("DS(spectral)", cw.DawidSkene("spectral")),
    _since("VI-MF", cw.MeanField()),
    _since("VI-BP", cw.BeliefPropagation()),
]

# Methods that are in no row above, such as new ones, run with their defaults; those that start at random, ten times.
_MADE: Final = {type(row.make(0)) for row in DECLARED}
_OTHERS: Final = [
    Contestant(method.__name__, "since", partial(_seeded, method), seeds=10 if method().starts_at_random else 1)
    for method in cw.METHODS.values()
    if not any(issubclass(one, method) for one in _MADE)
]

CONTESTANTS: Final = {row.name: row for row in (*DECLARED, *_OTHERS)}
