"""The pages of a test set behind an address, until somebody ends it."""

from __future__ import annotations

import contextlib
import secrets
import sys
from typing import Any

from oodometer.build.testset.project.project import Project
from oodometer.explorer.guard import is_loopback
from oodometer.explorer.serve import HOST, NOBODY, ServeWatcher, listening_at, reached_at

PORT = 8100
THREADS = 8
"""Requests that are answered at once: they wait for the database and for files more than for the processor."""

SECONDS_OF_A_TURN = 0.0005
"""Of Python's threads: a tenth of the usual. Between two pages that are being made a picture must not wait long."""

SECONDS_KEPT_OPEN = 120
"""For which a browser's connection waits for what comes next: about as long as somebody looks at a page of images."""

SECONDS_TO_END = 10
"""For which the end waits for requests that are under way."""


def serve_testset(project: Project, *, host: str = HOST, port: int = PORT, watcher: ServeWatcher = NOBODY) -> None:
    """Let people annotate and review, until Ctrl-C.

    Args:
        host: Where to listen. Beyond this machine the owner needs a token, which is in the address that is told.
        port: 0: any that is free.
        watcher: Told the address when it can be opened.
    """
    from oodometer.explorer.testset.app import app_of
    from oodometer.explorer.testset.pages import Pages

    local = is_loopback(host)
    owner = None if local else secrets.token_urlsafe(24)
    hosts = (HOST, "localhost", "[::1]", host.lower(), f"[{host.lower()}]") if local else ()
    with listening_at(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        app = app_of(Pages(project), hosts=hosts, owner=owner)
        address = f"http://{reached_at(listening, host)}:{listening.getsockname()[1]}/"
        watcher.tell("Ctrl-C ends")
        watcher.ready(address + (f"?owner={owner}" if owner else ""))
        sys.setswitchinterval(SECONDS_OF_A_TURN)
        _server(app).run(sockets=[listening])


def _server(app: Any) -> Any:
    import anyio.to_thread
    import uvicorn

    class Server(uvicorn.Server):
        async def serve(self, sockets: Any = None) -> None:
            anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
            await super().serve(sockets)

    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            log_config=None,  # its own would take the handlers of whoever calls this from Python
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_keep_alive=SECONDS_KEPT_OPEN,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
    )
