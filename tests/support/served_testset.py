"""The pages of a test set served by the command, as a process of its own, and people who use them over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 120
"""For which an answer, or the end of the server, is waited for: a busy machine is slow."""

TASK = re.compile(r'data-task="([^"]+)"')
SHOWN = re.compile(r'src="(/shown/[^"]+)"')


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body as values."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Person:
    """Somebody with a token, or without."""

    port: int
    token: str = ""

    def ask(
        self, path: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """The answer to a request, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        cookie = {"cookie": f"oodometer_worker={self.token}"} if self.token else {}
        try:
            connection.request(method, path, body=body, headers={**cookie, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def submit(self, task: str, selected: list[Any], **more: Any) -> Answer:
        """Send an answer as the page's script does."""
        said = json.dumps({"task": task, "selected": selected, "seconds": 1.5, **more}).encode()
        headers = {"content-type": "application/json", "accept": "application/json"}
        return self.ask("/annotate/answer", method="POST", body=said, headers=headers)

    def task(self) -> tuple[str, int]:
        """The key of the task that the page shows, and how many images; an empty key where there is none."""
        page = self.ask("/annotate")
        if page.status != 200:
            raise ConnectionError(f"the page: {page.status}")
        found = TASK.search(page.text)
        return (found[1], len(SHOWN.findall(page.text))) if found else ("", 0)


@dataclass(frozen=True)
class Served:
    """A running server."""

    process: subprocess.Popen[str]
    port: int

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/"

    def end(self, by: signal.Signals) -> tuple[int, str]:
        """Its exit code, and what it said besides its address."""
        self.process.send_signal(by)
        _, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said


def serve(folder: Path, port: int = 0, *more: str) -> Served:
    """A server that listens."""
    command = [sys.executable, "-m", "oodometer", "testset", "serve", str(folder), "--port", str(port), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline()
    if not address:
        raise AssertionError(f"no server: {process.communicate()[1]}")
    return Served(process, int(address.split(":")[2].split("/")[0]))


@contextmanager
def serving(folder: Path, port: int = 0, *more: str) -> Iterator[Served]:
    """A server that is ended at the end."""
    served = serve(folder, port, *more)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.end(signal.SIGKILL)
        for stream in (served.process.stdout, served.process.stderr):
            assert stream is not None
            stream.close()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])
