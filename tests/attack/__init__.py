"""The attack: hostile files, crowds, parameters and surroundings, made from seeds, and the rule that must hold.

    python -m tests.attack --cases 10000             # every area, on two processes (`make attack N=10000`)
    python -m tests.attack --area csv --seed 1234    # one case again, as a failure says it

The rule is in `rule.py`: a right answer, or exit code 1 or 2 with one short sentence and nothing left behind. Every
file in `areas/` is one area of attack; a new area is a new file with an `AREA` in it.
"""
