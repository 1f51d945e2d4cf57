"""The floor plan: few packages, imports in few layers, no module that only one stranger uses, docs that say so."""

import os
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
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
FITTING_SIDE = ("methods/", "families/", "fitting/", "results/", "numerics/")
DATA_SIDE = ("crowd/", "sources/", "platforms/", "partitions/", "reading/", "output/", "system.py", "addresses.py")
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
ROOMS = ("crowdwise", "crowdwise.output", "crowdwise.partitions")
(CONTRACT,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def test_imports_go_one_way_without_exceptions() -> None:
    assert CONTRACT["exhaustive"]
    assert "ignore_imports" not in CONTRACT
    assert "exhaustive_ignores" not in CONTRACT


def test_the_picture_has_every_room_in_the_order_of_imports() -> None:
    layers = [layer.split(" | ") for layer in CONTRACT["layers"]]
    outside = {"__main__", "testing", "engines"}  # two ways in, and a name for users
    rooms = [{room for room in layer if room not in outside} for layer in layers]
    drawn = re.findall(r'<text class="room" x="\d+" y="(\d+)">(\w+)</text>', PICTURE.read_text(encoding="utf-8"))
    heights = sorted({int(height) for height, _ in drawn})
    assert [{room for y, room in drawn if int(y) == height} for height in heights] == [one for one in rooms if one]


def test_every_file_that_the_design_names_is_there() -> None:
    for page in ("architecture.md", "decisions.md"):
        text = (ROOT / "docs" / "contributing" / page).read_text(encoding="utf-8")
        for name in re.findall(r"`([\w/]+\.(?:py|toml))`", text):
            assert (PACKAGE / name).is_file() or (ROOT / name).is_file(), f"{page}: {name}"


def test_no_module_is_used_by_one_module_of_another_package_alone() -> None:
    """Such a module is the private half of that one, and belongs beside it; but all that writes has one room."""
    graph = grimp.build_graph("crowdwise")
    public = {f"crowdwise.{home}" for home in _HOMES.values()} | {
        method.__module__ for table in (METHODS, NUMERIC_METHODS) for method in table.values()
    }
    lonely = {}
    for module in sorted(graph.modules - public):
        users = graph.find_modules_that_directly_import(module)
        package = module.rpartition(".")[0]
        elsewhere = [user for user in users if not f"{user}.".startswith(f"{package}.")]
        if len(users) == len(elsewhere) == 1 and package not in ROOMS:
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
# Every reader is asked whether an input is its own, until one says yes. What runs while they are asked is not noted.
READ = """
from crowdwise.reading.registry import READERS
from crowdwise.sources.formats import Format
from tests.support.exports import EXAMPLES
platforms = [one for one in READERS if not isinstance(one, Format)]
questions = [one.recognises.__code__ for one in (Format, *platforms)]
note_all = note
def note(frame, event, argument):
    above = frame
    while above is not None and above.f_code not in questions:
        above = above.f_back
    if above is None:
        note_all(frame, event, argument)
example = EXAMPLES["label-studio"]
Path("labels.csv").write_text("item,worker,label\\n1,a,x\\n1,b,y\\n1,c,x\\n2,a,y\\n2,b,y\\n")
export = example.write(Path())
{prepare}
{call}  # what is imported later would be seen as running
walk(lambda: {call})
"""


def walked(code: str, folder: Path) -> set[str]:
    """The files that a program runs through, which is run in a folder in a process of its own."""
    program = [sys.executable, "-W", "ignore", "-c", WALK + code]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return set(done.stdout.split())


def named(title: str) -> set[str]:
    """The files that a section of the design names."""
    page = (ROOT / "docs" / "contributing" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"### {title}\n")[2].partition("\n#")[0]
    return set(re.findall(r"`([a-z_/]+\.py)`", section.partition("Elsewhere:")[0]))


@pytest.mark.parametrize("call", ["cw.aggregate(crowd)", "cw.BWA().fit(crowd)"])
def test_a_fit_passes_at_most_twenty_files(call: str, tmp_path: Path) -> None:
    files = {name for name in walked(FIT.format(call=call), tmp_path) if name.startswith(FITTING_SIDE)}
    assert len(files) <= 20, sorted(files)
    if "aggregate" in call:
        assert files == named("The walk of a fit")


def read(call: str, folder: Path, prepare: str = "") -> set[str]:
    """The files of the data side that a call runs through."""
    return {name for name in walked(READ.format(call=call, prepare=prepare), folder) if name.startswith(DATA_SIDE)}


# An export passes its platform's file and those that platforms share besides.
@pytest.mark.parametrize(
    ("call", "most"),
    [("cw.read_labels('labels.csv')", 20), ("cw.read_labels(export, **example.options)", 24)],
    ids=["csv", "label-studio"],
)
def test_reading_passes_few_files(call: str, most: int, tmp_path: Path) -> None:
    files = read(call, tmp_path)
    assert len(files) <= most, sorted(files)


def test_the_walk_in_the_design_is_the_walk_of_a_row(tmp_path: Path) -> None:
    result = "result = cw.aggregate(cw.read_labels('labels.csv'), warn=False)"
    files = read("cw.read_labels('labels.csv')", tmp_path) | read("result.write('out.csv')", tmp_path, result)
    assert (tmp_path / "out.csv").is_file()
    assert files == named("The walk of a row")
