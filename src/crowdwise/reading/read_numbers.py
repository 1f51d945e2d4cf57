"""`read_numbers`: read numeric labels from files."""

from collections.abc import Sequence
from typing import Any

from ..sources.paths import Source
from .read_labels import read_labels


def read_numbers(source: Source | Sequence[Source], *, engine: str = "memory", **options: Any) -> Any:
    r"""Read labels that are numbers.

    Args:
        source: As in `read_labels`.
        engine: As in `read_labels`.
        options: All other arguments of `read_labels`.

    Returns:
        `Numbers` for the engine "memory", and for the others what `read_labels` returns, with numbers as labels.

    Raises:
        CallError: An argument is not allowed.
        DataError: The files cannot be read, or hold labels that are not finite numbers; the message has the first one.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,worker,label\n1,ann,0.5\n1,bob,2\n")
    >>> read_numbers(path).labels.tolist()
    [0.5, 2.0]
    """
    return read_labels(source, numeric=True, engine=engine, **options)
