"""crowdwise: infer the truth from what many workers said.

>>> import crowdwise as cw
>>> crowd = cw.simulate(200, 20, classes=3, seed=1)
>>> result = cw.BWA().fit(crowd.labels)
>>> cw.accuracy(result, crowd.truth) > 0.85
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets
    from .analysis.evaluation import accuracy
    from .analysis.explanation import explain
    from .data.labels import Labels
    from .data.reading import read_labels, read_truth
    from .data.simulation import simulate
    from .data.writing import write
    from .errors import CallError, DataError
    from .methods import (
        BWA,
        CATD,
        CBCC,
        CRH,
        EBCC,
        GLAD,
        IBCC,
        KOS,
        MACE,
        METHODS,
        MMSR,
        PTBCC,
        DawidSkene,
        Hierarchical,
        IterativeWeightedMajorityVote,
        LearningFromCrowds,
        LightweightAggregation,
        LogLinear,
        MajorityVote,
        Minimax,
        OneCoin,
        Wawa,
        ZenCrowd,
        ZeroBasedSkill,
    )
    from .reporting import report
    from .results.result import Result

__version__ = "0.1.0"

# Where each public name lives. They are imported when first used, so that `crowdwise --help` needs none of them.
_HOMES = {
    "BWA": "methods",
    "CBCC": "methods",
    "LightweightAggregation": "methods",
    "MMSR": "methods",
    "KOS": "methods",
    "EBCC": "methods",
    "CATD": "methods",
    "CRH": "methods",
    "DawidSkene": "methods",
    "GLAD": "methods",
    "Hierarchical": "methods",
    "PTBCC": "methods",
    "IBCC": "methods",
    "IterativeWeightedMajorityVote": "methods",
    "LearningFromCrowds": "methods",
    "OneCoin": "methods",
    "Wawa": "methods",
    "ZenCrowd": "methods",
    "ZeroBasedSkill": "methods",
    "CallError": "errors",
    "DataError": "errors",
    "Labels": "data.labels",
    "METHODS": "methods",
    "MACE": "methods",
    "LogLinear": "methods",
    "MajorityVote": "methods",
    "Minimax": "methods",
    "Result": "results.result",
    "accuracy": "analysis.evaluation",
    "datasets": "datasets",
    "explain": "analysis.explanation",
    "read_labels": "data.reading",
    "read_truth": "data.reading",
    "report": "reporting",
    "simulate": "data.simulation",
    "write": "data.writing",
}

__all__ = [  # a literal, for type checkers; tests hold it to _HOMES
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
    "CallError",
    "DataError",
    "DawidSkene",
    "Hierarchical",
    "IterativeWeightedMajorityVote",
    "Labels",
    "LearningFromCrowds",
    "LightweightAggregation",
    "LogLinear",
    "MajorityVote",
    "Minimax",
    "OneCoin",
    "Result",
    "Wawa",
    "ZenCrowd",
    "ZeroBasedSkill",
    "accuracy",
    "datasets",
    "explain",
    "read_labels",
    "read_truth",
    "report",
    "simulate",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f".{_HOMES[name]}", __name__)
    return home if _HOMES[name] == name else getattr(home, name)  # a subpackage is its own home


def __dir__() -> list[str]:
    return sorted(__all__)
