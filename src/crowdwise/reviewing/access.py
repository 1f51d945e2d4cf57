"""`Access`: who may use the page. A token in the address becomes a cookie, and Host and Origin are checked.

A page of another site cannot read anything here: its requests have another Origin, and lack the cookie (SameSite). A
name of its own for this machine (DNS rebinding) is another Host. Where the server is not on loopback, a password takes
the place of the token.
"""

import hmac
import secrets
from ipaddress import ip_address
from socket import getfqdn, gethostname
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
# A request has at most so many bytes.
_LARGEST: Final = 1_000_000


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Access:
    """Lets requests through to the application that may be answered, and adds headers to all answers.

    Attributes:
        token: What the address of the page has in it; empty if there is a password.
    """

    def __init__(self, application: ASGIApp, host: str, password: str | None, remote: bool) -> None:
        self._application = application
        self._password = password
        self._hosts = None if password is not None else {*_LOOPBACK, host}
        self._own_names = {host, gethostname().lower(), getfqdn().lower(), *_LOOPBACK}
        self._key = secrets.token_urlsafe(32)  # the value of the cookie
        self.token = "" if password is not None else secrets.token_urlsafe(24)
        # With this policy, a page runs our script alone, and loads nothing from elsewhere unless the user allows it.
        other = " https: http:" if remote else ""
        self._headers = [
            (
                b"content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
                f"img-src 'self' data:{other}; media-src 'self'{other}; base-uri 'none'; "
                "frame-ancestors 'none'".encode(),
            ),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),  # with "no-referrer" a form is sent without its origin
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._application(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in self._headers if one[0] not in have)]
            await send(message)

        answer = self._refusal(scope)
        await (answer or self._application)(scope, receive, with_headers)

    def is_password(self, given: str) -> bool:
        """Return whether this is the password."""
        return self._password is not None and hmac.compare_digest(given.encode(), self._password.encode())

    def with_cookie(self, answer: Response, scope: Scope) -> Response:
        """Return an answer that lets the browser in from now on."""
        answer.set_cookie(self._name(scope), self._key, httponly=True, samesite="strict", path="/")
        return answer

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why a request is not let through, or the answer to one that brings the token; None if it may pass."""
        headers = Headers(scope=scope)
        host = _host_of(f"//{headers.get('host', '')}")
        if not (host in self._own_names or (self._hosts is None and _is_ip(host))):
            return _refused(403, "This server does not go by that name.")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return _refused(403, "Another site may not use this page.")
        if scope["method"] not in ("GET", "HEAD"):
            if origin is None:
                return _refused(403, "A request without an origin may change nothing.")
            length = headers.get("content-length", "")
            if not length.isdigit() or int(length) > _LARGEST:
                return _refused(413, f"A request may have {_LARGEST:,} bytes.")
        if scope["path"] in ("/login", "/login.css", "/review.css") and self._password is not None:
            return None
        given = _cookie(headers, self._name(scope))
        if given is not None and hmac.compare_digest(given.encode(), self._key.encode()):
            return None
        if self._password is not None:
            return RedirectResponse("/login", 303) if scope["method"] == "GET" else _refused(403, "Log in first.")
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if (
            scope["path"] == "/"
            and scope["method"] == "GET"
            and hmac.compare_digest(token.encode(), self.token.encode())
        ):
            return self.with_cookie(RedirectResponse("/", 303), scope)
        return _refused(403, "Open the address that `crowdwise review` printed: it has the token that this page needs.")

    def _name(self, scope: Scope) -> str:
        """Return the name of the cookie; browsers share cookies between the ports of a machine."""
        return f"crowdwise-review-{(scope.get('server') or ('', 0))[1]}"


def _cookie(headers: Headers, name: str) -> str | None:
    for part in headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return None


def _host_of(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refused(status: int, sentence: str) -> Response:
    if status == 403:
        return PlainTextResponse(sentence, status)
    return JSONResponse({"error": sentence}, status)
