"""DeepEval: what its metrics said about each test case, from the file of a test run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import JudgedOutputs, as_list, as_object, field_of, path_of, text_or_none
from .platform import Answer, Finding, Platform, Tally

# Where test cases are: in a test run, and in the file of the latest one.
_CASES: Final = ("testCases", "conversationalTestCases")
_LATEST: Final = "testRunData"


def _recognises(file: Input) -> bool:
    run = file.first.get(_LATEST, file.first)
    return isinstance(run, dict) and any(isinstance(run.get(key), list) for key in _CASES)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    judged = JudgedOutputs("name the answers by --item, such as --item input")
    for file in files:
        prefix = f"{_LATEST}." if _LATEST in file.first else ""
        for cases in _CASES:
            names: set[Any] = set()
            for number, case in enumerate(file.objects(f"{prefix}{cases}.item")):
                where = f"test case {number + 1:,}"
                item = field_of(file, case, options.item or "name", where)
                if options.item is None and item in names:  # the same name for several cases
                    item = path_of([item, case.get("order", number)])
                names.add(item)
                said = case.get("actualOutput")
                judged.check(file, item, None if said is None else [case.get("input"), said])
                yield from _case(file, case, item, where)


def _case(file: Input, case: Mapping[str, Any], item: Any, where: str) -> Iterator[Finding]:
    """Yield what the metrics said about a test case."""
    metrics = as_list(file, case.get("metricsData"), f"'metricsData' of {where}")
    if not metrics:
        yield Tally("test cases without a metric", is_answer=True)
    for one in metrics:
        metric = as_object(file, one, f"a metric of {where}")
        judge = text_or_none(metric.get("evaluationModel"))
        question = text_or_none(metric.get("name"))
        success = metric.get("success")
        if judge is None:
            yield Tally("results of metrics that no model decides ('evaluationModel' is empty)", is_answer=True)
            continue
        if question is None:
            raise file.unlike(f"a metric of {where} has no 'name'")
        failed = bool(metric.get("error"))
        if not failed and success is not None and not isinstance(success, bool):
            raise file.unlike(f"'success' of {question!r} of {where} is neither true nor false")
        choices = () if failed or success is None else (success,)
        yield Answer(item, judge, question, choices, status="failed" if failed else "", model=True)


DEEPEVAL: Final = Platform("deepeval", "a test run of DeepEval", _recognises, _read, judges=True, uses=("item",))
