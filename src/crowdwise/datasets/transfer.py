"""`download`: a file from a web server or a local mirror, by pooch and requests, with limits of size and time."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..system import show_size

_ATTEMPTS: Final = 3
# Small, so that a server that sends slowly is noticed: blocks are received whole.
_BLOCK_BYTES: Final = 1024
# The largest file that is downloaded; those of the catalog have at most a tenth of this.
_MAX_BYTES: Final = 100_000_000
# How many times `timeout` a file may take, in all attempts.
_PATIENCE: Final = 20
# How much of what a server says is repeated in a message.
_MAX_CHARACTERS: Final = 120


class DownloadError(Exception):
    """A file could not be downloaded, or is not the expected one.

    Args:
        message: What happened.
        unreachable: Whether no server answered.
    """

    def __init__(self, message: str, unreachable: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable


def download(url: str, target: Path, timeout: float, progress: Callable[[int, int], None]) -> None:
    """Download a file in up to three attempts; `target` is there when it is whole, and not before.

    Args:
        url: The address, which may be that of a local file (file://).
        target: Where to write the file.
        timeout: How many seconds to wait for the next bytes.
        progress: Called with the bytes received so far and the size of the file (0 if not known).

    Raises:
        DownloadError: It could not be downloaded, or exceeds a limit.
    """
    import pooch  # imported here because they are slow to import
    import requests

    answered = False
    seconds = _PATIENCE * timeout
    end = time.monotonic() + seconds

    def receive(url: str, part: str, _: Any) -> None:
        nonlocal answered
        with requests.get(url, timeout=timeout, headers={"User-Agent": "crowdwise"}, stream=True) as answer:
            answered = True
            if not answer.ok:
                told = f"{url} answered {answer.status_code} {shorten(str(answer.reason), _MAX_CHARACTERS)}"
                # pooch tries again after errors of requests, and not after ours
                raise requests.HTTPError(told) if answer.status_code >= 500 else DownloadError(told)
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() and len(length) < 19 else 0
            received = 0
            with Path(part).open("wb") as file:
                for block in answer.iter_content(_BLOCK_BYTES):
                    file.write(block)
                    received += len(block)
                    progress(received, total)
                    if max(received, total) > _MAX_BYTES:
                        limit = show_size(_MAX_BYTES)
                        raise DownloadError(f"{url} sends more than {limit}, which no file of the catalog has")
                    if time.monotonic() > end:
                        raise DownloadError(f"{url} took longer than {seconds:,.0f} seconds")

    pooch.get_logger().setLevel("WARNING")  # it would say on stderr what `progress` shows
    # Without a checksum, because pooch does not know git's: `fetch` compares both kinds.
    store = pooch.Pooch(target.parent, "", {target.name: None}, {target.name: url}, retry_if_failed=_ATTEMPTS - 1)
    try:
        store.fetch(target.name, downloader=_copy if url.startswith("file:") else receive)
    except FileNotFoundError as problem:
        raise DownloadError(f"{url} could not be read: {problem.strerror}") from problem
    except requests.HTTPError as problem:
        raise DownloadError(str(problem)) from problem
    except (requests.TooManyRedirects, ValueError) as problem:  # such as a redirection to what is no address
        raise DownloadError(f"{url} sent an invalid answer: {_cause(problem)}") from problem
    except requests.RequestException as problem:
        done = f"{'read' if answered else 'reached'} in {_ATTEMPTS} attempts"
        raise DownloadError(f"{url} could not be {done}: {_cause(problem)}", not answered) from problem


def _copy(url: str, part: str, _: Any) -> None:
    shutil.copyfile(url2pathname(urlsplit(url).path), part)


def _cause(problem: BaseException) -> str:
    """What the innermost library, or the system, said."""
    while problem.__context__ is not None:
        problem = problem.__context__
    return shorten(str(problem) or type(problem).__name__, _MAX_CHARACTERS)
