"""`Answer`: what one worker said about one item, as every importer gives it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

# The type of answers that are one of some classes. Every other type, such as "free text", is no matter of truth
# inference.
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


class Counted(NamedTuple):
    """Something in an export that is counted and said, so that nothing is lost silently.

    Attributes:
        what: What it is, in words that follow a number, such as "tasks without any annotation".
        how_many: How many there are.
        is_answer: Whether these are answers that are not used, whatever the question, so that they count as rows that
            were read; else they are only said.
    """

    what: str
    how_many: int = 1
    is_answer: bool = False


class Remark(NamedTuple):
    """A sentence for the user about the export; said once, however often it is given."""

    sentence: str


# What an importer yields.
Found = Answer | Counted | Remark


def path_of(parts: Iterable[Any]) -> str:
    """Return one text for a path of several names, such as a class within a class, or an item within a file.

    >>> path_of(["Animal", "Dog"])
    'Animal / Dog'
    """
    return " / ".join(str(part) for part in parts)
