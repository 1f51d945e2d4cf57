"""`Importer`: how the exports of one platform are recognised and read; and what a user may ask of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from ..errors import CallError, did_you_mean, require_kind
from ..sources.input import Export
from .answers import Found

Multi = Literal["refuse", "set", "each"]


@dataclass(frozen=True)
class ImportOptions:
    """What a user asks of an importer.

    Attributes:
        question: The question whose answers are the labels; None if there is only one.
        models: Whether answers of models are votes on a platform for people.
        multi: What to do with questions where several classes may be chosen: "refuse" them, take the classes of an
            answer as one vote for a "set", or ask whether "each" class holds: an item for every pair of an item and
            a class.
        status: Answers that the platform marks by one of these words are votes too.
        item: The field that names the item; None for the platform's own id.
        worker: The field that names the worker, where the platform's own place for it is empty.
        worker_from: Where the worker's name is, if not in the rows: the name of the "file" or of its "folder".
        verdict: A regular expression with one group that finds the label in a text, for logs of language models.
        verdict_field: The key of the label in an answer that is JSON, for logs of language models.
        id: A regular expression with the groups `item` and `worker`, which takes an id apart.
        items: A regular expression with one group that finds the item in the name of a column, for surveys.
        pairs: Which columns belong together where a row has several items, as in "Input.text{n}=Answer.q{n}".
    """

    question: str | None = None
    models: bool = False
    multi: Multi = "refuse"
    status: Sequence[str] = ()
    item: str | None = None
    worker: str | None = None
    worker_from: Literal["file", "folder"] | None = None
    verdict: str | None = None
    verdict_field: str | None = None
    id: str | None = None
    items: str | None = None
    pairs: str | None = None

    def __post_init__(self) -> None:
        if self.multi not in get_args(Multi):
            raise CallError(f"multi={self.multi!r} is not one of {', '.join(get_args(Multi))}.")
        if self.worker_from not in (None, "file", "folder"):
            raise CallError(f"worker_from={self.worker_from!r} is neither file nor folder.")
        require_kind("models", self.models, bool, "True or False")
        for name in ("question", "item", "worker", "verdict", "verdict_field", "id", "items", "pairs"):
            require_kind(name, getattr(self, name), str | None, "text, or None")
        require_kind("status", self.status, Sequence, "a word, or some words")
        words = (self.status,) if isinstance(self.status, str) else tuple(self.status)
        for word in words:
            require_kind("status", word, str, "a word, or some words")
        object.__setattr__(self, "status", tuple(word.lower() for word in words))


NO_OPTIONS: Final = ImportOptions()


def import_options(**given: Any) -> ImportOptions:
    """Return what a user asks of an importer. Raises `CallError` if there is no such option, or no such value of it."""
    known = [one.name for one in fields(ImportOptions)]
    for name in given:
        if name not in known:
            raise CallError(f"There is no option {name!r} of reading.{did_you_mean(name, known)}")
    return ImportOptions(**given)


@dataclass(frozen=True, eq=False)
class Importer:
    """The exports of one platform.

    Attributes:
        key: What `--format` calls it.
        name: The name of the platform, for messages.
        recognises: Takes an export, and returns whether this platform wrote it, by its content.
        read: Takes all files of an export and what the user asks for, and yields what is in them. Raises `DataError`
            where a file is not as the platform writes it; see `Export.unlike`.
        judges: Whether answers of models are votes without asking, as in the logs of language models that judge.
        uses: The options of `ImportOptions` that this importer uses, besides those that all do (question, models,
            multi, status, worker_from).
    """

    key: str
    name: str
    recognises: Callable[[Export], bool]
    read: Callable[[Sequence[Export], ImportOptions], Iterator[Found]]
    judges: bool = False
    uses: tuple[str, ...] = ()
