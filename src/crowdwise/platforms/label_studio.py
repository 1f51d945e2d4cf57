"""Label Studio: its JSON export, with all annotations of each task, and the files that it writes to cloud storage."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .fields import Location, entries, first_text, is_scalar, number_or_none, path_of, text_or_none
from .platform import CHOICE, Answer, Finding, Platform, Remark, Tally

_COMPARED: Final = Remark("Which of two is better was asked: `crowdwise rank` puts what was compared in order.")
# The types of results whose value is one of some classes, and where it is.
CHOICES: Final = {"choices": "choices", "rating": "rating", "taxonomy": "taxonomy", "pairwise": "selected"}
_WORDS: Final = {"textarea": "free text", "number": "numbers", "datetime": "dates", "ranker": "a ranking"}
# What a choice has besides its classes if it is about a part of the item only.
_REGION: Final = frozenset({"start", "end", "x", "y", "startOffset", "endOffset"})


def _recognises(file: Input) -> bool:
    first = file.first
    if is_annotation(first):
        return True
    annotations = first.get("annotations", first.get("completions"))
    if not isinstance(annotations, list):
        return False
    if isinstance(first.get("data"), dict):
        return True
    # The data stand after the annotations, and these can be longer than what is looked at.
    return "id" in first and any(isinstance(one, dict) and isinstance(one.get("result"), list) for one in annotations)


def is_annotation(entry: Mapping[str, Any]) -> bool:
    """Return whether an object is one annotation with its task in it, as in cloud storage."""
    return isinstance(entry.get("task"), dict) and "result" in entry


def tasks(files: Sequence[Input], field: str | None) -> Iterator[tuple[Location, dict[str, Any], Any]]:
    """Yield the entries of an export, each a task or an annotation with its task in it, and the item.

    Args:
        files: The files.
        field: The field of the task that names the item; None for its id.
    """
    for at, entry in entries(files, "task"):
        yield at, entry, at.field(entry["task"] if is_annotation(entry) else entry, field or "id")


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for at, entry, item in tasks(files, options.item):
        yield from (_annotation if is_annotation(entry) else _task)(at, entry, item)


def _task(at: Location, task: Mapping[str, Any], item: Any) -> list[Finding]:
    """Return the answers in the annotations, drafts and predictions of a task."""
    annotations = at.array(task.get("annotations", task.get("completions")), "annotations")
    found: list[Finding] = [] if annotations else [Tally("tasks have no annotation")]
    for annotation in annotations:
        found += _annotation(at, annotation, item)
    for draft in at.array(task.get("drafts"), "drafts"):
        worker = first_text(draft, "user", "created_username") if isinstance(draft, dict) else None
        if worker is None:
            found.append(Tally("drafts not used", is_answer=True))
        else:
            found += _results(at, draft, Answer(item, worker, "", (), "draft"))
    for prediction in at.array(task.get("predictions"), "predictions"):
        if not isinstance(prediction, dict):  # the export was made without what models predicted
            found.append(Tally("predictions are in the export by their number only"))
        else:
            worker = text_or_none(prediction.get("model_version")) or "prediction"
            found += _results(at, prediction, Answer(item, worker, "", (), model=True))
    return found


def _annotation(at: Location, annotation: Any, item: Any) -> list[Finding]:
    get = at.object(annotation, "an annotation").get
    status = "cancelled" if get("was_cancelled") or get("skipped") else ""
    seconds, time = number_or_none(get("lead_time")), text_or_none(get("updated_at") or get("created_at"))
    gold = get("ground_truth") is True
    about = Answer(item, worker_of(get("completed_by")), "", (), status, False, gold, False, CHOICE, seconds, time)
    return _results(at, annotation, about)


def worker_of(completed_by: Any) -> str | None:
    """Return the e-mail address or the number of who annotated; None if the export does not say."""
    if isinstance(completed_by, dict):
        return first_text(completed_by, "email", "id")
    return text_or_none(completed_by)


def _results(at: Location, annotation: Mapping[str, Any], about: Answer) -> list[Finding]:
    """Return an answer for each question that an annotation or a prediction answers.

    There may be millions, so messages are made only where something is wrong.

    Args:
        at: Where it is.
        annotation: The annotation or prediction.
        about: What all its answers have in common.
    """
    results = at.array(annotation.get("result"), "result")
    if not results:
        what = "predictions" if about.model else "annotations"
        return [Tally(f"{about.status or 'empty'} {what} without any answer", is_answer=True)]
    item, worker, _, _, status, model, gold, several, _, seconds, time, _ = about
    regions = _regions(results) if len(results) > 1 else set()
    accepted = 0
    found: list[Finding] = []
    for one in results:
        kind = str(at.object(one, "a result").get("type"))
        if kind == "relation":
            found.append(Tally("relations between regions not used", is_answer=True))
            continue
        value = at.object(one.get("value", {}), "a value")
        type_, choices = CHOICE, ()
        if kind not in CHOICES:
            type_ = _WORDS.get(kind, f"{kind} (parts of an item)")
        elif not _REGION.isdisjoint(value) or _is_among(one.get("id"), regions):
            type_ = "a choice for each part of an item"
        else:
            choices = chosen(at, value, kind)
            accepted += one.get("origin") == "prediction" and not model
        if kind == "pairwise":
            found.append(_COMPARED)
        question = text_or_none(one.get("from_name")) or kind
        found.append(Answer(item, worker, question, choices, status, model, gold, several, type_, seconds, time))
    if accepted:
        found.append(Tally("answers were accepted from a prediction without a change, and are votes", accepted))
    return found


def _regions(results: Sequence[Any]) -> set[Any]:
    """Return the ids of the results that mark parts of an item."""
    marks = [one for one in results if isinstance(one, dict) and str(one.get("type")).endswith("labels")]
    return {key for one in marks if is_scalar(key := one.get("id"))}


def _is_among(key: Any, keys: set[Any]) -> bool:
    return is_scalar(key) and key in keys


def chosen(at: Location, value: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """Return the classes that the value of a result names. A class within a class is its path, as one text."""
    found = value.get(CHOICES[kind])
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], str):
        return (found[0],)
    what = f"the {kind}"
    if kind in ("rating", "pairwise"):
        return () if found is None else at.classes([found], what)
    return at.classes(as_paths(at, found, what), what)


def as_paths(at: Location, value: Any, what: str) -> list[Any]:
    """Return a list of classes, in which those that are lists themselves become one text."""
    return [path_of(one) if isinstance(one, list) else one for one in at.array(value, what)]


def _contents(files: Sequence[Input], options: ReadOptions) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    for at, entry, item in tasks(files, options.item):
        task = entry["task"] if is_annotation(entry) else entry
        yield item, at.object(task.get("data") or {}, "'data'")


LABEL_STUDIO: Final = Platform(
    "label-studio", "a Label Studio export", _recognises, _read, uses=("item",), contents=_contents
)
