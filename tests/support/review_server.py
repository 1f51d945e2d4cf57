"""A real `crowdwise review` in a process of its own, and a client that asks it as the page does."""

import json
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import uuid4

_ADDRESS = re.compile(r"The page is at (\S+)")


@dataclass
class Answer:
    """What the server answers."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class ReviewProcess:
    """A server that was started with these arguments.

    Attributes:
        process: The process.
        address: The address of the page, with its token.
        said: What was printed before the address.
    """

    process: subprocess.Popen[str]
    address: str
    said: list[str]
    tab: str = field(default_factory=lambda: str(uuid4()))
    cookie: str = ""

    @classmethod
    def start(cls, *arguments: object, env: dict[str, str] | None = None) -> Self:
        command = [sys.executable, "-m", "crowdwise", "review", *map(str, arguments), "--no-browser"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if found := _ADDRESS.search(line):
                return cls(process, found[1], said)
        process.wait()
        raise AssertionError(f"it did not start: {''.join(said)}")

    def __enter__(self) -> Self:
        self.log_in()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def origin(self) -> str:
        return self.address.partition("/?")[0].rstrip("/")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def finish(self) -> str:
        """End the review by the page, and return what was printed since the address."""
        assert self.post("/api/finish").status == 200
        rest, _ = self.process.communicate(timeout=60)
        return rest

    def log_in(self) -> None:
        answer = self.ask("GET", self.address.removeprefix(self.origin))
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        """Ask as somebody who has these headers, and no others but Host."""
        connection = HTTPConnection(urlsplit(self.origin).netloc, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path, headers={"Cookie": self.cookie})

    def post(self, path: str, **values: Any) -> Answer:
        """Ask as the page does."""
        body = json.dumps({"tab": self.tab, "reviewer": "anna", **values}).encode()
        headers = {"Cookie": self.cookie, "Origin": self.origin, "Content-Type": "application/json"}
        return self.ask("POST", path, body, headers)

    def next(self, **values: Any) -> Any:
        return self.post("/api/next", **values).json["item"]

    def decide(self, item: Any, truth: int | None, action: str = "decided", **values: Any) -> Answer:
        given = {
            "entry": str(uuid4()),
            "code": item["code"],
            "action": action,
            "truth": truth,
            "seconds": 2.5,
            **values,
        }
        return self.post("/api/decide", **given)

    def wait_for_fit(self) -> Any:
        """Return the panel when the last fit knows all decisions."""
        while True:
            panel = self.get("/api/state").json["panel"]
            if not panel["fitting"] and panel["fitted"] == panel["decisions"]:
                return panel
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file of decisions, read by other means than crowdwise's."""
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
