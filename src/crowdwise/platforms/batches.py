"""Batches of OpenAI and Anthropic: the texts that a model gave, of which the user says where the label is."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, shortened
from ..sources.input import Input
from .fields import Location, compiled, entries, is_scalar, text_or_none, value_at
from .log_probabilities import probability_of, tokens_of
from .platform import Answer, Finding, Platform, Remark, Tally

# How much of a text without a verdict is shown.
_SHOWN: Final = 160
# The marks around JSON in a text for people.
_FENCE: Final = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def _recognises(file: Input) -> bool:
    return "custom_id" in file.first and ("response" in file.first or "result" in file.first)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    find, pattern = _finder(options), _id_pattern(options)
    without, first = 0, ""
    for at, line in entries(files, "line"):
        id_ = at.field(line, options.item or "custom_id")
        body = _body(at, line)
        if body is None:
            yield Tally("requests that failed, expired or were cancelled", is_answer=True)
            continue
        item, worker = _names(at, id_, text_or_none(body.get("model")), pattern)
        texts = _texts(at, body)
        if not texts:
            yield Answer(item, worker, "", (), model=True)
        for text, tokens in texts:
            label = find(text)
            if label is None:
                without += 1
                first = first or f"{text!r} of {id_!r}"
                yield Answer(item, worker, "", (), status="undecided", model=True)
            else:
                chance = probability_of(str(label), text, tokens) if tokens else None
                stated = () if chance is None else ((label, chance),)
                yield Answer(item, worker, "", (label,), model=True, stated=stated)
    if without:
        yield Remark(
            f"{without:,} texts have no verdict, or several different ones, and are not used; first: "
            f"{shortened(first, _SHOWN)}."
        )


def _id_pattern(options: ReadOptions) -> re.Pattern[str] | None:
    pattern = None if options.id is None else compiled("id", options.id)
    if pattern is not None and "item" not in pattern.groupindex:
        raise CallError(
            f"--id-pattern {options.id!r} has no group (?P<item>...); a group (?P<worker>...) may be there as well."
        )
    return pattern


def _names(at: Location, id_: Any, model: str | None, pattern: re.Pattern[str] | None) -> tuple[Any, str]:
    """Return the item and the worker of a request: its id and its model, or what the user finds in its id."""
    item, worker = id_, model
    if pattern is not None:
        found = pattern.fullmatch(str(id_))
        if found is None or not found["item"]:
            raise DataError(f"{at.file.name}: --id-pattern {pattern.pattern!r} does not match {id_!r}, {at.where}.")
        item, worker = found["item"], found.groupdict().get("worker") or model
    if worker is None:
        raise at.unlike("does not say which model answered")
    return item, worker


def _body(at: Location, line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a model answered to a request; None if the request failed."""
    if "result" in line:  # Anthropic
        result = at.object(line["result"], "'result'")
        return at.object(result.get("message"), "'message'") if result.get("type") == "succeeded" else None
    response = line.get("response")
    if line.get("error") or response is None:
        return None
    response = at.object(response, "'response'")
    return at.object(response.get("body"), "'body'") if response.get("status_code", 200) == 200 else None


def _texts(at: Location, body: Mapping[str, Any]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return the texts that a model gave: one, or several if several were asked for; and their tokens, if logged."""
    tokens: list[list[Mapping[str, Any]]] = []
    if "choices" in body:  # OpenAI: chat, or older completions
        choices = at.objects(body["choices"], "'choices'", "a choice")
        messages = [one["message"] if isinstance(one.get("message"), dict) else one for one in choices]
        texts = ["".join(_pieces(at, message)) for message in messages]
        tokens = [tokens_of(one.get("logprobs")) for one in choices]
    elif "output" in body:  # OpenAI: responses
        outputs = [one for one in at.array(body["output"], "'output'") if isinstance(one, dict)]
        texts = ["".join(piece for one in outputs for piece in _pieces(at, one))]
    elif "content" in body:
        texts = ["".join(_pieces(at, body))]
    else:
        raise at.unlike("has neither 'choices' nor 'output' nor 'content'")
    tokens = tokens or [[] for _ in texts]
    return [(text, own) for text, own in zip(texts, tokens, strict=True) if text]


def _pieces(at: Location, message: Mapping[str, Any]) -> list[str]:
    """Return the text of a message; or what it gives to a tool, which is how models are made to answer in JSON."""
    content = message.get("content", message.get("text"))
    if isinstance(content, str) and content:
        return [content]
    blocks = [one for one in (content if isinstance(content, list) else []) if isinstance(one, dict)]
    texts = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
    inputs = [json.dumps(one["input"]) for one in blocks if one.get("type") == "tool_use" and "input" in one]
    calls = at.array(message.get("tool_calls"), "'tool_calls'")
    functions = [one.get("function") for one in calls if isinstance(one, dict)]
    functions += [message] if message.get("type") == "function_call" else []
    arguments = [
        one["arguments"] for one in functions if isinstance(one, dict) and isinstance(one.get("arguments"), str)
    ]
    return inputs or arguments or texts


def _finder(options: ReadOptions) -> Callable[[str], Any]:
    """Return what finds the label in a text, and returns None if there is none.

    Raises:
        CallError: The user did not say how to find it, or in two ways; or the regular expression is none.
    """
    if (options.verdict is None) == (options.verdict_field is None):
        raise CallError(
            "These are texts of a model: say where the label is in them, by --verdict, a regular expression with one "
            "group such as 'Verdict: (yes|no)', or by --verdict-field, the key of the label in answers that are JSON "
            "(verdict= or verdict_field= in Python)."
            if options.verdict is None
            else "Give --verdict or --verdict-field, not both."
        )
    if options.verdict is not None:
        pattern = compiled("verdict", options.verdict, groups=1)
        return lambda text: _in_text(pattern, text)
    return lambda text: _in_json(options.verdict_field or "", text)


def _in_text(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the group of a regular expression; None if it is not in the text, or if different ones are."""
    found = {(one[1] or "").strip() for one in pattern.finditer(text)} - {""}
    return found.pop() if len(found) == 1 else None


def _in_json(path: str, text: str) -> Any:
    fenced = _FENCE.match(text)
    try:
        value = value_at(json.loads(fenced[1] if fenced else text), path)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, str):
        value = value.strip()
    return value if is_scalar(value) and value != "" else None


BATCHES: Final = Platform(
    "batch",
    "a batch of a provider of models",
    _recognises,
    _read,
    judges=True,
    uses=("item", "verdict", "verdict_field", "id"),
)
