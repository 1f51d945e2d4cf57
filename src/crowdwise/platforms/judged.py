"""`Judged`: what several logs of judges are about, so that votes on different answers never become votes on one."""

import json
from typing import Any

from ..errors import DataError
from ..sources.input import Input


class Judged:
    """The answers that judges judged, by item.

    Args:
        hint: What a user can do if two logs have different answers by the same name.
    """

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._known: dict[Any, tuple[int, str]] = {}

    def check(self, export: Input, item: Any, answer: Any) -> None:
        """Raise `DataError` if another file has another answer as this item.

        Args:
            export: The file.
            item: The item.
            answer: What was judged, or an id of it; None if the file does not say.
        """
        if answer is None:
            return
        content = hash(json.dumps(answer, sort_keys=True))
        known, name = self._known.setdefault(item, (content, export.name))
        if known != content and name != export.name:
            raise DataError(
                f"{name} and {export.name} have different answers as item {item!r}, which judges cannot be compared "
                f"on: read them one after the other, or {self._hint}."
            )
