"""The command of the attack: many cases on two processes, or one case again."""

import argparse
import sys
from pathlib import Path

from .area import all_areas, command, run_case
from .driver import run_many
from .page import write_table
from .rule import Failure


def main() -> None:
    """Run the attack as the command line says; ends with code 1 if the rule was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--cases", type=int, help="how many cases, spread over the areas (1000)")
    parser.add_argument("--area", action="append", choices=list(all_areas()), help="only this area; repeatable")
    parser.add_argument("--seed", type=int, help="one case, as a failure says it; or the first seed with --cases")
    parser.add_argument("--processes", type=int, default=2, help="how many cases run at the same time")
    parser.add_argument("--keep", action="store_true", help="with --seed: leave the folder of the case, and say where")
    parser.add_argument("--write", type=Path, help="a page to write the table into, between its two marks")
    given = parser.parse_args()
    if given.cases is None and given.seed is not None and given.area and len(given.area) == 1:
        sys.exit(_repeat(given.area[0], given.seed, given.keep))
    areas = [all_areas()[name] for name in given.area or all_areas()]
    tally = run_many(areas, given.cases or 1000, given.seed or 0, given.processes)
    print(tally.table())
    if given.write is not None:
        write_table(given.write, tally)
    sys.exit(1 if tally.failures else 0)


def _repeat(area: str, seed: int, keep: bool) -> int:
    """Run one case, say what came of it, and return the exit code."""
    try:
        print(f"{area} {seed}: {run_case(area, seed, keep)}")
    except Failure as failure:
        print(f"{area} {seed}: {failure}\n    {command(area, seed)}")
        return 1
    return 0


if __name__ == "__main__":
    main()
