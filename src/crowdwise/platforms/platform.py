"""`Platform`: how exports of one platform, or logs of judges, are recognised and read; what they yield: `Answer`s."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ..crowd.read_options import ReadOptions
from ..sources.input import Input

# The type of answers that are one of some classes. Every other type, such as "free text", is not for truth inference.
CHOICE = "choice"


class Answer(NamedTuple):
    """What one worker, or a model, said about one item in reply to one question.

    Attributes:
        item: The item: text or a number.
        worker: The worker, as text; None if the export does not say.
        question: The question; empty if the export has only one, without a name.
        choices: What was chosen. One class for most questions; none, or several, where several may be chosen. A
            class is text, a number, or true or false.
        status: Why this is no vote, in one word such as "cancelled", if the platform says so; else empty. The user
            can ask for such answers by this word (`--status`).
        model: Whether a model gave the answer. On a platform for people it is no vote unless the user says so.
        gold: Whether the answer is a known truth, and no vote.
        several: Whether several classes may be chosen.
        type: `CHOICE`, or what else is asked for, in words such as "free text".
        seconds: How long the worker took; None if the export does not say.
        time: When the answer was given, as the export writes it; None if it does not say.
        stated: Classes, and how probable each was to be chosen, if the log has that; those left out share the rest.
    """

    item: Any
    worker: str | None
    question: str
    choices: tuple[Any, ...]
    status: str = ""
    model: bool = False
    gold: bool = False
    several: bool = False
    type: str = CHOICE
    seconds: float | None = None
    time: str | None = None
    stated: tuple[tuple[Any, float], ...] = ()


class Tally(NamedTuple):
    """Something in an export that is counted and reported, so that nothing is lost silently.

    Attributes:
        what: What it is, in words that follow a number, such as "tasks without any annotation".
        number: How many there are.
        is_answer: Whether these are answers that are not used, whatever the question: then they count as rows that
            were read.
    """

    what: str
    number: int = 1
    is_answer: bool = False


class Remark(NamedTuple):
    """A sentence for the user about the export; reported once, however often it is given."""

    sentence: str


# What the reader of a platform yields.
Finding: TypeAlias = Answer | Tally | Remark
# What yields the items of an export, and what was shown of them.
Contents: TypeAlias = Callable[[Sequence[Input], ReadOptions], Iterator[tuple[Any, Mapping[str, Any]]]]


@dataclass(frozen=True, eq=False)
class Platform:
    """The exports of one platform.

    Attributes:
        key: What `--format` calls it.
        name: The name of the platform, for messages.
        recognises: Takes an input, and returns whether this platform wrote it, by its content.
        read: Takes all files of an export and what the user asks for, and yields what is in them. Raises `DataError`
            where a file is not as the platform writes it; see `Input.unlike`.
        judges: Whether answers of models are votes without asking, as in the logs of language models that judge.
        uses: The options that this platform uses, besides those that all do (question, models, multi, status,
            worker_from).
        contents: Takes the same as `read`, and yields every item with what was shown to workers of it, by the name of
            the field; None if exports do not say that.
    """

    key: str
    name: str
    recognises: Callable[[Input], bool]
    read: Callable[[Sequence[Input], ReadOptions], Iterator[Finding]]
    judges: bool = False
    uses: tuple[str, ...] = ()
    contents: Contents | None = None
