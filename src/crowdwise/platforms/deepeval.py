"""DeepEval: what its metrics said about each test case, from the file of a test run."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import JudgedOutputs, Location, entries, path_of, text_or_none
from .platform import Answer, Finding, Platform, Tally

# Where test cases are: in a test run, and in the file of the latest one.
_CASES: Final = ("testCases", "conversationalTestCases")
_LATEST: Final = "testRunData"


def _recognises(file: Input) -> bool:
    run = file.first.get(_LATEST, file.first)
    return isinstance(run, dict) and any(isinstance(run.get(key), list) for key in _CASES)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    judged = JudgedOutputs("name the answers by --item-column, such as --item-column input")
    for file, cases in product(files, _CASES):
        path = f"{_LATEST}.{cases}.item" if _LATEST in file.first else f"{cases}.item"
        names: set[Any] = set()
        for number, (at, case) in enumerate(entries([file], "test case", partial(Input.objects, path=path))):
            item = at.field(case, options.item or "name")
            if options.item is None and item in names:  # the same name for several cases
                item = path_of([item, case.get("order", number)])
            names.add(item)
            output = case.get("actualOutput")
            judged.check(file, item, None if output is None else [case.get("input"), output])
            yield from _case(at, case, item)


def _case(at: Location, case: Mapping[str, Any], item: Any) -> Iterator[Finding]:
    metrics = at.objects(case.get("metricsData"), "'metricsData'", "a metric")
    if not metrics:
        yield Tally("test cases without a metric", is_answer=True)
    for metric in metrics:
        judge, question = text_or_none(metric.get("evaluationModel")), text_or_none(metric.get("name"))
        if judge is None:
            yield Tally("results of metrics that no model decides ('evaluationModel' is empty)", is_answer=True)
            continue
        if question is None:
            raise at.inside("a metric").unlike("has no 'name'")
        failed, success = bool(metric.get("error")), metric.get("success")
        if not failed and success is not None and not isinstance(success, bool):
            raise at.inside(f"'success' of {question!r}").unlike("is neither true nor false")
        choices = () if failed or success is None else (success,)
        yield Answer(item, judge, question, choices, status="failed" if failed else "", model=True)


DEEPEVAL: Final = Platform("deepeval", "a test run of DeepEval", _recognises, _read, judges=True, uses=("item",))
