"""Run majority vote on files of a case, hold the run to the rule, and its answer to what it must be."""

from collections.abc import Callable, Sequence
from typing import Any

from .answers import READERS, compare
from .area import Case
from .majority import MustRefuseError, Row, Rules, majority
from .rule import Failure, Verdict, judge
from .running import in_process


def check_majority(
    case: Case,
    arguments: Sequence[object],
    rules: Rules,
    rows: Sequence[Row] | None,
    *,
    is_text: bool = True,
    may_refuse: bool = False,
    order: Callable[[Any], Any] | None = None,
    stdin: bytes = b"",
) -> Verdict:
    """Let crowdwise compute majority vote, and compare.

    Args:
        case: The case.
        arguments: The files, and options that say how to read them.
        rules: What to do with rows that cannot be used as they are.
        rows: The rows that are in the files; None if nobody can say, so that only the rule is held.
        is_text: Whether the format of the files has no types.
        may_refuse: Whether crowdwise may also refuse the files, because they are damaged.
        order: What classes are sorted by; None for the values themselves.
        stdin: What standard input holds.
    """
    extension = case.random.choice(list(READERS))
    items, workers = case.here / f"truth of items{extension}", case.here / f"workers{extension}"
    engine = case.random.choice(("auto", "memory", "memory", "disk"))
    scores = case.chance(0.3)
    options = [*rules.options, "-m", "mv", "-o", items, "--workers", workers, "--engine", engine]
    options += ["--scores"] if scores else []
    options += ["--quiet"] if case.chance(0.8) else []
    run = in_process(case, "aggregate", *options, *arguments, stdin=stdin)
    verdict = judge(run, {str(items), str(workers)})
    try:
        expected = None if rows is None else majority(rows, rules, is_text=is_text, order=order)
    except MustRefuseError as reason:
        if verdict == "right":
            raise run.fail(f"answered what it had to refuse ({reason})") from reason
        return verdict
    if verdict == "refused":
        if may_refuse or expected is None:
            return verdict
        raise run.fail("refused what it had to answer")
    if expected is not None:
        try:
            compare(expected, items, workers, scores=scores, ordered=engine != "disk")
        except Failure as difference:
            raise run.fail(str(difference)) from difference
    return verdict
