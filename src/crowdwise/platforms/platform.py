"""`Platform`: how the exports of one annotation platform, or the logs of judges, are recognised and read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..crowd.read_options import ReadOptions
from ..sources.input import Input
from .answers import Found


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
    """

    key: str
    name: str
    recognises: Callable[[Input], bool]
    read: Callable[[Sequence[Input], ReadOptions], Iterator[Found]]
    judges: bool = False
    uses: tuple[str, ...] = ()
