"""SageMaker Ground Truth: what workers answered, what is sent to be consolidated, and manifests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from ..sources.input import Input
from .crowd_elements import form_answers
from .fields import as_items, as_list, as_object, field_of, first_text, from_json, number_or_none, text_or_none
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
    for file in files:
        for number, entry in enumerate(file.objects(), 1):
            where = f"entry {number:,}"
            if "answers" in entry:
                yield from _response(file, entry, options, where)
            elif "datasetObjectId" in entry:
                item = field_of(file, entry, options.item or "datasetObjectId", where)
                yield from _annotations(file, entry.get("annotations"), item, where)
            else:
                yield from _line(file, entry, options, where)


def _response(file: Input, entry: Mapping[str, Any], options: ReadOptions, where: str) -> Iterator[Finding]:
    """Yield the answers of a file whose folder is named after the item: the number of its line in the manifest."""
    item = file.path.parent.name
    if not item or options.item is not None:
        raise file.unlike("what workers answered names its item by its folder alone: give the folder worker-response")
    for one in as_list(file, entry["answers"], f"answers of {where}"):
        answer = as_object(file, one, f"an answer of {where}")
        about = {
            "worker": text_or_none(answer.get("workerId")),
            "seconds": number_or_none(answer.get("timeSpentInSeconds")),
            "time": text_or_none(answer.get("submissionTime")),
        }
        yield from _content(file, answer.get("answerContent"), item, about, where)


def _annotations(file: Input, annotations: Any, item: Any, where: str) -> Iterator[Finding]:
    """Yield the answers that are sent to be consolidated, whose content is JSON in a text."""
    for one in as_list(file, annotations, f"annotations of {where}"):
        annotation = as_object(file, one, f"an annotation of {where}")
        data = as_object(file, annotation.get("annotationData"), f"'annotationData' of {where}")
        content = from_json(file, data.get("content"), f"'content' of {where}")
        yield from _content(file, content, item, {"worker": text_or_none(annotation.get("workerId"))}, where)


def _content(file: Input, content: Any, item: Any, about: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield the answers of one worker. Options of one question that are on or off are one answer."""
    said = list(form_answers(file, as_object(file, content, f"what was answered in {where}"), where))
    if not said:
        yield Tally("answers without any content", is_answer=True)
    groups: dict[str, list[Any]] = {}
    for one in said:
        if one.option is None:
            yield Answer(item, question=one.question, choices=one.choices, several=one.several, type=one.type, **about)
        else:
            groups.setdefault(one.question, []).extend([one.option] if one.choices[0] else [])
    for question, chosen in groups.items():
        yield Answer(item, question=question or "choice", choices=tuple(chosen), **about)


def _line(file: Input, entry: Mapping[str, Any], options: ReadOptions, where: str) -> Iterator[Finding]:
    """Yield what is in a line of a manifest: the answers of all workers, or what was made of them."""
    jobs = _jobs(entry)
    if not jobs:
        raise file.unlike(f"{where} has no key with another one beside it that ends in {_METADATA!r}")
    item_field = options.item or ("source-ref" if "source-ref" in entry else "source")
    item = field_of(file, entry, item_field, where)
    for job in jobs:
        value, metadata = entry[job], entry[job + _METADATA]
        holders = [one for one in (value, metadata) if isinstance(one, dict) and _ALL_WORKERS in one]
        if holders:
            yield from _annotations(file, holders[0][_ALL_WORKERS], item, where)
            continue
        metadata = as_object(file, metadata, f"{job}{_METADATA} of {where}")
        name, names = first_text(metadata, "class-name"), metadata.get("class-map")
        choices = [name] if name is not None else list(names.values()) if isinstance(names, dict) else []
        yield Remark(_CONSOLIDATED)
        yield Answer(
            item,
            "consolidated",
            job,
            as_items(file, choices, f"{job}{_METADATA} of {where}"),
            status="" if choices else "unnamed",
            gold=bool(choices),
            several=names is not None,
        )


GROUND_TRUTH: Final = Platform("ground-truth", "a SageMaker Ground Truth output", _recognises, _read, uses=("item",))
