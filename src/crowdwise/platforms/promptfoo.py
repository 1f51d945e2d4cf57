"""promptfoo: what its model-graded assertions said, from its JSON output or its JSON lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import JudgedOutputs, Location, entries, is_scalar, path_of, text_or_none, value_at
from .platform import Answer, Finding, Platform, Tally

# The types of assertions that a model decides, and the beginning of the names of others.
_JUDGED: Final = {
    "llm-rubric",
    "agent-rubric",
    "search-rubric",
    "factuality",
    "model-graded-closedqa",
    "model-graded-factuality",
    "answer-relevance",
}
_JUDGED_TOO: Final = "context-"
# The beginning of the types of assertions that pass if the same one without it fails.
_NOT: Final = "not-"
_DEFAULT: Final = "default grader"


def _recognises(file: Input) -> bool:
    first = file.first
    if "gradingResult" in first and ("promptIdx" in first or "testIdx" in first):
        return True
    results = first.get("results")
    if not isinstance(results, dict):
        return False
    rows = results.get("results")
    if isinstance(rows, list) and rows and isinstance(rows[0], dict) and "gradingResult" in rows[0]:
        return True
    return "evalId" in first and "prompts" in results  # the prompts may be so long that no result is at the beginning


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    judged = JudgedOutputs("name the answers by --item-column id")
    for at, row in entries(files, "result", results):
        if options.item is not None:
            item = at.field(row, options.item)
        else:
            item = path_of(at.field(row, key) for key in ("testIdx", "promptIdx"))
        output = value_at(row, "response.output")
        judged.check(at.file, item, None if output is None else [row.get("vars"), output])
        yield from _row(at, row, item)


def results(file: Input) -> Iterator[dict[str, Any]]:
    """Yield the results of a file: an output of one prompt on one test each."""
    return file.objects("results.results.item" if isinstance(file.first.get("results"), dict) else "")


def _row(at: Location, row: Mapping[str, Any], item: Any) -> Iterator[Finding]:
    grading = row.get("gradingResult")
    components = None if grading is None else at.object(grading, "'gradingResult'").get("componentResults")
    listed = at.objects(components, "'componentResults'", "a component")
    if not listed:
        yield Tally("results that failed, or have no assertion", is_answer=True)
    for one in listed:
        assertion = one.get("assertion")
        if isinstance(assertion, dict):
            yield _component(at, one, assertion, item)
        elif not all(part in listed for part in at.array(one.get("componentResults"), "a set")):
            raise at.unlike("has a set of assertions whose members are not in its list")
        else:
            yield Tally("sets of assertions, whose members count by themselves", is_answer=True)


def _component(at: Location, one: Mapping[str, Any], assertion: Mapping[str, Any], item: Any) -> Finding:
    type_ = str(assertion.get("type")).removeprefix(_NOT)
    if type_ not in _JUDGED and not type_.startswith(_JUDGED_TOO):
        return Tally("results of assertions that no model decides", is_answer=True)
    failed, passed = bool(value_at(one, "metadata.graderError")), one.get("pass")
    if not failed and not isinstance(passed, bool):
        raise at.unlike("has an assertion that neither passed nor failed: its 'pass' is no true or false")
    question = text_or_none(assertion.get("metric"))
    if question is None:
        question = text_or_none(assertion.get("value")) or type_
        if type_ != assertion.get("type"):  # it passed if the judge said no
            question = f"{_NOT}{question}"
    worker, choices = judge_of(assertion.get("provider")), () if failed else (passed,)
    return Answer(item, worker, question, choices, status="failed" if failed else "", model=True)


def judge_of(provider: Any) -> str:
    """Return the name of a judge: its label, or the name of its model."""
    if isinstance(provider, dict) and "id" not in provider:  # one provider for each kind of task
        provider = provider.get("text")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return (text_or_none(provider) if is_scalar(provider) else None) or _DEFAULT


PROMPTFOO: Final = Platform("promptfoo", "a promptfoo output", _recognises, _read, judges=True, uses=("item",))
