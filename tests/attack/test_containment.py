"""The attack harms nothing outside the folders of its cases."""

from pathlib import Path
from random import Random

import pytest

from .area import Case
from .containment import UnsafeCaseError, require_contained


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["aggregate", "labels.csv", "-o", "/dev/full"], {}),
        (["simulate", "--output", "../../x"], {}),
        (["aggregate", "labels.csv", "--workdir", "/"], {}),
        (["methods"], {"HOME": "/nonexistent"}),
    ],
)
def test_a_case_that_would_write_elsewhere_is_not_run(
    arguments: list[str], variables: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(UnsafeCaseError):
        require_contained(_case(tmp_path), arguments, variables)


def test_a_link_that_leads_elsewhere_is_noticed(tmp_path: Path) -> None:
    case = _case(tmp_path)
    arguments = ["aggregate", "/proc/self/environ", "-o", "inside/truth.csv"]
    (case.here / "inside").symlink_to("../temporary")
    require_contained(case, arguments, {"HOME": str(case.home)})
    (case.here / "device.csv").symlink_to("/dev/full")
    with pytest.raises(UnsafeCaseError, match=r"device\.csv leads to /dev/full"):
        require_contained(case, arguments, {})


def _case(folder: Path) -> Case:
    case = Case("csv", 0, folder, Random(0))
    case.here.mkdir()
    return case
