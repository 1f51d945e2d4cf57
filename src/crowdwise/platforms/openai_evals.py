"""OpenAI Evals: the log of a run, an event in each line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import as_list, as_object, field_of, is_scalar, text_or_none
from .platform import Answer, Finding, Platform, Tally

# What a model that grades is said to have chosen if nothing could be found in its text.
_NOTHING: Final = "__invalid__"


def _recognises(file: Input) -> bool:
    first = file.first
    return isinstance(first.get("spec"), dict) or ("run_id" in first and ("event_id" in first or "spec" in first))


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for file in files:
        spec: Mapping[str, Any] | None = None
        for number, event in enumerate(file.objects(), 1):
            where = f"line {number:,}"
            if "spec" in event:
                spec = as_object(file, event["spec"], f"'spec' of {where}")
            elif "final_report" in event:
                continue
            elif spec is None:
                raise file.unlike("its first line has no 'spec', which says who judges")
            else:
                yield from _event(file, event, _worker(file, spec), spec, options, where)
        if spec is None:
            raise file.unlike("it has no 'spec', which says who judges")


def _worker(file: Input, spec: Mapping[str, Any]) -> str:
    """Return the last model of a run: the only one, or the one that grades what the others answered."""
    models = as_list(file, spec.get("completion_fns"), "'completion_fns' of the spec")
    worker = text_or_none(models[-1]) if models else None
    if worker is None:
        raise file.unlike("its 'spec' has no 'completion_fns', which say who judges")
    return worker


def _event(
    file: Input, event: Mapping[str, Any], worker: str, spec: Mapping[str, Any], options: ReadOptions, where: str
) -> Iterator[Finding]:
    """Yield what one event says."""
    kind = event.get("type")
    data = event.get("data")
    key = {"metrics": "choice", "match": "picked"}.get(str(kind))
    if key is None or not isinstance(data, dict) or key not in data:
        yield Tally("events that are no verdicts", is_answer=True)
        return
    item = field_of(file, event, options.item or "sample_id", where)
    question = text_or_none(spec.get("eval_name") or spec.get("base_eval")) or ""
    said = data[key]
    choices = tuple(dict.fromkeys(one for one in (said if isinstance(said, list) else [said]) if _is_class(one)))
    status = "invalid" if _NOTHING in choices else ""
    yield Answer(item, worker, question, choices, status=status, model=True, time=text_or_none(event.get("created_at")))
    truth = data.get("expected")
    if isinstance(truth, list) and len(truth) == 1:
        truth = truth[0]
    if _is_class(truth):
        yield Answer(item, "expected", question, (truth,), gold=True)
    elif truth not in (None, "", []):
        yield Tally("events with several right answers, which are not used as known truths")


def _is_class(value: Any) -> bool:
    return is_scalar(value) and value != "" and value is not False


OPENAI_EVALS: Final = Platform("openai-evals", "a log of OpenAI Evals", _recognises, _read, judges=True, uses=("item",))
