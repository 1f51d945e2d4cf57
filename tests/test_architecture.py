"""The floor plan: few packages, imports in few layers, no module that only one stranger uses, docs that say so."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

import crowdwise as cw
from crowdwise import _HOMES
from crowdwise.methods import METHODS, NUMERIC_METHODS
from tools.generate import generated

PACKAGE = Path(cw.__file__).parent
ROOT = PACKAGE.parent.parent


PACKAGES = [
    "analysis",
    "cli",
    "compat",
    "data",
    "datasets",
    "families",
    "fitting",
    "methods",
    "numerics",
    "reporting",
    "results",
]
FITTING_SIDE = ("methods/", "families/", "fitting/", "results/", "numerics/")


def test_the_folder_has_the_packages_of_the_design() -> None:
    packages = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
    modules = [path.name for path in PACKAGE.glob("*.py")]
    assert packages == PACKAGES
    assert len(modules) <= 7, modules
    picture = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## ")[0]
    for name in packages:
        assert re.search(rf"^    (.* )?{name}  ", picture, re.MULTILINE), name


def test_imports_go_one_way_in_at_most_twelve_layers_without_exceptions() -> None:
    (contract,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert len(contract["layers"]) <= 12
    assert contract["exhaustive"]
    assert "ignore_imports" not in contract
    assert "exhaustive_ignores" not in contract


def test_no_module_is_used_by_one_module_of_another_package_alone() -> None:
    """Such a module is the private half of that one, and belongs beside it."""
    graph = grimp.build_graph("crowdwise")
    public = {f"crowdwise.{home}" for home in _HOMES.values()} | {
        method.__module__ for table in (METHODS, NUMERIC_METHODS) for method in table.values()
    }
    lonely = {}
    for module in sorted(graph.modules - public):
        users = graph.find_modules_that_directly_import(module)
        package = module.rpartition(".")[0]
        if len(users) == 1 and package != "crowdwise" and not f"{users.copy().pop()}.".startswith(f"{package}."):
            lonely[module] = users
    assert not lonely


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_generated_files_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated()[path], "run `make generated`"


# Prints every file of the package whose functions run, besides those that only compile.
WALK = """
import os, sys, threading
from pathlib import Path
import crowdwise as cw
package = str(Path(cw.__file__).parent) + os.sep
seen = set()
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
        seen.add(code.co_filename.removeprefix(package).replace(os.sep, "/"))
def walk(run):
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    except SystemExit:
        pass
    sys.setprofile(None)
    print(*sorted(seen))
"""
FIT = """
crowd = cw.simulate(60, 8, classes=3, seed=2).labels
{call}  # what is imported later would be seen as running
walk(lambda: {call})
"""
ROW = """
from crowdwise import methods
from crowdwise.cli import main, summary, terminal
from crowdwise.reading import read_labels  # what is imported later would be seen as running
from crowdwise.platforms import IMPORTERS, REFUSED
sys.argv = ["crowdwise", "aggregate", "labels.csv", "-o", "out.csv", "--quiet"]
# Every platform is asked whether it wrote the file, which is said once, and not for each of them.
asked = {one.recognises.__code__.co_filename.removeprefix(package) for one in (*IMPORTERS, *REFUSED)}
note_all = note
def note(frame, event, argument):
    if frame.f_code.co_filename.removeprefix(package) not in asked:
        note_all(frame, event, argument)
walk(main)
"""


def walked(code: str, folder: Path) -> set[str]:
    """The files that a program runs through, which is run in a folder in a process of its own."""
    program = [sys.executable, "-W", "ignore", "-c", WALK + code]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def named(title: str) -> set[str]:
    """The files that a section of the design names."""
    section = (
        (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition(f"## {title}")[2].partition("\n## ")[0]
    )
    return set(re.findall(r"`([a-z_/]+\.py)`", section.partition("Where labels are on disk")[0]))


@pytest.mark.parametrize("call", ["cw.aggregate(crowd)", "cw.BWA().fit(crowd)"])
def test_a_fit_passes_at_most_twenty_files(call: str, tmp_path: Path) -> None:
    files = {name for name in walked(FIT.format(call=call), tmp_path) if name.startswith(FITTING_SIDE)}
    assert len(files) <= 20, sorted(files)
    if "aggregate" in call:
        assert files == named("The walk of a fit")


def test_the_walk_in_the_design_is_the_walk_of_a_row(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("item,worker,label\n1,a,x\n1,b,y\n1,c,x\n2,a,y\n2,b,y\n")
    files = {name for name in walked(ROW, tmp_path) if not name.startswith(FITTING_SIDE)}
    assert (tmp_path / "out.csv").is_file()
    assert files == named("The walk of a row")
