"""An app that answers at an address of this machine, for tests in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def answering(app: Any) -> Iterator[str]:
    """Where the app answers, as long as one is within."""
    import uvicorn

    settings = uvicorn.Config(app, port=0, log_level="error", log_config=None, lifespan="off")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
