"""Tests that methods which need all labels in memory refuse disk and Spark before labels are read."""

import re
from pathlib import Path

import pytest

import crowdwise as cw
from tests.support.commands import run

pytestmark = pytest.mark.usefixtures("workdir")


@pytest.mark.parametrize("engine", ["disk", "auto"])
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["-m", "glad"], "GLAD needs all labels in memory, because it keeps something"),
        (["-m", "ibcc"], "IBCC needs all labels in memory, .* (inference=variational does not)"),
        (["-m", "bwa", "--set", "restarts=3"], "BWA needs all labels in memory, because of restarts=3"),
    ],
)
def test_what_cannot_run_on_disk_is_refused_before_reading(
    engine: str, asked: list[str], message: str, tmp_path: Path, workdir: Path
) -> None:
    path = tmp_path / "votes.csv"
    # The file has a conflict. If it were read, the error would be about the conflict instead.
    path.write_text("item,worker,label\n1,a,x\n1,a,y\n")
    done = run("aggregate", path, *asked, "--engine", engine, "--memory", "100B")
    assert done.returncode == 2
    assert re.match(f"error: {message}".replace("(", r"\(").replace(")", r"\)"), done.stderr)
    assert not list(workdir.iterdir())


def test_auto_refuses_nothing_that_fits(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    cw.simulate(50, 5, 2, seed=2).rows.write_csv(path)
    labels = cw.read_labels(path, engine="auto", memory="1GB", method=cw.GLAD())
    assert isinstance(labels, cw.Labels)
