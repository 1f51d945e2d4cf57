"""Writes the constants to the file that the package ships: src/crowdwise/results/calibration.toml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .fitting import Fitted

PATH: Final = Path(__file__).parents[1] / "src" / "crowdwise" / "results" / "calibration.toml"

_HEAD: Final = """\
# The constants that turn the scores of methods into confidence; calibration.py says how.
# Written by `python -m calibrate`; do not change them by hand.
#
# This is the one place where truth was used for fitting: `constant` by log loss on {crowds} crowds of {families}
# families, each family weighing the same, and `spread` by how far mean confidence was from accuracy in the families
# that a constant was not fitted to. Besides these, only the temperature of the adjudicator (0.73, a parameter of the
# method) was fitted to them, when it was designed. Nothing else in this package was, and nothing else may be.
"""


def constants_file(fitted: Mapping[str, Fitted]) -> str:
    """Return the text of the file, given what was found out about every method."""
    largest = max(fitted.values(), key=lambda one: len(one.crowds))
    rows = [
        f'[{name}]\nform = "{one.constant.form}"\nconstant = {one.constant.value}\nspread = {one.constant.spread}\n'
        for name, one in fitted.items()
    ]
    return "\n".join([_HEAD.format(crowds=len(largest.crowds), families=len(set(largest.families))), *rows])
