"""The web server of the page: what each address answers, and how it starts and ends."""

import asyncio
import errno
import json
import os
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any, Final

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import CallError, DataError
from .access import Access, is_loopback
from .desk import Desk, text_of

_ASSETS: Final = Path(__file__).parent / "assets"
_REPORT_STYLE: Final = Path(__file__).parents[1] / "reporting" / "assets" / "style.css"
# How often it is looked whether there is something new to tell the page, and whether it is still there, in seconds.
_LOOK: Final = 0.2
_BEAT: Final = 5.0
# A file from the folder of pictures is shown within the page; opened on its own, it may run nothing.
_SANDBOX: Final = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
# How long a wrong password takes, in seconds.
_PAUSE: Final = 1.0


class Pages:
    """What each address of the server answers."""

    def __init__(self, desk: Desk, host: str, password: str | None) -> None:
        self._desk = desk
        self.closing = False
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_ASSETS), autoescape=True, undefined=jinja2.StrictUndefined
        )
        routes = [
            Route("/", self._page),
            Route("/style.css", _asset(_REPORT_STYLE)),
            Route("/review.css", _asset(_ASSETS / "review.css")),
            Route("/review.js", _asset(_ASSETS / "review.js")),
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/login.css", _asset(_REPORT_STYLE)),
            Route("/api/state", self._answer(lambda _: desk.state())),
            Route("/api/classes", self._classes),
            Route("/api/plan", self._answer(lambda given: desk.change_plan(text_of(given, "plan"))), methods=["POST"]),
            Route("/api/next", self._answer(lambda given: desk.next(*self._who(given))), methods=["POST"]),
            Route(
                "/api/votes",
                self._answer(lambda given: desk.votes(self._who(given)[0], given["code"])),
                methods=["POST"],
            ),
            Route("/api/decide", self._answer(lambda given: desk.decide(*self._who(given), given)), methods=["POST"]),
            Route("/api/undo", self._answer(lambda given: desk.undo(*self._who(given))), methods=["POST"]),
            Route("/api/finish", self._answer(self._finish), methods=["POST"]),
            Route("/api/events", self._events),
            Route("/api/text/{code:int}/{number:int}", self._text),
            Route("/media/{code:int}/{number:int}", self._media),
        ]
        self.access = Access(Starlette(routes=routes), host, password, desk.contents.remote)

    def _answer(self, make: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        """Return what answers a request by JSON; a mistake in it is answered by a sentence."""

        async def answer(request: Request) -> Response:
            try:
                given = json.loads(await request.body()) if request.method == "POST" else {}
                if not isinstance(given, dict):
                    raise CallError("The request is no object.")
                return JSONResponse(await run_in_threadpool(make, given))
            except (CallError, KeyError) as problem:
                return JSONResponse({"error": str(problem)}, 400)
            except DataError as problem:
                return JSONResponse({"error": str(problem)}, 507)
            except (ValueError, RecursionError):
                return JSONResponse({"error": "The request is no JSON."}, 400)

        return answer

    def _who(self, given: dict[str, Any]) -> tuple[str, str]:
        """Return the tab and the reviewer of a request."""
        reviewer = " ".join(text_of(given, "reviewer").split())
        return text_of(given, "tab"), reviewer or self._desk.about.reviewer

    async def _page(self, request: Request) -> Response:
        about = self._desk.about
        page = self._templates.get_template("page.html.j2").render(title=about.title, reviewer=about.reviewer)
        return HTMLResponse(page)

    async def _login(self, request: Request) -> Response:
        wrong = False
        if request.method == "POST":
            given = (await request.body()).decode("utf-8", "replace")
            from urllib.parse import parse_qs

            if self.access.is_password(parse_qs(given).get("password", [""])[0]):
                return self.access.with_cookie(Response(status_code=303, headers={"location": "/"}), request.scope)
            await asyncio.sleep(_PAUSE)
            wrong = True
        return HTMLResponse(self._templates.get_template("login.html.j2").render(wrong=wrong), 403 if wrong else 200)

    async def _classes(self, request: Request) -> Response:
        return JSONResponse(
            {"classes": await run_in_threadpool(self._desk.search, request.query_params.get("search", ""))}
        )

    async def _text(self, request: Request) -> Response:
        text = self._desk.contents.text(request.path_params["code"], request.path_params["number"])
        return PlainTextResponse("There is no such text.", 404) if text is None else PlainTextResponse(text)

    async def _media(self, request: Request) -> Response:
        path = self._desk.contents.file(request.path_params["code"], request.path_params["number"])
        if path is None:
            return PlainTextResponse("There is no such file in the folder.", 404)
        return FileResponse(path, headers=_SANDBOX)

    def _finish(self, _: dict[str, Any]) -> dict[str, Any]:
        self.closing = True
        return {"sentence": self._desk.summary(), "command": self._desk.about.command}

    async def _events(self, request: Request) -> Response:
        async def events() -> AsyncIterator[str]:
            told, quiet = None, 0.0
            while not self.closing and not await request.is_disconnected():
                version = self._desk.version
                if version != told:
                    told, quiet = version, 0.0
                    yield f"data: {json.dumps(await run_in_threadpool(self._desk.panel))}\n\n"
                elif quiet >= _BEAT:
                    quiet = 0.0
                    yield ": here\n\n"
                await asyncio.sleep(_LOOK)
                quiet += _LOOK

        return StreamingResponse(events(), media_type="text/event-stream")


def _asset(path: Path) -> Callable[[Request], Any]:
    async def answer(_: Request) -> Response:
        return FileResponse(path)

    return answer


class ReviewServer:
    """A server in a thread of its own, so that it also runs beside the event loop of a notebook.

    Attributes:
        address: The address to open, with the token.

    Raises:
        CallError: The host or the port cannot be used.
    """

    def __init__(self, desk: Desk, host: str, port: int, password: str | None) -> None:
        if not is_loopback(host) and not password:
            raise CallError(
                f"--host {host} lets other machines in: give a password, in the variable CROWDWISE_REVIEW_PASSWORD."
            )
        self._pages = Pages(desk, host, None if is_loopback(host) else password)
        self._socket = _listening(host, port)
        number = self._socket.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        token = self._pages.access.token
        self.address = f"http://{shown}:{number}/" + (f"?token={token}" if token else "")
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._pages.access, log_level="error", access_log=False, lifespan="off", timeout_graceful_shutdown=2
            )
        )
        self._thread = Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="crowdwise-review", daemon=True
        )

    def start(self) -> None:
        """Start to answer."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            sleep(0.01)

    def wait(self) -> None:
        """Wait until the page is finished; an exception, such as by Ctrl-C, ends the wait."""
        while self._thread.is_alive() and not self._pages.closing:
            self._thread.join(0.2)

    def close(self) -> None:
        """Answer no more."""
        self._pages.closing = True
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OverflowError as problem:
        sock.close()
        raise CallError(f"There is no port {port}: ports go from 0 to 65535.") from problem
    except OSError as problem:
        sock.close()
        if port == 0 or problem.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise CallError(f"--host {host} is no address of this machine: {problem.strerror}.") from problem
        raise CallError(
            f"Port {port} of {host} cannot be used ({problem.strerror}): name another, or leave --port out."
        ) from problem
    return sock


def open_browser(address: str) -> bool:
    """Open an address in the browser of the user; return False if there is none that has a window."""
    if sys.platform == "linux" and not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        return False
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
