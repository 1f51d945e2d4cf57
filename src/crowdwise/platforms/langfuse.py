"""Langfuse: scores of people and of models, from its API or from the files of its blob storage export."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import Location, entries, first_text, is_scalar, number_or_none, text_or_none
from .platform import CHOICE, Answer, Finding, Platform

# The types of scores that are classes; what the others are, in words.
_CLASSES: Final = ("CATEGORICAL", "BOOLEAN")
_WORDS: Final = {"NUMERIC": "numbers", "TEXT": "free text", "CORRECTION": "corrected text"}
# Where scores of people and of evaluators name who gave them.
_AUTHORS: Final = {"ANNOTATION": "authorUserId", "EVAL": "evaluatorId"}
# Where a score that a program sent may name its judge.
_IN_METADATA: Final = ("model", "judge", "evaluator", "worker")


def _recognises(file: Input) -> bool:
    return _is_score(file.first) or _is_score(_first_in_page(file))


def _is_score(one: Mapping[str, Any]) -> bool:
    return _field(one, "dataType") is not None and ("stringValue" in one or "string_value" in one or "value" in one)


def _first_in_page(file: Input) -> Mapping[str, Any]:
    """Return the first score of an answer of the API, which is an object with a list."""
    data = file.first.get("data")
    return data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}


def _field(score: Mapping[str, Any], name: str) -> Any:
    """Return a field of a score; files in blob storage spell its name with underscores."""
    snake = "".join(f"_{one.lower()}" if one.isupper() else one for one in name)
    return score.get(name, score.get(snake))


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for at, score in entries(files, "score", lambda file: file.objects("data.item" if _first_in_page(file) else "")):
        type_ = text_or_none(_field(score, "dataType"))
        if type_ is None:
            raise at.unlike("has no 'dataType'")
        question = str(at.field(score, "name"))
        source = (text_or_none(_field(score, "source")) or "").upper()
        yield Answer(
            _item(at, score) if options.item is None else at.field(score, options.item),
            _worker(score, source, question),
            question,
            _classes(at, score, type_) if type_ in _CLASSES else (),
            model=source != "ANNOTATION",
            type=CHOICE if type_ in _CLASSES else _WORDS.get(type_, type_.lower()),
            time=text_or_none(_field(score, "timestamp")),
        )


def _item(at: Location, score: Mapping[str, Any]) -> Any:
    ids = [_field(score, name) for name in ("observationId", "traceId", "sessionId")]
    item = next((one for one in ids if is_scalar(one) and one != ""), None)
    if item is None:
        raise at.unlike("has neither 'observationId' nor 'traceId'")
    return item


def _worker(score: Mapping[str, Any], source: str, question: str) -> str:
    """Return who gave a score: a person, an evaluator, or what a program says in the metadata."""
    if source in _AUTHORS:
        return text_or_none(_field(score, _AUTHORS[source])) or question
    about = score.get("metadata")
    return (first_text(about, *_IN_METADATA) if isinstance(about, dict) else None) or question


def _classes(at: Location, score: Mapping[str, Any], type_: str) -> tuple[Any, ...]:
    said = _field(score, "stringValue")
    if said is None or said == "":
        said = score.get("value")
        if type_ == "BOOLEAN" and number_or_none(said) in (0, 1):
            said = "True" if number_or_none(said) else "False"
        elif not isinstance(said, str):  # the value of a class is a number without a meaning
            return ()
    return at.classes([said], "'stringValue'") if said != "" else ()


LANGFUSE: Final = Platform("langfuse", "scores of Langfuse", _recognises, _read, judges=True, uses=("item",))
