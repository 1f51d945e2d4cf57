"""Writes the constants to the file that the package ships: src/crowdwise/results/calibration.toml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from .fitting import Fitted

PATH: Final = Path(__file__).parents[2] / "src" / "crowdwise" / "results" / "calibration.toml"

_HEAD: Final = """\
# The constants that turn the scores of methods into confidence; calibration.py says how.
# Written by `python -m studies.calibrate`; do not change them by hand.
#
# This is the one place where truth was used for fitting: constants by log loss on {crowds} crowds of {families}
# families, each family weighing the same, and spreads by how far mean confidence was from accuracy in the families
# that a constant was not fitted to. The ranges are those of constants that were fitted without one family. Nothing else
# in this package was fitted to truths, and nothing else may be.
"""


def constants_file(fitted: Mapping[str, Fitted]) -> str:
    """Return the text of the file, given what was found out about every method."""
    largest = max(fitted.values(), key=lambda one: len(one.crowds))
    head = _HEAD.format(crowds=len(largest.crowds), families=len(set(largest.families)))
    return "\n".join([head, *(_row(name, one) for name, one in fitted.items())])


def _row(name: str, one: Fitted) -> str:
    """Return the constants of one method."""
    constant = one.constant
    values = {"constant": constant.value} if constant.weights is None else constant.weights._asdict()
    lines = [f"[{name}]", f'form = "{constant.form}"']
    for (key, value), ends in zip(values.items(), one.ranges, strict=True):
        lines += [f"{key} = {value}", f"{key}_range = [{ends[0]}, {ends[1]}]"]
    lines += [f"spread_{level} = {spread}" for level, spread in constant.spreads.items()]
    return "\n".join(lines) + "\n"
