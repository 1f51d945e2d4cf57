"""`printable`: make text safe to print in a terminal: control characters are escaped, and it is short."""

import re
from typing import Final

from ..addresses import without_secrets
from ..errors import LONGEST, shortened
from .advice import for_this_command

# Control characters, line separators, characters that change the direction of writing, and surrogates (bytes of the
# command line that are not text). Characters that join letters or emoji are allowed: names in many scripts need them.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str, longest: int = LONGEST) -> str:
    """Return a message as `printable` does, without secrets, and with options as in the command that runs."""
    return printable(without_secrets(for_this_command(text)), longest)


def printable(text: str, longest: int = LONGEST) -> str:
    r"""Return the text on one line, with every character that could control the terminal escaped as in Python.

    Text that is too long is cut in the middle.

    >>> printable("\x1b[31mw0")
    '\\x1b[31mw0'
    """
    return shortened(_UNSAFE.sub(lambda found: ascii(found[0])[1:-1], shortened(text, longest)), longest)
