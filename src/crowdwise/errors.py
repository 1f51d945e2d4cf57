"""What can go wrong, in two kinds: with the data, or with the call.

A message says what is wrong, how many times, the first case, and what to do. Both are `ValueError`s, so that
code which catches those keeps working; the command line turns them into one sentence and an exit code.
"""

from numbers import Integral


class DataError(ValueError):
    """The data cannot be used as they are (exit code 1 on the command line)."""


class CallError(ValueError):
    """The call asks for something that does not exist (exit code 2 on the command line)."""


def require_whole(least: int, **given: int) -> None:
    """Refuse parameters that are not whole numbers, or less than the `least` that makes sense."""
    for name, value in given.items():
        if not isinstance(value, Integral) or value < least:
            raise CallError(f"{name}={value!r} is not a whole number from {least} on.")
