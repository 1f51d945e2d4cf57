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


def test_a_listing_of_the_folder_is_a_dozen_packages_and_seven_modules() -> None:
    packages = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()]
    modules = [path.name for path in PACKAGE.glob("*.py")]
    assert len(packages) <= 13, packages
    assert len(modules) <= 7, modules


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
import crowdwise
from crowdwise import methods
from crowdwise.cli import main, summary, terminal
from crowdwise.data import reading  # what is imported later would be seen as running
from crowdwise.data.importers import IMPORTERS, REFUSED
package = str(Path(crowdwise.__file__).parent) + os.sep
seen = set()
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
        seen.add(code.co_filename.removeprefix(package).replace(os.sep, "/"))
sys.argv = ["crowdwise", "aggregate", "labels.csv", "-o", "out.csv", "--quiet"]
threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
# Every platform is asked whether it wrote the file, which is said once, and not for each of them.
seen -= {one.recognises.__code__.co_filename.removeprefix(package) for one in (*IMPORTERS, *REFUSED)}
print(*sorted(name for name in seen if "simd" not in name))
"""


def test_the_walk_in_the_design_is_the_walk_of_a_row(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("item,worker,label\n1,a,x\n1,b,y\n1,c,x\n2,a,y\n2,b,y\n")
    done = subprocess.run([sys.executable, "-c", WALK], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (tmp_path / "out.csv").is_file()
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    walk = design.partition("## The walk of a row")[2].partition("On disk, step 3")[0]
    assert set(re.findall(r"`([a-z_/]+\.py)`", walk)) == set(done.stdout.split())
