"""Amazon Mechanical Turk: the CSV file with the results of a batch."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..errors import CallError
from ..sources.formats import rows_of
from ..sources.input import Input
from .crowd_elements import FormAnswer, form_answers
from .fields import Location, entries, number_or_none, text_or_none
from .platform import Answer, Finding, Platform, Tally

_ANSWER, _INPUT, _JSON = "Answer.", "Input.", "Answer.taskAnswers"
_NUMBER: Final = "{n}"
# The question that options on and off answer together, if exactly one is on in every row.
_TOGETHER: Final = "choice"


def _recognises(file: Input) -> bool:
    header = file.header
    return {"HITId", "WorkerId"} <= set(header) and any(name.startswith(_ANSWER) for name in header)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    for file in files:
        # All rows say which questions there are, and which options are one question: the file is read twice.
        groups, questions = _groups_and_questions(_form(at, row) for at, row in entries([file], "row", rows_of))
        pairs = _pairs(file, options, questions)
        for at, row in entries([file], "row", rows_of):
            yield from _row(at, row, _settled(_form(at, row), groups), options, pairs)


def _form(at: Location, row: Mapping[str, Any]) -> Iterator[FormAnswer]:
    """Yield what a worker said, from the columns of answers and from the one with all of them in JSON."""
    columns = {
        name.removeprefix(_ANSWER): value for name, value in row.items() if name.startswith(_ANSWER) and name != _JSON
    }
    yield from form_answers(at, columns)
    if row.get(_JSON):
        for form in at.objects(at.parsed(row[_JSON], _JSON), _JSON, _JSON):
            yield from form_answers(at, form)


def _groups_and_questions(forms: Iterable[Iterable[FormAnswer]]) -> tuple[set[str], list[str]]:
    """Return the groups of options of which exactly one is on in every row that has them, and all questions."""
    counts: dict[str, set[int]] = defaultdict(set)
    questions: dict[str, None] = {}
    for form in forms:
        on: dict[str, int] = defaultdict(int)
        for one in form:
            questions.setdefault(one.question)
            if one.option is not None:
                on[one.question] += one.choices == (True,)
        for group, number in on.items():
            counts[group].add(number)
    return {group for group, numbers in counts.items() if numbers == {1}}, list(questions)


def _settled(form: Iterable[FormAnswer], groups: set[str]) -> Iterator[FormAnswer]:
    """Yield what was said, where options of one question became one answer, and others a yes or no each."""
    for one in form:
        if one.option is None:
            yield one
        elif one.question not in groups:
            yield FormAnswer(f"{one.question}.{one.option}".lstrip("."), ("yes" if one.choices[0] else "no",))
        elif one.choices[0]:
            yield FormAnswer(one.question or _TOGETHER, (one.option,))


def _row(
    at: Location,
    row: Mapping[str, Any],
    form: Iterable[FormAnswer],
    options: ReadOptions,
    pairs: tuple[re.Pattern[str], str] | None,
) -> Iterator[Finding]:
    status = (text_or_none(row.get("AssignmentStatus")) or "").lower()
    about: dict[str, Any] = {
        "worker": text_or_none(row.get("WorkerId")),
        "status": "" if status in ("submitted", "approved") else status,
        "seconds": number_or_none(row.get("WorkTimeInSeconds")),
        "time": text_or_none(row.get("SubmitTime")),
    }
    for one in form:
        item_field, question = options.item or "HITId", one.question
        if pairs is not None:
            pattern, column = pairs
            found = pattern.fullmatch(question)
            if found is None:
                yield Tally("answers that --column-pairs does not name", is_answer=True)
                continue
            item_field, question = column.replace(_NUMBER, found[1]), _without_number(question, found)
            if not one.choices and not row.get(item_field):  # a HIT that is not full
                yield Tally("places without an item or an answer", is_answer=True)
                continue
        item = at.field(row, item_field)
        yield Answer(item, question=question, choices=one.choices, several=one.several, type=one.type, **about)


def _without_number(question: str, found: re.Match[str]) -> str:
    """Return the name of a question without the number of its item."""
    return (question[: found.start(1)] + question[found.end(1) :]).strip(" ._-") or "answer"


def _pairs(file: Input, options: ReadOptions, questions: Sequence[str]) -> tuple[re.Pattern[str], str] | None:
    """Return the pattern of questions and the column of items in --column-pairs; None if a row is one item.

    Raises:
        CallError: It is not written as it should be, or there are no such columns; or it is missing, where a row
            seems to be about several items.
    """
    if options.pairs is None:
        if options.question is None and options.item is None:
            _refuse_several_items(file, questions)
        return None
    column, _, asked = options.pairs.partition("=")
    if column.count(_NUMBER) != 1 or asked.count(_NUMBER) != 1:
        raise CallError(f"--column-pairs is {options.pairs!r}, and has to be as in 'Input.text{{n}}=Answer.q{{n}}'.")
    numbers = [name for name in file.header if _numbered(column).fullmatch(name)]
    pattern = _numbered(asked.strip().removeprefix(_ANSWER))
    if not numbers or not any(pattern.fullmatch(one) for one in questions):
        raise CallError(f"{file.name} has no columns that are as {options.pairs!r} says (--column-pairs).")
    return pattern, column.strip()


def _numbered(name: str) -> re.Pattern[str]:
    before, _, after = name.strip().partition(_NUMBER)
    return re.compile(f"{re.escape(before)}([0-9]+){re.escape(after)}")


def _refuse_several_items(file: Input, questions: Sequence[str]) -> None:
    """Raise `CallError` if inputs and questions are numbered in the same way, as where a HIT has several items."""
    inputs = _numbers([name for name in file.header if name.startswith(_INPUT)])
    for asked, numbers in _numbers(questions).items():
        column = next((column for column, others in inputs.items() if others == numbers), None)
        if len(numbers) > 1 and column is not None:
            raise CallError(
                f"{file.name} seems to have {len(numbers)} items in each HIT. Say which columns belong together: "
                f"--column-pairs '{column}={_ANSWER}{asked}' (pairs= in Python); or name one question by --question."
            )


def _numbers(names: Sequence[str]) -> dict[str, set[str]]:
    """Return the numbers that names have in them, by the name around the number."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for number in re.finditer(r"[0-9]+", name):
            found[f"{name[: number.start()]}{_NUMBER}{name[number.end() :]}"].add(number[0])
    return found


MTURK: Final = Platform("mturk", "a Mechanical Turk batch", _recognises, _read, uses=("item", "pairs"))
