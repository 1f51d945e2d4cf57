"""Servers that answer `crowdwise datasets fetch` with lies: wrong lengths, other files, errors, endless redirects."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Final
from unittest.mock import patch

from ..area import Area, Case
from ..rule import Run, Verdict, judge
from ..running import in_process
from ..surroundings import contents

_LENGTHS: Final = ("abc", "-1", "99999999999999999999", "", "0", "1_000", "10, 10")
_CODES: Final = (200, 204, 206, 301, 302, 304, 400, 401, 403, 404, 408, 418, 429, 500, 503, 599)
_BODIES: Final = (b"", b"item,worker,label\n1,a,x\n", b"<html>sign in</html>", b"\x00" * 70_000, b"\xff\xfe")
_ADDRESSES: Final = (
    "http://",
    "ftp://127.0.0.1:9",
    "no address",
    "http://[::1",
    "http://a:99999",
    "file:///x",
    "//",
)


def attack(case: Case) -> Verdict:
    """Fetch a dataset from a server that answers anything, and look at what is kept."""
    random = case.random
    before = contents(case.home)
    if case.chance(0.2):
        run = _fetch(case, random.choice(_ADDRESSES))
    else:
        with _server(random) as address:
            run = _fetch(case, address)
    verdict = judge(run)
    kept = {path for path in contents(case.home).keys() - before.keys() if not _is_cache(case, path)}
    if kept:
        raise run.fail(f"kept {sorted(kept)[0]!r}")
    if verdict == "right":
        raise run.fail("took what a lying server sent")
    return verdict


def _fetch(case: Case, address: str) -> Run:
    with patch("pooch.core.time"):  # it sleeps between attempts
        return in_process(case, "datasets", "fetch", "web", "--quiet", environment={"CROWDWISE_DATASETS_URL": address})


def _is_cache(case: Case, path: str) -> bool:
    """Whether this is one of the folders that datasets are kept in, which may stay, empty as it is."""
    return f"{path}/".startswith(f"{case.home}/.cache/") and "." not in path.removeprefix(f"{case.home}/.cache")


@contextmanager
def _server(random: Random) -> Iterator[str]:
    """A server on this machine that answers every request by chance; gives its address."""
    draws = Random(random.random())

    class Liar(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(draws.choice(_CODES) if draws.random() < 0.5 else 200)
            body = draws.choice(_BODIES)
            if draws.random() < 0.7:
                self.send_header("Content-Length", draws.choice((*_LENGTHS, str(len(body)), str(len(body) + 9))))
            if draws.random() < 0.3:
                self.send_header("Location", draws.choice(("/again", "http://", "file:///etc/hostname", self.path)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Liar) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # the reader may leave early
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


AREA = Area("downloads", "servers that lie", attack, tested=60, weight=20)
