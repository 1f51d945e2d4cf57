"""Batches of OpenAI and Anthropic: the texts that a model gave, of which the user says where the label is."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, shortened
from ..sources.input import Input
from .fields import Location, compiled, entries, is_scalar, text_or_none
from .platform import Answer, Finding, Platform, Remark, Tally

# How much of a text without a verdict is shown.
_SHOWN: Final = 160
# The marks around JSON in a text for people.
_FENCE: Final = re.compile(r"\A\s*```\w*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def _recognises(file: Input) -> bool:
    return "custom_id" in file.first and ("response" in file.first or "result" in file.first)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    find = _finder(options)
    names = _Names(options)
    without = 0
    first = ""
    for at, line in entries(files, "line"):
        id_ = at.field(line, options.item or "custom_id")
        body = _body(at, line)
        if body is None:
            yield Tally("requests that failed, expired or were cancelled", is_answer=True)
            continue
        item, worker = names.of(at, id_, text_or_none(body.get("model")))
        texts = list(_texts(at, body))
        if not texts:
            yield Answer(item, worker, "", (), model=True)
        for text in texts:
            label = find(text)
            if label is None:
                without += 1
                first = first or f"{text!r} of {id_!r}"
                yield Answer(item, worker, "", (), status="undecided", model=True)
            else:
                yield Answer(item, worker, "", (label,), model=True)
    if without:
        yield Remark(
            f"{without:,} texts have no verdict, or several different ones, and are not used; first: "
            f"{shortened(first, _SHOWN)}."
        )


class _Names:
    """Finds the item and the worker of a request: by its id and its model, or as the user says."""

    def __init__(self, options: ReadOptions) -> None:
        self._pattern = None if options.id is None else compiled("id", options.id)
        if self._pattern is not None and "item" not in self._pattern.groupindex:
            raise CallError(
                f"--id {options.id!r} has no group (?P<item>...); a group (?P<worker>...) may be there as well."
            )

    def of(self, at: Location, id_: Any, model: str | None) -> tuple[Any, str]:
        """Return the item and the worker of a request."""
        item, worker = id_, model
        if self._pattern is not None:
            found = self._pattern.fullmatch(str(id_))
            if found is None or not found["item"]:
                raise DataError(f"{at.file.name}: --id {self._pattern.pattern!r} does not match {id_!r}, {at.where}.")
            item = found["item"]
            worker = found.groupdict().get("worker") or model
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


def _texts(at: Location, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that a model gave: one, or several if several were asked for."""
    if "choices" in body:  # OpenAI: chat, or older completions
        for choice in at.objects(body["choices"], "'choices'", "a choice"):
            message = choice.get("message")
            yield from _joined(_pieces(at, message if isinstance(message, dict) else choice))
    elif "output" in body:  # OpenAI: responses
        outputs = [one for one in at.array(body["output"], "'output'") if isinstance(one, dict)]
        yield from _joined([piece for one in outputs for piece in _pieces(at, one)])
    elif "content" in body:
        yield from _joined(_pieces(at, body))
    else:
        raise at.unlike("has neither 'choices' nor 'output' nor 'content'")


def _joined(pieces: list[str]) -> Iterator[str]:
    """Yield the pieces of a text as one, if there is any."""
    if text := "".join(pieces):
        yield text


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
        pattern = compiled("verdict", options.verdict)
        if pattern.groups != 1:
            raise CallError(f"--verdict {options.verdict!r} has {pattern.groups} groups ( ), and has to have one.")
        return lambda text: _in_text(pattern, text)
    path = (options.verdict_field or "").split(".")
    return lambda text: _in_json(path, text)


def _in_text(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the group of a regular expression; None if it is not in the text, or if different ones are."""
    found = {(one[1] or "").strip() for one in pattern.finditer(text)} - {""}
    return found.pop() if len(found) == 1 else None


def _in_json(path: list[str], text: str) -> Any:
    """Return the field of a text that is JSON."""
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
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
