"""The pages of a store behind an address: a socket, a token where others could reach it, and a server."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.extras import import_extra
from oodometer.core.talk import Tell, unheard
from oodometer.explorer.guard import is_loopback
from oodometer.store.index import index_at
from oodometer.store.store import Store, open_store
from oodometer.study import Picture

if TYPE_CHECKING:
    from oodometer.explorer.explorer import Explorer

HOST = "127.0.0.1"
PORT = 8000
MANY_CELLS = 50
"""More take a moment, which looks like a hang."""

PAGES_AT_ONCE = 3
"""Pages that are made at the same time; others wait for their turn."""

ELSEWHERE = {socket.AF_INET: ("192.0.2.1", 9), socket.AF_INET6: ("2001:db8::1", 9)}
"""Some address beyond this machine: those that are kept for documentation (RFC 5737, RFC 3849)."""


@dataclass(frozen=True)
class ServeWatcher:
    """Who is told how it goes.

    Args:
        ready: Told the address, once it can be opened.
        tell: Told what is waited for, and what there is.
    """

    ready: Tell = unheard
    tell: Tell = unheard


NOBODY = ServeWatcher()


def serve(
    store: str | Store,
    *,
    data: Sequence[str] = (),
    host: str = HOST,
    port: int = PORT,
    origins: Mapping[str, Origin] | None = None,
    watcher: ServeWatcher = NOBODY,
) -> None:
    """Show a store in a browser, until Ctrl-C.

    Args:
        data: Where the images of the run are, so that they can be shown.
        host: Where to listen. Beyond this machine a token is asked for, which is in the address that is told.
        port: 0: any that is free.
        origins: Category and parent of models whose cards do not say.
        watcher: Told the address when it can be opened.
    """
    for module in ("fastapi", "uvicorn", "jinja2"):
        import_extra(module, extra="web", what="pages")
    from oodometer.explorer.explorer import Explorer

    opened = store if isinstance(store, Store) else open_store(store)
    picture = _pictures(opened, data)
    with listening_at(host, port) as listening, contextlib.suppress(KeyboardInterrupt):  # the way to end it
        explorer = Explorer(opened, origins=origins, picture=picture)
        try:
            _answer(explorer, listening, host, watcher)
        finally:
            explorer.close()


def _pictures(store: Store, addresses: Sequence[str]) -> Picture | None:
    if not addresses:
        return None
    from oodometer.study.pictures import album_of

    return album_of(addresses, index_at(store))


def listening_at(host: str, port: int) -> socket.socket:
    """A socket at the address, before anything is computed: who can't listen should know at once."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise UsageError(f"--host {host}: no such address ({error.strerror})") from error
    # With the protocol: asyncio sends at once (TCP_NODELAY) only where the socket says that it is TCP.
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Otherwise each answer but the first on a connection waits for some 40 ms.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.bind(place)
        made.listen(128)
    except OSError as error:
        made.close()
        hint = "give another with --port, or --port 0 for any that is free"
        raise OodometerError(f"can't listen at {host}, port {port} ({error.strerror}); {hint}") from error
    return made


def reached_at(listening: socket.socket, host: str) -> str:
    """What a browser calls the place; of all addresses of this machine the one that others see, or its name."""
    if ip_address(listening.getsockname()[0]).is_unspecified:
        with socket.socket(listening.family, socket.SOCK_DGRAM) as outward:
            try:
                outward.connect(ELSEWHERE[listening.family])  # sends nothing: it only chooses the way
                host = outward.getsockname()[0]
            except OSError:
                return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _answer(explorer: Explorer, listening: socket.socket, host: str, watcher: ServeWatcher) -> None:
    import uvicorn

    from oodometer.explorer.app import explorer_app, warm

    n_cells = len(explorer.store.files.names("cells"))
    if n_cells > MANY_CELLS:
        watcher.tell(f"reading {n_cells} cells")
    n = sum(held.n_rows for held in explorer.catalogue().held)
    local = is_loopback(host)
    token = None if local else secrets.token_urlsafe(24)
    hosts = (HOST, "localhost", "[::1]", host.lower(), f"[{host.lower()}]") if local else ()
    app = explorer_app(explorer, hosts=hosts, token=token)
    watcher.tell(f"{n:,} predictions; Ctrl-C ends")
    port = listening.getsockname()[1]
    watcher.ready(f"http://{reached_at(listening, host)}:{port}/" + (f"?token={token}" if token else ""))
    explorer.behind(lambda: warm(explorer))
    # Without a configuration of its own: that would take the handlers of whoever calls this from Python.
    settings = uvicorn.Config(
        app, log_level="warning", log_config=None, access_log=False, server_header=False, lifespan="off"
    )
    _server_in_turn(settings).run(sockets=[listening])


def _server_in_turn(settings: Any) -> Any:
    """A server that makes a few pages at once: more would only slow each other down."""
    import anyio.to_thread
    import uvicorn

    class InTurn(uvicorn.Server):
        async def serve(self, sockets: list[socket.socket] | None = None) -> None:
            anyio.to_thread.current_default_thread_limiter().total_tokens = PAGES_AT_ONCE
            await super().serve(sockets)

    return InTurn(settings)
