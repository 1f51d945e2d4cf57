"""OpenAI Evals: the log of a run, an event in each line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import Location, entries, is_scalar, text_or_none
from .platform import Answer, Finding, Platform, Tally

# What a model that grades is said to have chosen if nothing could be found in its text.
_NOTHING: Final = "__invalid__"


def _recognises(file: Input) -> bool:
    first = file.first
    return isinstance(first.get("spec"), dict) or ("run_id" in first and ("event_id" in first or "spec" in first))


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for file in files:
        spec: Mapping[str, Any] | None = None
        for at, event in entries([file], "line"):
            if "spec" in event:
                spec = at.object(event["spec"], "'spec'")
            elif "final_report" in event:
                continue
            elif spec is None:
                raise file.unlike("its first line has no 'spec', which says who judges")
            else:
                yield from _event(at, event, _worker(file, spec), spec, options)
        if spec is None:
            raise file.unlike("it has no 'spec', which says who judges")


def _worker(file: Input, spec: Mapping[str, Any]) -> str:
    """Return the last model of a run: the only one, or the one that grades what the others answered."""
    models = Location(file, "the spec").array(spec.get("completion_fns"), "'completion_fns'")
    worker = text_or_none(models[-1]) if models else None
    if worker is None:
        raise file.unlike("its 'spec' has no 'completion_fns', which say who judges")
    return worker


def _event(
    at: Location, event: Mapping[str, Any], worker: str, spec: Mapping[str, Any], options: ReadOptions
) -> Iterator[Finding]:
    data = event.get("data")
    key = {"metrics": "choice", "match": "picked"}.get(str(event.get("type")))
    if key is None or not isinstance(data, dict) or key not in data:
        yield Tally("events that are no verdicts", is_answer=True)
        return
    item = at.field(event, options.item or "sample_id")
    question = text_or_none(spec.get("eval_name") or spec.get("base_eval")) or ""
    picked = data[key] if isinstance(data[key], list) else [data[key]]
    choices = tuple(dict.fromkeys(filter(_is_class, picked)))
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
