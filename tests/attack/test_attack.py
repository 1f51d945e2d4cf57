"""Some cases of every area, always the same ones; `make test-all` tries more, and `make attack N=100000` others."""

import pytest

from .area import all_areas, command, run_case
from .driver import shares
from .rule import Failure


def _at_once(tested: int) -> int:
    """How many cases run in one test, so that the processes of the tests share an area between them."""
    return max(1, min(20, tested // 8))


_BATCHES = [
    pytest.param(
        area.name,
        range(area.tested)[first : first + _at_once(area.tested)],
        id=f"{area.name} from {first}",
        marks=pytest.mark.slow if first else (),
    )
    for area in all_areas().values()
    for first in range(0, area.tested, _at_once(area.tested))
]


@pytest.mark.parametrize(("area", "seeds"), _BATCHES)
def test_the_rule_holds(area: str, seeds: range) -> None:
    failures = []
    for seed in seeds:
        try:
            run_case(area, seed)
        except Failure as failure:
            failures.append(f"{command(area, seed)}\n    {failure}")
    if failures:
        pytest.fail("\n".join([f"{len(failures)} of {len(seeds)} cases failed:", *failures]), pytrace=False)


@pytest.mark.parametrize("cases", [1, 7, 50, 1000])
def test_a_long_attack_has_as_many_cases_as_asked_for(cases: int) -> None:
    counts = shares(list(all_areas().values()), cases)
    assert sum(counts.values()) == cases
    assert cases < len(counts) or min(counts.values()) >= 1
