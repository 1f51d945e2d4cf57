"""Batches of OpenAI and Anthropic: the texts that a model gave, of which the user says where the label is."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, shortened
from ..sources.input import Input
from .answers import Answer, Counted, Found, Remark
from .fields import as_list, as_object, field_of, text_or_none
from .platform import Platform
from .verdicts import compiled, finder

# How much of a text without a verdict is shown.
_SHOWN: Final = 160


def _recognises(export: Input) -> bool:
    return "custom_id" in export.first and ("response" in export.first or "result" in export.first)


def _read(exports: Sequence[Input], options: ReadOptions) -> Iterator[Found]:
    find = finder(options)
    names = _Names(options)
    without = 0
    first = ""
    for export in exports:
        for number, line in enumerate(export.objects(), 1):
            where = f"line {number:,}"
            id_ = field_of(export, line, options.item or "custom_id", where)
            body = _body(export, line, where)
            if body is None:
                yield Counted("requests that failed, expired or were cancelled", is_answer=True)
                continue
            item, worker = names.of(export, id_, text_or_none(body.get("model")), where)
            texts = list(_texts(export, body, where))
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

    def of(self, export: Input, id_: Any, model: str | None, where: str) -> tuple[Any, str]:
        """Return the item and the worker of a request."""
        worker = model
        item = id_
        if self._pattern is not None:
            found = self._pattern.fullmatch(str(id_))
            if found is None or not found["item"]:
                raise DataError(f"{export.name}: --id {self._pattern.pattern!r} does not match {id_!r}, {where}.")
            item = found["item"]
            worker = found.groupdict().get("worker") or model
        if worker is None:
            raise export.unlike(f"{where} does not say which model answered")
        return item, worker


def _body(export: Input, line: Mapping[str, Any], where: str) -> Mapping[str, Any] | None:
    """Return what a model answered to a request; None if the request failed."""
    if "result" in line:  # Anthropic
        result = as_object(export, line["result"], f"'result' of {where}")
        if result.get("type") != "succeeded":
            return None
        return as_object(export, result.get("message"), f"'message' of {where}")
    response = line.get("response")
    if line.get("error") or response is None:
        return None
    response = as_object(export, response, f"'response' of {where}")
    if response.get("status_code", 200) != 200:
        return None
    return as_object(export, response.get("body"), f"'body' of {where}")


def _texts(export: Input, body: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield the texts that a model gave: one, or several if several were asked for."""
    if "choices" in body:  # OpenAI: chat, or older completions
        for one in as_list(export, body["choices"], f"'choices' of {where}"):
            choice = as_object(export, one, f"a choice of {where}")
            message = choice.get("message")
            yield from _joined(_pieces(export, message if isinstance(message, dict) else choice, where))
    elif "output" in body:  # OpenAI: responses
        outputs = [one for one in as_list(export, body["output"], f"'output' of {where}") if isinstance(one, dict)]
        yield from _joined([piece for one in outputs for piece in _pieces(export, one, where)])
    elif "content" in body:
        yield from _joined(_pieces(export, body, where))
    else:
        raise export.unlike(f"{where} has neither 'choices' nor 'output' nor 'content'")


def _joined(pieces: list[str]) -> Iterator[str]:
    """Yield the pieces of a text as one, if there is any."""
    if text := "".join(pieces):
        yield text


def _pieces(export: Input, message: Mapping[str, Any], where: str) -> list[str]:
    """Return the text of a message; or what it gives to a tool, which is how models are made to answer in JSON."""
    content = message.get("content", message.get("text"))
    if isinstance(content, str) and content:
        return [content]
    blocks = [one for one in (content if isinstance(content, list) else []) if isinstance(one, dict)]
    texts = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
    inputs = [json.dumps(one["input"]) for one in blocks if one.get("type") == "tool_use" and "input" in one]
    calls = as_list(export, message.get("tool_calls"), f"'tool_calls' of {where}")
    functions = [one.get("function") for one in calls if isinstance(one, dict)]
    functions += [message] if message.get("type") == "function_call" else []
    arguments = [
        one["arguments"] for one in functions if isinstance(one, dict) and isinstance(one.get("arguments"), str)
    ]
    return inputs or arguments or texts


BATCHES: Final = Platform(
    "batch",
    "a batch of a provider of models",
    _recognises,
    _read,
    judges=True,
    uses=("item", "verdict", "verdict_field", "id"),
)
