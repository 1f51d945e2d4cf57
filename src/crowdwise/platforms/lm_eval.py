"""LM Evaluation Harness: what a model answered in each task, one file for each task in the folder of the model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..crowd.read_options import ReadOptions
from ..numerics.elementary import softmax
from ..sources.input import Input, file_name, worker_name
from .fields import Location, entries, is_scalar, number_or_none, path_of, text_or_none
from .platform import Answer, Finding, Platform, Tally

# The name of a file of samples: the task, and when it was run.
_SAMPLES: Final = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.:-]+")
# What filters answer if they find nothing.
_NOTHING: Final = "[invalid]"
# The filter of tasks that have none.
_NO_FILTER: Final = "none"


def _recognises(file: Input) -> bool:
    return ("doc_id" in file.first and "filtered_resps" in file.first) or _is_summary(file)


def _is_summary(file: Input) -> bool:
    """Return whether this is the file of results, which lies beside the samples and has only averages."""
    return isinstance(file.first.get("results"), dict) and not {"configs", "versions", "n-shot"}.isdisjoint(file.first)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    with_samples = [file for file in files if not _is_summary(file)]
    if len(with_samples) < len(files):
        yield Tally("files of results, which have no single answers", len(files) - len(with_samples))
    tasks = {_task(file) for file in with_samples}
    for file in with_samples:
        worker = worker_name(file.path, options.worker_from or "folder", file.name)
        task = _task(file)
        for at, sample in entries([file], "sample"):
            item = at.field(sample, options.item or ("doc_hash" if "doc_hash" in sample else "doc_id"))
            filtered = text_or_none(sample.get("filter")) or _NO_FILTER
            is_filtered = filtered != _NO_FILTER
            parts = [task if len(tasks) > 1 or not is_filtered else "", filtered if is_filtered else ""]
            yield from _sample(at, sample, item, worker, path_of(filter(None, parts)))


def _task(file: Input) -> str:
    """Return the task of a file, by its name; empty if it was given another name."""
    found = _SAMPLES.fullmatch(file_name(file.path))
    return found["task"] if found else ""


def _sample(at: Location, sample: Mapping[str, Any], item: Any, worker: str, question: str) -> Iterator[Finding]:
    """Yield what the model answered, and what the right answer is."""
    said = at.array(sample.get("filtered_resps"), "'filtered_resps'")
    target = sample.get("target")
    stated: tuple[tuple[Any, float], ...] = ()
    truth: Any = target.strip() if isinstance(target, str) else target
    if said and isinstance(said[0], list) and len(said) > 1 and all(map(_likelihood, said)):
        likelihoods = [_likelihood(one) for one in said]
        best = max(one[0] for one in likelihoods if one)
        answers: list[Any] = [next(n for n, one in enumerate(likelihoods) if one and one[0] == best)]
        truth = _position(sample, truth, len(said))
        chances = softmax(np.array([one[0] for one in likelihoods if one]))
        if np.isfinite(chances).all():
            stated = tuple(enumerate(chances.tolist()))
    else:
        answers = said[:1] or [None]
        while len(answers) == 1 and isinstance(answers[0], list) and answers[0]:
            answers = answers[0]  # several answers if the same request was repeated, and no filter takes one of them
        if len(said) > 1 and len(answers) > 1:
            answers = [None]  # choices, of which a likelihood is damaged
    for one in answers:
        answer = one.strip() if isinstance(one, str) else one
        if not is_scalar(answer) or answer == "":
            yield Answer(item, worker, question, (), model=True)
        else:
            status = "invalid" if answer == _NOTHING else ""
            yield Answer(item, worker, question, (answer,), status=status, model=True, stated=stated)
    if is_scalar(truth) and truth != "":
        yield Answer(item, "target", question, (truth,), gold=True)


def _likelihood(said: Any) -> tuple[float] | None:
    """Return the likelihood of one of several choices, which stands before whether it would be the model's own."""
    if not isinstance(said, list) or len(said) != 2 or str(said[1]) not in ("True", "False"):
        return None
    number = number_or_none(said[0])
    if number is None and str(said[0]) in ("-inf", "-Infinity", "None"):
        number = float("-inf")
    return None if number is None else (number,)


def _position(sample: Mapping[str, Any], truth: Any, choices: int) -> int | None:
    """Return which of several choices is the right one, which a task says by its position or by its text."""
    number = number_or_none(truth)
    if number is not None and number.is_integer() and 0 <= number < choices:
        return int(number)
    arguments = sample.get("arguments")
    texts = [
        str(one.get("arg_1")).strip()
        for one in (arguments.values() if isinstance(arguments, dict) else ())
        if isinstance(one, dict)
    ]
    return texts.index(truth) if texts.count(truth) == 1 and len(texts) == choices else None


LM_EVAL: Final = Platform(
    "lm-eval", "samples of LM Evaluation Harness", _recognises, _read, judges=True, uses=("item", "worker_from")
)
