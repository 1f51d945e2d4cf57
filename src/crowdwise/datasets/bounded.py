"""Open web addresses with limits of time and size, which hold for whatever a server sends and however slowly."""

import io
import time
from collections.abc import Callable
from http.client import HTTPResponse
from typing import Any
from urllib.request import HTTPHandler, HTTPSHandler, Request, build_opener

from ..system import show_size


class LimitError(Exception):
    """A server sent too much, or took too long."""


class Limits:
    """How much may be received and until when; the same object may be used for several requests, which share it.

    Args:
        seconds: How many seconds everything may take, from now on.
        size: How many bytes may be received, those of headers and redirections among them.
    """

    def __init__(self, seconds: float, size: int) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._size = self._left = size

    def require(self, size: int) -> None:
        """Raise `LimitError` if so many more bytes may not be received."""
        if size > self._left:
            raise LimitError(f"sends more than {show_size(self._size)}, which is more than any file of the catalog has")

    def count(self, received: int) -> None:
        """Count bytes that were received. Raises `LimitError` if they are too many, or if it is too late."""
        self.require(received)
        self._left -= received
        if time.monotonic() > self._end:
            raise LimitError(f"took longer than {self._seconds:,.0f} seconds")


def open_bounded(request: Request, timeout: float, limits: Limits) -> Any:
    """Open an address as `urllib.request.urlopen` does, with limits on what is received.

    Args:
        request: The address and the headers to send.
        timeout: How many seconds to wait for the next bytes.
        limits: How much may be received, and until when.
    """
    answers: list[HTTPResponse] = []

    def answer(*args: Any, **options: Any) -> HTTPResponse:
        response = HTTPResponse(*args, **options)
        response.fp = io.BufferedReader(_CountedStream(response.fp.detach(), limits))
        answers.append(response)
        return response

    try:
        return build_opener(_handler(HTTPHandler, answer), _handler(HTTPSHandler, answer)).open(request, None, timeout)
    except BaseException:
        for one in answers:  # urllib does not close an answer that redirects to what is no address
            one.close()
        raise


def _handler(base: type[Any], answer: Callable[..., HTTPResponse]) -> Any:
    """Return a handler for `urllib.request` like `base`, whose connections make their answers by `answer`."""

    class Handler(base):  # type: ignore[misc]  # the base is given
        """Opens connections."""

        def do_open(self, http_class: Any, req: Request, **arguments: Any) -> Any:
            """Send a request on a new connection."""

            def connection(*args: Any, **options: Any) -> Any:
                opened = http_class(*args, **options)
                opened.response_class = answer
                return opened

            return super().do_open(connection, req, **arguments)

    return Handler()


class _CountedStream(io.RawIOBase):
    """The bytes of a connection, counted as they are received."""

    def __init__(self, received: io.RawIOBase, limits: Limits) -> None:
        self._received = received
        self._limits = limits

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Receive some bytes, and count them."""
        count: int | None = self._received.readinto(buffer)
        self._limits.count(count or 0)
        return count

    def close(self) -> None:
        """Close the connection."""
        self._received.close()
        super().close()
