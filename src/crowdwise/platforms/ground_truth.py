"""SageMaker Ground Truth: what workers answered, what is sent to be consolidated, and manifests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from ..sources.input import Input
from .crowd_elements import form_answers
from .fields import Location, entries, first_text, number_or_none, text_or_none
from .platform import Answer, Finding, Platform, Remark, Tally

_METADATA: Final = "-metadata"
_ALL_WORKERS: Final = "annotationsFromAllWorkers"
_CONSOLIDATED: Final = (
    "A manifest with class names is consolidated already, so these are truths, and no votes: for votes, give the "
    "folder worker-response."
)


def _is_response(entry: Mapping[str, Any]) -> bool:
    answers = entry.get("answers")
    return isinstance(answers, list) and bool(answers) and isinstance(answers[0], dict) and "workerId" in answers[0]


def _jobs(entry: Mapping[str, Any]) -> list[str]:
    """Return the labelling jobs in a line of a manifest: the keys that have metadata beside them."""
    return [key.removesuffix(_METADATA) for key in entry if key.endswith(_METADATA) and key[: -len(_METADATA)] in entry]


def _recognises(file: Input) -> bool:
    first = file.first
    return _is_response(first) or "datasetObjectId" in first or bool(_jobs(first))


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    kinds = {_is_response(one.first): one.name for one in files}
    if len(kinds) > 1:
        raise CallError(
            f"{kinds[True]} holds what workers answered, and {kinds[False]} what was made of it: give only the "
            "folder worker-response, or the votes are counted twice."
        )
    for at, entry in entries(files, "entry"):
        if "answers" in entry:
            yield from _response(at, entry, options)
        elif "datasetObjectId" in entry:
            item = at.field(entry, options.item or "datasetObjectId")
            yield from _annotations(at, entry.get("annotations"), item)
        else:
            yield from _line(at, entry, options)


def _response(at: Location, entry: Mapping[str, Any], options: ReadOptions) -> Iterator[Finding]:
    """Yield the answers of a file whose folder is named after the item: the number of its line in the manifest."""
    item = at.file.path.parent.name
    if not item or options.item is not None:
        raise at.file.unlike(
            "what workers answered names its item by its folder alone: give the folder worker-response"
        )
    for answer in at.objects(entry["answers"], "answers", "an answer"):
        about = {
            "worker": text_or_none(answer.get("workerId")),
            "seconds": number_or_none(answer.get("timeSpentInSeconds")),
            "time": text_or_none(answer.get("submissionTime")),
        }
        yield from _content(at, answer.get("answerContent"), item, about)


def _annotations(at: Location, annotations: Any, item: Any) -> Iterator[Finding]:
    """Yield the answers that are sent to be consolidated, whose content is JSON in a text."""
    for annotation in at.objects(annotations, "annotations", "an annotation"):
        data = at.object(annotation.get("annotationData"), "'annotationData'")
        content = at.parsed(data.get("content"), "'content'")
        yield from _content(at, content, item, {"worker": text_or_none(annotation.get("workerId"))})


def _content(at: Location, content: Any, item: Any, about: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the answers of one worker. Options of one question that are on or off are one answer."""
    if not isinstance(content, dict):
        raise at.file.unlike(f"what was answered in {at.where} is no object")
    answers = list(form_answers(at, content))
    if not answers:
        yield Tally("answers without any content", is_answer=True)
    groups: dict[str, list[Any]] = {}
    for one in answers:
        if one.option is None:
            yield Answer(item, question=one.question, choices=one.choices, several=one.several, type=one.type, **about)
        else:
            groups.setdefault(one.question, []).extend([one.option] if one.choices[0] else [])
    for question, chosen in groups.items():
        yield Answer(item, question=question or "choice", choices=tuple(chosen), **about)


def _line(at: Location, entry: Mapping[str, Any], options: ReadOptions) -> Iterator[Finding]:
    """Yield what is in a line of a manifest: the answers of all workers, or what was made of them."""
    jobs = _jobs(entry)
    if not jobs:
        raise at.unlike(f"has no key with another one beside it that ends in {_METADATA!r}")
    item = at.field(entry, options.item or ("source-ref" if "source-ref" in entry else "source"))
    for job in jobs:
        key = job + _METADATA
        value, metadata = entry[job], entry[key]
        holders = [one for one in (value, metadata) if isinstance(one, dict) and _ALL_WORKERS in one]
        if holders:
            yield from _annotations(at, holders[0][_ALL_WORKERS], item)
            continue
        metadata = at.object(metadata, key)
        name, names = first_text(metadata, "class-name"), metadata.get("class-map")
        choices = [name] if name is not None else list(names.values()) if isinstance(names, dict) else []
        yield Remark(_CONSOLIDATED)
        yield Answer(
            item,
            "consolidated",
            job,
            at.classes(choices, key),
            status="" if choices else "unnamed",
            gold=bool(choices),
            several=names is not None,
        )


GROUND_TRUTH: Final = Platform("ground-truth", "a SageMaker Ground Truth output", _recognises, _read, uses=("item",))
