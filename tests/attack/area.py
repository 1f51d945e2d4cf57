"""`Area` and `Case`: what can be attacked, and one try. A case follows from the area's name and a seed alone."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random

from . import areas
from .rule import Verdict


@dataclass(frozen=True)
class Case:
    """One try of an area.

    Attributes:
        area: The name of the area.
        seed: The number of the case.
        folder: An empty folder for all that the case needs.
        random: Where all choices of the case are drawn from.
    """

    area: str
    seed: int
    folder: Path
    random: Random

    @property
    def here(self) -> Path:
        """The folder that the command line runs in."""
        return self.folder / "here"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files."""
        return self.folder / "temporary"

    @property
    def home(self) -> Path:
        """The home of the user."""
        return self.folder / "home"

    def chance(self, probability: float) -> bool:
        """Whether something happens that has this probability."""
        return self.random.random() < probability


@dataclass(frozen=True)
class Area:
    """One area of attack.

    Attributes:
        name: Its name on the command line.
        tries: What is tried, in a few words, for the table.
        attack: Runs a case. Returns what came of it, and raises `Failure` if the rule was broken.
        tested: How many cases run in the tests.
        weight: How many cases run in a long attack, relative to other areas: cheap ones have more.
    """

    name: str
    tries: str
    attack: Callable[[Case], Verdict]
    tested: int = 200
    weight: int = 100


@cache
def all_areas() -> Mapping[str, Area]:
    """The areas by name: the `AREA` of every file in `areas/`."""
    modules = [import_module(f"{areas.__name__}.{file.name}") for file in iter_modules(areas.__path__)]
    found: list[Area] = [module.AREA for module in modules]
    return {area.name: area for area in sorted(found, key=lambda area: area.name)}


def run_case(area: str, seed: int, keep: bool = False, parent: Path | None = None) -> Verdict:
    """Make a case from its area and seed, and run it. Raises `Failure` if the rule was broken.

    Args:
        area: The name of the area.
        seed: The number of the case.
        keep: Whether the folder of the case stays, to look at it.
        parent: Where the folder of the case is made; None for the system's folder for temporary files.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"attack-{area}-", dir=parent))
    case = Case(area, seed, folder, Random(f"{area} {seed}"))
    for inside in (case.here, case.temporary, case.home):
        inside.mkdir()
    try:
        return all_areas()[area].attack(case)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def command(area: str, seed: int) -> str:
    """The command that repeats a case."""
    return f"python -m tests.attack --area {area} --seed {seed}"
