"""The table of all methods that the tests run; for a new method, add a row here."""

import os
from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import settings

import crowdwise as cw

CASES: Final[Mapping[str, Any]] = {
    "mv": cw.MajorityVote(),
    "wawa": cw.Wawa(),
    "zero_based_skill": cw.ZeroBasedSkill(),
    "iwmv": cw.IterativeWeightedMajorityVote(),
    "la": cw.LightweightAggregation(),
    "catd": cw.CATD(),
    "crh": cw.CRH(),
    "glad": cw.GLAD(),
    "zc": cw.ZenCrowd(),
    "one_coin": cw.OneCoin(),
    "mace": cw.MACE(),
    "kos": cw.KOS(),
    "mmsr": cw.MMSR(),
    "vi_mf": cw.MeanField(),
    "vi_bp": cw.BeliefPropagation(),
    "ds": cw.DawidSkene(),
    "lfc": cw.LearningFromCrowds(),
    "ibcc": cw.IBCC(),
    "ebcc": cw.EBCC(),
    "cbcc": cw.CBCC(),
    "minimax": cw.Minimax(),
    "loglinear": cw.LogLinear(),
    "hierarchical": cw.Hierarchical(),
    "ptbcc": cw.PTBCC(),
    "bwa": cw.BWA(),
    "adjudicator": cw.Adjudicator(),
}

# Methods with other parameters that change what the method does; the key is the method's key and the difference.
VARIANTS: Final[Mapping[str, Any]] = {
    "adjudicator latent": cw.Adjudicator("latent"),
    "la one pass": cw.LightweightAggregation(passes=1),
    "zc released": cw.ZenCrowd.released(),
    "vi_mf one coin": cw.MeanField("one"),
    "vi_bp one coin": cw.BeliefPropagation("one"),
    "ibcc variational": cw.IBCC("variational"),
    "hierarchical full": cw.Hierarchical("full"),
    "hierarchical one coin": cw.Hierarchical("one_coin"),
    "bwa per label": cw.BWA(weights="per_label"),
    "bwa logistic": cw.BWA(link="logistic"),
    "bwa restarts": cw.BWA(restarts=2),
}

EVERY: Final = {**CASES, **VARIANTS}
# `make test` tries every method as it is, and `make test-all` the variants as well.
each_method = pytest.mark.parametrize(
    "key", [pytest.param(key, marks=() if key in CASES else pytest.mark.slow) for key in EVERY]
)
# Where a method takes long, `make test` tries these, and `make test-all` all of them.
_FEW: Final = ("mv", "glad", "ds", "bwa", "adjudicator")
each_method_few_in_a_hurry = pytest.mark.parametrize(
    "key", [pytest.param(key, marks=() if key in _FEW else pytest.mark.slow) for key in EVERY]
)


def examples(most: int) -> settings:
    """So many random examples in `make test-all`, a fifth of them in `make test`."""
    return settings(max_examples=most if os.environ.get("CROWDWISE_TESTS") == "all" else most // 5)
