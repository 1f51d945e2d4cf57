"""Langfuse: scores of people and of models, from its API or from the files of its blob storage export."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import field_of, is_scalar, number_or_none, text_or_none
from .platform import CHOICE, Answer, Finding, Platform

# The types of scores that are classes; what the others are, in words.
_CLASSES: Final = ("CATEGORICAL", "BOOLEAN")
_WORDS: Final = {"NUMERIC": "numbers", "TEXT": "free text", "CORRECTION": "corrected text"}
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
    for file in files:
        for number, score in enumerate(file.objects("data.item" if _first_in_page(file) else ""), 1):
            yield _answer(file, score, options, f"score {number:,}")


def _answer(file: Input, score: Mapping[str, Any], options: ReadOptions, where: str) -> Answer:
    """Return one score as an answer."""
    type_ = text_or_none(_field(score, "dataType"))
    if type_ is None:
        raise file.unlike(f"{where} has no 'dataType'")
    question = str(field_of(file, score, "name", where))
    if options.item is not None:
        item = field_of(file, score, options.item, where)
    else:
        ids = [_field(score, name) for name in ("observationId", "traceId", "sessionId")]
        item = next((one for one in ids if is_scalar(one) and one != ""), None)
        if item is None:
            raise file.unlike(f"{where} has neither 'observationId' nor 'traceId'")
    source = text_or_none(_field(score, "source")) or ""
    choices = _classes(file, score, type_, where) if type_ in _CLASSES else ()
    return Answer(
        item,
        _worker(score, source, question),
        question,
        choices,
        model=source.upper() != "ANNOTATION",
        type=CHOICE if type_ in _CLASSES else _WORDS.get(type_, type_.lower()),
        time=text_or_none(_field(score, "timestamp")),
    )


def _worker(score: Mapping[str, Any], source: str, question: str) -> str:
    """Return who gave a score: a person, an evaluator, or what a program says in the metadata."""
    about = score.get("metadata")
    named: list[Any] = []
    if source.upper() == "ANNOTATION":
        named = [_field(score, "authorUserId")]
    elif source.upper() == "EVAL":
        named = [_field(score, "evaluatorId")]
    elif isinstance(about, dict):
        named = [about.get(key) for key in _IN_METADATA]
    return next((text for one in named if (text := text_or_none(one))), question)


def _classes(file: Input, score: Mapping[str, Any], type_: str, where: str) -> tuple[Any, ...]:
    """Return the class of a score; none if it is empty."""
    said = _field(score, "stringValue")
    if said is None or said == "":
        said = score.get("value")
        if type_ == "BOOLEAN" and number_or_none(said) in (0, 1):
            said = "True" if number_or_none(said) else "False"
        elif not isinstance(said, str):  # the value of a class is a number without a meaning
            return ()
    if not is_scalar(said):
        raise file.unlike(f"'stringValue' of {where} is neither text nor a number")
    return (said,) if said != "" else ()


LANGFUSE: Final = Platform("langfuse", "scores of Langfuse", _recognises, _read, judges=True, uses=("item",))
