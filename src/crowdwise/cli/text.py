"""Names as they may be shown in a terminal: what would steer it is spelled out."""

import re
from typing import Final

# Control characters, separators of lines, what turns the direction of writing, and halves of characters (bytes of the
# command line that are no text). Marks that join letters and emoji stay: names in many scripts need them.
_STEERING: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The same text on one line, with everything that would steer the terminal as Python would write it.

    >>> printable("\x1b[31mw0")
    '\\x1b[31mw0'
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
