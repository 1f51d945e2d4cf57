"""Inspect AI: its logs, each a zip (.eval) or one JSON file, in which scorers judged the answers of a model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from ..sources.typed_columns import as_text
from .fields import JudgedOutputs, Location, entries, is_scalar, path_of, text_or_none, value_at
from .platform import CHOICE, Answer, Finding, Platform, Remark, Tally

# The files in a zip: what the log is about, the same at the beginning of the run, and a summary of each sample.
_HEADER, _START, _SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
# The grades that Inspect's own scorers give: correct, incorrect, partially correct, no answer.
_GRADES: Final = {"C", "I", "P", "N"}
# The question that all scorers answer who give such grades.
_CORRECT: Final = "correct"
# What is asked for, if it is no class.
_NUMBERS, _LISTS = "numbers", "lists"


class _Scorer(NamedTuple):
    """A scorer of a log: its name without a number, and who judges: one worker, or each model of a panel."""

    name: str
    workers: tuple[str, ...]


class _Score(NamedTuple):
    """One value that a judge gave; `part` is the key of a value that has several parts."""

    scorer: str
    part: str
    worker: str
    item: Any
    value: Any
    time: str | None

    @property
    def asked(self) -> tuple[str, str]:
        """What the value answers: the part, whoever judged it, or else what the scorer looks for."""
        return ("", self.part) if self.part else (self.scorer, "")


def _recognises(file: Input) -> bool:
    if file.is_zip:
        return _HEADER in file.members or _START in file.members
    about = file.first.get("eval")
    return isinstance(about, dict) and ("samples" in file.first or "task" in about)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    abouts = [_about(file) for file in files]
    tasks = {text_or_none(about.get("task")) for about in abouts}
    judged = JudgedOutputs("name the answers by --item-column uuid")
    scores: list[_Score] = []  # all of them are needed to tell classes from numbers
    targets: dict[Any, str] = {}
    for file, about in zip(files, abouts, strict=True):
        scorers = _scorers(file, about)
        model = text_or_none(about.get("model"))
        if model is None:
            raise file.unlike("it does not say which model it is about ('eval.model')")
        task = [text_or_none(about.get("task")) or "a task"] if len(tasks) > 1 else []
        for at, sample in entries([file], "sample", _samples):
            if options.item is not None:
                item = at.field(sample, options.item)
            else:
                item = path_of([*task, model, at.field(sample, "id"), sample.get("epoch", 1)])
            judged.check(file, item, sample.get("uuid"))
            target = sample.get("target")
            if isinstance(target, list) and len(target) == 1:
                target = target[0]
            if isinstance(target, str):
                targets[item] = target
            for one in _scores(at, sample, scorers, item):
                if isinstance(one, _Score):
                    scores.append(one)
                else:
                    yield one
    yield from _answers(scores, targets)


def _about(file: Input) -> Mapping[str, Any]:
    """Return what a log is about: its task, its model, its scorers."""
    if not file.is_zip:
        return next(file.objects("eval"), {})
    header = file.file_in(_HEADER if _HEADER in file.members else _START).whole()
    at = Location(file, "the header")
    return at.object(at.object(header).get("eval"), "'eval'")


def _samples(file: Input) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log, or their summaries, which have all that is needed and are much shorter."""
    if not file.is_zip:
        yield from file.objects("samples.item")
    elif _SUMMARIES in file.members:
        yield from file.file_in(_SUMMARIES).objects()
    else:
        for sample in file.files_in([name for name in file.members if _is_sample(name)]):
            yield from sample.objects()


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and (name.count("/") == 1 or name.endswith("/sample.json"))


def _scorers(file: Input, about: Mapping[str, Any]) -> dict[str, _Scorer]:
    """Return the scorers of a log by the keys that their scores have.

    The second scorer of a name has the key "name1". A judge is known by the name and the model, so that it is the same
    one in every log; by its key, if a log has it twice.
    """
    found: dict[str, _Scorer] = {}
    named: set[str] = set()
    for scorer in Location(file, "'eval'").objects(about.get("scorers"), "'scorers'", "a scorer"):
        name = (text_or_none(scorer.get("name")) or "a scorer").rpartition("/")[2]
        key = next(key for key in [name, *(f"{name}{n}" for n in range(1, len(found) + 2))] if key not in found)
        workers = tuple(f"{name} ({model})" for model in _models(scorer, about)) or (name,)
        if named & set(workers) or len(set(workers)) < len(workers):
            workers = tuple(f"{worker} of {key}" if key != name else worker for worker in workers)
            workers = tuple(f"{one}, {n}" if workers.count(one) > 1 else one for n, one in enumerate(workers, 1))
        named.update(workers)
        found[key] = _Scorer(name, workers)
    return found


def _models(scorer: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    """Return the models that judge for a scorer; none if it needs no model, or does not say which."""
    model = value_at(scorer, "options.model")
    if model is None and str(scorer.get("name")).rpartition("/")[2].startswith("model_graded_"):
        # Then the model that plays the grader does it, or the model that answered.
        model = value_at(about, "model_roles.grader") or about.get("model")
    models = model if isinstance(model, list) else [model]
    names = [text_or_none(one.get("model") if isinstance(one, dict) else one) for one in models]
    return [name for name in names if name]


def _scores(
    at: Location, sample: Mapping[str, Any], scorers: Mapping[str, _Scorer], item: Any
) -> Iterator[_Score | Finding]:
    given = at.object(sample.get("scores") or {}, "'scores'")
    time = text_or_none(sample.get("completed_at"))
    if not given:
        what = "samples that failed, and have no score" if sample.get("error") else "samples without a score"
        yield Tally(what, is_answer=True)
    for key, one in given.items():
        score = at.object(one, f"the score {key!r}")
        scorer = scorers.get(key) or _Scorer(key, (key,))
        votes: list[Any] = [score.get("value")]
        workers = scorer.workers
        if len(workers) > 1:
            votes = _votes_of_panel(score, len(workers))
            if not votes:
                yield Remark(
                    f"The log has only what the judges of {key!r} said together, not what each of {', '.join(workers)} "
                    "said: give each model a scorer of its own."
                )
                votes, workers = [score.get("value")], (key,)
        for worker, value in zip(workers, votes, strict=True):
            parts = value if isinstance(value, dict) and value else {"": None if value == {} else value}
            for part, said in parts.items():
                yield _Score(scorer.name, part, worker, item, said, time)


def _votes_of_panel(score: Mapping[str, Any], size: int) -> list[Any]:
    """Return what each of several models said; nothing if the log does not have it."""
    votes = value_at(score, "metadata.panel.votes")
    return votes if isinstance(votes, list) and len(votes) == size else []


def _answers(scores: list[_Score], targets: Mapping[Any, str]) -> Iterator[Finding]:
    """Yield all scores as answers, and targets as known truths where they are of the same kind."""
    kinds: dict[tuple[str, str], set[str]] = {}
    for one in scores:
        kinds.setdefault(one.asked, set()).add(_kind(one.value))
    labels: dict[str, dict[str, Any]] = {}
    for one in scores:
        found = kinds[one.asked] - {""}
        question = _CORRECT if found <= {"grade"} and not one.part else "".join(one.asked)
        type_ = next((type_ for type_ in (_NUMBERS, _LISTS) if type_ in found), CHOICE)
        value = int(one.value) if isinstance(one.value, float) and one.value.is_integer() else one.value
        choices = (value,) if type_ == CHOICE and _kind(value) else ()
        status = "" if _kind(value) else "unscored"
        yield Answer(one.item, one.worker, question, choices, status=status, model=True, type=type_, time=one.time)
        labels.setdefault(question, {}).update({as_text(choice): choice for choice in choices})
    # The target of a sample is what its answer should be, and seldom what its judges should say.
    for question, said in labels.items():
        if len(set(targets.values())) > 1 and set(targets.values()) <= set(said):
            for item, target in targets.items():
                yield Answer(item, "target", question, (said[target],), gold=True)


def _kind(value: Any) -> str:
    """Return what a value is: a grade, a class, a number, a list; empty if there is none."""
    if isinstance(value, list | dict):
        return _LISTS
    if not is_scalar(value) or value == "":
        return ""
    if isinstance(value, float) and not value.is_integer():
        return _NUMBERS
    return "grade" if value in _GRADES else "class"


INSPECT: Final = Platform("inspect", "a log of Inspect AI", _recognises, _read, judges=True, uses=("item",))
